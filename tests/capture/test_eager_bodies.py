"""Without a compiler, branches and loops with gradients run in Python; compilers see the operators."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._higher_order_ops.cond import CondAutogradOp
from torch._higher_order_ops.while_loop import WhileLoopAutogradOp
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from autograph_torch import convert
from tests.harness import vec


def nested(x: Tensor) -> Tensor:
    if x.sum() > 0:
        if x.max() > 2:
            return x * x
        return x.sin()
    while x.sum() < 0:
        x = x * x - 1 if x.min() > -1 else x + 3
    return x * 2


INPUTS = (vec(1, 2, 3), vec(1, 1, 1), vec(-1, -5, 3), vec(-0.5, 0.1, -0.2))


@pytest.fixture
def operators(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The gradients of operators that are made while this is in force."""
    made: list[str] = []
    for operator in (CondAutogradOp, WhileLoopAutogradOp):
        apply = operator.apply
        name = operator.__name__
        monkeypatch.setattr(operator, "apply", lambda *a, apply=apply, name=name: made.append(name) or apply(*a))
    return made


@pytest.mark.parametrize("values", INPUTS, ids=str)
def test_python_runs_them_with_all_gradients(values: Tensor, operators: list[str]) -> None:
    x, y = values.clone().requires_grad_(), values.clone().requires_grad_()
    compiled = torch.compile(convert(nested), fullgraph=True, backend="eager")
    compiled(x)
    operators.clear()  # the trace has asked what the operators give
    result = compiled(x)
    (first,) = torch.autograd.grad(result.sum(), x, create_graph=True)
    (expected,) = torch.autograd.grad(nested(y).sum(), y, create_graph=True)
    assert torch.equal(result, nested(y)) and torch.equal(first, expected)
    if expected.requires_grad:
        assert torch.equal(*(torch.autograd.grad(g.sum(), v)[0] for g, v in ((first, x), (expected, y))))
    assert not operators


def test_compilers_see_the_operators(operators: list[str]) -> None:
    x = INPUTS[0].clone().requires_grad_()
    torch.compile(convert(nested), fullgraph=True, backend="aot_eager")(x).sum().backward()
    assert {"CondAutogradOp", "WhileLoopAutogradOp"} <= set(operators)
    assert x.grad is not None and x.grad.tolist() == [2, 4, 6]


def test_other_graphs_are_left_alone(operators: list[str]) -> None:
    def plain(x: Tensor) -> Tensor:
        result: Tensor = torch.cond(x.sum() > 0, lambda: x * 2, lambda: x.sin(), ())
        return result

    convert(nested)  # the hooks are in place
    compiled = torch.compile(plain, fullgraph=True, backend="eager")
    compiled(vec(1, 2).requires_grad_())
    operators.clear()
    compiled(vec(1, 2).requires_grad_())
    assert operators == ["CondAutogradOp"]


def test_a_trace_of_the_graph_sees_the_operators() -> None:
    """Nothing is asked of tensors without values."""
    graphs: list[Any] = []

    def eager(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    eager.__name__ = "eager"
    torch.compile(convert(nested), fullgraph=True, backend=eager)(INPUTS[0].clone().requires_grad_())
    with FakeTensorMode(shape_env=ShapeEnv()):
        (result,) = graphs[0](torch.empty(3, requires_grad=True))
    assert result.shape == (3,)
