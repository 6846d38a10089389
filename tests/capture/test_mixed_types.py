"""`max` and `min` of an integer and a float: refused where the type of the result is seen, right elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, convert


def returned(n: torch.Tensor) -> Any:
    return max(n.item(), 1.0)


def after_a_sum(n: torch.Tensor) -> Any:
    return min(n.item(), 1.0) + 1


def beside_integers(n: torch.Tensor) -> Any:
    return torch.ones(2, dtype=torch.int64) * max(n.item(), 1.0)


def printed(n: torch.Tensor) -> Any:
    print(max(n.item(), 1.0))
    return n + 1


def beside_floats(n: torch.Tensor) -> Any:
    return torch.ones(2) * (min(n.item(), 3.0) + 1)


def divided(n: torch.Tensor) -> Any:
    return max(n.item(), 1.0) / 2


def compared(n: torch.Tensor) -> Any:
    return max(n.item(), 1.0) > 2


def of_one_type(n: torch.Tensor) -> Any:
    return max(n.item(), 1), min(float(n), 1.0)


@pytest.mark.parametrize("function", [returned, after_a_sum, beside_integers, printed])
def test_refused(function: Callable[..., Any]) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    with pytest.raises(CaptureError, match=r"AG310 `m(ax|in)` of an integer and a float"):
        compiled(torch.tensor(5))


@pytest.mark.parametrize("function", [beside_floats, divided, compared, of_one_type])
def test_right(function: Callable[..., Any]) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    for n in (5, 0, 1):
        assert repr(compiled(torch.tensor(n))) == repr(function(torch.tensor(n)))
