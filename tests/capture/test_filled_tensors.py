"""torch.full, with tensors for values."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture import filled_tensors
from tests.harness import check_any_graph, compiled, ints, leave_out, program, vec


@program(inputs=[lambda: (vec(1, 2), ints(3, 4)), lambda: (vec(-1, -2), ints(-3, 1))])
def filled(x: Tensor, n: Tensor) -> Any:
    whole = torch.full((2,), n.sum()), torch.full(size=(1,), fill_value=n[0])
    others = torch.full((2,), x.double().sum()), torch.full((2,), x[0] > 0), torch.full((1, 2), n[1], dtype=torch.int8)
    if x.sum() > 0:
        return torch.full((3,), n[0]), whole, others
    return torch.full((3,), n[1]), whole, others


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def of_another_default(x: Tensor) -> Any:
    return torch.full((2,), x.sum()), torch.full_like(x, x[0]), x.half().new_full((2,), x[1])


@pytest.mark.parametrize("function", [filled, of_another_default])
def test_as_in_eager(function: Any) -> None:
    check_any_graph(function)


def test_with_another_default_type() -> None:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        check_any_graph(of_another_default)
    finally:
        torch.set_default_dtype(before)


def test_without_this_the_type_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, filled_tensors.filled_tensors)

    def program(n: Tensor) -> Tensor:
        return torch.full((2,), n.sum())

    assert program(ints(1, 2)).dtype is torch.int64
    assert compiled(program)(ints(1, 2)).dtype is torch.float32
