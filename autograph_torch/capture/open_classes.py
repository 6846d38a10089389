"""Whether an object is one of a class that does not say so itself: later calls have to agree.

    isinstance(monitor, Updated)       a runtime_checkable Protocol: what the object has counts, not its class alone
    isinstance(x, Array)               an abstract class: `Array.register(Mine)` may come between two calls
    issubclass(kind, Array)

Dynamo answers by the type of the object, and asks later calls for no more; in plain torch.compile, too (torch 2.13).
Here what an object from outside is, is asked of it, and of those of later calls. Of an object that the call makes or
writes to, the members of a Protocol are asked one by one. (What a metaclass of the program says is followed, see
capture/metaclass_calls.py.)

Private: BuiltinVariable.call_function, SideEffects.is_modified, GuardBuilder, and how a Protocol keeps its members.
tests/capture/test_open_classes.py shows what torch does without this.
"""

from __future__ import annotations

import abc
import contextlib
import functools
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.variables import BuiltinVariable, ConstantVariable, UserDefinedObjectVariable

from autograph_torch.capture.dynamo_names import HASATTR, expression_of, get_attribute, value_at
from autograph_torch.capture.later_calls import agree
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import raise_refusal

_Kinds = tuple[type, ...]
_UNKNOWN = "`isinstance` with a Protocol, of an object of which the trace does not know what it has"


@contextlib.contextmanager
def open_classes() -> Iterator[None]:
    """While this is in force, they do."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn not in (isinstance, issubclass) or len(args) != 2 or kwargs:
            return built_in(self, tx, args, kwargs)
        kinds = _classes_in(args[1].realize())
        if not any(map(_is_open, kinds)):
            return built_in(self, tx, args, kwargs)
        known = _of_object(tx, args[0].realize(), kinds) if self.fn is isinstance else None
        if known is not None:
            return ConstantVariable.create(known)
        answer = built_in(self, tx, args, kwargs)
        if answer.is_python_constant():
            _agree_on_class(tx, args[0].realize(), kinds, self.fn, answer.as_python_constant())
        return answer

    with patched(BuiltinVariable, call_function=call_builtin):
        yield


def _classes_in(variable: Any) -> _Kinds:
    """The classes of the second argument; none where it is something else, which Dynamo may answer."""
    try:
        found = variable.as_python_constant()
    except NotImplementedError:
        return ()
    return tuple(_flat(found))


def _flat(found: Any) -> Iterator[type]:
    if isinstance(found, tuple):
        for one in found:
            yield from _flat(one)
    elif isinstance(found, types.UnionType) or typing.get_origin(found) is typing.Union:
        yield from _flat(typing.get_args(found))
    else:
        kind = typing.get_origin(found) or found  # typing.Sized
        if isinstance(kind, type):
            yield kind


def _is_open(kind: type) -> bool:
    """Whether it is an abstract class whose metaclass asks as `abc` and `typing` do."""
    return isinstance(kind, abc.ABCMeta) and type(kind).__instancecheck__.__module__ in ("abc", "typing")


def _is_protocol(kind: Any) -> bool:
    return bool(_is_open(kind) and getattr(kind, "_is_protocol", False))


def _of_object(tx: Any, one: Any, kinds: _Kinds) -> bool | None:
    """What is asked of an object rather than of its type; None where the type tells."""
    try:
        kind = one.python_type()
    except NotImplementedError:  # for Dynamo to say
        return None
    if any(base in kind.__mro__ for base in kinds):
        return True
    is_object = isinstance(one, UserDefinedObjectVariable)
    is_as_it_was = not (is_object and tx.output.side_effects.is_modified(one))
    if one.source is not None and expression_of(one.source) is not None and is_as_it_was:
        answer = isinstance(value_at(one.source, tx), kinds)
        agree(one.source, f"isinstance({expression_of(one.source)}, ___kinds) is {answer}", ___kinds=kinds)
        return answer
    if one.is_python_constant():
        return isinstance(one.as_python_constant(), kinds)
    protocols = [base for base in kinds if _is_protocol(base)]
    if not protocols:
        return None
    if one.is_tensor():
        return isinstance(one.as_proxy().node.meta["example_value"], kinds)
    others = tuple(base for base in kinds if base not in protocols)
    has = functools.partial(_has_of_object, tx, one) if is_object else functools.partial(_has_of_type, kind)
    return issubclass(kind, others) or any([_has_members(has, base) for base in protocols])


def _has_members(has: Callable[[str, bool], bool], protocol: Any) -> bool:
    names = typing._get_protocol_attrs(protocol)  # type: ignore[attr-defined]
    return all([has(name, callable(getattr(protocol, name, None))) for name in sorted(names)])


def _has_of_type(kind: type, name: str, is_method: bool) -> bool:
    return hasattr(kind, name) and not (is_method and getattr(kind, name) is None)


def _has_of_object(tx: Any, one: Any, name: str, is_method: bool) -> bool:
    """Whether an object has an attribute by now; a method that is None it does without."""
    found = HASATTR(hasattr).call_function(tx, [one, ConstantVariable.create(name)], {})
    if not found.is_python_constant():
        raise_refusal("AG320", _UNKNOWN, "ask for the attribute itself, with `getattr(owner, name, None)`")
    if not found.as_python_constant():
        return False
    return not (is_method and get_attribute(one, tx, name).realize().is_constant_none())


def _agree_on_class(tx: Any, one: Any, kinds: _Kinds, ask: Callable[..., bool], answer: bool) -> None:
    """Have later calls agree on what the type of an object, or a class, is."""
    kind = one.python_type() if ask is isinstance else one.as_python_constant()
    if any(base in kind.__mro__ for base in kinds):
        return
    part = f"issubclass(___kind, ___kinds) is {answer}"
    agree(tx.import_source("abc"), part, ___kind=kind, ___kinds=kinds)
