"""The second trace of a function finds the instructions of all that it follows."""

from __future__ import annotations

import pytest
import torch
from torch._dynamo import bytecode_transformation

from autograph_torch import CaptureError, autograph, convert
from tests.harness import from_text, vec

FOLLOWED = 150  # more functions than the 128 that torch keeps

MANY = "".join(f"def step_{i}(x):\n    return x + {i}\n\n\n" for i in range(FOLLOWED)) + (
    "def walked(x):\n    if x.sum() > 1:\n        x = x / 2\n"
    + "".join(f"    x = step_{i}(x)\n" for i in range(FOLLOWED))
    + "    return x\n"
)


def test_a_second_trace_takes_nothing_apart_again() -> None:
    kept = bytecode_transformation._cached_cleaned_instructions
    walked = convert(from_text(MANY, "walked", "<many functions>"))
    torch._dynamo.reset()
    torch.compile(walked, backend="eager", fullgraph=True)(torch.ones(3))
    before = kept.cache_info()
    torch._dynamo.reset()
    torch.compile(walked, backend="eager", fullgraph=True)(torch.ones(3))
    assert before.currsize > FOLLOWED
    assert kept.cache_info().misses - before.misses < FOLLOWED <= kept.cache_info().hits - before.hits


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
