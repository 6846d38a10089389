"""Exceptions that the trace has not made: who handles one has that very object."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, autograph
from autograph_torch.capture.errors_given import errors_given
from tests.harness import compiled, leave_out, torch_before

ONES = torch.ones(2)


class Diverged(ValueError):
    def __init__(self, step: int, name: str) -> None:
        super().__init__(f"at {step}")
        self.name = name


class Holder:
    error = Diverged(1, "of the class")

    def __init__(self) -> None:
        self.last = Diverged(3, "kept")


def _traceback() -> types.TracebackType | None:
    try:
        raise KeyError
    except KeyError as error:
        return error.__traceback__


TRACEBACK = _traceback()


def of_an_attribute(x: Tensor, holder: Holder) -> Any:
    x = x * 2
    try:
        raise holder.last
    except Exception as error:
        return x, type(error), error.args, error is holder.last, getattr(error, "name", "")


def of_a_class(x: Tensor, holder: Holder) -> Any:
    x = x * 2
    try:
        raise holder.error
    except ValueError as error:
        return x, error is Holder.error


def by_a_helper(x: Tensor, holder: Holder) -> Any:
    def asked(table: dict[str, float]) -> float:
        try:
            return table["a"]
        except KeyError:
            raise holder.last from None

    try:
        return x * asked({})
    except ValueError as error:
        return x * 3, error is holder.last, error.__suppress_context__, type(error.__context__)


def as_a_cause(x: Tensor, holder: Holder) -> Any:
    x = x * 2
    try:
        raise RuntimeError("outer") from holder.last
    except Exception as error:
        return x, type(error), error.__cause__ is holder.last


def set_as_a_cause(x: Tensor, holder: Holder) -> Any:
    error = KeyError("k")
    try:
        error.__cause__ = holder.last
    except TypeError:
        return x * 3, "no exception"
    return x * 2, error.__cause__ is holder.last


def with_its_traceback(x: Tensor, holder: Holder) -> Any:
    x = x * 2
    try:
        raise KeyError("k").with_traceback(TRACEBACK)
    except (KeyError, TypeError) as error:
        return x, type(error)


def thrown_into_a_generator(x: Tensor, holder: Holder) -> Any:
    def rows() -> Iterator[Any]:
        try:
            yield 1
        except Exception as error:
            yield error is holder.last

    given = rows()
    return x * next(given), given.throw(holder.last)


class Swallowing:
    seen: BaseException | None = None

    def __enter__(self) -> Swallowing:
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> bool:
        self.seen = error
        return True


def seen_by_a_manager(x: Tensor, holder: Holder) -> Any:
    with Swallowing() as manager:
        x = x * 2
        raise holder.last
    return x, manager.seen is holder.last


def in_a_branch(x: Tensor, holder: Holder) -> Any:
    kind = ""
    if x.sum() > 0:
        try:
            raise holder.last
        except Exception as error:
            kind = type(error).__name__
    return x * 2, kind


def not_handled(x: Tensor, holder: Holder) -> Any:
    x = x * 2
    raise holder.last


def _outcome(function: Callable[..., Any], x: Tensor) -> Any:
    holder = Holder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result, *rest = function(x, holder)
        except Exception as error:
            return type(error), error is holder.last
    return result.tolist(), *rest, type(holder.last.__context__), holder.last.__traceback__ is not None


PROGRAMS = (of_an_attribute, of_a_class, by_a_helper, as_a_cause, set_as_a_cause, with_its_traceback)
RAISED = (*PROGRAMS, thrown_into_a_generator, seen_by_a_manager)


@pytest.mark.parametrize("program", (*RAISED, in_a_branch, not_handled))
def test_it_is_that_object(program: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    followed = autograph(program)
    for x in (ONES, -ONES):
        assert _outcome(followed, x) == _outcome(program, x)


@pytest.mark.parametrize("program", RAISED)
def test_without_the_decorator_it_is_refused(program: Callable[..., Any]) -> None:
    """And has done nothing: there is no result of Python's to hand on, whatever it had done to come to one."""
    runs: list[int] = []

    def counting(x: Tensor, holder: Holder) -> Any:
        runs.append(1)
        return program(x, holder)

    with pytest.raises(CaptureError, match="that the compiled function has not made"):
        compiled(counting)(ONES, Holder())
    assert runs == []


class Keeps(nn.Module):
    """Raises again what an earlier call has caught."""

    def __init__(self) -> None:
        super().__init__()
        self.last: Exception | None = None

    def forward(self, x: Tensor, table: dict[str, float]) -> Any:
        if self.last is not None:
            try:
                raise self.last
            except KeyError as error:
                return x * 3, error is self.last, error.args
        try:
            return x * table["k"]
        except KeyError as error:
            self.last = error
        return x


def test_one_that_an_earlier_call_has_kept() -> None:
    torch._dynamo.reset()
    eager, followed = Keeps(), autograph(Keeps())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for table in ({"k": 2.0}, {}, {}):
            expected, found = eager(ONES, table), followed(ONES, table)
            if not isinstance(expected, tuple):
                expected, found = (expected,), (found,)
            assert torch.equal(found[0], expected[0])
            assert found[1:] == expected[1:]


def test_calls_that_do_not_come_to_it_have_a_graph() -> None:
    def guarded(x: Tensor, holder: Holder, fails: bool) -> Any:
        if fails:
            raise holder.last
        return x * 2 if x.sum() > 0 else x

    assert torch.equal(compiled(guarded)(ONES, Holder(), False), ONES * 2)


@torch_before("2.13", "not looked at")
def test_what_torch_does_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    torch._dynamo.reset()
    plain = torch.compile(as_a_cause, backend="eager", fullgraph=True)(ONES, Holder())
    assert plain[1] is TypeError  # else torch has mended it
    leave_out(monkeypatch, errors_given)
    assert compiled(as_a_cause)(ONES, Holder())[1] is TypeError
