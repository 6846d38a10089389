"""A name that a branch leaves alone is still the caller's object: a later write to it must not go to a copy, unseen."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import CaptureError, autograph


def through_another_name(x: torch.Tensor) -> torch.Tensor:
    y = x
    if x.sum() > 0:
        y = x * 2
    y += 1
    return y


def through_the_argument(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        x = x * 2
    x += 1
    return x


@pytest.mark.parametrize("function", [through_another_name, through_the_argument])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_write_after_a_branch_reaches_the_caller_or_is_refused(function, sign) -> None:
    expected, given = torch.full((2,), sign), torch.full((2,), sign)
    result = function(expected)
    try:
        assert torch.equal(autograph(function, backend="eager")(given), result)
    except CaptureError:
        return
    assert torch.equal(given, expected)
