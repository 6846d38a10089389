"""Objects that are one in some calls and two in others; keys that are other objects; all of it as in eager."""

from __future__ import annotations

import enum
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from torch import Tensor

from autograph_torch.capture import aliases, identities
from tests.calls_in_turn import calls_between_changes, differing_calls
from tests.harness import leave_out, torch_before, vec

pytestmark = torch_before("2.12", "identity is compared in another place")


class State:
    def __init__(self) -> None:
        self.v: Any = 0

    def step(self) -> int:
        return 1


class Other(State): ...


class Mode(enum.Enum):
    MEAN = 1
    SUM = 2


AROUND = State()
AROUND_LIST: list[int] = []


def is_one(x: Tensor, a: Any, b: Any) -> Any:
    return x + 1, a is b, a is not b


def equals(x: Tensor, a: Any, b: Any) -> Any:
    return x + 1, a == b, a != b


def written_twice(x: Tensor, a: State, b: State) -> Any:
    a.v = 1
    b.v = 2
    return x + 1, a.v


def tensors_written_twice(x: Tensor, a: State, b: State) -> Any:
    a.v = x + 1
    b.v = x + 2
    return a.v * 2


def appended(x: Tensor, a: list[Any], b: list[Any]) -> Any:
    a.append(1)
    return x + 1, len(b)


def set_by_key(x: Tensor, a: dict[str, int], b: dict[str, int]) -> Any:
    a["k"] = 1
    return x + 1, len(b), list(b)


def written_in_a_branch(x: Tensor, a: State, b: State) -> Any:
    if x.sum() > 0:
        a.v = 3
    return x + 1, b.v


def inside(x: Tensor, pair: list[Any]) -> Any:
    pair[0].v = 1
    pair[1].v = 2
    return x + 1, pair[0].v


def with_a_global(x: Tensor, a: State) -> Any:
    AROUND.v = 1
    a.v = 2
    return x + 1, AROUND.v, a is AROUND


def with_a_global_list(x: Tensor, a: list[int]) -> Any:
    before = len(AROUND_LIST)
    a.append(1)
    return x + 1, len(AROUND_LIST) - before


def methods(x: Tensor, a: State, b: State) -> Any:
    return x + 1, a.step == b.step, a.step != b.step, len({a.step, b.step}), a.step == a.step


def shapes(x: Tensor, a: Tensor, b: Tensor) -> Any:
    return x + 1, a.shape == b.shape, a.shape is b.shape, a.stride() == b.stride()


def as_a_key(x: Tensor, a: Any, b: Any) -> Any:
    return x + 1, {a: 1}.get(b), b in {a}, len({a, b}), {(a, 1): 2}.get((b, 1)), [a].count(b)


def among(x: Tensor, a: Any, b: Any) -> Any:
    return x + 1, a in [b], a in (b,), [b].count(a)


def two(kind: Callable[[], Any]) -> tuple[Any, Any]:
    return kind(), kind()


def same(kind: Callable[[], Any]) -> tuple[Any, Any]:
    one = kind()
    return one, one


PAIRS: list[tuple[Callable[..., Any], Callable[[], Any]]] = [
    (is_one, State),
    (is_one, list),
    (is_one, lambda: lambda: 0),
    (equals, State),
    (written_twice, State),
    (tensors_written_twice, State),
    (appended, list),
    (set_by_key, dict),
    (written_in_a_branch, State),
    (is_one, deque),
    (is_one, lambda: tuple([1, 2])),
    (is_one, lambda: frozenset([1, 2])),
    (is_one, lambda: partial(is_one)),
    (is_one, object),
    (is_one, lambda: range(3)),
    (is_one, lambda: slice(3)),
    (is_one, lambda: [].append),
    (is_one, {1: 2}.keys),
    (methods, State),
    (shapes, lambda: vec(1, 2)),
    (among, State),
    (among, lambda: lambda: 0),
    (as_a_key, State),
    (as_a_key, lambda: lambda: 0),
]
ORDERS = [(two, same, two), (same, two, same)]


@pytest.mark.parametrize("order", ORDERS, ids=["two first", "one first"])
@pytest.mark.parametrize("function, kind", PAIRS, ids=lambda one: getattr(one, "__name__", ""))
def test_two_arguments(function: Callable[..., Any], kind: Callable[[], Any], order: Any) -> None:
    assert not differing_calls(lambda: (function, [lambda pair=pair: pair(kind) for pair in order]))  # type: ignore[misc]


@pytest.mark.parametrize("order", ORDERS, ids=["two first", "one first"])
def test_inside_an_argument(order: Any) -> None:
    assert not differing_calls(lambda: (inside, [lambda pair=pair: ([*pair(State)],) for pair in order]))  # type: ignore[misc]


@pytest.mark.parametrize("order", [(True, False, True), (False, True, False)], ids=["one first", "two first"])
def test_an_argument_and_a_global(order: tuple[bool, ...]) -> None:
    calls = [lambda is_one=is_one: (AROUND if is_one else State(),) for is_one in order]  # type: ignore[misc]
    assert not differing_calls(lambda: (with_a_global, calls))
    lists = [lambda is_one=is_one: (AROUND_LIST if is_one else [],) for is_one in order]  # type: ignore[misc]
    assert not differing_calls(lambda: (with_a_global_list, lists))


def table(x: Tensor, keys: list[Any]) -> Any:
    known = {Mode.MEAN: 1, Mode.SUM: 2, State: 3, Other: 4, is_one: 5}
    return x + 1, known.get(keys[0]), keys[0] in {Mode.MEAN, State}, [Mode.MEAN, State].count(keys[0])


def single(x: Tensor, keys: list[Any]) -> Any:
    return x + 1, {Mode.MEAN: 1, State: 2, is_one: 3}.get(keys[0])


@pytest.mark.parametrize("function", [table, single])
@pytest.mark.parametrize(
    "keys", [(Mode.MEAN, Mode.SUM), (State, Other), (is_one, equals)], ids=["enum", "class", "def"]
)
def test_keys_of_a_table(keys: tuple[Any, Any], function: Callable[..., Any]) -> None:
    calls = [lambda key=key: ([key],) for key in (*keys, *keys)]  # type: ignore[misc]
    assert not differing_calls(lambda: (function, calls))


def made() -> Any:
    def helper() -> int:
        return 0

    return helper


KNOWN = {made(): k for k in range(2)}


def given_table(x: Tensor, key: Any) -> Any:
    return x + 1, KNOWN.get(key), key in KNOWN


def test_functions_of_one_code_in_a_table_that_was_there() -> None:
    keys = [*KNOWN, *KNOWN, made()]
    assert not differing_calls(lambda: (given_table, [lambda key=key: (key,) for key in keys]))  # type: ignore[misc]


MISSING, AUTO = object(), object()


def with_a_sentinel(x: Tensor, mode: Any) -> Any:
    return x * 2 if mode is MISSING else x, mode is not AUTO


def test_a_sentinel_and_an_argument() -> None:
    modes = [MISSING, AUTO, object(), None, MISSING]
    assert not differing_calls(lambda: (with_a_sentinel, [lambda mode=mode: (mode,) for mode in modes]))  # type: ignore[misc]


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile asks later calls for what was two objects."""
    leave_out(monkeypatch, aliases.aliases)
    assert differing_calls(lambda: (written_twice, [lambda: two(State), lambda: same(State)]))


def test_keys_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile guards the keys that are looked up."""
    leave_out(monkeypatch, identities.identities)
    keys = (State, Other, State)
    assert differing_calls(lambda: (single, [lambda key=key: ([key],) for key in keys]))  # type: ignore[misc]


class Solver:
    def __init__(self) -> None:
        self.method = self.slow
        self.methods = [self.slow, self.fast]

    def slow(self) -> int:
        return 1

    def fast(self) -> int:
        return 2


def kept_methods(x: Tensor, o: Solver) -> Any:
    first, second = o.methods
    return (
        x + 1,
        o.method == o.slow,
        o.slow == o.method,
        o.method != o.fast,
        o.method == first,
        first == second,
        o.method in o.methods,
        o.method == 1,
    )


def test_methods_that_lie_somewhere() -> None:
    other = Solver()
    changes: list[Callable[[Any], Any]] = [
        lambda o: setattr(o, "method", o.fast),
        lambda o: setattr(o, "method", other.slow),
        lambda o: setattr(o, "methods", [o.fast, o.fast]),
        lambda o: setattr(o, "methods", [other.slow, o.slow]),
        lambda o: setattr(o, "method", o.slow),
    ]
    assert not differing_calls(calls_between_changes(kept_methods, Solver, changes))


def read_methods(x: Tensor, o: Solver) -> Any:
    read, again = o.slow, getattr(o, "slow")  # noqa: B009
    chosen = kept = read
    if x.sum() > 0:
        kept, x = read, x + 1
    if x[0] > 0:
        chosen = o.fast
    one = o.slow is o.slow, o.slow is not o.slow, read is again, [read][0] is read, kept is read, chosen is read
    return x, one, o.method is o.slow, o.method is o.method, o.method is o.methods[0], Solver.slow is Solver.slow


def test_each_read_makes_another_method() -> None:
    solver = Solver()
    values = [(1.0, 2.0), (-1.0, 3.0), (1.0, -9.0), (-1.0, -2.0)]
    assert not differing_calls(lambda: (of_data, [lambda value=value: (vec(*value), solver) for value in values]))  # type: ignore[misc]
    changes: list[Callable[[Any], Any]] = [
        lambda o: setattr(o, "method", o.methods[0]),
        lambda o: setattr(o, "method", o.fast),
    ]
    assert not differing_calls(calls_between_changes(read_methods, Solver, changes))


def of_data(_: Tensor, x: Tensor, solver: Solver) -> Any:
    return read_methods(x, solver)
