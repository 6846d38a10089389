"""A value that is a number on one path and a tensor on others, used where the two do not give the same."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.variables import builder

from autograph_torch.capture import number_or_tensor
from tests.harness import Program, check, compiled, ints, leave_out, vec

Use = Callable[[Any, Tensor, Tensor], Any]  # of the value, with a vector of floats and one of integers


def stored(number: Any, x: Tensor) -> Tensor:
    x[0] = number
    return x


NUMBERS: dict[str, Any] = {"bool": True, "int": 2, "float": 0.3, "short": 0.5}

USES: dict[str, Use] = {
    "of integers": lambda a, x, n: n + a,
    "of the other's type": lambda a, x, n: x * a,
    "of a sum": lambda a, x, n: n.sum() * a,
    "with truth values": lambda a, x, n: (n > 1) + a,
    "in double precision": lambda a, x, n: x.double() * a,
    "in half precision": lambda a, x, n: x.half() * a,
    "compared": lambda a, x, n: (x > a, n == a),
    "divided": lambda a, x, n: (n / a, n // a, a**n),
    "of a function": lambda a, x, n: (torch.add(n, a), torch.where(x > 0, n, a), n.clamp(max=a)),
    "of numbers": lambda a, x, n: -a * 2 + n,
    "in place": lambda a, x, n: x.clone().mul_(a),
    "stored": lambda a, x, n: stored(a, x.clone()),
    "in the place of an element": lambda a, x, n: torch.index_fill(n, 0, torch.tensor([0]), a),
    "filled": lambda a, x, n: torch.full((2,), a),
    "raises": lambda a, x, n: torch.exp(a),
    "stacked": lambda a, x, n: torch.stack([a, a]),
    "indexed": lambda a, x, n: a[None],
    "attribute": lambda a, x, n: a.dtype,
    "method": lambda a, x, n: a.item(),
    "method of a tensor": lambda a, x, n: a.detach() + x,
    "asked for an attribute": lambda a, x, n: (x, getattr(a, "dtype", None), hasattr(a, "shape")),
    "truth": lambda a, x, n: x if a else n,
    "as a float": lambda a, x, n: float(a),
}


def chosen(number: Any, use: Use, function: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    def program(x: Tensor, n: Tensor) -> Any:
        a = number
        if x.sum() > 0:
            a = function(x)
        return use(a, x, n)

    return program


def summed(use: Use) -> Callable[..., Any]:
    def program(x: Tensor, n: Tensor) -> Any:
        a = 0
        for one in x:
            if one < 0:
                break
            a = a + one
        return use(a, x, n)

    return program


INPUTS = tuple(
    (lambda x=x: (vec(*x), ints(1, -2, 3))) for x in ((1, 2, 3), (-1, -2, -3.5), (5, -1, 0), (3, -5, 0), (-0.5, 4, 1))
)


def assert_as_eager(program: Callable[..., Any]) -> None:
    verdict = check(Program("program", "number or tensor", lambda: program, INPUTS), "eager")
    assert verdict.kind == "equal", verdict.reason


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", NUMBERS)
def test_of_a_branch(kind: str, use: str) -> None:
    assert_as_eager(chosen(NUMBERS[kind], USES[use], lambda x: x.abs().mean()))


@pytest.mark.parametrize("use", USES)
def test_of_a_branch_in_double_precision(use: str) -> None:
    assert_as_eager(chosen(0.1, USES[use], lambda x: x.double().abs().mean()))


@pytest.mark.parametrize("use", USES)
def test_of_a_branch_in_half_precision(use: str) -> None:
    assert_as_eager(chosen(0.1, USES[use], lambda x: x.half().abs().mean()))


@pytest.mark.parametrize("use", [use for use in USES if use not in ("attribute", "method", "raises")])
def test_of_a_loop(use: str) -> None:
    assert_as_eager(summed(USES[use]))


OF_NUMBERS: dict[str, Use] = {
    "inverse": lambda a, x, n: x * (1 / a),
    "by itself": lambda a, x, n: x * (a / a),
    "whole part": lambda a, x, n: x * (3 // a),
    "rest": lambda a, x, n: x * (3 % a),
    "power": lambda a, x, n: x * a**-1,
    "of two": lambda a, x, n: x * (a / (a + 1) ** 2),
    "compared": lambda a, x, n: x if a * 3 > 0.3 else x * 2,
    "imaginary": lambda a, x, n: x * (a * 1j),
}


@pytest.mark.parametrize("use", OF_NUMBERS)
@pytest.mark.parametrize(
    ("number", "kind"),
    [(0, torch.float32), (0.1, torch.float32), (True, torch.float32), (0, torch.int64), (True, torch.int64)],
)
def test_of_nothing_but_numbers(use: str, number: Any, kind: torch.dtype) -> None:
    assert_as_eager(chosen(number, OF_NUMBERS[use], lambda x: x.abs().sum().to(kind)))


@pytest.mark.parametrize("number", [2, 300, -1])
@pytest.mark.parametrize("kind", [torch.int8, torch.uint8])
def test_of_small_integers(number: int, kind: torch.dtype) -> None:
    assert_as_eager(chosen(number, lambda a, x, n: (n + a, n + a * 100, x * a), lambda x: x.abs().sum().to(kind)))


def test_of_small_integers_that_are_asked() -> None:
    assert_as_eager(chosen(16, lambda a, x, n: x if a * 16 else n, lambda x: x.abs().sum().to(torch.int8)))


def test_of_truth_values() -> None:
    assert_as_eager(chosen(True, lambda a, x, n: (n + (a + a), x * (a + 1)), lambda x: x[0] > 1))


def test_of_many() -> None:
    def program(x: Tensor, n: Tensor) -> Any:
        a = b = c = d = e = f = g = 0
        if x.sum() > 0:
            a, b, c, d, e, f, g = [x.norm() + k for k in range(7)]
        return torch.stack([a, b, c, d, e, f, g])  # type: ignore[list-item]

    assert_as_eager(program)


def test_compared_in_the_type_of_the_other() -> None:
    def program(x: Tensor, n: Tensor) -> Any:
        a = 0.1
        if x.sum() > 0:
            a = x.double().sum()
        return x[0] * 0 + 0.1 == a

    assert_as_eager(program)


def test_of_two_branches() -> None:
    def program(x: Tensor, n: Tensor) -> Any:
        a, b = 0.0, 0
        if x.sum() > 0:
            a = x.double().norm()
        if x[0] > 1:
            b = x.mean()
        return x.sum() + (a + b), x * a + b

    assert_as_eager(program)


def test_in_a_branch() -> None:
    def program(x: Tensor, n: Tensor) -> Any:
        a = 0
        if x.sum() > 0:
            a = x.norm()
        if x[0] > 1:
            n = n * a
        return n

    assert_as_eager(program)


def test_what_is_the_same_for_either_is_one_branch() -> None:
    """Its text does not move into both branches."""
    program = chosen(0.0, lambda a, x, n: (x * a + 1, n + a), lambda x: x.norm())
    assert count_of("add", program) == 2


def counted(step: float) -> Callable[..., Any]:
    """A number as long as no element is positive."""

    def program(x: Tensor, n: Tensor) -> Any:
        a: Any = 0.0
        for one in x:
            if one > 0:
                a = a + one
            else:
                a = a - step
        return x * a, n.sum() + a

    return program


@pytest.mark.parametrize("step", [1, 0.25, math.inf, 2.0**24 - 1, 2**30, 1e39, 0.1])
def test_of_numbers_that_are_counted(step: float) -> None:
    assert_as_eager(counted(step))


@pytest.mark.parametrize("step", [1, 0.25])
def test_what_is_counted_in_few_digits_is_one_branch(step: float) -> None:
    """The tensor holds such numbers exactly. Where it does not, what follows is told apart."""
    assert count_of("mul", counted(step)) == 1
    assert count_of("mul", counted(0.1)) > 1


def count_of(name: str, program: Callable[..., Any]) -> int:
    """How many nodes of its graph and the bodies in it have this in their names."""
    graphs = []

    def backend(graph: torch.fx.GraphModule, inputs: list[Tensor]) -> Callable[..., Any]:
        graphs.append(graph)
        return graph

    compiled(program, backend)(vec(1, 2, 3), ints(1, 2, 3))
    return sum(name in node.name for graph in graphs for one in graph.modules() for node in one.graph.nodes)


def test_without_this_the_type_is_that_of_the_tensor(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, number_or_tensor.number_or_tensor)
    program = chosen(0, USES["of integers"], lambda x: x.norm())
    arguments = vec(-1, -2, -3), ints(1, 2, 3)
    assert program(*arguments).dtype is torch.int64
    assert compiled(program)(*arguments).dtype is torch.float32


def test_names_of_the_tracer() -> None:
    assert callable(builder.get_fake_value)
    assert all(callable(kind.call_function) for kind, _ in number_or_tensor._ATTRIBUTES)
