"""A gradient that is computed inside, of a tensor with a hook, is refused: the graph would compute it without."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch._dynamo.side_effects import SideEffects

from autograph_torch import CaptureError, convert

Function = Callable[[Tensor, Tensor], Tensor | None]


def loss_of(w: Tensor, x: Tensor) -> Tensor:
    loss = (w * x).sum()
    if loss > 0:
        loss = loss * 2
    return loss


def registered(w: Tensor, x: Tensor) -> Tensor | None:
    w.register_hook(lambda g: g.clamp(max=0.2))
    loss_of(w, x).backward()
    return w.grad


def registered_for_a_while(w: Tensor, x: Tensor) -> Tensor:
    handle = w.register_hook(lambda g: g * 10)
    (gradient,) = torch.autograd.grad(loss_of(w, x), (w,))
    handle.remove()
    return gradient


def registered_behind_it(w: Tensor, x: Tensor) -> Tensor | None:
    w.register_post_accumulate_grad_hook(lambda p: None)
    loss_of(w, x).backward()
    return w.grad


def removed_before(w: Tensor, x: Tensor) -> Tensor | None:
    handle = w.register_hook(lambda g: g.clamp(max=0.2))
    handle.remove()
    loss_of(w, x).backward()
    return w.grad


def of_a_result(w: Tensor, x: Tensor) -> Tensor | None:
    y = w * x
    y.register_hook(lambda g: g.clamp(max=0.5))
    if y.sum() > 0:
        y = y * 2
    y.sum().backward()
    return w.grad


def without(w: Tensor, x: Tensor) -> Tensor | None:
    loss_of(w, x).backward()
    return w.grad


def compiled(function: Function, backend: str = "aot_eager") -> Function:
    return torch.compile(convert(function), backend=backend, fullgraph=True)


def leaf() -> Tensor:
    return torch.tensor([1.0, 0.5], requires_grad=True)


X = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [registered, registered_for_a_while, registered_behind_it])
def test_a_hook_that_the_function_registers(function: Function, backend: str) -> None:
    with pytest.raises(CaptureError, match="has a hook"):
        compiled(function, backend)(leaf(), X)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [removed_before, of_a_result])
def test_other_hooks_are_as_in_eager(function: Function, backend: str) -> None:
    for x in (X, -X):
        torch.testing.assert_close(compiled(function, backend)(leaf(), x), function(leaf(), x), rtol=0, atol=0)


def test_a_hook_from_before_is_seen_in_each_call() -> None:
    call = compiled(without)
    torch.testing.assert_close(call(leaf(), X), torch.tensor([2.0, 4.0]))
    w = leaf()
    handle = w.register_hook(lambda g: g * 10)
    with pytest.raises(CaptureError, match="has a hook"):
        call(w, X)
    assert w.grad is None
    handle.remove()
    torch.testing.assert_close(call(w, X), torch.tensor([2.0, 4.0]))


def test_a_hook_from_before_on_a_backend_that_runs_the_graph() -> None:
    w = leaf()
    w.register_hook(lambda g: g * 10)
    torch.testing.assert_close(compiled(without, "eager")(w, X), torch.tensor([20.0, 40.0]))
    w = leaf()
    w.register_post_accumulate_grad_hook(lambda p: None)
    with pytest.raises(CaptureError, match="has a hook"):
        compiled(without, "eager")(w, X)


def test_private_names_are_there() -> None:
    assert callable(SideEffects.remove_hook)
    assert leaf()._backward_hooks is None and not leaf()._post_accumulate_grad_hooks  # type: ignore[attr-defined]
