"""Objects whose text is made by Python code, in exceptions and prints: the text is that of the moment, as in eager."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert

GOOD, BAD = torch.ones(2), -torch.ones(2)


class Named:
    def __init__(self, value: Any, note: Any = "") -> None:
        self.value, self.note = value, note

    def __repr__(self) -> str:
        shown = self.value.item() if self.value.numel() == 1 else tuple(self.value.shape)
        return f"Named({', '.join(self.__dict__)}: {shown}, {self.value.tolist()})"


class Outer:
    def __init__(self, value: Any) -> None:
        self.parts = [Named(value), value]

    def __str__(self) -> str:
        return "outer of " + str(self.parts)

    __repr__ = __str__


@dataclasses.dataclass
class Record:
    value: torch.Tensor
    count: int = 2


class Lazy:
    """Holds what no graph can give, and shows none of it."""

    def __init__(self, value: torch.Tensor) -> None:
        self.value, self.source = value, (k for k in (1, 2))

    def __repr__(self) -> str:
        return f"Lazy({self.value})"


class Telling(Lazy):
    def __repr__(self) -> str:
        return f"Telling({self.source})"


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(convert(function), fullgraph=True, backend="eager")


def error_of(function: Callable[..., Any], *args: Any) -> tuple[type, str]:
    with pytest.raises(Exception) as caught:  # noqa: PT011
        function(*args)
    return caught.type, str(caught.value)


@pytest.mark.parametrize("kind", [Named, Outer, Record, Lazy])
@pytest.mark.parametrize("how", [plain, autograph])
def test_an_exception_shows_an_object_of_the_program(kind: Any, how: Callable[..., Any]) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        made = kind(x * 2)
        if x.min() < 0:
            raise ValueError(f"{made} is bad, {made!r}", "%s" % made)  # noqa: UP031
        return x + 1

    compiled = how(program)
    torch.testing.assert_close(compiled(GOOD), program(GOOD))
    assert error_of(compiled, BAD) == error_of(program, BAD)


def test_an_object_of_the_caller_that_changes_between_calls() -> None:
    shown = Named(torch.ones(1))

    def program(x: torch.Tensor) -> torch.Tensor:
        if x.min() < 0:
            raise ValueError(f"{shown}")
        return x + 1

    compiled = plain(program)
    assert error_of(compiled, BAD) == error_of(program, BAD)
    shown.value = torch.arange(2)
    assert error_of(compiled, BAD) == error_of(program, BAD)
    shown.more = 3  # type: ignore[attr-defined]
    assert "more" in error_of(program, BAD)[1]
    assert error_of(compiled, BAD) == error_of(program, BAD)


def test_a_print_shows_an_object_as_it_is_when_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        record = Record(x * 2)
        print(record)
        record.count = 3
        record.value.add_(1)
        print("then", record)
        return record.value

    program(GOOD)
    expected = capsys.readouterr().out
    for how in (plain, autograph):
        how(program)(GOOD)
        assert capsys.readouterr().out == expected


def test_what_the_graph_cannot_give_is_refused_when_the_exception_is_raised() -> None:
    def program(x: torch.Tensor, kind: Any) -> torch.Tensor:
        made = kind(x * 2)
        if x.min() < 0:
            raise ValueError(f"{made}")
        return x + 1

    def argument(x: torch.Tensor, kind: Any) -> torch.Tensor:
        if x.min() < 0:
            raise ValueError(x)
        return x + 1

    learned = BAD.clone().requires_grad_()
    for function, kind, wrong, code in (
        (program, Telling, BAD, "AG324"),
        (program, Record, learned, "AG322"),
        (argument, None, learned, "AG322"),
    ):
        compiled = autograph(function, backend="eager", effects="drop")
        torch.testing.assert_close(compiled(GOOD, kind), function(GOOD, kind))
        with pytest.raises(CaptureError, match=f"{code} ValueError is raised here"):
            compiled(wrong, kind)
        for how in (plain, autograph):  # it runs in Python
            assert error_of(how(function), wrong, kind)[0] is ValueError

    assert "grad_fn" in error_of(autograph(program), learned, Record)[1]
    assert error_of(plain(program), learned, Named) == error_of(program, learned, Named)  # only numbers are shown
