"""What capture/hosts.py leans on in Dynamo: fails clearly when a torch release changes it."""

from __future__ import annotations

import inspect
import operator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch._dynamo import symbolic_convert, variables

import autograph_torch.capture.inlining  # noqa: F401  (first: the hooks import each other)
from autograph_torch import CaptureError, autograph, convert, explain, export
from autograph_torch.capture import hosts
from autograph_torch.runtime import performing

X = torch.tensor([1.0, 2.0])


@pytest.mark.parametrize(
    "name",
    [
        "LazyVariableTracker",
        "BaseListVariable",
        "ConstDictVariable",
        "UserMethodVariable",
        "GetAttrVariable",
        "ExceptionVariable",
        "functions.BaseUserFunctionVariable",
        "UserDefinedObjectVariable",
        "GenericContextWrappingVariable",
        "SymNodeVariable",
    ],
)
def test_classes_of_variables(name: str) -> None:
    assert isinstance(operator.attrgetter(name)(variables), type)


def test_a_translator_knows_its_place() -> None:
    names = {"current_instruction", "block_stack", "f_code", "f_globals", "symbolic_locals", "instructions", "indexof"}
    annotated = set(symbolic_convert.InstructionTranslatorBase.__annotations__)
    text = inspect.getsource(symbolic_convert.InstructionTranslatorBase.__init__)
    assert [name for name in names if name not in annotated and f"self.{name}" not in text] == []


@pytest.mark.parametrize("end", ["RETURN_VALUE", "RETURN_CONST", "RERAISE"])
def test_a_handler_ends_where_it_leaves_the_function(end: str) -> None:
    """What stands behind its end may be covered by a handler that does not cover it."""
    elsewhere = SimpleNamespace(target="handler of something else")
    entries = {"PUSH_EXC_INFO": None, end: None, "CALL": elsewhere}
    instructions = [SimpleNamespace(opname=name, exn_tab_entry=entry) for name, entry in entries.items()]
    frame = SimpleNamespace(instructions=instructions, indexof={elsewhere.target: 9})
    assert hosts._around(frame, 0, {0}) is None
    assert hosts._around(frame, 2, {0}) is elsewhere


def refusal(program: Any) -> str:
    with pytest.raises(CaptureError) as caught:
        autograph(program, backend="eager")(X)
    return caught.value.code


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x


POINT, HOLDER = Point(1), Point(X)


def test_objects_that_may_have_changed_are_refused() -> None:
    def printed_and_written(x: torch.Tensor) -> torch.Tensor:
        print(POINT)
        POINT.x = 2
        return x + 1

    def written_and_printed(x: torch.Tensor) -> torch.Tensor:
        POINT.x = 3
        print(POINT)
        return x + 1

    def with_a_tensor(x: torch.Tensor) -> torch.Tensor:
        print(HOLDER)
        return x + 1

    assert [refusal(p) for p in (printed_and_written, written_and_printed, with_a_tensor)] == ["AG324"] * 3


def raising(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        raise ValueError("positive")
    return x


def in_try(x: torch.Tensor) -> torch.Tensor:
    try:
        return raising(x)
    except ValueError:
        return x * 2


def in_finally(x: torch.Tensor) -> torch.Tensor:
    try:
        return raising(x)
    finally:
        print("cleanup")


def in_try_around_with(x: torch.Tensor) -> torch.Tensor:
    try:
        with torch.no_grad():
            y = raising(x)
    except ValueError:
        y = x
    return y


class Swallowing:
    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> bool:
        return True


def _in_with(x: torch.Tensor, manager: Any) -> torch.Tensor:
    y = x
    with manager:
        y = raising(x)
    return y


def in_with_of_a_called_function(x: torch.Tensor) -> torch.Tensor:
    return _in_with(x, Swallowing())


_MANAGER = Swallowing()


def in_with_of_an_object_from_before(x: torch.Tensor) -> torch.Tensor:
    return _in_with(x, _MANAGER)


PROGRAMS = [in_try, in_finally, in_try_around_with, in_with_of_a_called_function]
HANDLING = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)


@pytest.mark.parametrize("program", [*PROGRAMS, in_with_of_an_object_from_before], ids=lambda p: p.__name__)
@pytest.mark.parametrize("effects", ["immediate", "drop"])
def test_exceptions_that_the_program_would_handle_are_refused(program: Any, effects: str) -> None:
    """The call cannot be run again in Python: the world may have seen effects of it."""
    with pytest.raises(CaptureError, match="AG325"):
        autograph(program, backend="eager", effects=effects)(X)


@HANDLING
def test_exceptions_that_the_program_would_handle_are_refused_by_export(program: Any) -> None:
    with pytest.raises(CaptureError, match="AG325"):
        export(program, (X,))


def test_exceptions_that_the_program_handles_are_explained_as_under_the_decorator() -> None:
    assert explain(in_try, X).error is None


def test_an_exception_to_handle_behind_effects_that_have_been_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call can neither be run again, nor can the graph handle it: a message of ours, not a wrong result."""

    def program(x: torch.Tensor) -> torch.Tensor:
        print("before")
        return in_try(x)

    monkeypatch.setattr(performing, "QUEUE_LIMIT", 1)
    compiled = autograph(program, backend="eager")
    with pytest.warns(UserWarning, match="wait for the graph"), pytest.raises(CaptureError, match="AG325 .* played"):
        compiled(X)


def test_blocks_that_handle_nothing_are_taken() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        try:
            y = x * 2
        except RuntimeError:
            y = x
        with torch.no_grad():
            z = raising(y - 10)
        for item in (1, 2):
            z = z + item
        return raising(z)

    torch.testing.assert_close(autograph(program, backend="eager")(X), program(X))


def test_tensors_with_a_gradient_are_not_printed_without_it() -> None:
    shown = X.clone().requires_grad_()

    def plain(x: torch.Tensor) -> torch.Tensor:
        print(x)
        return x

    def percent(x: torch.Tensor) -> torch.Tensor:
        print("%s %d" % (x.sum(), 3))  # noqa: UP031
        return x

    def formatted(x: torch.Tensor) -> torch.Tensor:
        print(f"{x}")
        return x

    for program in (plain, percent, formatted):
        with pytest.raises(CaptureError, match="AG322"):
            autograph(program, backend="eager")(shown)


def test_tensors_with_a_gradient_as_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        total = x.sum()
        print(f"{total:.2f} {total}", "{:.1f} {}".format(total, total))  # noqa: UP032
        return x

    autograph(program, backend="eager")(X.clone().requires_grad_())
    assert capsys.readouterr().out == "3.00 3.0 3.0 3.0\n"


def test_known_functions() -> None:
    assert hosts.is_host_function(print)
    assert not hosts.is_host_function(len)


class Loguru:
    """Stands for loguru's logger, which is no `logging.Logger` and looks at the frame that calls it."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def warning(self, message: str) -> None:
        self.lines.append((message, inspect.currentframe().f_back.f_code.co_name))


Loguru.warning.__module__ = "loguru._logger"
logger = Loguru()


def logs_large_sums(x):
    if x.sum() > 2:
        logger.warning(f"sum {x.sum():.1f}")
    return x * 2


def test_loggers_of_loguru() -> None:
    compiled = torch.compile(convert(logs_large_sums), fullgraph=True, backend="eager")
    compiled(X)
    compiled(-X)
    assert logger.lines == [("sum 3.0", "logs_large_sums")]
