"""The attributes of a tensor that has been written to in place, its gradient among them, are those of the tensor."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, autograph, convert

Step = Callable[[nn.Linear, Tensor], Any]


def steps_and_drops(layer: nn.Linear, x: Tensor) -> None:
    layer(x).sum().backward()
    with torch.no_grad():
        for p in layer.parameters():
            p -= 0.1 * p.grad
            p.grad = None


def steps_and_zeroes(layer: nn.Linear, x: Tensor) -> None:
    layer(x).sum().backward()
    with torch.no_grad():
        for p in layer.parameters():
            p -= 0.1 * p.grad
            p.grad.zero_()


def steps_by_a_method(layer: nn.Linear, x: Tensor) -> None:
    layer(x).sum().backward()
    with torch.no_grad():
        for p in layer.parameters():
            p = p.sub_(p.grad)  # noqa: PLW2901
            p.grad = p.grad * 2


def steps_twice(layer: nn.Linear, x: Tensor) -> None:
    for _ in range(2):
        steps_and_drops(layer, x)
    layer(x).sum().backward()


def tags(layer: nn.Linear, x: Tensor) -> Any:
    x.tag = "first"  # type: ignore[attr-defined]
    x += 1
    before = x.tag  # type: ignore[attr-defined]
    x.tag = "second"  # type: ignore[attr-defined]
    return before, x.tag


def tags_another_name(layer: nn.Linear, x: Tensor) -> Any:
    y = x
    y *= 2
    y.tag = "third"  # type: ignore[attr-defined]
    return x.tag  # type: ignore[attr-defined]


STEPS = [steps_and_drops, steps_and_zeroes, steps_by_a_method, steps_twice, tags, tags_another_name]


@pytest.mark.parametrize("with_gradients", [False, True], ids=["first", "again"])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("step", STEPS)
def test_as_in_eager(step: Step, backend: str, with_gradients: bool) -> None:
    check(step, torch.compile(convert(step), fullgraph=True, backend=backend), with_gradients)


def check(step: Step, compiled: Step, with_gradients: bool) -> None:
    (expected, one), (actual, other) = given(with_gradients), given(with_gradients)
    assert compiled(actual, other) == step(expected, one)
    assert getattr(one, "tag", None) == getattr(other, "tag", None)
    for p, q in zip(expected.parameters(), actual.parameters(), strict=True):
        torch.testing.assert_close(q, p)
        torch.testing.assert_close(q.grad, p.grad)


def given(with_gradients: bool) -> tuple[nn.Linear, Tensor]:
    torch.manual_seed(0)
    layer = nn.Linear(3, 2)
    for p in layer.parameters():
        p.grad = torch.ones_like(p) if with_gradients else None
    return layer, torch.randn(4, 3)


def written_and_set(layer: nn.Linear, x: Tensor) -> None:
    if x.sum() > -100:
        with torch.no_grad():
            w = layer.weight
            w *= 2
            w.grad = w * 3


def written_by_a_method_and_dropped(layer: nn.Linear, x: Tensor) -> None:
    if x.sum() > -100:
        w = layer.weight
        with torch.no_grad():
            w.mul_(2)
        w.grad = None


def bound_before(layer: nn.Linear, x: Tensor) -> None:
    w = layer.weight
    if x.sum() > -100:
        with torch.no_grad():
            w *= 2
        w.grad = w.detach() * 3


def set_and_written_over(layer: nn.Linear, x: Tensor) -> None:
    if x.sum() > -100:
        w = layer.weight
        w.grad = w.detach() * 3
        with torch.no_grad():
            w.mul_(2)
    else:
        layer.weight.grad = x.sum() * torch.ones(2, 3)


IN_BRANCHES = [written_and_set, written_by_a_method_and_dropped, bound_before, set_and_written_over]


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize("with_gradients", [False, True], ids=["first", "again"])
@pytest.mark.parametrize("step", IN_BRANCHES)
def test_in_a_branch(step: Step, with_gradients: bool) -> None:
    check(step, autograph(step, backend="eager"), with_gradients)


@pytest.mark.parametrize("step", IN_BRANCHES[:3])
def test_in_a_branch_of_a_graph_for_all_data_it_is_refused(step: Step) -> None:
    with pytest.raises(CaptureError, match="AG206 a branch or loop writes to a tensor in place, and sets an attribute"):
        autograph(step, backend="eager")(*copy.deepcopy(given(False)))


def read_behind_a_branch(w: Tensor, x: Tensor) -> tuple[Any, ...]:
    same = w
    w.grad = None
    (w * x).sum().backward()
    if torch.isfinite(w.grad).all():  # type: ignore[arg-type]
        with torch.no_grad():
            w.sub_(w.grad, alpha=0.1)  # type: ignore[arg-type]
    return w.grad, same.grad, w is same


def read_behind_a_loop(w: Tensor, x: Tensor) -> tuple[Any, ...]:
    w.grad = x * 2
    with torch.no_grad():
        while w.sum() > 1:
            w.sub_(0.5)
    return w.grad, w.detach().sum()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [read_behind_a_branch, read_behind_a_loop])
def test_its_gradient_behind_a_branch_or_loop(function: Callable[..., Any], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for value in (1.0, float("inf"), -1.0):
        found = []
        for run in (function, compiled):
            w = torch.ones(2, requires_grad=True)
            found.append((run(w, torch.full((2,), value)), w.grad, w.detach()))
        assert repr(found[1]) == repr(found[0])
