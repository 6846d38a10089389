"""Results that are views of one tensor that a branch has made share its memory."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph

Function = Callable[[Any, Tensor], Any]


def halves(w: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        w.k, w.v = (x * w.p).chunk(2)
    return w.k, w.v


def in_both_branches(w: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        first, second = (x * w.p).chunk(2)
    else:
        first = second = (x + w.p)[1:3]
    return second, first, first * 2


def in_a_branch_of_a_branch(w: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        y = x * w.p
        if x[0] > 0:
            w.k, w.v = y[:2], y[2:]
        elif x[1] > 0:
            w.k, w.v = (y * 2).chunk(2)
    return w.k * 2, w.v


def overlapping_and_turned(w: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        y = (x * w.p).view(2, 2).t()
        w.k, w.v = y[0], y[:, 1]
        y += 1
    return w.k, w.v


def under_no_grad(w: Any, x: Tensor) -> Any:
    with torch.no_grad():
        if x.sum() > 0:
            w.k, w.v = (x * w.p).chunk(2)
    return w.k, w.v


def one_of_each(w: Any, x: Tensor) -> Any:
    y = x * w.p
    if x.sum() > 0:
        y = y + 1
    first = second = y[2:]
    if x[0] > 0:
        first = y[:2]
    return first, second


def of_either_branch_within(w: Any, x: Tensor) -> Any:
    """In two branches each makes the view of one tensor: what follows the tests moves into them."""
    y = scale = None
    if x[1] > 0:
        y = x * w.p
    if x[0] > 0:
        scale = x.norm()
    z = x
    if scale is not None:
        z = z * scale
    elif y is not None:
        z = z - y
    w.k = None if y is None else y.detach()
    return z, y


FUNCTIONS = [
    halves,
    in_both_branches,
    in_a_branch_of_a_branch,
    overlapping_and_turned,
    under_no_grad,
    one_of_each,
    of_either_branch_within,
]
DATA = ([1.0, 2.0, 3.0, 4.0], [-1.0, 2.0, 3.0, 4.0], [-1.0, -2.0, 3.0, 4.0], [1.0, -2.0, -3.0, -4.0])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("records", [False, True])
@pytest.mark.filterwarnings("error::autograph_torch.OnePathWarning")
def test_as_eager(function: Function, backend: str, records: bool) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    for values in DATA:
        assert _told(fast, values, records) == _told(function, values, records)


def _told(function: Function, values: list[float], records: bool) -> Any:
    """The results, where they lie in which memory, what a write to one is to the others, and the gradients."""
    w = types.SimpleNamespace(k=torch.zeros(2), v=torch.zeros(2), p=torch.ones(4).mul_(2).requires_grad_(records))
    tensors = [one for one in (*function(w, torch.tensor(values)), w.k, w.v) if one is not None]
    memories = [one.untyped_storage().data_ptr() for one in tensors]
    shares = [memories.index(one) for one in memories]
    gap = [one.storage_offset() - tensors[place].storage_offset() for one, place in zip(tensors, shares, strict=True)]
    shown = [one.tolist() for one in tensors]
    loss = sum(((k + 1) * one).sum() for k, one in enumerate(tensors))
    if isinstance(loss, Tensor) and loss.requires_grad:
        loss.backward()
    with torch.no_grad():
        tensors[0].detach().add_(5)
    gradient = [0.0] * 4 if w.p.grad is None else w.p.grad.tolist()
    return shares, gap, shown, [one.tolist() for one in tensors], gradient


def of_a_trip(w: Any, x: Tensor) -> Any:
    first, second = x[:2], x[2:]
    while x.sum() < 20:
        x = x * 2 + 1
        first, second = (x + 1).chunk(2)
    return first, second


def of_integers(w: Any, x: Tensor) -> Any:
    first, second = w.k, w.v
    if x.sum() > 0:
        y = x.to(torch.int64)
        first, second = y[:2], y[2:]
    else:
        first, second = first.to(torch.int64), second.to(torch.int64)
    return first, second


@pytest.mark.parametrize("function", [of_a_trip, of_integers])
def test_refused_are(function: Function) -> None:
    torch._dynamo.reset()
    w = types.SimpleNamespace(k=torch.zeros(2), v=torch.zeros(2))
    with pytest.raises(CaptureError, match="two views of one tensor that a branch or loop has made"):
        autograph(function, backend="eager")(w, torch.tensor(DATA[0]))


@pytest.mark.parametrize("function", [of_a_trip, of_integers])
@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_they_are_followed_on_a_path(function: Function) -> None:
    torch._dynamo.reset()
    w = types.SimpleNamespace(k=torch.zeros(2), v=torch.zeros(2))
    first, second = autograph(function, backend="eager")(w, torch.tensor(DATA[0]))
    assert first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def written_behind_a_loop(x: Tensor) -> tuple[Tensor, ...]:
    y, u, n = x, x + 2, 0
    while n < 3 and u.sum() < 9:
        y, u, n = u, y * 1 + 3, n + 1
    u.add_(1)
    return y, u


def written_behind_a_loop_in_a_branch(x: Tensor) -> tuple[Tensor, ...]:
    y = u = x
    if x.sum() > -20:
        y, u, n = x + 3, x + 2, x.sum()
        while n < 3:
            y, u, n = u, y * 1 + 3, n + 5
        u.add_(1)
    return y, u


def written_behind_a_break(x: Tensor) -> tuple[Tensor, ...]:
    y, u = x, x + 1
    for _ in range(2):
        if y.sum() > 4:
            break
        y, u = u, y + 2
    u.add_(1)
    return u, y


def written_behind_three_trips(x: Tensor) -> tuple[Tensor, ...]:
    y, u, v = x - 9, x - 5, x + 2
    for _ in range(3):
        if y.sum() > 4:
            break
        y, u, v = u, v, y + 2
    v.mul_(2)
    return u, y, v


def in_two_places(x: Tensor) -> tuple[Tensor, Tensor]:
    w = x * 2
    return (w, x * 3) if x[1] > 0 else (x * 4, w)


def written_behind_branches_of_branches(x: Tensor) -> tuple[Tensor, ...]:
    x = x - 2
    y, u = (in_two_places(x) if x.max() > 0 else (x * 5, x * 6)) if x.sum() > -7 else (x * 7, x * 8)
    u.add_(1)
    return y, u


BEHIND = [
    written_behind_branches_of_branches,
    written_behind_a_loop,
    written_behind_a_loop_in_a_branch,
    written_behind_a_break,
    written_behind_three_trips,
]


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("function", BEHIND)
def test_written_behind(function: Callable[[Tensor], tuple[Tensor, ...]]) -> None:
    torch._dynamo.reset()
    compiled = autograph(function, backend="eager")
    for value in (1.0, -9.0, 5.0, -30.0, -3.0, -5.0, -7.0, -8.0):
        found, expected = (one(torch.tensor([value, 1.0, 2.0, 3.0])) for one in (compiled, function))
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0)
