"""Exceptions of the user's own classes keep the arguments that their `__init__` hands on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.variables.misc import SuperVariable
from torch._dynamo.variables.user_defined import UserDefinedExceptionObjectVariable

from autograph_torch import CaptureError, convert
from autograph_torch.capture import compiling, error_objects
from tests.harness import agreement, program, torch_before, vec


class Diverged(ValueError):
    def __init__(self, step: int, loss: float) -> None:
        super().__init__(f"diverged at {step} ({loss:g})", step)
        self.step = step


class Later(Diverged):
    def __init__(self, loss: float) -> None:
        super().__init__(9, loss)


class ByName(RuntimeError):
    def __init__(self, step: int, loss: float) -> None:
        RuntimeError.__init__(self, f"by name {loss:g}")
        self.step = step


class OfTheSystem(OSError):
    def __init__(self, code: int) -> None:
        super().__init__(code, "text")


def caught(x: Tensor, kind: Callable[..., Exception] = Diverged) -> Any:
    try:
        raise kind(3, 2.5)
    except (ValueError, RuntimeError) as error:
        if x.sum() > 0:
            x = x + 1
        return x, error.args, error.step, str(error), f"<{error}>", f"{error!r}"


def by_name(x: Tensor) -> Any:
    return caught(x, ByName)


def with_data(x: Tensor) -> Any:
    error = ByName(1, x[0].item())
    if x.sum() > 0:
        x = x + 1
    return x, f"{error}", error.step


def made_only(x: Tensor) -> Any:
    error = Later(0.5)
    return x * error.step, f"{error}", len(error.args)


class WithText(ValueError):
    def __init__(self, row: int, text: str) -> None:
        super().__init__(row, text)
        self.row = row

    def __str__(self) -> str:
        return f"row {self.row:+d}: {self.args[1]}"


def text_of_its_own(x: Tensor) -> Any:
    try:
        raise WithText(2, "nan")
    except ValueError as error:
        if x.sum() > 0:
            x = x + 1
        return x, str(error), f"<{error}>"


class Unknown(KeyError):
    pass


def of_a_key(x: Tensor) -> Any:
    try:
        raise Unknown("a")
    except KeyError as error:
        if x.sum() > 0:
            x = x + 1
        return x, str(error), f"{error}", error.args


def read_by_a_handler(x: Tensor) -> Any:
    try:
        if x.sum() > 0:
            raise ArithmeticError(f"sum {x.sum().item():.1f}")
    except ArithmeticError as error:
        return x, error.args[0], str(error)
    return x, "", "none"


def raised(x: Tensor) -> Tensor:
    if x.sum() > 0:
        x = x * 2
    raise Diverged(3, x[0].item())


@pytest.mark.parametrize(
    "function",
    [
        *(
            pytest.param(one, marks=torch_before("2.12", "the `repr` of an exception is not known"))
            for one in (caught, by_name)
        ),
        with_data,
        made_only,
        text_of_its_own,
        of_a_key,
        read_by_a_handler,
    ],
)
def test_arguments(function: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    for x in (vec(1, 2), vec(-1, -2)):
        found, expected = compiled(x), function(x)
        torch.testing.assert_close(found[0], expected[0])
        assert found[1:] == expected[1:]


def test_a_handler_keeps_a_string() -> None:
    def logged(x: Tensor, log: list[str]) -> Tensor:
        try:
            if x.sum() > 0:
                raise ArithmeticError(f"sum {x.sum().item():.1f}")
        except ArithmeticError as error:
            log.append(error.args[0])
        return x

    torch._dynamo.reset()
    compiled = torch.compile(convert(logged), backend="eager", fullgraph=True)
    ours: list[str] = []
    theirs: list[str] = []
    for x in (vec(1, 2), vec(-1, -2)):
        compiled(x, ours)
        logged(x, theirs)
    assert ours == theirs == ["sum 3.0"]


def test_what_a_handler_has_read_is_raised_again() -> None:
    def logged(x: Tensor, log: list[str]) -> Tensor:
        try:
            if x.sum() > 0:
                raise ArithmeticError(f"sum {x.sum().item():.1f}")
        except ArithmeticError as error:
            log.append(error.args[0])
            raise
        return x

    torch._dynamo.reset()
    compiled = torch.compile(convert(logged), backend="eager", fullgraph=True)
    log: list[str] = []
    for total in (3.0, 5.0):
        with pytest.raises(ArithmeticError, match=f"sum {total}"):
            compiled(vec(total), log)
    assert log == ["sum 3.0", "sum 5.0"]


def told_before_a_write(x: Tensor) -> Any:
    seen = {"k": 1}
    try:
        if x.sum() > 0:
            raise ValueError("bad {}".format(seen))  # noqa: UP032
    except ValueError as error:
        seen["j"] = 2
        return x, error.args[0], seen
    return x, "", seen


def test_a_text_is_of_the_moment_it_was_made() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(told_before_a_write), backend="eager", fullgraph=True)
    for x in (vec(1, 2), vec(-1, -2)):
        assert compiled(x)[1:] == told_before_a_write(x)[1:]


def test_raised_in_any_case() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(raised), backend="eager", fullgraph=True)
    for x in (vec(1, 2), vec(-1, -2)):
        with pytest.raises(Diverged) as expected:
            raised(x)
        with pytest.raises(Diverged) as found:
            compiled(x)
        assert (found.value.args, found.value.step) == (expected.value.args, expected.value.step)


def test_others_are_left_to_python() -> None:
    def of_the_system(x: Tensor) -> Any:
        error = OfTheSystem(3)
        return x if x.sum() > 0 else x * 2, error.errno

    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="super"):
        torch.compile(convert(of_the_system), backend="eager", fullgraph=True)(vec(1))


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(repair for repair in compiling._REPAIRS if repair is not error_objects.error_objects)
    monkeypatch.setattr(compiling, "_REPAIRS", others)
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="super"):
        torch.compile(convert(made_only), backend="eager", fullgraph=True)(vec(1))


def test_names_of_the_tracer() -> None:
    assert hasattr(SuperVariable, "_resolved_getattr_and_source"), "see capture/error_objects.py"
    names = UserDefinedExceptionObjectVariable.__init__.__code__.co_names  # where torch 2.11 sets it
    assert "exc_vt" in names or hasattr(UserDefinedExceptionObjectVariable, "exc_vt")


def _rows(x: Tensor) -> Any:
    total = 0
    for v in x:
        got = yield v * 2
        total = total + (0 if got is None else got)
    return total


def _drained(rows: Any, sends: bool) -> Any:
    seen: list[Any] = []
    while True:
        try:
            seen.append(rows.send(seen[-1] + 1 if sends and seen else None))
        except StopIteration as stop:
            return stop.value, seen


def _raised(*args: Any) -> Any:
    try:
        raise StopIteration(*args)
    except StopIteration as stop:
        return stop.value


@program(inputs=[lambda: (vec(1, 2), True), lambda: (vec(-1, 2), False), lambda: (vec(-1, -2), True)])
def of_generators(x: Tensor, sends: bool) -> Any:
    returned, seen = _drained(_rows(x), sends)
    text = _raised(f"{x.sum().item()}")
    if x.sum() > 0:
        returned = returned + 1
    return returned, seen, text, len(text), _raised(), _raised(x.sum(), 2), _drained(_one(), False)


def _one() -> Any:
    yield 1


@pytest.mark.parametrize("way", ["any graph", "one path"])
def test_what_a_generator_has_returned(way: Any) -> None:
    verdict = agreement(of_generators.__program__, way)  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason


class NoDescent(RuntimeError):
    def __init__(self, step: int, loss: float):
        super().__init__(f"no descent in step {step} (loss {loss:.3f})")
        self.step = step


class Kept(ValueError):
    def __init__(self, value: float):
        self.value = value


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(-1, -2),), lambda: (vec(5, -2),)])
def shown_by_a_handler(x: Tensor) -> Any:
    try:
        if x.sum() > 4:
            raise NoDescent(1, x.sum().item())
        if x.sum() > 2:
            raise Kept(x.sum().item())
    except NoDescent as error:
        if error.step == 0:
            raise
        print(error, [error], f"{error!s:>5}")
        return x
    except Kept as error:
        print("got", error, [error], error.value)
        return x
    return x * 2


@pytest.mark.parametrize("way", ["converted", "one path"])
def test_shown_with_an_init_of_its_own(way: Any) -> None:
    verdict = agreement(shown_by_a_handler.__program__, way)  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason
