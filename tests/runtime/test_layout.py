"""Which results of two branches, and which states of a loop, have a common form; what is said when they have none."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import pytest
import torch

from autograph_torch.runtime import fields, layout
from autograph_torch.runtime.layout import Mismatch, Spec
from autograph_torch.runtime.structure import spec_of
from autograph_torch.runtime.values import HOLE, Undefined

Point = namedtuple("Point", "x y")


def tensor(
    *sizes: int,
    dtype: torch.dtype = torch.float32,
    device: str = "cpu",
    grad: bool = False,
    order: tuple[int, ...] | None = None,
) -> Spec:
    return ("tensor", dtype, sizes, device, grad, order)


def const(value: Any) -> Spec:
    return ("const", value)


def either(spec: Spec, kinds: str) -> Spec:
    return ("either", kinds, (spec,))


def number(name: str) -> Spec:
    return ("number", name)


def pair(*parts: Spec) -> Spec:
    return ("tuple", len(parts), parts)


def record(**parts: Spec) -> Spec:
    return ("dict", tuple((type(key).__name__, key) for key in parts), tuple(parts.values()))


def maybe(part: Spec) -> Spec:
    return ("maybe", "y", (part,))


HOLE_SPEC: Spec = ("hole",)
UNBOUND: Spec = ("undefined", "y")
MASK = tensor(2, dtype=torch.bool)
COUNT = tensor(dtype=torch.int64)

JOINS: dict[str, tuple[Spec, Spec, Spec]] = {
    "equal tensors": (tensor(2), tensor(2), tensor(2)),
    "other sizes": (tensor(2, 3), tensor(2, 4), tensor(2, -1)),
    "unknown size": (tensor(-1), tensor(3), tensor(-1)),
    "one needs a gradient": (tensor(2), tensor(2, grad=True), tensor(2, grad=True)),
    "one order in memory": (tensor(2, 3, order=(1, 0)), tensor(2, 4, order=(1, 0)), tensor(2, -1, order=(1, 0))),
    "other orders in memory": (tensor(2, 3, order=(1, 0)), tensor(2, 3), tensor(2, 3)),
    "equal constants": (const(1), const(1), const(1)),
    "None": (const(None), const(None), const(None)),
    "words": (const("a"), const("a"), const("a")),
    "dtypes": (const(torch.int64), const(torch.int64), const(torch.int64)),
    "other numbers": (const(1), const(2), number("int")),
    "other floats": (const(1.0), const(2.0), number("float")),
    "other truth values": (const(True), const(False), number("bool")),
    "signed zeros": (const(0.0), const(-0.0), number("float")),
    "number and constant": (number("int"), const(2), number("int")),
    "numbers": (number("float"), number("float"), number("float")),
    "scalar tensor and its number": (tensor(), const(1.5), either(tensor(), "float:2:1")),
    "scalar tensor and a long number": (tensor(), const(0.1), either(tensor(), "float:1:55")),
    "scalar tensor, or a number, and another": (
        either(tensor(), "int"),
        const(1.5),
        either(tensor(), "float:2:1 int"),
    ),
    "scalar tensor and an int": (tensor(), number("int"), either(tensor(), "int")),
    "an int and a scalar tensor": (const(1), COUNT, either(COUNT, "int:1:0")),
    "tuples": (pair(const(1), tensor(2)), pair(const(1), tensor(3)), pair(const(1), tensor(-1))),
    "lists": (("list", 1, (const(1),)), ("list", 1, (const(2),)), ("list", 1, (number("int"),))),
    "dicts": (record(a=const(1)), record(a=const(1)), record(a=const(1))),
    "named tuples": (("named", Point, (const(1), tensor())),) * 3,
    "nested": (pair(pair(const(1))), pair(pair(const(2))), pair(pair(number("int")))),
    "the same object": (("same", 0, tensor(2)), ("same", 0, tensor(2)), ("same", 0, tensor(2))),
    "another object": (("same", 0, tensor(2)), ("same", 1, tensor(2)), tensor(2)),
    "the object and a new tensor": (("same", 0, tensor(2)), tensor(3), tensor(-1)),
    "a hole and anything": (HOLE_SPEC, tensor(2), tensor(2)),
    "a hole and a number": (const(1), HOLE_SPEC, number("int")),
    "a hole and None": (const(None), HOLE_SPEC, const(None)),
    "two holes": (HOLE_SPEC, HOLE_SPEC, HOLE_SPEC),
    "unbound on both sides": (UNBOUND, UNBOUND, UNBOUND),
    "unbound on one side": (UNBOUND, tensor(2), maybe(tensor(2))),
    "unbound beside a number": (const(3), UNBOUND, maybe(number("int"))),
    "unbound beside a tuple": (pair(tensor(2)), UNBOUND, maybe(pair(tensor(2)))),
    "maybe and surely bound": (maybe(tensor(2)), tensor(2), maybe(tensor(2))),
    "maybe on both sides": (maybe(tensor(2)), maybe(tensor(3)), maybe(tensor(-1))),
    "maybe and unbound": (UNBOUND, maybe(tensor(2)), maybe(tensor(2))),
}

DIFFERENT: dict[str, tuple[Spec, Spec, str]] = {
    "dtypes": (tensor(2), COUNT, "a float32 tensor of shape (2) and a int64 tensor of shape ()"),
    "dtypes of one shape": (tensor(2), MASK, "float32 tensor of shape (2) and a bool tensor of shape (2)"),
    "ranks": (tensor(2), tensor(2, 1), "shape (2) and a float32 tensor of shape (2, 1)"),
    "devices": (tensor(2), tensor(2, device="cuda:0"), "float32"),
    "unknown sizes are shown": (tensor(-1), tensor(2, -1), "shape (?) and a float32 tensor of shape (2, ?)"),
    "tensor and None": (tensor(2), const(None), "and None"),
    "tensor and word": (const("a"), tensor(2), "the Python str 'a'"),
    "words": (const("a"), const("b"), "'a' and the Python str 'b'"),
    "None and number": (const(None), const(1), "None and the Python int 1"),
    "int and float": (const(1), const(1.0), "the Python int 1 and the Python float 1.0"),
    "int and bool": (const(1), const(True), "True"),
    "number types": (number("int"), number("float"), "a Python int and a Python float"),
    "vector and number": (tensor(2), const(1.0), "the Python float 1.0"),
    "float for an int tensor": (COUNT, const(1.5), "int64"),
    "int for a bool tensor": (tensor(dtype=torch.bool), const(1), "bool"),
    "lengths": (pair(tensor(2)), pair(tensor(2), tensor(2)), "a tuple of 1 and a tuple of 2"),
    "containers": (pair(tensor(2)), ("list", 1, (tensor(2),)), "a tuple of 1 and a list of 1"),
    "container and tensor": (pair(tensor(2)), tensor(2), "a tuple of 1"),
    "keys": (record(a=tensor()), record(b=tensor()), "dicts with different keys or key orders: ['a'] and ['b']"),
    "key orders": (record(a=tensor(), b=tensor()), record(b=tensor(), a=tensor()), "key orders"),
    "named tuples": (("named", Point, (tensor(),) * 2), pair(tensor(), tensor()), "a namedtuple of 2 and a tuple of 2"),
    "deep inside": (pair(pair(tensor(2))), pair(pair(MASK)), "float32 tensor of shape (2) and a bool tensor"),
    "maybe": (maybe(tensor(2)), maybe(MASK), "float32 tensor"),
}


@pytest.mark.parametrize("name", JOINS)
def test_join(name: str) -> None:
    then, otherwise, plan = JOINS[name]
    assert layout.join(then, otherwise) == plan


@pytest.mark.parametrize("name", [name for name in JOINS if name != "signed zeros"])
def test_join_does_not_depend_on_the_order(name: str) -> None:
    then, otherwise, plan = JOINS[name]
    assert layout.join(otherwise, then) == plan


@pytest.mark.parametrize("name", JOINS)
def test_joined_again_it_stays(name: str) -> None:
    _, _, plan = JOINS[name]
    assert layout.join(plan, plan) == plan


def test_not_a_number_is_no_constant() -> None:
    assert layout.join(const(float("nan")), const(float("nan"))) == number("float")


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("turned", [False, True], ids=["", "turned"])
def test_no_common_form(name: str, turned: bool) -> None:
    then, otherwise, text = DIFFERENT[name]
    with pytest.raises(Mismatch) as caught:
        layout.join(*((otherwise, then) if turned else (then, otherwise)))
    assert caught.value.code == "AG310"
    assert caught.value.advice
    assert turned or text in caught.value.message


# plan, what a trip gives, what the plan becomes; `sure`: there is at least one trip
CARRIES: dict[str, tuple[Spec, Spec, bool, Spec]] = {
    "the same": (tensor(2), tensor(2), False, tensor(2)),
    "a gradient appears": (tensor(2), tensor(2, grad=True), False, tensor(2, grad=True)),
    "a size that is unknown": (tensor(-1), tensor(3), False, tensor(-1)),
    "a number": (number("int"), const(7), False, number("int")),
    "int to float, surely": (number("int"), number("float"), True, number("float")),
    "float to int, surely": (number("float"), number("int"), True, number("float")),
    "int to tensor": (number("int"), tensor(), False, either(tensor(), "int")),
    "int to tensor, surely": (number("int"), tensor(), True, tensor()),
    "tensor to int": (tensor(), number("int"), True, either(tensor(), "int")),
    "a constant that stays": (const("a"), const("a"), False, const("a")),
    "an object that stays": (("object", 0, "Module"), ("object", 0, "Module"), False, ("object", 0, "Module")),
    "a hole is filled": (HOLE_SPEC, tensor(2), False, tensor(2)),
    "a hole stays": (HOLE_SPEC, HOLE_SPEC, False, HOLE_SPEC),
    "filled with a number": (HOLE_SPEC, const(3), False, number("int")),
    "nothing filled in": (tensor(2), HOLE_SPEC, False, tensor(2)),
    "unbound stays": (UNBOUND, UNBOUND, False, UNBOUND),
    "bound by a sure trip": (UNBOUND, tensor(2), True, tensor(2)),
    "bound by a trip, perhaps": (UNBOUND, tensor(2), False, maybe(tensor(2))),
    "maybe bound": (maybe(tensor(2)), tensor(2), False, maybe(tensor(2))),
    "an alias of the state": (tensor(2), ("same", 0, tensor(2)), False, tensor(2)),
    "in a tuple": (
        pair(number("int"), tensor(2)),
        pair(const(1), tensor(2, grad=True)),
        False,
        pair(number("int"), tensor(2, grad=True)),
    ),
}

CHANGED: dict[str, tuple[Spec, Spec, bool, str]] = {
    "dtype": (tensor(2), tensor(2, dtype=torch.float64), True, "from a float32 tensor of shape (2) to a float64"),
    "device": (tensor(2), tensor(2, device="cuda:0"), True, "changes a value"),
    "size": (tensor(2), tensor(3), True, "changes the shape of a value from a float32 tensor of shape (2)"),
    "rank": (tensor(2), tensor(2, 2), True, "shape"),
    "int to float": (number("int"), number("float"), False, "turns a Python int into a Python float"),
    "int to bool": (number("int"), number("bool"), True, "Python bool"),
    "tensor to None": (tensor(2), const(None), True, "changes the type of a value"),
    "word": (const("a"), const("b"), True, "'a' and the Python str 'b'"),
    "length": (pair(tensor(2)), pair(tensor(2), tensor(2)), True, "a tuple of 1 and a tuple of 2"),
    "vector from a number": (number("float"), tensor(2), True, "changes the type"),
    "another object": (("object", 0, "Module"), ("object", 1, "Module"), True, "changes the type"),
    "deep inside": (pair(tensor(2)), pair(tensor(3)), True, "shape"),
}


@pytest.mark.parametrize("name", CARRIES)
def test_carry(name: str) -> None:
    plan, spec, sure, expected = CARRIES[name]
    assert layout.join_carry(plan, spec, sure) == expected
    assert layout.join_carry(expected, spec, sure) == expected


@pytest.mark.parametrize("name", CHANGED)
def test_carry_that_changes(name: str) -> None:
    plan, spec, sure, text = CHANGED[name]
    with pytest.raises(Mismatch) as caught:
        layout.join_carry(plan, spec, sure)
    assert caught.value.code == "AG311"
    assert text in caught.value.message
    assert caught.value.advice


@pytest.mark.parametrize(
    ("spec", "travels", "carried"),
    [
        (tensor(2), tensor(2), tensor(2)),
        (const(1), number("int"), number("int")),
        (const(True), number("bool"), number("bool")),
        (const(None), const(None), const(None)),
        (const("a"), const("a"), const("a")),
        (pair(const(1.0)), pair(number("float")), pair(number("float"))),
        (HOLE_SPEC, HOLE_SPEC, HOLE_SPEC),
    ],
)
def test_what_travels(spec: Spec, travels: Spec, carried: Spec) -> None:
    """Python numbers travel as tensors: the other branch, or the next trip, may well have another one."""
    assert layout.travel(spec) == travels
    assert layout.carry_plan(spec) == carried


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (tensor(2), tensor(3, grad=True), True),
        (tensor(2), tensor(2, 2), False),
        (tensor(2), tensor(2, dtype=torch.int64), False),
        (tensor(2), tensor(2, device="cuda:0"), False),
        (tensor(2, 3, order=(1, 0)), tensor(2, 3), False),
        (tensor(2), number("float"), False),
        (pair(tensor(2)), pair(tensor(3)), True),
        (pair(tensor(2)), pair(tensor(2), tensor(2)), False),
        (pair(tensor(2)), ("list", 1, (tensor(2),)), False),
        (record(a=tensor(2)), record(b=tensor(2)), False),
        (("same", 0, tensor(2)), ("same", 0, tensor(3)), True),
        (("same", 0, tensor(2)), ("same", 1, tensor(2)), False),
        (const(None), const(None), True),
    ],
)
def test_same_form(first: Spec, second: Spec, expected: bool) -> None:
    assert layout.same_form(first, second) is expected
    assert layout.same_form(second, first) is expected


X = torch.zeros(2, 3)


@pytest.mark.parametrize(
    ("value", "spec"),
    [
        (X, tensor(2, 3)),
        (X.double().requires_grad_(), tensor(2, 3, dtype=torch.float64, grad=True)),
        (1, const(1)),
        (True, const(True)),
        (1.5, const(1.5)),
        (None, const(None)),
        ("a", const("a")),
        (torch.int64, const(torch.int64)),
        ((X, 1), pair(tensor(2, 3), const(1))),
        ([1], ("list", 1, (const(1),))),
        ({"a": 1, 2: X}, ("dict", (("str", "a"), ("int", 2)), (const(1), tensor(2, 3)))),
        (Point(1, 2), ("named", Point, (const(1), const(2)))),
        ((), pair()),
        (HOLE, HOLE_SPEC),
        (Undefined("y"), UNBOUND),
    ],
    ids=lambda value: type(value).__name__,
)
def test_description_of_values(value: Any, spec: Spec) -> None:
    assert spec_of(value) == spec


def test_description_of_originals() -> None:
    items = [1]
    stand_in = X * 2
    originals = ((X, stand_in), (items,))
    assert spec_of((stand_in, items, X + 1), originals) == pair(
        ("same", 0, tensor(2, 3)), ("same", 1, ("list", 1, (const(1),))), tensor(2, 3)
    )


def test_description_of_what_is_handed_over() -> None:
    module = torch.nn.Identity()
    assert spec_of((module,), handed=(X, module)) == pair(("object", 1, "Identity"))


def test_equal_numbers_of_other_types_are_different() -> None:
    with pytest.raises(Mismatch):
        layout.join(spec_of(1), spec_of(1.0))
    with pytest.raises(Mismatch):
        layout.join(spec_of(True), spec_of(1))


def test_numbers_of_constants() -> None:
    then = pair(const(1), number("int"), const(2), number("int"), const("a"))
    otherwise = pair(const(3), const(4), const(2), number("int"), const("b"))
    assert list(layout.numbers_of_constants(then, otherwise)) == [(0,), (1,)]
    assert list(layout.numbers_of_constants(pair(const(1)), const(2))) == []


def test_an_attribute_that_is_not_set_is_no_string() -> None:
    assert layout.describe(("const", fields.MISSING)) == "no such attribute"
