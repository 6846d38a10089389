"""An exception that a branch ends in comes from the line that raised it, however deep."""

from __future__ import annotations

import traceback

import pytest
import torch
from torch import Tensor

from autograph_torch import convert
from tests.harness import vec


def complain() -> None:
    raise LookupError("nothing there")  # this line


def through_a_helper(x: Tensor) -> Tensor:
    if x.sum() > 0:
        complain()
    return x


def from_a_handler(x: Tensor) -> Tensor:
    if x.sum() > 0:
        try:
            complain()
        except LookupError as error:
            raise RuntimeError("translated") from error
    return x


@pytest.mark.parametrize("function", [through_a_helper, from_a_handler])
def test_place(function: object) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    expected, actual = (last_place(called) for called in (function, compiled))
    assert actual == expected
    torch.testing.assert_close(compiled(vec(-1)), vec(-1))


def last_place(function: object) -> tuple[str, str]:
    """The line that raised, and in which function."""
    with pytest.raises(Exception) as caught:
        function(vec(1, 2))  # type: ignore[operator]
    own = [frame for frame in traceback.extract_tb(caught.value.__traceback__) if frame.filename == __file__]
    return own[-1].name, own[-1].line or ""
