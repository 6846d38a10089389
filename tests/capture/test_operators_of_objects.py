"""Operators of objects beside tensors: the methods of their classes, as in eager."""

from __future__ import annotations

import dataclasses
import enum
import fractions
import operator
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, convert
from tests.harness import check, check_any_graph, program


class Scaled:
    """A tensor and what has been done with it."""

    def __init__(self, data: torch.Tensor, done: str = "") -> None:
        self.data, self.done = data, done

    def __truediv__(self, by: Any) -> Scaled:
        return Scaled(self.data / by, self.done + "/")

    def __rmul__(self, factor: Any) -> Scaled:
        return Scaled(factor * self.data + 1, self.done + "r*")

    def __matmul__(self, other: torch.Tensor) -> torch.Tensor:
        return self.data @ other if other.sum() > 0 else other.sum()

    def __add__(self, other: Any) -> Any:
        return NotImplemented

    def __rsub__(self, other: Any) -> Scaled:
        self.done += "changed"
        return Scaled(other - self.data, "r-")


class ScaledModule(Scaled, torch.nn.Module):
    def __init__(self, data: torch.Tensor, done: str = "") -> None:
        super(Scaled, self).__init__()
        Scaled.__init__(self, data, done)


@pytest.mark.parametrize("kind", [Scaled, ScaledModule])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_as_eager(kind: Any, sign: float) -> None:
    def program(x: torch.Tensor) -> list[Any]:
        one = kind(x * 2)
        first, second, third = one / x, x * one, x - one
        if x.sum() > 0:
            first = first / (x + 1)
        return [first.data, first.done, second.data, second.done, third.data, third.done, one.done, one @ x]

    x = sign * torch.tensor([1.0, 2.0])
    actual = torch.compile(convert(program), fullgraph=True, backend="eager")(x)
    for given, expected in zip(actual, program(x), strict=True):
        assert type(given) is type(expected)
        assert torch.equal(given, expected) if isinstance(given, torch.Tensor) else given == expected


def test_declined_operators_raise_or_are_refused() -> None:
    for operation in (operator.add, operator.sub):
        compiled = torch.compile(convert(lambda x, do=operation: do(Scaled(x), x)), fullgraph=True, backend="eager")
        with pytest.raises((CaptureError, TypeError)):
            compiled(torch.ones(2))


class Percent(float):
    """A number whose class has operators of its own."""

    def __rmul__(self, other: Any) -> Any:
        return other * 100

    def __mul__(self, other: Any) -> Any:
        return other * 200


def test_numbers_of_a_class_are_numbers_to_a_tensor() -> None:
    def program(x: torch.Tensor) -> Any:
        half = Percent(0.5)
        return (x + 1 if x.sum() > 0 else x) * half

    x = torch.tensor([1.0, 2.0])
    try:
        found = torch.compile(convert(program), fullgraph=True, backend="eager")(x)
    except CaptureError:
        return
    assert torch.equal(found, program(x))


class Factor:
    """A matrix with the operators of matrices, which asks data."""

    def __init__(self, data: torch.Tensor) -> None:
        self.data = data

    def __matmul__(self, other: Factor) -> Factor:
        if not isinstance(other, Factor):
            return NotImplemented
        return Factor(self.data @ other.data if other.data.sum() > 0 else self.data)

    def __invert__(self) -> Factor:
        return Factor(-self.data)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise TypeError("not for torch")


class Counted(Factor):
    count = 0

    def __imatmul__(self, other: Factor) -> Counted:
        self.data, self.count = other.data @ self.data, self.count + 1
        return self

    def __rmatmul__(self, other: Factor) -> Factor:
        return Factor(other.data * 2)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_operators_of_two_objects(sign: float) -> None:
    def program(x: torch.Tensor) -> list[Any]:
        one, two, counted = Factor(x), Factor(x + 1), Counted(x)
        one @= two
        counted @= two
        return [one.data, (two @ one).data, counted.data, counted.count, (~counted).data, (counted @ two).data]

    x = sign * torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    actual = torch.compile(convert(program), fullgraph=True, backend="eager")(x)
    for given, expected in zip(actual, program(x), strict=True):
        assert torch.equal(given, expected) if isinstance(given, torch.Tensor) else given == expected


def test_a_right_operand_that_is_asked_first_is_refused() -> None:
    compiled = torch.compile(convert(lambda x: (Factor(x) @ Counted(x)).data), fullgraph=True, backend="eager")
    with pytest.raises(CaptureError):
        compiled(torch.ones(2, 2))


class Meter:
    """What a training loop adds its losses to."""

    def __init__(self, total: Any = 0, count: int = 0) -> None:
        self.total, self.count = total, count

    def __iadd__(self, other: Any) -> Meter:
        self.total, self.count = self.total + other, self.count + 1
        return self

    def __mul__(self, factor: Any) -> Meter:
        return Meter(self.total * factor, self.count)

    def __ror__(self, mask: torch.Tensor) -> Meter:
        return Meter(self.total + mask, self.count - 1)

    def __isub__(self, other: Any) -> Any:
        return NotImplemented

    def __sub__(self, other: Any) -> Meter:
        return Meter(self.total - other, -self.count)

    def __lt__(self, other: Any) -> Any:
        return self.total < other + 1

    def __ge__(self, other: Any) -> str:
        return f"at least, {self.count}"


TWO = [lambda: (torch.tensor([1.0, 2.0]),), lambda: (torch.tensor([-1.0, 0.5]),), lambda: (torch.tensor([2.0, 2.0]),)]


@program(inputs=TWO, grad=True)
def written_in_place(x: torch.Tensor) -> Any:
    meter = same = Meter()
    for row in x:
        if row > 0:
            meter += row
    meter *= x
    return meter.total, meter.count, same.total, same.count, meter is same


@program(inputs=[lambda: (torch.tensor([1, 2]),), lambda: (torch.tensor([-1, 5]),)])
def declined_and_reflected(x: torch.Tensor) -> Any:
    meter, mask = Meter(x), x
    mask |= meter  # a tensor leaves that to the meter, too
    if x.sum() > 2:
        meter -= x[0]
    return getattr(meter, "total", None), getattr(meter, "count", None), mask.total, mask.count, x


@program(inputs=TWO)
def compared_with_a_tensor(x: torch.Tensor) -> Any:
    meter = Meter(x[0])
    kept = []
    if meter < x[1]:
        kept.append("less")
    return kept, x[1] > meter, meter >= x, x <= meter


@dataclasses.dataclass
class Setting:
    rate: float
    steps: int = 0


@dataclasses.dataclass(order=True)
class Version:
    major: float
    minor: int = 0


@program(inputs=TWO)
def unequal_dataclasses(x: torch.Tensor) -> Any:
    one, two = Setting(x[0].item()), Setting(x[1].item())
    if one != two:
        one = Setting(two.rate, 1)
    return one == two, one != two, one != Setting(1.0), one != 3, dataclasses.astuple(one)


class Always:
    """Equal to all, and unequal, too."""

    def __init__(self, v: torch.Tensor) -> None:
        self.v = v

    def __eq__(self, other: object) -> Any:
        return self.v > 0

    def __ne__(self, other: object) -> Any:
        return "own"

    __hash__ = None  # type: ignore[assignment]


class Data(Always):
    __ne__ = object.__ne__


@program(inputs=TWO)
def unequal_by_data(x: torch.Tensor) -> Any:
    return Data(x[0]) != 1, Always(x[0]) != 1, Data(x[0]) == 1, "then" if Data(x[1] - 1) != 2 else "else"


class Undecided:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __eq__(self, other: object) -> Any:
        self.asked += 1
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]


@program(inputs=TWO)
def unequal_though_both_decline(x: torch.Tensor) -> Any:
    one, two = Undecided(), Undecided()
    found = [one != two, one != 3, one != one]  # noqa: PLR0124
    if x.sum() > 0:
        found.append(two != one)
    return found, one.asked, two.asked, Undecided() != Data(x[0])


class Derived(Data):
    """Is asked before the class that it is derived from, on whatever side."""


class Unasked(Undecided):
    pass


@program(inputs=TWO)
def unequal_to_a_derived_one(x: torch.Tensor) -> Any:
    one, two = Data(x[0]), Derived(x[1])
    found = [one != two, two != one, "then" if one != Derived(x[0] - 1) else "else"]
    undecided, unasked = Undecided(), Unasked()
    return found, undecided != unasked, unasked != undecided, undecided.asked, unasked.asked


@program(inputs=TWO)
def extremes(x: torch.Tensor) -> Any:
    one, two, three = Version(x[0].item(), 1), Version(x[1].item(), 2), Version(1.5)
    best = max(one, two)
    return best, best is two, min([two, three, one]), sorted([one, two, three], reverse=True)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


class Ratio(float, enum.Enum):
    HALF = 0.5


class Steps(int):
    pass


@program(inputs=TWO)
def numbers_of_classes(x: torch.Tensor) -> Any:
    steps = Steps(2)
    found = [x > Level.LOW, Level.HIGH >= x, x <= Ratio.HALF, steps < x, x == steps, Level.LOW != x, x != Ratio.HALF]
    if x.max() > Level.LOW:
        found.append(x / Level.HIGH)
    return found, Level.LOW < steps


class Price:
    def __init__(self, cents: Any) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> Any:
        return self.cents == other

    def __lt__(self, other: Any) -> Any:
        return self.cents < other

    def __gt__(self, other: Any) -> Any:
        return self.cents > other

    __hash__ = None  # type: ignore[assignment]


class Share(float):
    pass


PRICE, SHARE, HALF = Price(3), Share(3), fractions.Fraction(3)


@program(inputs=[lambda: (torch.tensor([1.0, 2.0]), 3), lambda: (torch.tensor([1.0, 1.0]), 2)])
def compared_with_a_number(x: torch.Tensor, given: int) -> Any:
    n, v = int(x.sum()), x.sum().item()
    one = PRICE == n, n == PRICE, PRICE != n, n != PRICE, PRICE < n, n < PRICE, n in [PRICE], Price(n) == n
    if PRICE > n:
        x = x + 1
    other = SHARE == v, v != SHARE, v < SHARE, HALF == n, Level.LOW == n, n > Level.HIGH
    return x, one, other, PRICE == given, given == SHARE


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize(
    "subject",
    [
        numbers_of_classes,
        written_in_place,
        declined_and_reflected,
        compared_with_a_tensor,
        unequal_dataclasses,
        unequal_by_data,
        unequal_though_both_decline,
        unequal_to_a_derived_one,
        extremes,
        compared_with_a_number,
    ],
)
def test_operators_of_data(subject: Any) -> None:
    check_any_graph(subject)


@pytest.mark.parametrize(
    "subject",
    [
        numbers_of_classes,
        written_in_place,
        declined_and_reflected,
        unequal_dataclasses,
        unequal_by_data,
        compared_with_a_number,
    ],
)
def test_graphs_for_all_data(subject: Any) -> None:
    verdict = check(subject.__program__, "eager")
    assert verdict.kind == "equal", verdict.reason
