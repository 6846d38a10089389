"""`vars(obj)` and `obj.__dict__`: the object's own dict, with Python's order, also behind branches."""

from __future__ import annotations

import copy
import dataclasses
import warnings
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, OnePathWarning
from autograph_torch.capture import instance_dicts
from tests.harness import check, check_any_graph, compiled, integer, leave_out, program, torch_before, vec

TWO = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]
pytestmark = torch_before("2.13", "the dict of an object cannot be followed, or is a value of its own")


class State:
    def __init__(self, n: Any = 0) -> None:
        self.n = n


class Limited:
    def __init__(self) -> None:
        self.n = 0

    @property
    def level(self) -> int:
        return self._level

    @level.setter
    def level(self, value: int) -> None:
        self._level = min(value, 3)


@dataclasses.dataclass
class Pair:
    a: int
    b: Any = None


@program(inputs=TWO)
def of_an_object_that_is_not_given_back(x: Tensor) -> Any:
    s = State()
    s.level = x
    return vars(s), s.__dict__


@program(inputs=TWO)
def set_in_both_branches(x: Tensor) -> Any:
    s = State()
    s.v = x
    if x.sum() > 0:
        s.level = 2
    else:
        s.level = 1
    return list(vars(s)), dict(vars(s)), {**vars(s), "k": 1}, sorted(vars(s).items(), key=lambda pair: pair[0])


@program(inputs=TWO)
def set_in_one_branch(x: Tensor) -> Any:
    s = State()
    if x.sum() > 0:
        s.level = 2
    return vars(s), len(vars(s)), "level" in vars(s)


@program(inputs=TWO)
def written_in_a_branch(x: Tensor) -> Any:
    s = State()
    if x.sum() > 0:
        s.n = x.sum()
    return list(vars(s).values()), {k: v for k, v in s.__dict__.items()}


@program(inputs=TWO)
def in_another_order(x: Tensor) -> Any:
    s = State()
    if x.sum() > 0:
        s.p, s.q = 1, 2
    else:
        s.q, s.p = 1, 2
    return list(vars(s)), s.p


@program(inputs=TWO)
def written_by_both_names(x: Tensor) -> Any:
    s, t = State(1), State(2)
    if x.sum() > 0:
        t.__dict__.update(vars(s), m=7)
        t.n += 3
    return t.n, vars(t)


@program(inputs=TWO)
def read_behind_a_write_to_the_dict(x: Tensor) -> Any:
    s = State(2)
    d = vars(s)
    if x.sum() > 0:
        d["n"] = 7
        s.n += 3
    return s.n


@program(inputs=TWO)
def written_by_a_name_of_the_dict(x: Tensor) -> Any:
    s = State()
    d = vars(s)
    if x.sum() > 0:
        s.n = 5
        d["m"] = s.n + 1
    return s.n, hasattr(s, "m"), d, d is vars(s)


@program(inputs=TWO)
def of_an_object_with_a_setter(x: Tensor) -> Any:
    s = Limited()
    s.level = 5
    if x.sum() > 0:
        s.level = 2
    return s.level, vars(s)


@program(inputs=TWO)
def deleted_and_set_again(x: Tensor) -> Any:
    s = State()
    s.t = x
    if x.sum() > 0:
        del s.t
        s.t = x + 1
        s.u = 1
    else:
        s.u = 2
        del s.t
        s.t = x
    return list(s.__dict__)


@program(inputs=TWO)
def of_a_function(x: Tensor) -> Any:
    def f() -> None: ...

    f.calls = 0  # type: ignore[attr-defined]
    if x.sum() > 0:
        f.calls += 1  # type: ignore[attr-defined]
    return vars(f), f.calls  # type: ignore[attr-defined]


@program(inputs=TWO)
def copies_and_dataclasses(x: Tensor) -> Any:
    one = State(1)
    one.x = x
    other, pair = copy.copy(one), Pair(1, x)
    if x.sum() > 0:
        other.n, pair.a, pair.b = 9, 2, x * 2
    return vars(one), vars(other), dataclasses.astuple(pair), vars(pair)


@program(inputs=[lambda: (State(), vec(1, 2)), lambda: (State(), vec(-1, -2))])
def of_an_argument(s: Any, x: Tensor) -> Any:
    s.old, s.gone = 1, 2
    if x.sum() > 0:
        s.n = x * 2
    del s.gone
    s.new = 3
    return list(vars(s)), vars(s)


@program(inputs=[lambda: (vec(1, 2), integer(2)), lambda: (vec(-1, -2), integer(0)), lambda: (vec(-1, 2), integer(3))])
def written_to_a_function(x: Tensor, n: Tensor) -> Any:
    def own(q: Tensor) -> Any:
        return q + own.calls  # type: ignore[attr-defined]

    own.calls = 1  # type: ignore[attr-defined]
    for _ in range(n):  # type: ignore[call-overload]
        own.calls += 2  # type: ignore[attr-defined]
    if x.sum() > 0:
        own.last = x + 1  # type: ignore[attr-defined]
    else:
        own.last = x * 2  # type: ignore[attr-defined]
    return own(x), "last" in vars(own), hasattr(own, "last"), sorted(vars(own)), dict(vars(own)), own.__dict__["calls"]


@program(inputs=[lambda: (vec(1, 2), integer(2)), lambda: (vec(-1, -2), integer(0)), lambda: (vec(-1, 2), integer(3))])
def first_set_on_a_function_in_a_loop(x: Tensor, n: Tensor) -> Any:
    def own(q: Tensor) -> Tensor:
        return q

    for i in range(n):  # type: ignore[call-overload]
        own.last = x + i  # type: ignore[attr-defined]
    return "last" in vars(own), hasattr(own, "last"), len(vars(own)), list(own.__dict__.items())


@program(inputs=TWO)
def set_on_a_function_in_another_order(x: Tensor) -> Any:
    def own(q: Tensor) -> Tensor:
        return q

    if x.sum() > 0:
        own.p, own.q = 1, 2  # type: ignore[attr-defined]
    else:
        own.q, own.p = 1, 2  # type: ignore[attr-defined]
    return list(vars(own)), own.p  # type: ignore[attr-defined]


@program(inputs=TWO)
def taken_from_a_function(x: Tensor) -> Any:
    def own(q: Tensor) -> Tensor:
        return q

    own.last = x  # type: ignore[attr-defined]
    if x.sum() > 0:
        del own.last  # type: ignore[attr-defined]
    return getattr(own, "last", 5), hasattr(own, "last"), "last" in vars(own)


PROGRAMS = [
    of_an_object_that_is_not_given_back,
    set_in_both_branches,
    set_in_one_branch,
    written_in_a_branch,
    in_another_order,
    written_by_both_names,
    read_behind_a_write_to_the_dict,
    written_by_a_name_of_the_dict,
    of_an_object_with_a_setter,
    deleted_and_set_again,
    of_a_function,
    copies_and_dataclasses,
    of_an_argument,
    written_to_a_function,
    first_set_on_a_function_in_a_loop,
    set_on_a_function_in_another_order,
    taken_from_a_function,
]


@pytest.mark.parametrize("found", PROGRAMS, ids=lambda one: one.__name__)
def test_as_eager(found: Any) -> None:
    check_any_graph(found)


def live(x: Tensor) -> Any:
    s = State()
    s.level = x
    return s, vars(s)


def test_what_is_given_back_is_the_dict_of_the_object() -> None:
    state, attributes = compiled(live)(vec(1))
    assert attributes is vars(state)


class Bare:
    pass


class Scaler:
    scale, good, skipped = 4.0, 0, 0

    def update(self, g: Tensor) -> Any:
        if not torch.isfinite(g).all():
            self.scale /= 2
            self.good = 0
            self.skipped += 1
            return None
        self.good += 1
        if self.good % 2 == 0:
            self.scale *= 2
        return g / self.scale


def updated(scaler: Scaler, x: Tensor) -> Any:
    return scaler.update(x), scaler.update(x * 2)


@pytest.mark.parametrize("value", [1.0, float("inf")])
def test_new_attributes_of_what_is_given_back(value: float) -> None:
    """The first call, which makes them, takes one path; in the next the object has them."""
    one, other, run = Scaler(), Scaler(), compiled(updated)
    for _ in range(2):
        expected = updated(one, vec(value))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OnePathWarning)
            actual = run(other, vec(value))
        assert str(actual) == str(expected)
        assert list(vars(other).items()) == list(vars(one).items())


def replaced(x: Tensor) -> Any:
    s = State()
    s.__dict__ = {"n": 5}
    return s.n + x


def replaced_before_anything_is_set(x: Tensor) -> Any:
    s: Any = Bare()
    s.__dict__ = {"n": 5}
    return s.n + x


@pytest.mark.parametrize("function", [replaced, replaced_before_anything_is_set])
def test_another_dict_is_refused(function: Any) -> None:
    with pytest.raises(CaptureError, match="an object is given another dict for its attributes"):
        compiled(function)(vec(1))


class KeepsItsDict:
    def __init__(self) -> None:
        self.n = 0
        self.state = self.__dict__


def written_by_its_dict(one: Any, x: Tensor) -> Any:
    one.state["n"] += 1
    return x * one.n


def seen_in_its_dict(one: Any, x: Tensor) -> Any:
    one.n += 1
    return x * one.state["n"]


def only_read(one: Any, x: Tensor) -> Any:
    return x * one.state["n"] + one.n


@pytest.mark.parametrize("function", [written_by_its_dict, seen_in_its_dict])
def test_a_dict_with_a_name_of_its_own(function: Any) -> None:
    with pytest.raises(CaptureError, match="AG206 the attributes of an object of KeepsItsDict change"):
        compiled(function)(KeepsItsDict(), vec(1))


def test_a_dict_with_a_name_of_its_own_that_does_not_change() -> None:
    assert compiled(only_read)(KeepsItsDict(), vec(1)).tolist() == [0.0]


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile gives back the dict of the object."""
    leave_out(monkeypatch, instance_dicts.instance_dicts)
    found = of_an_object_that_is_not_given_back.__program__  # type: ignore[attr-defined]
    assert check(found, "any graph").kind == "wrong"
