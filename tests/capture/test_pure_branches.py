"""Branches with gradients are not traced to find out whether they write; those that write are refused as ever."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._higher_order_ops.cond import CondOp

from autograph_torch import convert
from tests.harness import vec


def nested(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        if x.max() > 2:
            return x * 3
        return x.sin()
    return -x


def test_branches_are_not_traced_to_look_for_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    schema = CondOp.gen_schema
    monkeypatch.setattr(CondOp, "gen_schema", lambda self, *given: asked.append(given) or schema(self, *given))
    x = vec(1, 2, 3).requires_grad_()
    torch.compile(convert(nested), fullgraph=True, backend="eager")(x).sum().backward()
    assert not asked
    assert x.grad is not None and x.grad.tolist() == [3, 3, 3]


def test_a_branch_that_writes_is_refused_by_torch() -> None:
    """Conversion makes no such branch."""
    convert(nested)  # the hooks are in place
    adds = torch.fx.symbolic_trace(lambda x, total: (x + total.add_(1),))
    takes = torch.fx.symbolic_trace(lambda x, total: (x - total,))
    x = vec(1, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="in-place input or buffer mutations"):
        torch.ops.higher_order.cond(x.sum() > 0, adds, takes, (x, vec(0, 0)))


def test_a_branch_may_write_to_what_it_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """To ask would fail: torch cannot trace the write to a mask there."""

    def function(x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros_like(x)
        if x.sum() > 0:
            inside = x > 1
            y[inside] = x[inside] * 2
        return y

    asked: list[Any] = []
    schema = CondOp.gen_schema
    monkeypatch.setattr(CondOp, "gen_schema", lambda self, *given: asked.append(given) or schema(self, *given))
    x = vec(1, 2, 3).requires_grad_()
    torch.compile(convert(function), fullgraph=True, backend="eager")(x).sum().backward()
    assert not asked
    assert x.grad is not None and x.grad.tolist() == [0, 2, 2]
