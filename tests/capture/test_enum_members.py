"""Members of enumerations that are strings or numbers: as eager."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import convert
from tests.harness import check_any_graph, program, torch_before, vec


class Mode(str, enum.Enum):
    MEAN = " mean"
    SUM = "sum"

    def described(self) -> str:
        return self.value + "!"

    def title(self) -> str:
        return "own"


class Index(enum.IntEnum):
    FIRST = 0
    LAST = 2


class Loud(str, enum.Enum):
    A = "a"

    def __add__(self, other: str) -> str:
        return "loud" + other


class Pattern(str, enum.Enum):
    PERCENT = "%d percent"


class Weight(float, enum.Enum):
    HALF = 0.5


def methods(x: torch.Tensor, mode: Any = Mode.MEAN, last: Any = Index.LAST) -> list[Any]:
    known = mode.strip() in {"mean", "sum"}
    return [mode.upper(), mode.strip(), mode.startswith(" m"), mode.split("e"), last.bit_length(), known, mode.title()]


def operators(x: torch.Tensor, mode: Any = Mode.MEAN, last: Any = Index.LAST) -> list[Any]:
    position = ["a", "b", "c"][last], (1, 2, 3)[last], x.shape[Index.FIRST]
    by_key = {Mode.SUM: 1}[Mode.SUM], {Index.LAST: 2}[last], {2: 3}[last]
    return [mode + "_x", "x_" + mode, mode * 2, last + 1, last * 2, position, by_key, mode == " mean", mode.described()]


def own_operator(x: torch.Tensor) -> list[Any]:
    return [Loud.A + "b", "b" + Loud.A, type(Mode.SUM + "").__name__, Mode.SUM.name]


def texts(x: torch.Tensor) -> list[Any]:
    shown = ["%s" % Mode.MEAN, "%s %d" % (Mode.SUM, Index.LAST), "%s" % Index.LAST, "%d" % Index.LAST]  # noqa: UP031
    return [*shown, Pattern.PERCENT % 3, Index.LAST % 2, 5 % Index.LAST, f"{Mode.MEAN}{Index.LAST}", str(Mode.SUM)]


def numbers(x: torch.Tensor) -> list[Any]:
    return [(x * Weight.HALF).tolist() == [0.5, 0.5], Weight.HALF + 1, Weight.HALF * 2, Weight.HALF.is_integer()]


def test_as_eager() -> None:
    for function in (methods, operators, own_operator, texts, numbers):
        expected = function(torch.ones(2))
        actual = torch.compile(converted_with_a_branch(function), fullgraph=True, backend="eager")(torch.ones(2))
        assert [(type(a), a) for a in actual] == [(type(e), e) for e in expected]


@torch_before("2.12", "a class of members is not called with a member")
def test_the_member_of_a_member() -> None:
    x = torch.ones(2)
    found = torch.compile(
        converted_with_a_branch(lambda y: (y, Mode(Mode.SUM) is Mode.SUM)), fullgraph=True, backend="eager"
    )(x)
    assert found[1]


def converted_with_a_branch(function: Callable[..., Any]) -> Callable[..., Any]:
    def program(x: torch.Tensor) -> Any:
        y = x * 2 if x.sum() > 0 else x
        return function(y / 2)

    return convert(program)


def test_lists_of_tensors_are_added() -> None:
    def added(x: torch.Tensor) -> torch.Tensor:
        parts = [x, x * 2] + [x if x.sum() > 0 else -x] * 2
        return torch.stack(parts)

    x = -torch.ones(2)
    assert torch.equal(torch.compile(convert(added), fullgraph=True, backend="eager")(x), added(x))


@torch_before("2.12", "members are constants, whose sum is right")
def test_torch_needs_this() -> None:
    def added(x: torch.Tensor) -> tuple[torch.Tensor, str]:
        return x + 1, Mode.SUM + "_x"

    try:
        _, text = torch.compile(added, fullgraph=True, backend="eager")(torch.ones(1))
    except torch._dynamo.exc.Unsupported:
        return
    assert text != "sum_x"
    with pytest.raises(torch._dynamo.exc.Unsupported, match="upper"):
        torch.compile(lambda x: (x + 1, Mode.SUM.upper()), fullgraph=True, backend="eager")(torch.ones(1))


def member_or_string(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        mode: Any = Mode.SUM
    else:
        mode = "sum"
    return x * 2, mode


def member_or_number(x: torch.Tensor) -> Any:
    last = 2
    if x.sum() > 0:
        last = Index.LAST
    return x * last, last, last + 1


def the_same_member(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        x, last, weight = x * 2, Index.LAST, Weight.HALF
    else:
        last, weight = Index.LAST, Weight.HALF
    return x * weight, last


def devices(x: torch.Tensor) -> Any:
    device = layout = None
    if x.sum() > 0:
        x, device, layout = x * 2, x.device, x.layout
    return (x if device is None else x.to(device) * 3), device, layout


@pytest.mark.parametrize("function", [member_or_string, member_or_number, the_same_member, devices])
def test_as_the_value_of_a_branch(function: Callable[..., Any]) -> None:
    for x in (torch.ones(2), -torch.ones(2)):
        actual = torch.compile(convert(function), fullgraph=True, backend="eager")(x)
        assert repr(actual) == repr(function(x))


def of_a_name(x: torch.Tensor, name: str) -> Any:
    mode = Mode(name)
    return (x + 1 if x.sum() > 0 else x), mode


def handled(x: torch.Tensor, name: str) -> Any:
    try:
        mode = Mode(name)
    except ValueError as error:
        return x - 1, str(error)
    return x + 1, mode


@pytest.mark.parametrize("function", [of_a_name, handled])
def test_what_is_no_member(function: Callable[..., Any]) -> None:
    def outcome(run: Any, name: str) -> str:
        try:
            return repr(run(torch.ones(2), name))
        except ValueError as error:
            return f"ValueError: {error}"

    found = torch.compile(convert(function), fullgraph=True, backend="eager")
    for name in ("sum", "median", "sum"):
        assert outcome(found, name) == outcome(function, name)


class Rank(enum.IntEnum):
    LOW = 1
    HIGH = 2

    def __str__(self) -> str:
        return f"{self.name}!"


class Access(enum.Flag):
    READ = 1
    WRITE = 2


class Bits(enum.IntFlag):
    ONE = 1
    TWO = 2


@program(inputs=[lambda: (vec(1, 2), Access.READ), lambda: (vec(-1, 2), Access.READ | Access.WRITE)])
def shown(x: Tensor, access: Access) -> Tensor:
    v = x[0].item()
    print(Rank.LOW, Mode.MEAN, access, access | Access.WRITE, Bits.ONE | Bits.TWO, v)
    print(f"{Rank.LOW} {Rank.HIGH:d} {~access} {Bits(3):d} {v}", [Rank.LOW, {"a": Access(3)}, Bits(3)])
    rank, bits = Rank.LOW, Bits.ONE
    if x.sum() > 2:
        rank, bits = Rank.HIGH, Bits.ONE | Bits.TWO
        print("%d %s" % (Rank.LOW, Access.READ | Access.WRITE), v)  # noqa: UP031
    print(rank, bits, f"{rank!r} {bits}")
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2),)], factory=True)
def shown_when_they_are() -> Any:
    made: list[int] = []

    class Counting(enum.Enum):
        ONE = 1

        def __str__(self) -> str:
            made.append(1)
            return f"{self.name}, text {len(made)}"

    def run(x: Tensor) -> Any:
        print(Counting.ONE, x[0].item())
        count = len(made)
        print(f"{Counting.ONE} {x[0].item()}")
        return count, len(made)

    return run


@pytest.mark.parametrize("subject", [shown, shown_when_they_are])
def test_what_is_shown(subject: Any) -> None:
    check_any_graph(subject)
