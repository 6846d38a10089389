"""Tensors that a branch or loop makes, and that stand in two places when the call ends, are one tensor as in eager."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

from autograph_torch import autograph

Function = Callable[[Any, torch.Tensor], Any]


def kept_and_returned(w: Any, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        loss = x * 2
        w.last = loss
        return loss
    w.last = x * 3
    return x


def in_an_object_and_a_dict(w: Any, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        t = x * 2
        w.last = t
        w.table["t"] = t
    return x


def written_to_behind(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        t = x * 2
        a = b = t
    else:
        a, b = x * 3, x * 4
    a.add_(1)
    return a, b


def detached(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        a = x * 2
        b = a.detach()
    else:
        a, b = x * 3, x * 4
    return a, b


def view_before_its_base(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        a = x * 2
        b = a[0]
        b.add_(1)
    else:
        a = x * 3
        b = a[1]
    b.mul_(2)
    return b, a


def of_an_inner_branch(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        if x[0] > 1:
            a = b = x * 2
        else:
            a, b = x * 3, x * 4
    else:
        a = x * 5
        b = a
    return a, b


def of_what_is_no_result(w: Any, x: torch.Tensor) -> Any:
    t = x * 2
    if x.sum() > 0:
        a, b = t, t
    else:
        a, b = x * 3, x * 4
    return a, b


def three_that_change_places(w: Any, x: torch.Tensor) -> Any:
    if x.sum() > 0:
        a = x * 2
        b, c = a, a
    elif x.sum() > -3:
        a = x * 3
        b, c = a, x * 4
    else:
        a, b = x * 3, x * 2
        c = b
    if x[0] > 1:
        a, c = c, a
    return a, b, c


def last_of_a_loop(w: Any, x: torch.Tensor) -> torch.Tensor:
    w.last = x * 0
    while x.sum() > 1:
        x = x / 2
        w.last = x
    return x


def last_of_a_loop_detached(w: Any, x: torch.Tensor) -> torch.Tensor:
    w.last = x * 0
    while x.sum() > 1:
        x = x / 2
        w.last = x.detach()
    return x


def of_a_trip_before(w: Any, x: torch.Tensor) -> Any:
    best, last = x * 0, x * 0
    while x.sum() > 0.5:
        x = x / 2
        if x.sum() > 1:
            best = x
            last = x
    return x, best, last


def of_an_iteration_before(w: Any, x: torch.Tensor) -> Any:
    w.last, y = x * 0, x * 0
    for _ in range(3):
        if x.sum() > 1:
            x = x / 2
            y = x
            w.last = x
        else:
            x = x * 1.5
    return x, y


def left_by_a_break(w: Any, x: torch.Tensor) -> Any:
    w.last, y = x * 0, x * 0
    while x.sum() > 1:
        x = x / 2
        y = x * 3
        if y.sum() < 2:
            break
        w.last = y
    return x, y


def before_the_first_trip(w: Any, x: torch.Tensor) -> torch.Tensor:
    y = x.detach()
    while y.sum() > 1:
        y = y - x / 4
    w.last = y
    return y


FUNCTIONS = [
    kept_and_returned,
    in_an_object_and_a_dict,
    written_to_behind,
    detached,
    view_before_its_base,
    of_an_inner_branch,
    of_what_is_no_result,
    three_that_change_places,
    last_of_a_loop,
    last_of_a_loop_detached,
    of_a_trip_before,
    of_an_iteration_before,
    left_by_a_break,
    before_the_first_trip,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("grad", [False, True])
def test_one_tensor_stays_one(function: Function, backend: str, grad: bool) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    for number in (2.0, -1.0, 0.3, -3.0):
        assert _told(fast, number, grad) == _told(function, number, grad)


def test_a_root_that_is_given_is_given_back() -> None:
    """A loop without trips gives back what it has begun with, with a gradient around it as without."""

    def root(start: torch.Tensor, of: torch.Tensor) -> torch.Tensor:
        x = start
        while (x * x - of).abs().max() > 1e-3:
            x = (x + of / x) / 2
        return x

    fast, start = autograph(root, backend="eager"), torch.tensor([2.0])
    assert fast(start, torch.tensor([4.0], requires_grad=True)) is start
    assert fast(start, torch.tensor([9.0], requires_grad=True)).requires_grad


def _told(function: Function, number: float, grad: bool) -> Any:
    """All tensors behind a call: which are one, which share memory, what they hold, and the gradient of their sum."""
    w = types.SimpleNamespace(last=None, table={})
    x = torch.full((2,), number, requires_grad=grad)
    tensors = [one for one in _flat((function(w, x), w.last, w.table, x)) if one is not None]
    total = sum((one.sum() for one in tensors if one.requires_grad), torch.zeros(()))
    gradient = torch.autograd.grad(total, x)[0].tolist() if grad else None
    return (
        [next(k for k, other in enumerate(tensors) if other is one) for one in tensors],
        [next(k for k, other in enumerate(tensors) if _memory(other) == _memory(one)) for one in tensors],
        [(one.tolist(), one.requires_grad) for one in tensors],
        gradient,
    )


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _flat(one)
    else:
        yield value


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()
