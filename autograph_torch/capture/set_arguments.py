"""What methods of sets are given is gone through once, and no further than Python goes.

    left = set(names).difference(n for n in seen if ...)     the generator has nothing more the second time
    known.issuperset(rows)                                    stops at the first row that is not there

Dynamo's stand-ins for these methods (torch 2.13) look at every element first, and go through them again for each
member.
Two of them compare what has not the same hash, and keep the other one of two that are equal.

Private: SetVariable.call_method, polyfills.set_intersection and set_isdisjoint.
tests/capture/test_set_arguments.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from torch._dynamo import polyfills
from torch._dynamo.variables import IteratorVariable, SetVariable, UserDefinedObjectVariable, UserFunctionVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable

from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime.membership import has_all, has_none, intersection, is_within

_THROUGH = ("union", "difference", "difference_update", "symmetric_difference", "symmetric_difference_update")
_IN_BOTH = ("intersection", "intersection_update")
_FOUND_IN = (*_IN_BOTH, "isdisjoint", "issuperset", "issubset")
# Older versions of Python make a set of what they are given.
_SINCE: dict[str, tuple[Any, tuple[int, int]]] = {
    "isdisjoint": (has_none, (3, 10)),
    "issuperset": (has_all, (3, 11)),
    "issubset": (is_within, (3, 12)),
}
_UP_TO = {name: function for name, (function, version) in _SINCE.items() if sys.version_info >= version}


@contextlib.contextmanager
def set_arguments() -> Iterator[None]:
    """While this is in force, it is."""
    original = method_of(SetVariable, "call_method")

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in _UP_TO and len(args) == 1 and not kwargs and _is_iterator(args[0]):
            return UserFunctionVariable(_UP_TO[name]).call_function(tx, [self, *args], {})
        if name in _IN_BOTH and not kwargs and any(map(_is_iterator, args)):
            return _in_both(self, tx, name, args)
        if name in _THROUGH or name in _FOUND_IN:
            args = [_listed(tx, one) if _is_iterator(one) or _is_object(one) else one for one in args]
        return original(self, tx, name, args, kwargs)

    stand_ins: dict[str, Any] = {"set_intersection": intersection, "set_isdisjoint": has_none}
    known = {name: ours for name, ours in stand_ins.items() if hasattr(polyfills, name)}
    with patched(SetVariable, call_method=call_method), patched(polyfills, **known):
        yield


def _in_both(members: Any, tx: Any, name: str, args: Any) -> Any:
    """An intersection with iterators."""
    common: Any = intersection
    found = UserFunctionVariable(common).call_function(tx, [members, *args], {"cls": members.python_type_var()})
    if name == "intersection":
        return found
    members.call_method(tx, "clear", [], {})
    return members.call_method(tx, "update", [found], {})


def _listed(tx: Any, variable: Any) -> Any:
    rows = VariableTracker.build(tx, iter).call_function(tx, [variable], {})  # torch asks an object for its length
    return VariableTracker.build(tx, list).call_function(tx, [rows], {})


def _is_iterator(variable: Any) -> bool:
    return isinstance(variable.realize(), (IteratorVariable, LocalGeneratorObjectVariable))


def _is_object(variable: Any) -> bool:
    """Whether it is an object of the program that says what is in it."""
    value = variable.realize()
    return isinstance(value, UserDefinedObjectVariable) and not isinstance(value.value, (set, frozenset, dict))
