"""Exceptions that the trace has not made: a call that raises one runs in Python, where it is that very object.

    raise self.error                       an argument, an attribute, an element of a list, a global
    raise KeyError(name) from self.last    what an earlier call has caught and kept

Dynamo takes such an object for any other, and raises a TypeError for it ("exceptions must derive from BaseException",
torch 2.13), as for a cause and a traceback from outside; so does plain torch.compile where a handler stands around it.
An exception that is raised is also written to (`__context__`, `__traceback__`), which whoever keeps it can see. So the
trace ends here. Where a branch or loop on data raises it, data have to say first whether a call comes to it.

Private: the instruction RAISE_VARARGS, how InstructionTranslatorBase raises, its parent, and
ExceptionVariable.call_method.
tests/capture/test_errors_given.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any, NoReturn

from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables import UserDefinedObjectVariable
from torch._dynamo.variables.misc import ExceptionVariable
from torch._dynamo.variables.user_defined import UserDefinedExceptionObjectVariable

from autograph_torch.capture.again import frame_under_way, has_handlers
from autograph_torch.capture.dynamo_names import RAISE
from autograph_torch.capture.errors import RaisedOnPath
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.capture.replaced_instructions import Instruction, replaced
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime.refusal import raise_refusal

_RAISED = "an exception is raised, or named as a cause, that the compiled function has not made"
_TAKEN = "an exception is given a cause, context or traceback that the compiled function has not made"
_ADVICE = "make one here, `raise type(error)(*error.args)`; under `@autograph` this call runs in Python"
_KEPT_ONES = ("__cause__", "__context__", "__traceback__")


@contextlib.contextmanager
def errors_given() -> Iterator[None]:
    """While this is in force, they are left to Python."""
    raise_variable = getattr(InstructionTranslatorBase, RAISE)
    call = method_of(ExceptionVariable, "call_method")

    def raise_made(self: Any, error: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_given(error):  # such as one that is thrown into a generator
            _leave_to_python(self, _RAISED)
        return raise_variable(self, error, *args, **kwargs)

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        is_kept = name == "with_traceback" or (name == "__setattr__" and args[0].is_constant_match(*_KEPT_ONES))
        if is_kept and _is_given(args[-1]):
            _leave_to_python(tx, _TAKEN)
        return call(self, tx, name, args, kwargs)

    with (
        replaced(RAISE_VARARGS=_raising),
        patched(InstructionTranslatorBase, **{RAISE: raise_made}),
        patched(ExceptionVariable, call_method=call_method),
    ):
        yield


def _raising(original: Instruction) -> Instruction:
    """Look before Dynamo does: its `finally` asks for what has been raised, and fails where nothing has."""

    def follow(translator: Any, instruction: Any) -> None:
        if any(_is_given(one) for one in translator.stack[len(translator.stack) - instruction.arg :]):
            _leave_to_python(translator, _RAISED)
        original(translator, instruction)

    return follow


def _is_given(variable: Any) -> bool:
    """Whether it is an exception, or a traceback, from outside of the trace."""
    value = variable.realize()
    if not isinstance(value, UserDefinedObjectVariable) or isinstance(value, UserDefinedExceptionObjectVariable):
        return False
    return isinstance(value.value, (BaseException, types.TracebackType))


def _leave_to_python(tx: Any, message: str) -> NoReturn:
    try:
        raise_refusal("AG320", message, _ADVICE)
    except CaptureError as refused:
        if tx.output.current_tracer.parent is not None:
            raise
        if frame_under_way() is not None and any(has_handlers(caller.f_code, managers=True) for caller in _callers(tx)):
            raise  # without the decorator nothing can hand on what Python returns, where it handles this
        raise refused from RaisedOnPath()  # Python comes to it, too


def _callers(tx: Any) -> Iterator[Any]:
    """What traces the function that raises, and the functions around it."""
    while tx is not None:
        yield tx
        tx = tx.parent
