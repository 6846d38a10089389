"""Tensors that are made with `requires_grad=True`: gradients that are computed inside are eager's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert
from autograph_torch.capture.leaves_made import leaves_made
from tests.harness import compiled, leave_out, torch_before, vec

RECORDED = torch_before("2.12", "requires_grad_() is not traced")


def clipped(x: Tensor) -> tuple[Tensor, bool, bool]:
    w = torch.zeros(3, requires_grad=True)
    (g,) = torch.autograd.grad(((w - x) ** 2).sum(), w)
    if g.norm() > 3:
        g = g / g.norm()
    return g, w.requires_grad, w.is_leaf


def of_numbers(x: Tensor) -> Tensor:
    w = torch.tensor([0.5, 2.0, 1.0], requires_grad=True)
    loss = (w * w * x).sum()
    if loss > 3:
        loss = loss / 2
    (g,) = torch.autograd.grad(loss, w)
    return g


def not_wanted(x: Tensor) -> Tensor:
    w = torch.ones_like(x, requires_grad=False)
    return w * x if x.sum() > 0 else w


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "function", [*(pytest.param(one, marks=RECORDED) for one in (clipped, of_numbers)), not_wanted]
)
def test_gradients_inside(function: Callable[..., object], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for x in (vec(1, 2, 3), vec(-1, 0.5, 0), vec(9, 9, 9)):
        torch.testing.assert_close(compiled(x), function(x), rtol=0, atol=0)


def returned(x: Tensor) -> Tensor:
    w = torch.zeros(3, requires_grad=True)
    return w * x if x.sum() > 0 else x


def returned_by_a_branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        w = x.detach().clone().requires_grad_()
    else:
        w = x * 2
    return w


def returned_by_a_loop(x: Tensor) -> Tensor:
    y = x * 2
    while y.sum() < 10:
        w = y.detach().requires_grad_()
        y = w * 2
    return y


def told_in_a_branch(x: Tensor) -> Tensor:
    w = x.detach()
    if x.sum() > 0:
        w.requires_grad_()
    return w * 2


@pytest.mark.parametrize("function", [returned, returned_by_a_branch, returned_by_a_loop, told_in_a_branch])
def test_a_result_that_depends_on_one_is_refused_at_its_line(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match=r"test_leaves_made\.py:\d+.*requires_grad_\(\)"):
        torch.compile(convert(function), backend="eager", fullgraph=True)(vec(1, 2, 3))


@RECORDED
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [returned, returned_by_a_branch, returned_by_a_loop])
def test_a_result_that_depends_on_the_argument_as_well(function: Callable[..., Tensor], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for values in ((1, 2, 3), (0.5, 1, -0.5), (4, 5, 6)):
        given, ours = vec(*values).requires_grad_(), vec(*values).requires_grad_()
        expected, found = function(given), compiled(ours)
        torch.testing.assert_close(found, expected)
        assert found.requires_grad
        for result in (expected, found):
            result.sum().backward()
        zeros = torch.zeros(3)  # an operator has them where eager has None
        torch.testing.assert_close(
            zeros if ours.grad is None else ours.grad, zeros if given.grad is None else given.grad
        )


def values_alone(x: Tensor) -> Tensor:
    w = x.detach().clone()
    w.requires_grad_()
    with torch.no_grad():
        if w.norm() > 2:
            w /= w.norm()
    return w.detach() * x


def beside_one(x: Tensor) -> tuple[Tensor, Tensor]:
    if x.sum() > 0:
        w = x.detach().clone().requires_grad_()
        y, n = x * 3, (w * 2).detach()
    else:
        y, n = x * 2, x.detach() * 1
    return y, n


@RECORDED
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [values_alone, beside_one])
def test_a_result_with_nothing_but_its_values(function: Callable[..., object], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for x in (vec(1, 2, 3), vec(-1, 0.5, 0)):
        given = [x.clone().requires_grad_() for _ in range(2)]
        outcomes = [made(one) for made, one in zip((function, compiled), given, strict=True)]
        torch.testing.assert_close(*outcomes, rtol=0, atol=0)
        for outcome in outcomes:
            (outcome[0] if isinstance(outcome, tuple) else outcome).sum().backward()
        torch.testing.assert_close(given[0].grad, given[1].grad, rtol=0, atol=0)


@RECORDED
def test_torch_alone_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, leaves_made)
    with pytest.raises(CaptureError, match="tensor creation function"):
        torch.compile(convert(clipped), backend="eager", fullgraph=True)(vec(1, 2, 3))


def penalized(x: Tensor, w: Tensor) -> Tensor:
    mixed = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(torch.tanh(mixed @ w).sum(), mixed, create_graph=True)
    norm = g.norm()
    if norm > 0.5:
        return (x @ w).sum() + (norm - 0.5).square()
    return (x @ w).sum()


def in_a_branch(x: Tensor, w: Tensor) -> Tensor:
    mixed = x.detach().requires_grad_()
    y = (mixed * 2).sum() + w.sum() if x.sum() > 0 else mixed.sum() + w.prod()
    return y * 2


@RECORDED
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [penalized, in_a_branch])
def test_results_that_depend_on_others_as_well(function: Callable[..., Tensor], backend: str) -> None:
    def gradients(run: Callable[..., Tensor], x: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
        x, w = x.clone().requires_grad_(), vec(1, 2).requires_grad_()
        result = run(x, w)
        result.backward()
        return result.detach(), x.grad, w.grad

    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for x in (vec(0.1, 0.2), vec(-3, -3)):
        found, expected = gradients(compiled, x), gradients(function, x)
        for one, other in zip(found, expected, strict=True):
            assert (one is None) == (other is None)
            if one is not None and other is not None:
                torch.testing.assert_close(one, other)


def of_a_leaf_in_a_branch(x: Tensor, w: Tensor) -> Tensor:
    mixed = x.detach().requires_grad_()
    return (mixed * 2).sum() if x.sum() > 0 else mixed.sum()


@RECORDED
def test_a_leaf_that_a_branch_uses_is_none_from_around() -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="tells to record its gradient"):
        compiled = torch.compile(convert(of_a_leaf_in_a_branch), backend="eager", fullgraph=True)
        compiled(vec(1, 2).requires_grad_(), vec(1, 2).requires_grad_())


def descended(x: Tensor) -> tuple[Any, ...]:
    w = x.detach().clone().requires_grad_()
    for _ in range(3):
        (g,) = torch.autograd.grad((w * w).sum(), w)
        if g.abs().sum() < 0.1:
            break
        w = (w - 0.1 * g).detach().requires_grad_()
    return w, [w], w.requires_grad


def with_its_gradient(x: Tensor) -> tuple[Any, ...]:
    w = torch.ones(2, requires_grad=True)
    (w * x).sum().backward()
    with torch.no_grad():
        w.sub_(1)
    return w, w.grad, x


def bound_anew(x: Tensor) -> tuple[Any, ...]:
    w = torch.ones(2, requires_grad=True)
    same = w
    (w * x).sum().backward()
    with torch.no_grad():
        w -= 1
    return w, w.grad, same is w


def trained(x: Tensor) -> tuple[Any, ...]:
    w = torch.ones(2, requires_grad=True)
    for _ in range(3):
        loss = ((w * x).sum() - 2) ** 2
        loss.backward()
        norm = w.grad.norm()  # type: ignore[union-attr]
        if not math.isfinite(norm) or loss < 0.1:
            break
        if norm > 1:
            w.grad.div_(norm)  # type: ignore[union-attr]
        with torch.no_grad():
            w -= 0.1 * w.grad  # type: ignore[operator]
        w.grad.zero_()  # type: ignore[union-attr]
    return w, w.grad, loss.item()


@RECORDED
@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("function", [descended, with_its_gradient, bound_anew, trained])
def test_such_a_tensor_itself_is_a_result(function: Callable[..., Any], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for x in (vec(1, 2), vec(-0.1, 0.01)):
        found, expected = compiled(x), function(x)
        torch.testing.assert_close(found[0], expected[0])
        torch.testing.assert_close(found[2], expected[2])
        assert found[0].requires_grad and found[0].is_leaf
        assert repr(found[0].grad) == repr(expected[0].grad)
        assert found[1] is found[0].grad if isinstance(found[1], Tensor) else found[1][0] is found[0]


def returned_with_what_depends_on_it(x: Tensor, w: Tensor) -> Any:
    probe = (x * 2).detach().requires_grad_()
    score = (probe @ w).sum()
    return (score * 2 if x.sum() > 0 else score), probe


def kept_with_what_depends_on_it(x: Tensor, w: Tensor, kept: list[Tensor]) -> Tensor:
    probe = torch.zeros(2, requires_grad=True)
    kept.append(probe)
    return ((x + probe) @ w).square().sum()


def kept_alone(x: Tensor, w: Tensor, kept: list[Tensor]) -> Tensor:
    probe = x.detach().requires_grad_()
    kept.append(probe)
    return (probe.detach() @ w).sum()


def test_a_leaf_that_others_can_ask_for_its_gradient() -> None:
    """The gradient of a result would not reach it."""
    x, w = torch.ones(2), torch.ones(2, requires_grad=True)
    for function, more in ((returned_with_what_depends_on_it, ()), (kept_with_what_depends_on_it, ([],))):
        with pytest.raises(CaptureError, match="returns or keeps a tensor that it tells to record"):
            compiled(function)(x, w, *more)
    kept: list[Tensor] = []
    compiled(kept_alone)(x, w, kept).backward()
    assert kept[0].grad is None and kept[0].requires_grad and torch.equal(w.grad, x)
