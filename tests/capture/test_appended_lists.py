"""Lists of the caller that a function only appends to: one graph, whatever is in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter

from autograph_torch import autograph, convert
from tests.harness import torch_before, vec

CALLS = 11  # more than torch makes graphs of one function
LOG: list[Any] = []


class Run:
    """What keeps lists."""

    def __init__(self) -> None:
        self.losses: list[Any] = []
        self.kept: list[Any] = []
        self.history: dict[str, list[Any]] = {"loss": [], "size": [1]}

    def note(self, value: Any) -> None:
        self.kept.append(value)


def at_the_top(run: Run, x: torch.Tensor) -> torch.Tensor:
    loss = x.sum()
    if loss > 2:
        loss = loss * 2
    run.losses.append(loss.item())
    run.losses.extend((loss, "seen"))
    run.history["loss"].append({"n": 3, "x": x})
    return loss


def added_in_place(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        x = x * 2
    run.history["loss"] += [x, 3]
    return x


def in_a_branch(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        run.losses.append(x.sum())
    return x


def in_both_branches(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        run.losses.append(x.sum())
    else:
        run.losses.append(x * 2)
        run.kept.append("small")
    return x


def in_branches_in_branches(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 1:
        if x[0] > 1:
            run.losses.append(x[0])
        run.kept.append(x)
    run.losses.append(1)
    return x


def in_a_method(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        run.note(x * 3)
    return x


def in_a_local_function(run: Run, x: torch.Tensor) -> torch.Tensor:
    kept = run.kept

    def note(value: torch.Tensor) -> None:
        kept.append(value)

    if x.sum() > 2:
        note(x)
    else:
        note(x * 2)
    return x


def in_a_dict_of_a_local_function(run: Run, x: torch.Tensor) -> torch.Tensor:
    history = run.history

    def note(value: torch.Tensor) -> None:
        history["loss"].append(value)

    note(x * 2 if x.sum() > 2 else x)
    return x


def in_a_loop_over_a_range(run: Run, x: torch.Tensor) -> torch.Tensor:
    for i in range(3):
        run.losses.append(x[0] * i)
        if x[0] > 1:
            x = x - 1
            run.kept.append(i)
    return x


def before_an_exception(run: Run, x: torch.Tensor) -> torch.Tensor:
    run.losses.append(x)
    if x.sum() > 2:
        raise ValueError("too large")
    run.losses.append(x * 2)
    return x


def given_back(run: Run, x: torch.Tensor) -> Any:
    if x.sum() > 2:
        x = x * 2
    run.losses.append(x)
    return run.losses, x


def into_another(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        x = x * 2
    run.kept.append(run.losses)
    run.losses.append(x)
    return x


def exchanged(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        x = x * 2
    run.losses.append(1)
    run.losses, run.kept = run.kept, run.losses
    run.losses.append(x)
    return x


def of_the_module(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        x = x * 2
    LOG.append(x.sum())
    return x


ONE_GRAPH = (
    at_the_top,
    pytest.param(added_in_place, marks=torch_before("2.12", "`+=` calls no method")),
    in_a_branch,
    in_both_branches,
    in_branches_in_branches,
    in_a_method,
    in_a_local_function,
    in_a_dict_of_a_local_function,
    in_a_loop_over_a_range,
    before_an_exception,
    given_back,
    into_another,
    exchanged,
    of_the_module,
)


def length_asked(run: Run, x: torch.Tensor) -> torch.Tensor:
    run.losses.append(x)
    return x * len(run.losses)


def length_asked_in_a_branch(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        run.losses.append(len(run.losses))
    return x


def last_one_asked(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        run.losses.append(x)
        run.kept.append(run.losses[-1] * 2)
    return x


def read_behind_a_branch(run: Run, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 2:
        run.losses.append(x)
    return x * len(run.losses)


def shortened(run: Run, x: torch.Tensor) -> torch.Tensor:
    run.losses.append(x.sum())
    if len(run.losses) > 3:
        run.losses.pop(0)
    return x


def member_asked(run: Run, x: torch.Tensor) -> Any:
    run.kept.append(3)
    return x, 2 in run.kept, bool(run.losses), not run.losses


def appended_to_itself(run: Run, x: torch.Tensor) -> torch.Tensor:
    run.kept.append(1)
    run.losses.extend(run.kept)
    run.losses.extend(run.losses)
    if len(run.losses) > 9:
        del run.losses[:], run.kept[:]
    return x


READING = (
    length_asked,
    length_asked_in_a_branch,
    last_one_asked,
    read_behind_a_branch,
    shortened,
    member_asked,
    appended_to_itself,
)


def _told(function: Callable[..., Any], run: Run, n: int) -> str:
    try:
        found = function(run, vec(float(n % 3), 1.0))
    except ValueError as error:
        found = error
    told = f"{found!r} {vars(run)} {LOG}"
    if function is of_the_module or LOG:
        LOG.clear()
    return told


@pytest.mark.parametrize("function", ONE_GRAPH)
@pytest.mark.parametrize("own", [True, False])
def test_one_graph_for_all_lengths(function: Callable[..., Any], own: bool) -> None:
    torch._dynamo.reset()
    counter = CompileCounter()
    fast = _compiled(function, counter, own)
    plain, run = Run(), Run()
    for n in range(CALLS):
        assert _told(fast, run, n) == _told(function, plain, n)
    assert counter.frame_count == 1


@pytest.mark.parametrize("function", READING)
def test_what_is_read_is_known(function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend="eager")
    plain, run = Run(), Run()
    for n in range(7):
        assert _told(fast, run, n) == _told(function, plain, n)


def two_lists(one: list[Any], other: list[Any], x: torch.Tensor) -> torch.Tensor:
    one.append(1)
    other.append(x.sum())
    one.append(2)
    return x * 2 if x.sum() > 2 else x


@pytest.mark.parametrize("own", [True, False])
def test_two_lists_that_become_one(own: bool) -> None:
    torch._dynamo.reset()
    fast = _compiled(two_lists, "eager", own)
    lists: list[list[Any]] = [[], []]
    found: list[list[Any]] = [[], []]
    for n in range(6):
        if n == 2:
            lists[1], found[1] = lists[0], found[0]
        if n == 4:
            lists[1], found[1] = [], []
        two_lists(*lists, vec(float(n), 1.0))
        fast(*found, vec(float(n), 1.0))
        assert str(found) == str(lists)
        assert (found[0] is found[1]) == (lists[0] is lists[1])


def test_gradients_reach_what_was_appended() -> None:
    torch._dynamo.reset()
    fast = autograph(in_a_branch, backend="aot_eager")
    run, x = Run(), vec(3.0, 1.0).requires_grad_()
    for _ in range(3):
        fast(run, x)
    torch.stack(run.losses).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 3.0]


def test_torch_makes_a_graph_for_each_length() -> None:
    """Without this file; where torch learns better, it can go."""
    torch._dynamo.reset()
    counter = CompileCounter()

    def append(kept: list[Any], x: torch.Tensor) -> torch.Tensor:
        kept.append(x)
        return x * 2

    compiled = torch.compile(append, backend=counter, fullgraph=True)
    kept: list[Any] = []
    for _ in range(3):
        compiled(kept, vec(1.0))
    assert counter.frame_count == 3


def _compiled(function: Callable[..., Any], backend: Any, own: bool) -> Callable[..., Any]:
    if own:
        return autograph(function, backend=backend)
    return torch.compile(convert(function), backend=backend, fullgraph=True)
