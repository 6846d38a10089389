"""Lists that a loop on data has filled, wherever they are: every use of one is right, or refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.variables import ListVariable

from autograph_torch import CaptureError, OnePathWarning, autograph, convert, export, runtime
from tests.capture.test_open_contents import LIST_USES, agrees
from tests.harness import from_text, vec

USES: dict[str, Callable[[list[Any], Tensor], Any]] = LIST_USES | {
    "last element": lambda log, x: log[-1] + 1,
    "another element": lambda log, x: log[1] + 1,
    "no element": lambda log, x: log[7] + 1,
    "element by data": lambda log, x: log[int(x.sum() > 0)] + 1,
    "set": lambda log, x: log.__setitem__(0, x),
    "delete": lambda log, x: log.__delitem__(0),
    "remove": lambda log, x: log.remove(x),
    "sort": lambda log, x: log.sort(key=len),
    "sorted": lambda log, x: sorted(log, key=lambda one: float(one.shape[0])),
    "sum of all": lambda log, x: sum(log),
    "concatenated": lambda log, x: torch.cat(log),
    "stacked at the end": lambda log, x: torch.stack(log, dim=-1),
    "slice from": lambda log, x: log[1:],
    "slice from behind": lambda log, x: log[-2:],
    "slice to": lambda log, x: log[:2],
    "slice between": lambda log, x: log[1:-1],
    "backwards": lambda log, x: log[::-1],
    "turned around": lambda log, x: log.reverse(),
    "from the last": lambda log, x: list(reversed(log)),
    "every other": lambda log, x: log[::2],
    "largest": lambda log, x: max(one.sum() for one in log),
    "mapped": lambda log, x: [one.sum() for one in log],
    "zipped with the next": lambda log, x: [b - a for a, b in zip(log, log[1:], strict=False)],
    "in a tuple": lambda log, x: (log, len(log)),
    "written to": lambda log, x: log[-1].mul_(0.5),
}
REFUSALS = ("AG311", "AG310", "AG320", "AG321", "AG206", "AG314")


def behind_the_loop(x: Tensor, log: list[Any], use: Callable[[Any, Tensor], Any]) -> Any:
    while x.norm() > 1:
        x = x / 2
        log.append(x)
    return use(log, x), x + 1


def in_the_loop(x: Tensor, log: list[Any], use: Callable[[Any, Tensor], Any]) -> Any:
    while x.norm() > 1:
        x = x / 2
        log.append(x)
        use(log, x)
    return x + 1


def by_another_name(x: Tensor, log: list[Any], use: Callable[[Any, Tensor], Any]) -> Any:
    box = {"log": log}
    while x.norm() > 1:
        x = x / 2
        log.append(x)
    return use(box["log"], x), x + 1


@pytest.mark.slow
@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("function", [behind_the_loop, in_the_loop, by_another_name])
def test_uses(function: Callable[..., Any], name: str) -> None:
    agrees(function, USES[name], lambda: [vec(5, 5)], REFUSALS)


@pytest.mark.slow
@pytest.mark.parametrize("name", USES)
def test_uses_of_a_list_that_may_stay_empty(name: str) -> None:
    agrees(behind_the_loop, USES[name], lambda: [], REFUSALS)


@pytest.mark.parametrize("name", ["set", "pop", "clear", "extend by itself", "written to"])
@pytest.mark.parametrize("function", [behind_the_loop, in_the_loop])
def test_writes(function: Callable[..., Any], name: str) -> None:
    agrees(function, USES[name], lambda: [vec(5, 5)], REFUSALS)


@pytest.mark.parametrize("name", ["len", "first", "bool", "append", "last element", "stack", "extend", "backwards"])
def test_what_is_answered(name: str) -> None:
    agrees(behind_the_loop, USES[name], lambda: [vec(5, 5)], refusals=())


def test_an_exported_program_has_no_python_to_fill_the_list() -> None:
    def fill(x: Tensor, log: list[Tensor]) -> Tensor:
        while x.norm() > 1:
            x = x / 2
            log.append(x)
        return x

    with pytest.raises(CaptureError, match="AG311"):
        export(fill, (vec(3, 4), [vec(3, 4)]))


def test_a_list_is_filled_again_by_the_next_call() -> None:
    class Keeper:
        def __init__(self) -> None:
            self.seen: list[Tensor] = []

        def __call__(self, x: Tensor) -> Tensor:
            while x.norm() > 1:
                x = x / 2
                self.seen.append(x)
            return x

    plain, kept = Keeper(), Keeper()
    fast = torch.compile(convert(kept.__call__), fullgraph=True, backend="eager")
    for x in (vec(3, 4), vec(0, 0), vec(9, 9)):
        plain(x)
        fast(x)
        assert [one.tolist() for one in kept.seen] == [one.tolist() for one in plain.seen]


def test_names_of_the_tracer() -> None:
    assert ListVariable([]).items == []
    assert callable(ListVariable.call_method)


def from_both_ends(x: Tensor) -> Tensor:
    found = x.nonzero().flatten()
    if found.size(0) == 0:
        return x
    forwards = [found[0]]
    for place in found[1:]:
        forwards.append(place)
    backwards: Any = [found[-1]]
    for place in found[:-1]:
        backwards.append(place + 1)
    y = x.clone()
    for first, last in zip(forwards, reversed(backwards), strict=False):
        y = y + first * last
    return y


def test_two_lists_that_grow_in_turn_in_a_branch() -> None:
    compiled: Any = torch.compile(convert(from_both_ends), fullgraph=True, backend="eager")
    for elements in ([0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [1.0, 2.0, 3.0]):
        x = torch.tensor(elements)
        assert torch.equal(compiled(x), from_both_ends(x))


def test_a_list_that_is_turned_around_in_a_branch() -> None:
    def halved(x: Tensor) -> list[Tensor]:
        log = []
        first = x.sum()
        while x.norm() > 1:
            x = x / 2
            log.append(x)
        if first > 5:
            log.reverse()
        return log

    with pytest.raises(CaptureError, match="turns a list around that has grown"):
        torch.compile(convert(halved), backend="eager", fullgraph=True)(vec(3.0, 4.0))


@pytest.mark.parametrize("made", ["(x, x)", "deque([x])", "{'a': x}", "[x, x]", "iter([x, x])"])
def test_what_else_a_statement_makes_a_list_of(made: str) -> None:
    text = f"""
def program(x):
    log, other = {{"loss": [x]}}, {made}
    while x > 0:
        x = x - 1
        log["loss"].append(x)
    return list(log["loss"]), list(other)
"""
    program = from_text(text, "program", f"<{made}>", {"deque": deque})
    compiled: Any = torch.compile(convert(program), fullgraph=True, backend="eager")
    for value in (-1.0, 2.0):
        assert repr(compiled(torch.tensor(value))) == repr(program(torch.tensor(value)))


@pytest.mark.parametrize("other", [(1, 2), deque([1, 2]), {"a": 1, "b": 2}, [1, 2], range(3)])
def test_lists_of_what_has_not_grown(other: Any) -> None:
    assert runtime.copied(other) == list(other) and runtime.copied_backwards(other) == list(reversed(other))


def parent_link(x: Tensor, root: dict[str, Any]) -> Any:
    child = {"up": root}
    if x.sum() > 0:
        root["children"].append(child)
    return len(root["children"])


def list_in_itself(x: Tensor, root: dict[str, Any]) -> Any:
    values: list[Any] = root["children"]
    if x.sum() > 0:
        values[0] = values
    return len(values)


def two_dicts(x: Tensor, root: dict[str, Any]) -> Any:
    one: dict[str, Any] = {"n": 0}
    other: dict[str, Any] = {"n": 1}
    if x.sum() > 0:
        one["next"], other["next"] = other, one
    return len(one)


@pytest.mark.parametrize("program", [parent_link, list_in_itself, two_dicts])
def test_a_container_that_leads_back_to_itself(program: Callable[..., Any]) -> None:
    """There is no graph for all data, but one for a path."""
    torch._dynamo.reset()
    followed = autograph(program, backend="eager")
    with pytest.warns(OnePathWarning):
        for x in (vec(1), vec(-1), vec(2)):
            given: list[dict[str, Any]] = [{"children": [0]} for _ in range(2)]
            assert followed(x, given[0]) == program(x, given[1])
            assert repr(given[0]) == repr(given[1])
