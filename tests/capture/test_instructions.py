"""The second trace of a function finds the instructions of all that it follows."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch._dynamo import bytecode_transformation

from autograph_torch import CaptureError, autograph, convert
from tests.harness import from_text, vec


def halved(x: Tensor) -> tuple[Tensor, int]:
    """A loop, a branch in it, and a counter."""
    trips = 0
    while x.sum() > 1:
        x = x / 2 if x.max() > 1 else x - 0.1
        trips += 1
    return x, trips


def test_a_second_trace_takes_nothing_apart_again() -> None:
    kept = bytecode_transformation._cached_cleaned_instructions
    torch._dynamo.reset()
    torch.compile(convert(halved), backend="eager", fullgraph=True)(torch.ones(3))
    before = kept.cache_info()
    torch._dynamo.reset()
    torch.compile(convert(halved), backend="eager", fullgraph=True)(torch.ones(3))
    taken_apart = kept.cache_info().misses - before.misses
    assert before.currsize > 128  # what torch keeps
    assert taken_apart < 128 < kept.cache_info().hits - before.hits


COPIED = """\
def checked(x):
    for _ in range(3):
        try:
            if x.sum() > 0:
                if x.sum() > 1:
                    raise ValueError("large")
            break
        except ValueError:
            x = -x
    return x
"""


@pytest.mark.parametrize("filename", ["<one file>", "<a copy of it>"])
def test_a_message_names_the_file_of_the_function_that_was_called(filename: str) -> None:
    checked = from_text(COPIED, "checked", filename)
    with pytest.raises(CaptureError, match="AG325") as caught:
        autograph(checked, backend="eager", effects="immediate")(vec(1))
    assert caught.value.diagnostic.filename == filename
