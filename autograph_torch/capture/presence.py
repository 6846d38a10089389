"""Whether there is an attribute, every call asks anew.

    def run(x):
        if hasattr(helper, "last"): ...      Dynamo takes the answer of the first call for that of all
        if "last" in dir(settings): ...
    try: value = state.last
    except AttributeError: ...
    leaf.rate                                of a base class, until the class of `leaf` gets one
    config.rate                              of `__getattr__`, until `config` gets one
    y = x + model.scale                      a cached_property, until a call deletes it: no guard computes it
    if p: trainer.best = 5                   else the one of the class, until `trainer` gets one

In plain torch.compile, too (torch 2.13); `hasattr` of objects and classes it knows better. A partial has attributes as
other objects do, of which Dynamo knows nothing.

Private: call_obj_hasattr and the attributes of UserFunctionVariable, FunctoolsPartialVariable and PythonModuleVariable,
BuiltinVariable.call_dir, maybe_wrap_nn_module_source_for_instance (through which go the sources of what lies in the
dict of an object).
tests/capture/test_presence.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from torch import nn
from torch._dynamo.exc import ObservedAttributeError, handle_observed_exception
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.source import (
    AttrSource,
    DictGetItemSource,
    GetItemSource,
    TypeDictSource,
    TypeMROSource,
)
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    PythonModuleVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import FunctoolsPartialVariable

from autograph_torch.capture.deletions import is_deleted
from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE, value_at
from autograph_torch.capture.known_torch import is_before
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.fields import is_left_to_getattr

_IN_DICT = "maybe_wrap_nn_module_source_for_instance"
_WALK = "get_source_by_walking_mro"
_PLAIN = (object, nn.Module)
LOOK_UPS = ("__getattr__", "__getattribute__")
_OF_PARTIALS = ("func", "args", "keywords")
_KINDS = (UserFunctionVariable, PythonModuleVariable, FunctoolsPartialVariable)


@contextlib.contextmanager
def presence() -> Iterator[None]:
    """While this is in force, it does."""
    show = BuiltinVariable.call_dir

    def call_dir(self: Any, tx: Any, variable: Any) -> Any:
        inner = variable.realize()
        if inner.source and isinstance(inner, (*_KINDS, UserDefinedClassVariable)):
            if isinstance(inner, UserDefinedClassVariable):
                _guard_classes(inner.source, inner.value, GuardBuilder.MAPPING_KEYS_CHECK)
            else:
                install_guard(AttrSource(inner.source, "__dict__").make_guard(GuardBuilder.DICT_KEYS_MATCH))
            return VariableTracker.build(tx, dir(_value(inner, tx)))
        return show(self, tx, inner)

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(BuiltinVariable, call_dir=call_dir))
        if hasattr(UserDefinedObjectVariable, _IN_DICT):
            reading: Any = {_IN_DICT: _reading_dicts(getattr(UserDefinedObjectVariable, _IN_DICT))}
            stack.enter_context(patched(UserDefinedObjectVariable, **reading))
        for kind in (*_KINDS, UserDefinedObjectVariable, UserDefinedClassVariable):
            stack.enter_context(_looking_up(kind))
        for kind in _KINDS:
            stack.enter_context(_asking(kind))
        for kind in (UserDefinedObjectVariable, UserDefinedClassVariable):
            if not is_before(2, 13):  # which asks in another way
                stack.enter_context(patched(kind, **{_WALK: _asking_classes(getattr(kind, _WALK))}))
        yield


def _reading_dicts(wrap: Callable[..., Any]) -> Callable[..., Any]:
    """The source of an attribute that an object has: where the class has code for one that is not there, its dict.

    A guard that asks the object for it would run that code when it has gone.
    """

    def source_of(self: Any, tx: Any, name: str, source: Any) -> Any:
        if source is not None and name in getattr(self.value, "__dict__", {}) and runs_code(type(self.value), name):
            source = DictGetItemSource(AttrSource(self.source, "__dict__"), name)
        return wrap(self, tx, name, source)

    return source_of


@contextlib.contextmanager
def _looking_up(kind: Any) -> Iterator[None]:
    """Where an attribute is not there, AttributeError is what later calls have to agree with."""
    look_up = getattr(kind, GET_ATTRIBUTE)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if kind is FunctoolsPartialVariable and self.source and name not in _OF_PARTIALS and _is_there(self, tx, name):
            return VariableTracker.build(tx, getattr(_value(self, tx), name), AttrSource(self.source, name))
        try:
            found = look_up(self, tx, name)
            if kind is UserDefinedObjectVariable and is_left_to_getattr(self.value, name):
                _guard(self, name)
            return found
        except ObservedAttributeError:
            if kind is not UserDefinedObjectVariable or not _asks_again(type(self.value), name):
                _guard(self, name)
                raise
        handle_observed_exception(tx)
        return self.call_method(tx, "__getattr__", [ConstantVariable.create(name)], {})

    changed: Any = {GET_ATTRIBUTE: get_attribute}
    with patched(kind, **changed):
        yield


@contextlib.contextmanager
def _asking(kind: Any) -> Iterator[None]:
    has = kind.call_obj_hasattr

    def call_obj_hasattr(self: Any, tx: Any, name: str) -> Any:
        effects = tx.output.side_effects
        if effects.is_attribute_mutation(self) and effects.has_pending_mutation_of_attr(self, name):
            return ConstantVariable.create(not is_deleted(effects, self, name))
        if kind is FunctoolsPartialVariable and self.source:
            return ConstantVariable.create(_is_there(self, tx, name))
        _guard(self, name)
        return has(self, tx, name)

    with patched(kind, call_obj_hasattr=call_obj_hasattr):
        yield


def _asking_classes(walk: Callable[..., Any]) -> Callable[..., Any]:
    """Later calls have to agree on the methods of classes, and that the first one has no attribute of its base.

    Dynamo asks whether the classes between have one.
    """

    def look_up(self: Any, tx: Any, name: str) -> Any:
        is_class = isinstance(self, UserDefinedClassVariable)
        first, source = (self.value, self.source) if is_class else (type(self.value), self.cls_source)
        asked = tx.output.guarded_mro_absent_keys  # one answer for all objects of a class
        if source and name not in vars(first) and (id(first), name) not in asked:
            asked.add((id(first), name))
            install_guard(TypeDictSource(source).make_guard(in_dict(name, False)))
        found = walk(self, tx, name)
        method = inspect.getattr_static(first, name, None)
        if isinstance(method, types.FunctionType) and not _is_of_torch(method):
            install_guard(found.make_guard(GuardBuilder.ID_MATCH))
        return found

    return look_up


def _is_of_torch(function: Any) -> bool:
    return str(function.__module__).partition(".")[0] == "torch"


def _is_there(partial: Any, tx: Any, name: str) -> bool:
    """Whether a partial that was there before the trace has an attribute."""
    _guard(partial, name)
    return hasattr(_value(partial, tx), name)


def _value(variable: Any, tx: Any) -> Any:
    return value_at(variable.source, tx)


def _guard(variable: Any, name: str) -> None:
    """Have later calls agree whether there is an attribute, without a line of the program's being run for it."""
    value = getattr(variable, "value", None)
    if not variable.source or (isinstance(value, types.ModuleType) and "__getattr__" in vars(value)):
        return
    kind = GuardBuilder.HASATTR
    if isinstance(variable, UserDefinedObjectVariable):
        if inspect.getattr_static(type(value), name, None) is not None:  # a property has raised it itself
            return
        if any(defines(type(value), method) for method in LOOK_UPS):
            kind = GuardBuilder.NOT_PRESENT_IN_GENERIC_DICT
            _guard_classes(getattr(variable, "cls_source", None), type(value), in_dict(name, False))
    if kind is GuardBuilder.HASATTR and "attr" not in inspect.signature(kind).parameters:  # torch 2.11
        install_guard(AttrSource(variable.source, name).make_guard(kind))
    elif kind is GuardBuilder.HASATTR or hasattr(value, "__dict__"):
        install_guard(variable.source.make_guard(functools.partial(kind, attr=name)))


def guard_own(variable: Any, name: str) -> bool:
    """Whether an object or class from before the trace has an attribute of its own, on which later calls have to agree:
    what a branch does not write to, it leaves unset.
    """
    value, source = variable.value, variable.source
    is_there = name in getattr(value, "__dict__", {})
    if not source or not hasattr(value, "__dict__"):
        return is_there
    is_class = isinstance(variable, UserDefinedClassVariable)
    bases = value.__mro__[1:] if is_class else type(value).__mro__
    if is_there and any(name in vars(base) for base in bases):  # else there is nothing left when it goes
        dict_of = TypeDictSource(source) if is_class else AttrSource(source, "__dict__")
        install_guard(dict_of.make_guard(in_dict(name, True)))
    elif is_class and not is_there:
        install_guard(TypeDictSource(source).make_guard(in_dict(name, False)))
    elif not is_there:
        install_guard(source.make_guard(functools.partial(GuardBuilder.NOT_PRESENT_IN_GENERIC_DICT, attr=name)))
    return is_there


def in_dict(name: str, is_there: bool) -> Callable[..., Any]:
    """The guard that a dict has a name, or has it not; torch 2.11 has one for both."""
    if not hasattr(GuardBuilder, "DICT_NOT_CONTAINS"):
        return functools.partial(GuardBuilder.DICT_CONTAINS, key=name, invert=not is_there)
    return functools.partial(GuardBuilder.DICT_CONTAINS if is_there else GuardBuilder.DICT_NOT_CONTAINS, key=name)


def _guard_classes(source: Any, kind: type, guard: Callable[..., Any]) -> None:
    """Ask later calls the same of the dict of a class, and of those of its bases."""
    for k in range(len(kind.__mro__) if source else 0):
        install_guard(TypeDictSource(GetItemSource(TypeMROSource(source), k)).make_guard(guard))


def _asks_again(kind: type, name: str) -> bool:
    """Whether Python asks `__getattr__` when a property has raised AttributeError."""
    return isinstance(inspect.getattr_static(kind, name, None), property) and defines(kind, "__getattr__")


def defines(kind: type, method: str) -> bool:
    """Whether a class has a method of the program's own."""
    return any(method in vars(one) for one in kind.__mro__ if one not in _PLAIN)


def runs_code(kind: type, name: str, methods: tuple[str, ...] = LOOK_UPS) -> bool:
    """Whether a class has code of its own for an attribute: a property or other descriptor, or one of the methods."""
    found = inspect.getattr_static(kind, name, None)
    if isinstance(found, property) or inspect.isfunction(getattr(type(found), "__get__", None)):
        return True
    own = [method for method in methods if defines(kind, method)]
    return any(inspect.isfunction(inspect.getattr_static(kind, method)) for method in own)
