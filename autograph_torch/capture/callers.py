"""Where the value of a branch goes: up through functions that return it as it is, and to whom (runtime/open_calls.py).

Private: a translator's `parent`, `instruction_pointer` and `stack`, its `call_function`, and capture/ahead.py.
tests/capture/test_callers.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables import (
    ConstantVariable,
    UnspecializedNNModuleVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
    UserMethodVariable,
)
from torch._dynamo.variables.functions import NestedUserFunctionVariable

from autograph_torch.capture.ahead import ahead
from autograph_torch.capture.hosts import line_of
from autograph_torch.runtime import open_calls, steps, tracing
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.following import followed
from autograph_torch.runtime.places import is_runtime

# What hands the value of the function that it calls to the frame, as it is.
_PLAIN_CALLS = (
    UserFunctionVariable,
    UserMethodVariable,
    NestedUserFunctionVariable,
    UnspecializedNNModuleVariable,
    UserDefinedObjectVariable,  # with a `__call__`, or a method that is kept somewhere
)


# Functions of the runtime that return what a function gives that they call: cond where Python knows the predicate.
_HAND_ON = (followed.__code__, cond.__code__, steps.remaining.__code__, steps._unrolled.__code__)

Line = tuple[str, int]
_found: list[dict[Line, Line]] = []  # of the traces that are under way, the innermost last


def watch_calls() -> None:
    """Remember what every frame is calling."""
    call = InstructionTranslatorBase.call_function

    def call_function(self: Any, fn: Any, args: Any, kwargs: Any) -> None:
        self._autograph_call = (fn, self.instruction_pointer)
        call(self, fn, args, kwargs)

    InstructionTranslatorBase.call_function = call_function  # type: ignore[method-assign]


@contextlib.contextmanager
def following_values() -> Iterator[dict[Line, Line]]:
    """While a function is traced: by the line of an `if`, that of the call which is given its value."""
    _found.append({})
    try:
        yield _found[-1]
    finally:
        _found.pop()


def fill_in_opened(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Answer `goes_into_opened`, asked by `ag.cond`."""
    if code is not open_calls.goes_into_opened.__code__ or not _found:
        return
    receiver, straight = _receiver(parent)
    if receiver is None:
        return
    arguments["known"] = ConstantVariable.create(straight and _opens(receiver))
    line, place = tracing.user_line()[:2], (receiver.f_code.co_filename, line_of(receiver))
    if line != place:  # else it is a part of a test
        _found[-1][line] = place


def _receiver(translator: Any) -> tuple[Any, bool]:
    """The frame that does something with the value of an `ag.cond`; None when that is whoever calls the compiled one.

    And whether it gets the value straight, not as that of a branch of another `ag.cond`. The value has to be returned
    by the user's function; from there on it is another function's.
    """
    straight = True
    while _is_plain(translator) and _returns(translator.parent):
        translator = translator.parent
        while _is_plain(translator):
            translator = translator.parent
            if is_runtime(translator.f_code.co_filename):
                if _hands_on(translator):
                    continue
                if _opens(translator):
                    return translator, straight
                break
            if not _returns(translator):
                return translator, straight
        else:
            return None, straight
        # The end of the body of an operator: its value is that of the `ag.cond` around.
        while translator is not None and translator.f_code is not cond.__code__:
            translator = translator.parent
        straight = False
    return None, straight


def _is_plain(translator: Any) -> bool:
    """Whether the frame around a function gets its value from a call of this very function."""
    around = getattr(translator, "parent", None)
    callee, place = getattr(around, "_autograph_call", (None, None))
    if around is None or place != around.instruction_pointer:
        return False
    return callee is not None and type(callee.realize()) in _PLAIN_CALLS


def _hands_on(translator: Any) -> bool:
    """Whether a frame of the runtime returns what a step of a loop, or what follows a call or loop, gives."""
    code = translator.f_code
    return code in _HAND_ON or (code.co_filename == steps.__file__ and _returns(translator))


def _returns(translator: Any) -> bool:
    """Whether a frame returns what the call gives that it is making."""
    return _next(translator).opname == "RETURN_VALUE"


def _next(translator: Any) -> Any:
    return next(one for one in ahead(translator) if one.opname not in ("PRECALL", "CACHE", "NOP"))


def _opens(translator: Any) -> bool:
    """Whether a frame hands what the call gives that it is making to `ag.opened`."""
    if not _next(translator).opname.startswith("CALL"):
        return False
    waiting = [one.realize() for one in translator.stack[-2:]]
    return any(isinstance(one, UserFunctionVariable) and one.fn is open_calls.opened for one in waiting)
