"""Results that eager gives back as tensors from before are these tensors, on the paths where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, convert, trace
from autograph_torch.capture import given_back, standing_in
from tests.harness import compiled

ON, OFF = torch.tensor(1.0), torch.tensor(-1.0)


def halved(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    if p > 0:
        x = x / 2
    return x


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_the_argument_itself(backend: str) -> None:
    fast, x = compiled(halved, backend), torch.ones(2, requires_grad=True)
    assert fast(x, OFF) is x
    assert fast(x, ON) is not x
    assert fast(x.detach().t(), OFF).grad_fn is None
    parameter = torch.nn.Parameter(torch.ones(2))
    assert fast(parameter, OFF) is parameter


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_the_argument_that_a_function_of_torch_writes_to(backend: str) -> None:
    def summed(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        y = x * 2
        if p > 0:
            return torch.cumsum(y, 0, out=x)
        while y.sum() > 3:
            torch.div(y, 2, out=y)
        return torch.exp(y, out=y)

    fast = compiled(summed, backend)
    for p in (ON, OFF):
        x, expected = torch.ones(2), torch.ones(2)
        given, wanted = fast(x, p), summed(expected, p)
        assert torch.allclose(given, wanted) and torch.allclose(x, expected)
        assert (given is x) == (wanted is expected)


def test_a_write_behind_the_call_is_seen() -> None:
    x = torch.zeros(2)
    compiled(halved)(x, OFF).add_(1)
    assert x.tolist() == [1, 1]


def test_a_result_that_is_another_result() -> None:
    def use(x: torch.Tensor, p: torch.Tensor, q: torch.Tensor) -> tuple[torch.Tensor, ...]:
        first = x
        if p > 0:
            first = x * 2
        second = x * 3
        if q > 0:
            second = first
        return second, first, x

    fast = compiled(use)
    for p in (ON, OFF):
        for q in (ON, OFF):
            x = torch.ones(2)
            second, first, _ = fast(x, p, q)
            assert (second is first, first is x) == (bool(q > 0), bool(p < 0))


def test_what_the_program_copies_stays_a_copy() -> None:
    def by_hand(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        y = torch.cond(p > 0, lambda: x * 2, lambda: x.clone())
        if y.sum() > 100:
            y = y + 1
        return y

    def chosen(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        y = halved(x, p)
        return torch.where(p > 5, y, y)

    for function in (by_hand, chosen):
        x = torch.ones(2)
        compiled(function)(x, OFF).add_(1)
        assert x.tolist() == [1, 1]


def test_a_view_that_the_argument_does_not_have() -> None:
    """The graph's copy is laid out as in eager; where eager raises, so does the tracer."""

    def flat(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        return halved(x, p).view(-1)

    x = torch.arange(4.0).view(2, 2)
    assert compiled(flat)(x, OFF).data_ptr() == x.data_ptr()
    with pytest.raises(CaptureError, match="Cannot view a tensor with shape"):
        compiled(flat, "aot_eager")(x.t(), ON)
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        flat(x.t(), ON)


def detached_first(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if x.sum() > 3:
        y = z = x * 2
    else:
        y, z = x * 5, x * 3
    return y.detach(), z


def test_what_the_program_detaches_is_not_the_result_of_a_branch() -> None:
    fast = compiled(detached_first)
    for value in (9.0, 1.0):
        x = torch.tensor([value, 1.0], requires_grad=True)
        (detached, found), (_, expected) = fast(x), detached_first(x)
        assert not detached.requires_grad and found.requires_grad
        assert (detached.data_ptr() == found.data_ptr()) == (value > 3)
        assert torch.autograd.grad(found.sum(), x)[0].equal(torch.autograd.grad(expected.sum(), x)[0])


def written_and_detached(a: torch.Tensor, b: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    if x.sum() > 0:
        a.detach().add_(1)
        return a, b, b.detach()
    b.detach().add_(1)
    return b, a, a.detach()


def test_views_of_what_a_branch_may_write_to_share_its_memory() -> None:
    fast = compiled(written_and_detached)
    for value in (1.0, -1.0):
        found = []
        for function in (written_and_detached, fast):
            a, b = (torch.full((2,), start, requires_grad=True) for start in (1.0, 2.0))
            tensors = (*function(a, b, torch.tensor(value)), a, b)
            shares = [[one.data_ptr() == other.data_ptr() for one in tensors] for other in tensors]
            found.append(([(one.tolist(), one.requires_grad) for one in tensors], shares))
        assert found[1] == found[0]


def chosen_in_a_branch(x: torch.Tensor, data: torch.Tensor, flat: torch.Tensor) -> torch.Tensor:
    if x[0] > 0:
        data[0] = x
        y = flat
    else:
        y = flat[2:4]
    return y


def chosen_behind_a_branch(x: torch.Tensor, data: torch.Tensor, flat: torch.Tensor) -> tuple[torch.Tensor, int | str]:
    kind: int | str = 0
    if x[0] > 0:
        data[0] = x
        kind = "hit"
    if x[1] < 0:
        return flat, kind
    return flat[::2], kind


@pytest.mark.filterwarnings("error:the graph of .* has failed")  # with `aot_eager`, if it were given `flat`, too
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("subject", [chosen_in_a_branch, chosen_behind_a_branch])
def test_an_argument_that_the_graph_uses_by_another_view_alone(subject: Callable[..., Any], backend: str) -> None:
    """What is written to, and `flat`, are parts of one copy in the branch: of both the graph uses `data` alone."""
    fast = compiled(subject, backend)
    for x in ([1.0, -2.0], [1.0, 2.0], [-1.0, -2.0], [-1.0, 2.0]):
        data, wanted = torch.zeros(3, 2), torch.zeros(3, 2)
        flat, expected = data.view(-1), wanted.view(-1)
        given, eager = fast(torch.tensor(x), data, flat), subject(torch.tensor(x), wanted, expected)
        assert str(given) == str(eager)
        given, eager = (one if isinstance(one, torch.Tensor) else one[0] for one in (given, eager))
        assert (given is flat) == (eager is expected)
        assert given.stride() == eager.stride()
        given.add_(1)
        eager.add_(1)
        assert torch.equal(data, wanted)


def test_without_the_input_it_would_be_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing_in, "keep_input", lambda _: None)
    with pytest.raises(CaptureError, match="AG314 this may give a tensor from before, which the graph has not"):
        data = torch.zeros(3, 2)
        compiled(chosen_in_a_branch)(torch.tensor([1.0, -2.0]), data, data.view(-1))


def test_more_than_are_told_apart_are_copies() -> None:
    def last_positive(x: torch.Tensor) -> torch.Tensor:
        found = x[0]
        for i in range(1, 20):
            if x[i].sum() > 0:
                found = x[i]
        return found

    fast = compiled(last_positive)
    for index in (3, 19):
        x = -torch.ones(20, 2)
        x[index] = 1
        found = fast(x)
        assert found.tolist() == [1, 1] and found.data_ptr() != x[index].data_ptr()


def test_the_graph_that_is_shown_gives_the_results_alone() -> None:
    (output,) = trace(halved, torch.ones(2), ON).graph.find_nodes(op="output")
    assert len(output.args[0]) == 1


def test_nothing_is_added_where_nothing_is_given_back() -> None:
    def fresh(x: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        y = halved(x, p) + 1
        return y if p > 5 else y * 2

    graphs = []

    def backend(graph: torch.fx.GraphModule, _: Any) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    torch.compile(convert(fresh), backend=backend, fullgraph=True)(torch.ones(2), ON)
    (output,) = graphs[0].graph.find_nodes(op="output")
    assert len(output.args[0]) == 1


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_integers_of_two_dimensions_beside_a_gradient(backend: str) -> None:
    def use(x: torch.Tensor, k: torch.Tensor, p: torch.Tensor) -> tuple[torch.Tensor, ...]:
        y = x * 2
        if p > 0:
            y, k = x * 3, k + 1
        return y, k

    fast, k = compiled(use, backend), torch.zeros(2, 3, dtype=torch.int64)
    x = torch.ones(2, requires_grad=True)
    assert fast(x, k, OFF)[1] is k
    y, changed = fast(x, k, ON)
    assert changed.tolist() == [[1] * 3] * 2
    y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3, 3]


def test_sizes_that_change_from_call_to_call() -> None:
    fast = compiled(halved)
    for size in (2, 3, 5):
        x = torch.ones(size, 2)
        assert fast(x, OFF) is x and fast(x[1:], ON).shape == (size - 1, 2)


def test_two_arguments_that_are_one() -> None:
    def pick(x: torch.Tensor, y: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
        return x if p > 0 else y

    fast, x, y = compiled(pick), torch.ones(2), torch.zeros(2)
    assert fast(x, x, ON) is x
    assert fast(x, y, ON) is x and fast(x, y, OFF) is y


def test_backward_through_what_is_given_back() -> None:
    fast = compiled(halved, "aot_eager")
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    fast(y, OFF).sum().backward()
    assert x.grad is not None and x.grad.tolist() == [3, 3]


def view_in_a_branch(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        row = w[0] if x[0] > 0 else x * 2
    return row


def view_that_ends_the_function(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    with torch.no_grad():
        if x[0] > 0:
            return w[0], w
    return x * 2, w


def view_of_such_a_view(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        row = w[0]
    return row[1:] if x[0] > 0 else x[1:]


def view_beside_a_branch(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    if x[0] > 0:
        x = x * 2
    with torch.no_grad():
        row = w[0]
    return row, row, x


Given = Callable[[torch.Tensor, torch.Tensor], Any]
VIEWS = (view_in_a_branch, view_that_ends_the_function, view_of_such_a_view, view_beside_a_branch)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("subject", VIEWS)
def test_views_made_under_no_grad_hand_on_no_gradient(subject: Given, backend: str) -> None:
    """They say that they require a gradient, and have none to hand on (torch's `DifferentiableViewMeta`)."""
    for sign in (1.0, -1.0):
        found, wanted = (_told(one, sign) for one in (compiled(subject, backend), subject))
        assert found[0] == wanted[0]
        assert found[1] == wanted[1] or sign < 0  # what torch.cond gives has one static answer


def _told(function: Given, sign: float) -> tuple[Any, Any]:
    """The gradients of the arguments, and what is told of the results."""
    x, w = torch.full((2,), sign, requires_grad=True), torch.ones(3, 2, requires_grad=True)
    given = function(x, w)
    results = given if isinstance(given, tuple) else (given,)
    sum(((one * 3).sum() for one in results), x.sum()).backward()
    gradients = [torch.zeros_like(leaf).tolist() if leaf.grad is None else leaf.grad.tolist() for leaf in (x, w)]
    told = [(one.requires_grad, one.grad_fn is None, one._base is w) for one in results]
    return gradients, (told, [[one is other for other in results] for one in results])


def lowest_of_many(x: torch.Tensor, moves: torch.Tensor) -> tuple[torch.Tensor, ...]:
    current, proposal = x, torch.empty_like(x)
    e = lowest = x.sum() * 1
    seen = []
    for move in moves:
        torch.add(current, move, out=proposal)
        candidate = proposal.sum()
        if move < 0:
            current, proposal = proposal, current
            e = candidate
            if e < lowest:
                lowest = e
        seen.append(e)
    return lowest, *seen


def test_a_result_may_be_many_tensors() -> None:
    """Four trips: the last of `seen` may be any of 24, with the results of the branches in between."""
    fast = compiled(lowest_of_many)
    for moves in ([-1.0, -2.0, -3.0, -4.0], [1.0, 2.0, -3.0, 1.0]):
        found = [one(torch.tensor([1.0, 2.0]), torch.tensor(moves)) for one in (lowest_of_many, fast)]
        same = [[[one is other for one in results] for other in results] for results in found]
        assert same[1] == same[0]


def test_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(given_back, "_MOST", 1)
    with pytest.raises(CaptureError, match="AG314 the function gives back what may be one of more than 1 tensors"):
        compiled(lowest_of_many)(torch.tensor([1.0, 2.0]), torch.tensor([-1.0, 2.0, 3.0]))
