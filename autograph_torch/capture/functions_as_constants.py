"""A function that the call makes is one object: it is found in lists, and is equal to itself alone.

    def on(self, callback):
        self.hooks.append(callback)
        ...
        if callback in self.hooks: self.hooks.remove(callback)

Where Dynamo compares constants (`in`, `index`, `count`, `remove`), it makes the function of a `def`, a lambda or a
functools.partial anew each time that it is asked for one: none is equal to any other, nor to itself. And two that have
tensors in their cells it does not tell apart.

Private: as_python_constant of NestedUserFunctionVariable and FunctoolsPartialVariable, richcompare_impl, call_method of
BaseListVariable and CommonListMethodsVariable.
tests/capture/test_functions_as_constants.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    NestedUserFunctionVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.functions import FunctoolsPartialVariable
from torch._dynamo.variables.lists import CommonListMethodsVariable

from autograph_torch.capture.identity_of_values import is_one_value
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.membership import index_of

_MADE = "functions as constants, by their variables"
_COMPARE = "richcompare_impl"
_EQUALITIES = ("__eq__", "__ne__")
_CONTAINERS = (tuple, list, dict, frozenset, set)


@contextlib.contextmanager
def functions_as_constants() -> Iterator[None]:
    """While this is in force, each of them is one."""
    with contextlib.ExitStack() as stack:
        for kind in (NestedUserFunctionVariable, FunctoolsPartialVariable):
            stack.enter_context(patched(kind, as_python_constant=_asked_once(method_of(kind, "as_python_constant"))))
        if hasattr(NestedUserFunctionVariable, _COMPARE):  # torch 2.11 has none
            compare = method_of(NestedUserFunctionVariable, _COMPARE)
            stack.enter_context(patched(NestedUserFunctionVariable, **{_COMPARE: _told_apart(compare)}))
        for owner in (BaseListVariable, CommonListMethodsVariable):
            stack.enter_context(patched(owner, call_method=_finding(method_of(owner, "call_method"))))
        yield


def _finding(original: Any) -> Any:
    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in ("index", "remove") and args and any(_has_data(one) for one in (*self.items, args[0])):
            found = _place(self, tx, name, args)
            return found if name == "index" else self.call_method(tx, "__delitem__", [found], {})
        return original(self, tx, name, args, kwargs)

    return call_method


def _place(values: Any, tx: Any, name: str, args: Any) -> Any:
    """Where an element is; methods of lists take no arguments by name."""
    kind = values.python_type().__name__
    missing = f"{kind}.{name}(x): x not in {kind}" if name == "remove" or kind == "tuple" else f"it is not in {kind}"
    place: Any = index_of
    said = {"missing": ConstantVariable.create(missing)}
    return UserFunctionVariable(place).call_function(tx, [values, *args], said)


def _has_data(variable: Any) -> bool:
    """Whether it is a function that is no constant."""
    value = variable.realize()
    return isinstance(value, NestedUserFunctionVariable) and not value.is_python_constant()


def _told_apart(original: Any) -> Any:
    def compare(self: Any, tx: Any, other: Any, op: str) -> Any:
        value = other.realize()
        if op in _EQUALITIES and isinstance(value, NestedUserFunctionVariable):
            known = is_one_value(tx, self, value)
            if known is not None:
                return ConstantVariable.create(known is (op == _EQUALITIES[0]))
        return original(self, tx, other, op)

    return compare


def _asked_once(original: Any) -> Any:
    def as_python_constant(self: Any) -> Any:
        made = original(self)
        known = tracing.notebook().setdefault(_MADE, {})
        _, before = known.get(id(self), (self, None))
        if not _has_the_same(made, before):  # the cells of a function may have changed since
            known[id(self)] = (self, made)
        return known[id(self)][1]

    return as_python_constant


def _has_the_same(one: Any, other: Any) -> bool:
    """Whether two functions, made of one variable, do the same: there is the same in their cells."""
    if type(one) is not type(other):
        return False
    return all(_is_same(a, b) for a, b in zip(_contents(one), _contents(other), strict=True))


def _contents(function: Any) -> tuple[Any, ...]:
    if isinstance(function, functools.partial):
        return (function.func, *function.args, *function.keywords.values())
    return tuple(cell.cell_contents for cell in function.__closure__ or ())


def _is_same(one: Any, other: Any) -> bool:
    """Whether two constants are one; of containers the tracer makes others each time, too."""
    return one is other or (type(one) is type(other) and isinstance(one, _CONTAINERS) and bool(one == other))
