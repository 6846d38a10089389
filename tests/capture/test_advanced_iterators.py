"""Iterators that data may leave early, or that a body takes from; elements that trips write to."""

from __future__ import annotations

import itertools
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import nn

from autograph_torch import CaptureError, convert, runtime, to_source
from tests.harness import agreement, check_any_graph, compiled, from_text, program, torch_before

ONES, ZEROS = torch.ones(3), torch.zeros(3)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])
        self.used = 0

    def batches(self, x: torch.Tensor) -> Iterator[torch.Tensor]:
        for layer in self.layers:
            yield layer(x)


def generator_expression(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    for v in (x * i for i in range(4)):
        total = total + v.sum()
        if total > 4:
            break
    return total


def wrapped_iterators(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    total, last = torch.zeros(()), 0
    for i, (name, v) in enumerate(zip("abc", map(lambda k: x * k, filter(None, [0, 1, 2, 3])))):
        total = total + v.sum() * (i + 1)
        last = last + len(name)
        if total > 4:
            return total, last
    return total, last


def items_of_a_dict(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    for key, v in {"a": x, "b": x * 2}.items():
        total = total + v.sum() * len(key)
        if total > 2:
            break
    return total


def part_of_a_count(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    for i in itertools.islice(itertools.count(1), 4):
        total = total + x.sum() * i
        if total > 4:
            break
    return total


FILTERED = pytest.param(wrapped_iterators, marks=torch_before("2.12", "filter(None, ...) is not known"))


@pytest.mark.parametrize("program", [generator_expression, FILTERED, items_of_a_dict, part_of_a_count])
def test_elements_without_state_of_their_own(program: Callable[[torch.Tensor], Any]) -> None:
    compiled = torch.compile(convert(program), backend="eager", fullgraph=True)
    for x in (ONES, ZEROS, ONES / 6):
        assert str(compiled(x)) == str(program(x))


ROWS = """
def program(x):
    x = x.clone().reshape({rows}, 1)
    total = torch.zeros(())
    for {head}:
        {write}
        total = total + v.sum()
        if total > {most}:
            break
    return total, x
"""


@pytest.mark.parametrize("rows", [3, 40])  # followed one by one, and a loop of the graph
@pytest.mark.parametrize("head", ["v in x", "i, v in enumerate(x)"])
@pytest.mark.parametrize("write", ["x.add_(1)", "v.mul_(2)", "x[-1] = x[-1] + v", "x[0] = v"])
def test_rows_are_views(rows: int, head: str, write: str) -> None:
    program = from_text(ROWS.format(rows=rows, head=head, write=write, most=rows), "program", f"<{head}: {write}>")
    compiled = torch.compile(convert(program), backend="eager", fullgraph=True)
    for x in (torch.full((rows,), 0.1), torch.ones(rows)):
        for found, expected in zip(compiled(x), program(x)):
            torch.testing.assert_close(found, expected)


LISTS = """
def program(x):
    xs, ys = [x, x * 2, x * 3], {{"a": x, "b": x * 2}}
    total = torch.zeros(())
    for {head}:
        {write}
        total = total + v.sum()
        if total > 7:
            break
    return total, xs, ys
"""


@pytest.mark.parametrize(
    ("head", "write"),
    [
        ("v in xs", "xs[2] = xs[2] + v"),
        ("i, v in enumerate(xs)", "xs[i] = v + 1"),
        ("i, v in enumerate(xs)", "xs[(i + 1) % 3] = xs[i] + v"),
        ("v, w in zip(xs, reversed(xs))", "xs[1], xs[0] = xs[1] + w, v * 2"),
        ("v, (w, _) in zip(xs, zip([x, x, xs[2]], xs))", "xs[2] = xs[2] + v"),
        ("i, v in enumerate(reversed(xs))", "xs[0] = xs[0] + i"),
        ("v in list(xs)", "xs[2] = xs[2] + v"),
        ("v in xs[1:]", "xs[2] = xs[2] + v"),
        ("k, v in ys.items()", 'ys["b"] = ys["b"] + v'),
        ("v in ys.values()", 'ys["b"] = ys["b"] + v'),
        ("k, v in ys.items()", "ys[k] = v * 3"),
    ],
)
@pytest.mark.parametrize("ends", ["if total > 7:\n            break", "if total > 7:\n            total = total * 2"])
def test_elements_that_trips_write_to(head: str, write: str, ends: str) -> None:
    text = LISTS.format(head=head, write=write).replace("if total > 7:\n            break", ends)
    program = from_text(text, "program", f"<{head}: {write}>")
    compiled = torch.compile(convert(program), backend="eager", fullgraph=True)
    for x in (ONES, ONES / 10):
        assert str(compiled(x)) == str(program(x))


def test_generators_of_modules() -> None:
    def clip(model: Model, x: torch.Tensor) -> torch.Tensor:
        for parameter in model.parameters():
            model.used = model.used + 1
            if parameter.sum() > x.sum():
                return parameter.sum()
        for v in model.batches(x):
            if v.sum() > 0:
                return v.sum()
        return x.sum()

    compiled = torch.compile(convert(clip), backend="eager", fullgraph=True)
    torch.manual_seed(0)
    model = Model()
    for x in (ONES, ONES * 100, -ONES):
        model.used = 0
        expected, used = clip(model, x), model.used
        model.used = 0
        assert torch.equal(compiled(model, x), expected) and model.used == used


def sees_writes(x: torch.Tensor) -> torch.Tensor:
    held = [x]
    total = torch.zeros(())
    for v in (held[0] * i for i in range(3)):
        held[0] = held[0] + 1
        total = total + v.sum()
        if total > 100:
            break
    return total


def sees_writes_to_a_tensor(x: torch.Tensor) -> torch.Tensor:
    own = x.clone()
    total = torch.zeros(())
    for v in (own * i for i in range(3)):
        own.add_(1)
        total = total + v.sum()
        if total > 100:
            break
    return total


def sees_a_variable(x: torch.Tensor) -> torch.Tensor:
    factor = 1
    total = torch.zeros(())
    for v in (x * factor for _ in range(3)):
        factor = factor + 1
        total = total + v.sum()
        if total > 100:
            break
    return total


def sees_a_variable_in_a_lambda(x: torch.Tensor) -> torch.Tensor:
    factor = 1
    total = torch.zeros(())
    rows = map(lambda k: x * k * factor, range(1, 4))
    for v in rows:
        factor = factor + 1
        total = total + v.sum()
        if total > 100:
            break
    return total


def comes_to_what_is_appended(x: torch.Tensor) -> torch.Tensor:
    queue = [x, x * 2]
    total = torch.zeros(())
    for v in queue:
        if len(queue) < 4:
            queue.append(v * 3)
        total = total + v.sum()
        if total > 100:
            break
    return total


def sees_elements_through_a_function(x: torch.Tensor) -> torch.Tensor:
    rows = [x, x * 2, x * 3]
    total = torch.zeros(())
    for v in map(lambda row: row * 2, rows):
        rows[2] = rows[2] + 1
        total = total + v.sum()
        if total > 100:
            break
    return total


def prints(x: torch.Tensor) -> torch.Tensor:
    def rows() -> Iterator[torch.Tensor]:
        for i in range(3):
            print("row", i)
            yield x * i

    total = torch.zeros(())
    for v in rows():
        total = total + v.sum()
        if total > 2:
            break
    return total


def prints_in_a_branch(x: torch.Tensor) -> torch.Tensor:
    return prints(x) if x[0] > 0 else x.sum()


def logs(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    taken: list[int] = []

    def rows() -> Iterator[torch.Tensor]:
        for i in range(3):
            taken.append(i)
            yield x * i

    total = torch.zeros(())
    for v in rows():
        total = total + v.sum()
        if total > 2:
            break
    return total, len(taken)


def summed(rows: Iterator[torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(())
    for v in rows:
        total = total + v.sum()
        if total > 2:
            break
    return total


def used_afterwards(x: torch.Tensor) -> tuple[torch.Tensor, Any]:
    rows = iter([x, x * 2, x * 3])
    return summed(rows), next(rows, None)


def listed_afterwards(x: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
    rows = (x * i for i in range(3))
    total = torch.zeros(())
    for _, v in enumerate(rows):
        total = total + v.sum()
        if total > 2:
            break
    return total, list(rows)


class Source:
    def __init__(self) -> None:
        self.rows: Any = None
        self.values: list[int] = []


SOURCE = Source()


def kept_afterwards(x: torch.Tensor) -> torch.Tensor:
    SOURCE.rows = iter([x, x * 2, x * 3])
    return summed(SOURCE.rows)


def returned_afterwards(x: torch.Tensor) -> tuple[torch.Tensor, Any]:
    rows = iter([x, x * 2, x * 3])
    return summed(rows), rows


class Sum:
    def __init__(self) -> None:
        self.value = torch.zeros(())

    def add(self, v: torch.Tensor) -> None:
        self.value = self.value + v.sum()


class Counting:
    def __init__(self) -> None:
        self.seen: list[int] = []
        self.total = torch.zeros(2)

    def listed(self, x: torch.Tensor) -> Iterator[torch.Tensor]:
        for i in range(3):
            self.seen.append(i)
            yield x * i

    def added(self, x: torch.Tensor) -> Iterator[torch.Tensor]:
        for i in range(3):
            self.total[1:].add_(i)
            yield x * i


COUNTING = Counting()


def logs_in_an_object(x: torch.Tensor) -> torch.Tensor:
    return summed(COUNTING.listed(x))


def logs_in_an_object_that_is_known(x: torch.Tensor) -> torch.Tensor:
    COUNTING.seen.append(9)
    return summed(COUNTING.listed(x))


def writes_to_a_tensor_of_an_object(x: torch.Tensor) -> torch.Tensor:
    return summed(COUNTING.added(x))


def taken_from_in_a_branch(x: torch.Tensor) -> torch.Tensor:
    total = Sum()
    rows = iter([x, x * 2])
    if x.sum() > 0:
        for v in rows:
            total.add(v)  # known after a first trace, which has used up the iterator: 0 without the guard
    return total.value


def endless(x: torch.Tensor) -> torch.Tensor:
    total = torch.zeros(())
    for i in itertools.count():
        total = total + x.sum() + i
        if total > 4:
            break
    return total


AHEAD = "writes to elements that it has yet to come to"
SEES, DOES_MORE, SPENT = "to what the generator sees", "prints, or writes", "has run over"
REFUSED = [
    (sees_writes, SEES),
    (sees_writes_to_a_tensor, SEES),
    (sees_a_variable, SEES),
    (sees_a_variable_in_a_lambda, SEES),
    (comes_to_what_is_appended, SEES),
    (sees_elements_through_a_function, AHEAD),
    (prints, DOES_MORE),
    (prints_in_a_branch, DOES_MORE),
    (logs, DOES_MORE),
    (logs_in_an_object, DOES_MORE),
    (logs_in_an_object_that_is_known, DOES_MORE),
    (writes_to_a_tensor_of_an_object, DOES_MORE),
    (used_afterwards, SPENT),
    (listed_afterwards, SPENT),
    (kept_afterwards, "is kept"),
    (returned_afterwards, "is kept"),
    (taken_from_in_a_branch, "advances an iterator"),
    (endless, "more than 1024 elements"),
]


@pytest.mark.parametrize(("program", "reason"), REFUSED, ids=lambda one: getattr(one, "__name__", ""))
def test_place_of_an_iterator_that_data_decide(program: Callable[[torch.Tensor], Any], reason: str) -> None:
    with pytest.raises(CaptureError, match=reason):
        torch.compile(convert(program), backend="eager", fullgraph=True)(ONES)


def witness(x: torch.Tensor) -> Any:
    hit = x[0]
    found = any((hit := v) > 1.9 for v in x)
    return found, hit


def witness_of_all(x: torch.Tensor) -> Any:
    if all((hit := v) < 1.9 for v in x):
        return hit * 2
    return hit


def calls_that_count(x: torch.Tensor) -> Any:
    asked = 0
    log: list[int] = []

    def large(v: torch.Tensor) -> torch.Tensor:
        nonlocal asked
        asked += 1
        log.append(asked)
        return v > 1.9

    answer = 1 if not any(large(v) for v in x) else 2
    return answer, asked, all(large(v) for v in x), len(log)


def iterator_with_others_behind(x: torch.Tensor) -> Any:
    rows = iter(x)
    return any(v > 1.9 for v in rows), list(rows)


def checks_that_raise(x: torch.Tensor) -> Any:
    def large(v: torch.Tensor) -> torch.Tensor:
        if v < -2:
            raise ValueError("too small")
        return v > 1.9

    return any(large(v) for v in x)


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize(
    "function", [witness, witness_of_all, calls_that_count, iterator_with_others_behind, checks_that_raise]
)
def test_any_and_all_come_as_far_as_in_eager(function: Callable[..., Any]) -> None:
    def outcome(subject: Callable[..., Any], x: torch.Tensor) -> str:
        try:
            return repr(subject(x))
        except ValueError as error:
            return repr(error)

    found = torch.compile(convert(function), backend="eager", fullgraph=True)
    for values in ([1.5, 2.0, -3.0], [-1.5, 2.0, 3.0], [-1.5, -2.0, 1.0], [-3.0, 2.0, 1.0], [1.0, 1.0, 1.0]):
        x = torch.tensor(values)
        assert outcome(found, x) == outcome(convert(function), x) == outcome(function, x), values


def test_any_and_all_in_a_file_are_pythons() -> None:
    text = to_source(calls_that_count)
    assert "ag.any_" in text
    found = from_text(text, "calls_that_count", "<any and all>", {"Any": Any, "ag": runtime})
    for values in ([1.5, 2.0, -3.0], [-1.5, -2.0, 1.0], [2.0, 2.0, 2.0]):
        assert repr(found(torch.tensor(values))) == repr(calls_that_count(torch.tensor(values)))


def test_any_and_all_of_what_does_nothing_else_are_of_the_graph() -> None:
    def asks(x: torch.Tensor) -> Any:
        return (
            any(v > 1.9 for v in x),
            all(v > 0 and v < 3 for v in x),
            any([v > 1.9 for v in x]),
            all(v.isnan() for v in x),
        )

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = torch.compile(convert(asks), backend="eager", fullgraph=True)
        for values in ([1.5, 2.0, -3.0], [1.0, 1.5, 1.0], [1.0, float("nan"), 5.0]):
            assert found(torch.tensor(values)) == asks(torch.tensor(values))


@pytest.mark.parametrize("given", [True, False], ids=["of the caller", "made by the first call"])
@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_calls_go_on_where_the_last_one_has_stopped(given: bool) -> None:
    values = torch.tensor([-1.0, 2.0, -3.0, 4.0])

    def outcome(way: Any) -> list[Any]:
        source = Source()
        source.rows = iter(values) if given else None

        def step(limit: torch.Tensor) -> Any:
            if source.rows is None:
                source.rows = iter(values)
            for row in source.rows:
                if row > limit:
                    return row
            return None

        run = way(step)
        return [repr(run(torch.tensor(limit))) for limit in (0.0, 0.0, -5.0, 0.0)]

    assert outcome(compiled) == outcome(lambda one: one)


def taken_from(x: torch.Tensor, taken: int) -> torch.Tensor:
    SOURCE.rows = iter(SOURCE.values)
    for _ in range(taken):
        x = x + next(SOURCE.rows, 7)
    return x


@pytest.mark.parametrize("taken", [0, 1, 2, 3])
def test_an_iterator_that_is_kept_is_of_its_list(taken: int) -> None:
    def outcome(way: Any) -> Any:
        SOURCE.values = [1, 2]
        total = way(taken_from)(torch.ones(1), taken)
        SOURCE.values.append(3)
        return repr(total), type(SOURCE.rows), list(SOURCE.rows)

    assert outcome(compiled) == outcome(lambda one: one)


def returned_with_its_list(x: torch.Tensor) -> Any:
    rows = [x, x * 2]
    left = iter(rows)
    return next(left), rows, left


def test_an_iterator_of_a_list_that_is_made() -> None:
    first, rows, left = compiled(returned_with_its_list)(ONES)
    rows.append(ZEROS)
    assert torch.equal(first, ONES) and [one.sum().item() for one in left] == [6.0, 0.0]


AT_ONCE = """
def program(x):
    xs = {made}
    try:
        left = {iterator}
        {write}
        return {use}
    except (RuntimeError, TypeError, StopIteration) as error:
        return repr(error)
"""
FROM_BEHIND = torch_before("2.13", "`reversed` is a tuple")
DEQUE, DICT = "deque([x, x + 1])", "{'a': x, 'b': x + 1}"


def outcomes(text: str, way: Callable[[Any], Any]) -> list[str]:
    program = from_text(text, "program", f"<at once {hash(text)}>", {"deque": deque})
    run = way(program)
    return [repr(run(torch.tensor(value))) for value in (1.0, -1.0, 2.0)]


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize("branch", ["if x > 0: ", ""], ids=["in a branch", "in any case"])
@pytest.mark.parametrize("use", ["(lambda *a: a)(*left)", "next(left), list(left)"])
@pytest.mark.parametrize(
    ("made", "iterator", "write"),
    [
        ("[x, x + 1]", "iter(xs)", "xs.append(x * 2)"),
        ("[x, x + 1]", "iter(xs)", "xs.pop()"),
        (DEQUE, "iter(xs)", "xs.append(x * 2)"),
        pytest.param("[x, x + 1]", "reversed(xs)", "xs.append(x * 2)", marks=FROM_BEHIND),
        pytest.param("[x, x + 1]", "reversed(xs)", "xs.pop()", marks=FROM_BEHIND),
        pytest.param("[x, x + 1]", "reversed(xs)", "xs[0] = x * 2", marks=FROM_BEHIND),
        pytest.param(DEQUE, "reversed(xs)", "xs[0] = x * 2", marks=FROM_BEHIND),
        pytest.param(DEQUE, "reversed(xs)", "xs.pop()", marks=FROM_BEHIND),
        pytest.param(DICT, "reversed(xs.values())", "xs['a'] = x * 2", marks=FROM_BEHIND),
        pytest.param(DICT, "reversed(xs.items())", "xs['c'] = x * 2", marks=FROM_BEHIND),
        pytest.param(DICT, "reversed(xs)", "xs['c'] = x * 2", marks=FROM_BEHIND),
    ],
)
def test_what_is_left_is_what_is_there_then(made: str, iterator: str, write: str, use: str, branch: str) -> None:
    text = AT_ONCE.format(made=made, iterator=iterator, write=branch + write, use=use)
    assert outcomes(text, compiled) == outcomes(text, lambda one: one)


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize("made", ["[x]", DEQUE, DICT])
def test_an_iterator_that_has_come_to_its_end(made: str) -> None:
    """Of a list or dict it stays there; that of a deque looks whether the deque has changed."""
    write = "xs['c'] = x" if made == DICT else "xs.append(x)"
    text = AT_ONCE.format(made=made, iterator="iter(xs)", write=f"first = list(left); {write}", use="first, list(left)")
    assert outcomes(text, compiled) == outcomes(text, lambda one: one)


@pytest.mark.parametrize("taken", [0, 1, 2, 3])
@pytest.mark.parametrize("iterator", ["iter(xs)", pytest.param("reversed(xs)", marks=FROM_BEHIND)])
@pytest.mark.parametrize("made", ["[x, x + 1]", DEQUE])
def test_an_iterator_that_is_returned_is_of_what_it_runs_over(made: str, iterator: str, taken: int) -> None:
    write = f"for _ in range({taken}): next(left, None)"
    text = AT_ONCE.format(made=made, iterator=iterator, write=write, use="left, xs")

    def outcome(way: Callable[[Any], Any]) -> list[Any]:
        program = from_text(text, "program", f"<returned {hash(text)}>", {"deque": deque})
        left, xs = way(program)(torch.tensor(1.0))
        xs[0] = "new"
        return [type(left), repr(list(left))]

    assert outcome(compiled) == outcome(lambda one: one)


def test_an_iterator_of_a_deque_that_has_changed_is_not_returned() -> None:
    def program(x: torch.Tensor) -> Any:
        xs = deque([x])
        left = iter(xs)
        xs.append(x)
        return left

    with pytest.raises(CaptureError, match="an iterator of a deque is kept"):
        compiled(program)(ONES)


def closed_in_a_branch(x: torch.Tensor) -> Any:
    rows = (k for k in (1, 2, 3))
    first = next(rows)
    if x.sum() > 1:
        rows.close()
    return x * first, next(rows, None)


def closed_by_a_helper(x: torch.Tensor) -> Any:
    def stop() -> None:
        end()

    rows = (k for k in (1, 2, 3))
    end = rows.close
    if x.sum() > 1:
        stop()
    return x, list(rows)


def closed_on_both_sides(x: torch.Tensor) -> Any:
    log: list[str] = []

    def making() -> Iterator[int]:
        try:
            yield 1
        finally:
            log.append("closed")

    rows = making()
    next(rows)
    if x.sum() > 1:
        rows.close()
        x = x * 2
    else:
        rows.close()
    return x, log


def closed_in_a_loop(x: torch.Tensor) -> Any:
    rows, total = (k for k in (1, 2, 3)), x * 0
    for k in rows:
        total = total + x * k
        if total.sum() > 4:
            rows.close()
    return total


def closed_in_a_loop_on_data(x: torch.Tensor) -> Any:
    rows = (k for k in (1, 2, 3))
    next(rows)
    while x.sum() < 20 and x.sum() > 1:
        x = x * 2
        rows.close()
    return x, next(rows, "end")


def closed_behind_a_loop(x: torch.Tensor) -> Any:
    log: list[str] = []

    def making() -> Iterator[int]:
        try:
            yield 1
            yield 2
        except GeneratorExit:
            log.append("exit")
            raise

    rows, total = making(), x * 0
    for k in rows:
        total = total + x * k
        if total.sum() > 1:
            break
    rows.close()
    return total, log


def thrown_into_in_a_branch(x: torch.Tensor) -> Any:
    def counting() -> Iterator[int]:
        n = 0
        while True:
            try:
                n += 1
                yield n
            except KeyError:
                n += 100

    rows = counting()
    first = next(rows)
    if x.sum() > 1:
        first = rows.throw(KeyError())
    return x * first, next(rows)


def sent_into_in_a_branch(x: torch.Tensor) -> Any:
    def adding() -> Any:
        n = 0
        while True:
            n += (yield n) or 0

    rows = adding()
    next(rows)
    if x.sum() > 1:
        rows.send(5)
    return x, rows.send(1)


MOVED = (closed_in_a_branch, closed_by_a_helper, closed_on_both_sides, closed_in_a_loop, closed_in_a_loop_on_data)
MOVED_BY_OTHERS = (closed_behind_a_loop, thrown_into_in_a_branch, sent_into_in_a_branch)


@pytest.mark.parametrize("function", (*MOVED, *MOVED_BY_OTHERS))
def test_a_generator_that_data_close_or_go_on_with(function: Callable[[torch.Tensor], Any]) -> None:
    inputs = [lambda: (ONES.clone(),), lambda: (ZEROS.clone(),), lambda: (ONES * 9,)]
    reason = "an iterator is used" if function is closed_behind_a_loop else "advances an iterator"
    subject = program(inputs=inputs, refused=reason)(function)
    verdict = agreement(subject.__program__, "eager")  # type: ignore[attr-defined]
    assert verdict.kind == "refused" and reason in verdict.reason
    check_any_graph(subject)
