"""Results whose gradients the function has computed itself: their worth, and that nobody computes them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, convert, trace
from autograph_torch.capture import compiling, spent
from tests.harness import difference, torch_before, vec

BACKENDS = ["eager", "aot_eager", "inductor"]


def training() -> tuple[nn.Module, Callable[[Tensor, Tensor], tuple[Tensor, ...]]]:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)

    def step(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        optimizer.zero_grad()
        out = model(x)
        loss = ((out - y) ** 2).mean()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if norm > 1:
            norm = norm * 0 + 1
        optimizer.step()
        return loss, out, norm, model[0].weight

    return model, step


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_loss_of_a_training_step(backend: str) -> None:
    torch._dynamo.reset()
    (model, step), (other, compared) = training(), training()
    compiled = torch.compile(convert(step), backend=backend, fullgraph=True)
    for k in range(3):
        x, y = torch.randn(5, 3, generator=torch.Generator().manual_seed(k)), torch.full((5, 1), float(k))
        expected, actual = compared(x, y), compiled(x, y)
        torch.testing.assert_close(actual, expected)
        assert [one.requires_grad for one in actual] == [one.requires_grad for one in expected]
        assert actual[3] is model[0].weight  # type: ignore[index]
        for one in (actual, expected):
            with pytest.raises(RuntimeError, match="backward through the graph a second time"):
                one[0].backward()
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(one, two)


def made_inside(x: Tensor) -> tuple[Tensor, Any]:
    w = x.detach().requires_grad_()
    loss = (w**2).sum()
    if loss > 3:
        loss = loss * 2
    loss.backward()
    return loss, w.grad


@torch_before("2.12", "requires_grad_() is not traced")
def test_the_loss_of_a_leaf_that_the_function_makes() -> None:
    compiled = torch.compile(convert(made_inside), backend="eager", fullgraph=True)
    for x in (vec(1, 2), vec(0.5, 1)):
        expected, actual = made_inside(x), compiled(x)
        assert torch.equal(actual[0], expected[0]) and torch.equal(actual[1], expected[1])
        assert actual[0].requires_grad


def beside(x: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    loss = (w * x).pow(2).sum()
    loss.backward()
    return loss, (v * x).sum()


def test_what_the_function_has_not_differentiated_has_its_gradient() -> None:
    compiled = torch.compile(convert(beside), backend="eager", fullgraph=True)
    found = []
    for function in (beside, compiled):
        w, v = vec(1, 2).requires_grad_(), vec(5, 6).requires_grad_()
        loss, other = function(vec(3, 4), w, v)
        other.backward()
        found.append((loss.detach(), w.grad, v.grad))
    torch.testing.assert_close(found[1], found[0])


def test_a_graph_that_is_handed_over_is_refused() -> None:
    with pytest.raises(CaptureError, match="AG320"):
        trace(made_inside, vec(1, 2))


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(repair for repair in compiling._REPAIRS if repair is not spent.spent_results)
    monkeypatch.setattr(compiling, "_REPAIRS", others)
    with pytest.raises(CaptureError):
        torch.compile(convert(training()[1]), backend="eager", fullgraph=True)(torch.ones(5, 3), torch.ones(5, 1))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_nothing_is_added_to_the_gradients_of_its_leaves_before_it_raises(backend: str) -> None:
    def step(w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        loss = (w * w).sum()
        loss.backward()
        return loss

    def left(function: Callable[..., torch.Tensor]) -> tuple[Any, Any]:
        w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
        loss = function(w, v)
        with pytest.raises(RuntimeError, match="a second time"):
            torch.autograd.backward([w, v, loss], [torch.ones(2), torch.ones(2), torch.ones(())])
        return w.grad, v.grad

    fast = torch.compile(convert(step), backend=backend, fullgraph=True)
    assert repr(left(fast)) == repr(left(step))


def loss_of(w: Tensor, x: Tensor) -> Tensor:
    return ((w - x) ** 2).sum()


def early_return(w: Tensor, x: Tensor) -> Tensor:
    loss = loss_of(w, x)
    (g,) = torch.autograd.grad(loss, w)
    if g.norm() < 3:
        return loss
    return loss_of(w, x * 2)


def only_the_value(w: Tensor, x: Tensor) -> Tensor:
    loss = loss_of(w, x)
    (g,) = torch.autograd.grad(loss, w)
    if g.norm() < 3:
        return loss.detach() + w.sum()
    return loss_of(w - 0.1 * g, x)


def beside_another(w: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Two results, a view that is made before, and a step in between."""
    loss = (w - x) ** 2
    first = loss[0]
    (g,) = torch.autograd.grad(loss.sum(), w)
    scale = first * 2
    if g.norm() < 3:
        return w.exp().sum() + scale, w.sum()
    return w.exp().sum(), first


def of_a_loop(w: Tensor, x: Tensor) -> Tensor:
    loss = loss_of(w, x)
    (g,) = torch.autograd.grad(loss, w)
    total = (w * w).sum()
    while total < 10:
        total = total * 2 + (loss if g.sum() > 0 else loss.detach())
    return total


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [early_return, only_the_value, beside_another, of_a_loop])
def test_what_is_spent_on_some_paths(function: Callable[..., Any], backend: str) -> None:
    def seen(called: Callable[..., Any], x: Tensor, k: int) -> list[Any]:
        w = vec(1, -1).requires_grad_()
        results = called(w, x)
        one = results[k] if isinstance(results, tuple) else results
        found: list[Any] = [one.detach(), one.requires_grad]
        try:
            one.backward()
        except RuntimeError as error:
            found.append(str(error)[:60])
        return [*found, w.grad]

    fast = torch.compile(convert(function), backend=backend, fullgraph=True)
    cases = [(vec(*numbers), k) for numbers in ((0.5, -0.5), (3.0, 2.0), (5.0, -9.0)) for k in (0, 1)]
    expected = [seen(function, *case) for case in cases]
    assert len({repr(one[2]) for one in expected}) > 1 or function is only_the_value
    assert not difference(expected, [seen(fast, *case) for case in cases], "case")


def hands_on_a_leaf(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    if x.sum() > 0:
        u, y = a * 2, a * b
    else:
        u, y = b, a * 1
    (gradient,) = torch.autograd.grad(y.sum(), a)
    return u, gradient


def hands_on_views(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    t = a * b
    y, u = (t[:1], t[1:]) if x.sum() > 0 else (t[1:], t[:1])
    (gradient,) = torch.autograd.grad(y.sum(), a)
    return u, y, gradient


@pytest.mark.parametrize("function", [hands_on_a_leaf, hands_on_views])
def test_a_result_may_be_a_tensor_from_before(function: Callable[..., tuple[Tensor, ...]]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    for value in (1.0, -1.0):
        found = []
        for one in (function, compiled):
            a, b = vec(1.0, 2.0).requires_grad_(), vec(3.0, 4.0).requires_grad_()
            results = one(vec(value, 0.0), a, b)
            places = [[result is leaf for leaf in (a, b)] for result in results]
            found.append([(result.tolist(), result.requires_grad) for result in results] + places)
        assert found[1] == found[0]
