"""What torch tells of tensors by their types is told as in eager, or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert

Function = Callable[[Tensor, Tensor], Any]
X, NEGATIVE, WHOLE = torch.tensor([1.0, 2.0]), torch.tensor([-1.0, -2.0]), torch.tensor([1, 2], dtype=torch.uint8)

ANSWERED: list[Function] = [
    lambda x, y: torch.result_type(x, y),
    lambda x, y: (torch.result_type(x, 2.5), torch.result_type(3, y), torch.result_type(1, 2.0)),
    lambda x, y: (torch.result_type(y, x[0].item()), torch.result_type(y, y[0].item() > 1)),
    lambda x, y: (torch.result_type(x[0].double(), x), torch.result_type(y[0].long(), y)),
    lambda x, y: (torch.can_cast(x.dtype, y.dtype), torch.can_cast(y.dtype, x.dtype)),
    lambda x, y: (x.is_signed(), torch.is_signed(y), y.is_signed()),
    lambda x, y: (x.is_same_size(y), torch.is_same_size(x, y[None]), x[None].is_same_size(x)),
    lambda x, y: (x.is_conj(), torch.is_conj(y), torch.complex(x, x).conj().real.is_conj()),
    lambda x, y: (x.is_neg(), torch.is_neg(y), (-x).is_neg()),
]


def compiled(function: Function) -> Function:
    return torch.compile(convert(function), backend="eager", fullgraph=True)


@pytest.mark.parametrize("ask", ANSWERED)
def test_it_is_told(ask: Function) -> None:
    def program(x: Tensor, y: Tensor) -> Any:
        if x.sum() > 0:
            x = x + 1
        return ask(x, y)

    fast = compiled(program)
    for x in (X, NEGATIVE, torch.ones(3)):
        assert repr(fast(x, WHOLE)) == repr(program(x, WHOLE))


def of_complex_numbers(x: Tensor, y: Tensor) -> Any:
    return torch.complex(x, x).conj().is_conj()


def of_imaginary_parts(x: Tensor, y: Tensor) -> Any:
    return torch.complex(x, x).conj().imag.is_neg()


def of_a_branch(x: Tensor, y: Tensor) -> Any:
    z = torch.complex(x, x).conj().imag if x.sum() > 0 else x + 1
    return z.is_neg()


def of_an_argument(x: Tensor, y: Tensor) -> Any:
    return y.is_neg() or x.sum() > 0


@pytest.mark.parametrize("ask", [of_complex_numbers, of_imaginary_parts, of_a_branch, of_an_argument])
def test_what_a_graph_does_not_know_is_refused(ask: Function) -> None:
    with pytest.raises(CaptureError, match="returned non-Tensor"):
        compiled(ask)(X, torch.complex(X, X).conj().imag)
