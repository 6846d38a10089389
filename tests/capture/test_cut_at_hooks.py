"""Hooks of tensors that the function computes: what they ask of data, write to and print is Python's, on one path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, convert
from tests.harness import difference, torch_before, vec

pytestmark = [
    pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning"),
    torch_before("2.12", "requires_grad_() is not traced"),
]


class Clipped(nn.Module):
    """A hook that asks data, registered in a branch behind a use that is no part of the loss."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(8)
        self.layer = nn.Linear(3, 2)
        self.seen: list[tuple[str, float]] = []

    def clip(self, g: Tensor) -> Tensor | None:
        n = g.norm()
        if n > 1:
            self.seen.append(("clipped", n.item()))
            return g / n
        self.seen.append(("passed", n.item()))
        return None

    def forward(self, x: Tensor) -> Any:
        h = self.layer(x)
        handle = None
        if h.sum() > 0:
            handle = h.register_hook(self.clip)
        self.layer.zero_grad()
        (h * h).sum().backward()
        if handle is not None:
            handle.remove()
        assert self.layer.weight.grad is not None
        return self.layer.weight.grad.clone(), list(self.seen), handle is None


def several(x: Tensor) -> Any:
    """One behind the other, two of one tensor, and a leaf that is reached in four ways."""
    fired: list[Any] = []
    w = x.clone().requires_grad_()
    first = w * 2
    first.register_hook(lambda g: fired.append(("first", g.tolist())))
    if x.sum() > 0:
        first.register_hook(lambda g: (fired.append("doubled"), g * 2)[1])
    second = (first * w).exp()
    second.register_hook(lambda g: g * g.sum() if g.sum() > 0.5 else -g)
    loss = (second * first).sum() + w.sum()
    loss.backward()
    return w.grad, fired


def removed_before(x: Tensor) -> Any:
    fired: list[int] = []
    w = x.clone().requires_grad_()
    h = w * 3
    handle = h.register_hook(lambda g: fired.append(1))
    with h.register_hook(lambda g: fired.append(2)):
        (g,) = torch.autograd.grad(h.sum(), w, retain_graph=True)
    if x.sum() > 0:
        handle.remove()
    (again,) = torch.autograd.grad((h * h).sum(), [w])
    return g, again, fired


def in_another_order(x: Tensor) -> Any:
    """Autograd goes by the order in which tensors were computed, not by that of the hooks."""
    fired: list[str] = []
    w = x.clone().requires_grad_()
    one, other = w * 2, w * 3
    other.register_hook(lambda g: fired.append("other"))
    one.register_hook(lambda g: fired.append("one"))
    loss = (one + other).sum() if x.sum() > 0 else (other * one).sum()
    loss.backward()
    return w.grad, fired


def not_reached(x: Tensor) -> Any:
    fired: list[int] = []
    w = x.clone().requires_grad_()
    h = w * 3
    h.register_hook(lambda g: fired.append(len(fired)))
    loss = (w * w).sum() if x.sum() > 0 else h.sum()
    loss.backward()
    return w.grad, fired, torch.autograd.grad((w * w).sum(), [w, w.clone()], allow_unused=True)[1]


class Equilibrium(nn.Module):
    """A fixed point, whose hook solves for another one with gradients of what the tensor itself has been detached for.

    Deep Implicit Layers (NeurIPS 2020 tutorial), chapter 4.
    """

    def __init__(self, clone: bool = False) -> None:
        super().__init__()
        torch.manual_seed(14)
        self.clone = clone
        self.weight = nn.Parameter(torch.randn(3, 3) * 0.3)

    def step(self, z: Tensor, x: Tensor) -> Tensor:
        return torch.tanh(z @ self.weight + x)

    def solve(self, f: Callable[[Tensor], Tensor], z: Tensor) -> tuple[Tensor, int]:
        after, n = f(z), 0
        while (after - z).norm() > 1e-3 and n < 20:
            z, after = after, f(after)
            n += 1
        return after, n

    def forward(self, x: Tensor) -> Any:
        with torch.no_grad():
            z, n = self.solve(lambda z: self.step(z, x), torch.zeros_like(x))
        z = self.step(z, x)
        leaf = (z.clone().detach() if self.clone else z.detach()).requires_grad_()
        after = self.step(leaf, x)
        trips: list[int] = []

        def hook(grad: Tensor) -> Tensor:
            found, n = self.solve(lambda g: torch.autograd.grad(after, leaf, g, retain_graph=True)[0] + grad, grad)
            trips.append(n)
            return found

        z.register_hook(hook)
        self.weight.grad = None
        z.sum().backward()
        assert self.weight.grad is not None
        return z.detach(), n, self.weight.grad.clone(), trips


MODELS = [Clipped, Equilibrium, lambda: several, lambda: removed_before, lambda: in_another_order, lambda: not_reached]


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("make", MODELS)
def test_hooks(make: Callable[[], Any], backend: str) -> None:
    expected, given = make(), torch.compile(convert(make()), backend=backend, fullgraph=True)
    for numbers in ((1.0, 2.0, 3.0), (-1.0, -2.0, 0.5), (0.1, 0.1, 0.1)):
        assert not difference(expected(vec(*numbers)), given(vec(*numbers)), "result")


def test_a_copy_that_is_detached_is_no_use_before() -> None:
    expected, x = Equilibrium(clone=True), vec(0.5, -0.2, 0.1)
    given = torch.compile(convert(Equilibrium(clone=True)), backend="eager", fullgraph=True)
    assert not difference(expected(x), given(x), "result")


def test_a_use_before_is_refused() -> None:
    def used(x: Tensor) -> Any:
        fired: list[float] = []
        w = x.clone().requires_grad_()
        h = w * 2
        before = (h * h).sum()
        h.register_hook(lambda g: fired.append(g.sum().item()))
        (before + h.sum()).backward()
        return w.grad, fired

    with pytest.raises(CaptureError, match="AG320"):
        torch.compile(convert(used), backend="eager", fullgraph=True)(vec(1, 2, 3))


def test_the_caller_computes_the_gradient() -> None:
    def returned(x: Tensor, fired: list[float]) -> Tensor:
        h = x * 2
        h.register_hook(lambda g: fired.append(g.sum().item()))
        return h.sum()

    with pytest.raises(CaptureError, match="AG320"):
        torch.compile(convert(returned), backend="eager", fullgraph=True)(vec(1, 2).requires_grad_(), [])


@pytest.mark.parametrize("in_a_branch", [False, True])
def test_the_caller_computes_a_gradient_that_goes_by_another_way_too(in_a_branch: bool) -> None:
    """The result has a gradient without the hook's tensor, so that the one that is lost is missed by nobody."""

    def returned(x: Tensor, w: Tensor, fired: list[float]) -> Tensor:
        h = x * 2
        if not in_a_branch or h.sum() > 0:
            h.register_hook(lambda g: fired.append(g.sum().item()))
        return (h * w).sum()

    x, w = vec(1, 2).requires_grad_(), vec(3, 4).requires_grad_()
    with pytest.raises(CaptureError, match="AG320|AG206"):
        torch.compile(convert(returned), backend="eager", fullgraph=True)(x, w, [])


def test_a_cut_is_no_end_of_a_gradient() -> None:
    """The loss comes to the use before the first hook by way of the second one's tensor."""

    def used(x: Tensor) -> Any:
        fired: list[float] = []
        w = x.clone().requires_grad_()
        h = w * 2
        before = h * h
        h.register_hook(lambda g: fired.append(g.sum().item()))
        before.register_hook(lambda g: fired.append(g.sum().item()))
        (before * 2).sum().backward()
        return w.grad, fired

    with pytest.raises(CaptureError, match="AG320"):
        torch.compile(convert(used), backend="eager", fullgraph=True)(vec(1, 2, 3))


class Detaching(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.detach() * 2

    @staticmethod
    def backward(ctx: Any, *gs: Tensor) -> Tensor:
        return gs[0] * 2 if gs[0].sum() > 0 else gs[0] * 0


def test_a_function_that_detaches_is_no_end_of_a_gradient() -> None:
    def used(x: Tensor) -> Any:
        fired: list[float] = []
        w = x.clone().requires_grad_()
        h = w * 2
        before = h * h
        h.register_hook(lambda g: fired.append(g.sum().item()))
        Detaching.apply(before).sum().backward()  # type: ignore[no-untyped-call]
        return w.grad, fired

    with pytest.raises(CaptureError, match="AG320"):
        torch.compile(convert(used), backend="eager", fullgraph=True)(vec(1, 2, 3))


@pytest.mark.parametrize("unused", [False, True])
def test_what_eager_raises_is_refused(unused: bool) -> None:
    """A second time through what autograd has forgotten; a gradient of what is not used."""

    def handled(x: Tensor) -> Any:
        fired: list[float] = []
        w, other = x.clone().requires_grad_(), (x + 1).requires_grad_()
        h = w * 2
        h.register_hook(lambda g: fired.append(g.sum().item()))
        loss = (h * h).sum()
        try:
            torch.autograd.grad(loss, [w, other] if unused else w)
            torch.autograd.grad(loss, w)
        except RuntimeError as error:
            return str(error)
        return fired

    assert isinstance(handled(vec(1, 2)), str)
    with pytest.raises(CaptureError, match="AG320"):
        torch.compile(convert(handled), backend="eager", fullgraph=True)(vec(1, 2))
