"""Exceptions as objects: what their `__init__` hands on, what they are in a text, and what a handler reads of them.

    class Diverged(ValueError):
        def __init__(self, step, loss):
            super().__init__(f"diverged at {step}: {loss:.3f}")      or ValueError.__init__(self, ...)
            self.step = step

Dynamo takes none of these calls, and would go on with what the class was called with: so does its `f"{error}"`. Left to
Python are bases that do more with their arguments than to keep them (`OSError`, `StopIteration`). A `__str__` of the
class it does not ask, and the text of `KeyError("a")` is `'a'` in quotes.

    except ArithmeticError as error:
        log.append(error.args[0])         what was raised with a text for the graph (runtime/effects.py) has a string

    except StopIteration as stop:
        return stop.value                 what a generator has returned

Private: SuperVariable.call_method, BuiltinVariable.call_method, the variables of exceptions with their `args`.
tests/capture/test_error_objects.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables import ConstantVariable, ConstDictVariable, TupleVariable, UserDefinedObjectVariable
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.dicts import is_hashable
from torch._dynamo.variables.functions import UserFunctionVariable
from torch._dynamo.variables.misc import ExceptionVariable, StringFormatVariable, SuperVariable
from torch._dynamo.variables.user_defined import UserDefinedExceptionObjectVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime import effects
from autograph_torch.runtime.places import is_runtime
from autograph_torch.runtime.refusal import raise_refusal

_INIT = "__init__"
_ERRORS = (ExceptionVariable, UserDefinedExceptionObjectVariable)
# torch 2.11 gives other texts than Python, a list of arguments, and those of the call for those that an object keeps.
_IS_OLD = GET_ATTRIBUTE not in vars(UserDefinedExceptionObjectVariable)
# Dynamo has None for them.
_SET_BY_PYTHON: dict[Any, tuple[str, ...]] = {
    AttributeError: ("name", "obj"),
    NameError: ("name",),
    ImportError: ("name", "path"),
}
_OF_PLAIN_ONES = {_INIT, "__new__", "__doc__", "__str__"}


@contextlib.contextmanager
def error_objects() -> Iterator[None]:
    """While this is in force, these calls are taken."""
    by_super, of_class = SuperVariable.call_method, method_of(BuiltinVariable, "call_method")
    called = BuiltinVariable.call_function

    def call_super(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == _INIT and isinstance(self.objvar, UserDefinedExceptionObjectVariable) and not kwargs:
            found, _ = self._resolved_getattr_and_source(tx, name)
            if _keeps_arguments(getattr(found, "__objclass__", None)):
                return _keep(self.objvar, args)
        return by_super(self, tx, name, args, kwargs)

    def call_of_class(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == _INIT and _keeps_arguments(self.fn) and args and not kwargs:
            made = args[0].realize()
            if isinstance(made, UserDefinedExceptionObjectVariable):
                return _keep(made, args[1:])
        return of_class(self, tx, name, args, kwargs)

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is str.format:
            args = [_text(one, tx) for one in args]
        if self.fn is str and len(args) == 1:
            value = args[0].realize()
            if isinstance(value, StringFormatVariable):
                return value
            own = _own_text(value)
            if own is not None:
                return UserFunctionVariable(own).call_function(tx, [value], {})
            if isinstance(value, _ERRORS):
                plain = _plain(value)
                with _strings_in(plain, tx):
                    if issubclass(plain.exc_type, KeyError) and len(plain.args) == 1:
                        return called(BuiltinVariable(repr), tx, list(plain.args), {})
                    if _IS_OLD:
                        return _text_of_arguments(plain, tx)
                    return called(self, tx, args, kwargs)
        return called(self, tx, args, kwargs)

    attribute = getattr(ExceptionVariable, GET_ATTRIBUTE)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if name == "args" and not is_runtime(tx.f_code.co_filename):
            with _strings_in(self, tx):
                return TupleVariable(list(self.args)) if _IS_OLD else attribute(self, tx, name)
        if name == "value" and self.exc_type is StopIteration:
            return _string(self.args[0], tx) if self.args else ConstantVariable.create(None)
        if any(issubclass(self.exc_type, kind) and name in names for kind, names in _SET_BY_PYTHON.items()):
            message = f"the trace does not know the `{name}` of an exception that Python raises"
            raise_refusal("AG320", message, "read it from the text, or keep it before")
        return attribute(self, tx, name)

    of_object = method_of(UserDefinedExceptionObjectVariable, GET_ATTRIBUTE)

    def get_attribute_of_object(self: Any, tx: Any, name: str) -> Any:
        return getattr(self.exc_vt, GET_ATTRIBUTE)(tx, name) if name == "args" else of_object(self, tx, name)

    old = {GET_ATTRIBUTE: get_attribute_of_object} if _IS_OLD else {}
    with (
        _keys_of_errors() if _IS_OLD else contextlib.nullcontext(),
        patched(ExceptionVariable, **{GET_ATTRIBUTE: get_attribute}),
        patched(UserDefinedExceptionObjectVariable, **old),
        patched(SuperVariable, call_method=call_super),
        patched(BuiltinVariable, call_method=call_of_class, call_function=call_builtin),
    ):
        yield


@contextlib.contextmanager
def _keys_of_errors() -> Iterator[None]:
    """While this is in force, the KeyError of a dict has its key: torch 2.11 has a message of its own, or nothing."""
    call = ConstDictVariable.call_method

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        missing = type(self) is ConstDictVariable and len(args) == 1 and not kwargs and name in ("__getitem__", "pop")
        if missing and is_hashable(args[0]) and args[0] not in self:
            self.install_dict_contains_guard(tx, args)
            raise_observed_exception(KeyError, tx, args=[args[0]])
        return call(self, tx, name, args, kwargs)

    with patched(ConstDictVariable, call_method=call_method):
        yield


def _text(value: Any, tx: Any) -> Any:
    """What an exception is in a text; of what is not one, itself."""
    return BuiltinVariable(str).call_function(tx, [value], {}) if isinstance(value, _ERRORS) else value


def _text_of_arguments(error: Any, tx: Any) -> Any:
    """What `str` gives for an exception."""
    if not error.args:
        return ConstantVariable.create("")
    shown = error.args[0] if len(error.args) == 1 else TupleVariable(list(error.args))
    return BuiltinVariable(str).call_function(tx, [shown], {})


def _own_text(value: Any) -> types.FunctionType | None:
    """The `__str__` of a user's class of exceptions, if it has one."""
    if not isinstance(value, UserDefinedExceptionObjectVariable):
        return None
    found = value.value_type.__str__
    return found if isinstance(found, types.FunctionType) else None


@contextlib.contextmanager
def _strings_in(error: Any, tx: Any) -> Iterator[None]:
    """Have strings in the place of the texts among the arguments of an exception, which may be raised again."""
    texts = error.args
    error.args = [_string(one, tx) for one in texts]
    try:
        yield
    finally:
        error.args = texts


def _string(argument: Any, tx: Any) -> Any:
    """A text as a string; what is none, itself."""
    value = argument.realize()
    is_text = isinstance(value, UserDefinedObjectVariable) and value.value_type is effects.Text
    string_of: Any = effects.string_of
    return UserFunctionVariable(string_of).call_function(tx, [argument], {}) if is_text else argument


def _plain(error: Any) -> Any:
    """The variable that has the arguments of an exception."""
    return error.exc_vt if isinstance(error, UserDefinedExceptionObjectVariable) else error


def _keeps_arguments(kind: Any) -> bool:
    """Whether the constructor of a class of exceptions only keeps its arguments."""
    if kind is BaseException or kind is Exception:
        return True
    is_error = isinstance(kind, type) and issubclass(kind, Exception)
    return is_error and vars(kind).keys() <= _OF_PLAIN_ONES and _keeps_arguments(kind.__base__)


def _keep(made: Any, args: Any) -> ConstantVariable:
    made.exc_vt.args = list(args)
    return ConstantVariable.create(None)
