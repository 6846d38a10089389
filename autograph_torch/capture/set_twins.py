"""A set of Python's own beside each set of constants in a trace: its order tells which member comes first, and next.

    todo = {5}
    while todo:
        k = todo.pop()                      which member this is follows from all that the set has been through:
        todo.update((k // 2, k - 1))        members that have gone leave marks, and a set that has grown stays large

What the trace does to the one is done to the other. A set from before the function begins with its members in their
order; what it has been through before that is not known, and could tell only of sets that have been much larger.

Private: SetVariable's `call_method` and operators. tests/capture/test_sets.py fails when torch changes them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from torch._dynamo.variables import FrozensetVariable, SetVariable

from autograph_torch.capture.patching import method_of
from autograph_torch.runtime import tracing

_CHANGES = frozenset(
    "add discard remove clear update difference_update intersection_update symmetric_difference_update".split()
)
_MAKES = frozenset("copy union difference intersection symmetric_difference".split())
_OPERATORS = {"or": operator.or_, "and": operator.and_, "subtract": operator.sub, "xor": operator.xor}
_IN_PLACE = {"or": operator.ior, "and": operator.iand, "subtract": operator.isub, "xor": operator.ixor}


def twin_of(variable: Any) -> set[Any] | frozenset[Any] | None:
    """The set with the members of a variable; None where they are not constants, or it is no set."""
    if type(variable) not in (SetVariable, FrozensetVariable):
        return None
    if not all(one.vt.is_python_constant() for one in variable.items):
        return None
    members = [one.vt.as_python_constant() for one in variable.items]
    known = _twins().get(variable)
    if known is None or known != set(members):
        known = set()
        for member in members:
            known.add(member)
        _twins()[variable] = known
    return known


def is_changed(variable: Any) -> bool:
    """Whether the trace has done something to a set from before the function."""
    return variable in _twins()


def following_twins() -> dict[str, Any]:
    """What SetVariable does, done to the twins as well."""
    methods: dict[str, Any] = {"call_method": _call_method(method_of(SetVariable, "call_method"))}
    for kind, compute in _OPERATORS.items():
        for name, function in ((f"nb_{kind}_impl", compute), (f"nb_inplace_{kind}_impl", _IN_PLACE[kind])):
            if hasattr(SetVariable, name):  # torch 2.11 has none of them
                methods[name] = _operator(method_of(SetVariable, name), function)
    return methods


def _call_method(call: Callable[..., Any]) -> Callable[..., Any]:
    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if type(self) is not SetVariable or kwargs or name not in {*_CHANGES, *_MAKES, "pop"}:
            return call(self, tx, name, args, kwargs)
        twin, others = twin_of(self), [_members(one) for one in args]
        if twin is None or not all(one is not None for one in others):
            return call(self, tx, name, args, kwargs)
        if name == "pop" and len(twin) > 1:
            return _pop(call, self, tx, twin)
        _twins().pop(self, None)  # what is done in parts is done to the twin at once
        try:
            result = call(self, tx, name, args, kwargs)
        finally:
            _twins()[self] = twin
        found = getattr(twin, name)(*[one for found in others if found is not None for one in found])
        if name in _MAKES:
            _twins()[result] = found
        return result

    return call_method


def _members(argument: Any) -> list[Any] | None:
    """The constant that an argument is, or the twin that it has; None for what has none."""
    twin = twin_of(argument)
    if twin is not None:
        return [twin]
    return [argument.as_python_constant()] if argument.is_python_constant() else None


def _pop(call: Callable[..., Any], variable: Any, tx: Any, twin: Any) -> Any:
    member = twin.pop()
    found = next(one.vt for one in variable.items if one.vt.as_python_constant() == member)
    call(variable, tx, "remove", [found], {})
    return found


def _operator(original: Callable[..., Any], function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def operate(self: Any, tx: Any, other: Any, *args: Any) -> Any:
        twin, with_what = twin_of(self), twin_of(other.realize())
        _twins().pop(self, None)
        result = original(self, tx, other, *args)
        if twin is not None:
            _twins()[self] = twin
        if twin is not None and with_what is not None and type(result) is SetVariable:
            _twins()[result] = function(twin, with_what)
        return result

    return operate


def _twins() -> dict[Any, Any]:
    return tracing.notebook().setdefault("twins of sets", {})  # type: ignore[no-any-return]
