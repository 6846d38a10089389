"""Objects of classes derived from collections.deque, as Dynamo has them of classes derived from a list.

    class Window(deque):
        def push(self, x):
            self.append(x)
            return len(self) == self.maxlen

    self.window.push(x)                 len, bool, iteration, `in`, indices, the methods and `maxlen` are known
    Window([x], maxlen=3)               and one can be made

A class with a `__len__`, `__getitem__`, `__iter__`, `__new__` or `maxlen` of its own is left to Dynamo, which refuses
it: guards would run it, or `==`. Refused are also operators that make another one (`+`, `*`).

Private: UserDefinedObjectVariable with `_base_vt` and `_base_methods`, VariableBuilder._wrap, DequeVariable,
SideEffects.get_variable_cls, cls_supports_mutation_side_effects, track_new_user_defined_object and
codegen_update_mutated, UserDefinedClassVariable.supported_c_new_functions. tests/capture/test_derived_deques.py fails
clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import inspect
from collections import deque
from collections.abc import Iterator
from typing import Any

from torch._dynamo.guards import GuardBuilder
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import AttrSource, GetItemSource
from torch._dynamo.variables import ConstantVariable, ListVariable, UserDefinedClassVariable, UserDefinedObjectVariable
from torch._dynamo.variables.base import ValueMutationExisting, ValueMutationNew
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.functions import UserFunctionVariable
from torch._dynamo.variables.lists import DequeVariable

from autograph_torch.capture.deques import constant_length
from autograph_torch.capture.dynamo_names import unlooked_at
from autograph_torch.capture.patching import patched
from autograph_torch.capture.written_behind import Write, writing_behind
from autograph_torch.runtime import written_containers
from autograph_torch.runtime.refusal import raise_refusal

_IS_POSSIBLE = (  # not in torch 2.11
    hasattr(UserDefinedObjectVariable, "_base_vt")
    and hasattr(DequeVariable, "sq_item_impl")
    and hasattr(UserDefinedClassVariable, "supported_c_new_functions")
    and hasattr(SideEffects, "get_variable_cls")
)
# Of these guards ask the first ones, and `==` of two deques the last one.
_NOT_ITS_OWN = ("__len__", "__getitem__", "__new__", "__getattribute__", "maxlen", "__iter__")
_OTHERS = ("__add__", "__mul__", "__rmul__", "__copy__", "__reduce__", "__repr__", "copy")  # give one of its class, say
_METHODS = {value for name, value in vars(deque).items() if callable(value) and name not in _OTHERS}


class _Held(DequeVariable):
    """What an object of such a class holds; its constructor can be called again."""

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__iadd__":
            self.call_method(tx, "extend", args, kwargs)
            return self
        if name != "__init__":
            return super().call_method(tx, name, args, kwargs)
        made: Any = UserDefinedClassVariable(deque).call_function(tx, list(args), kwargs)
        tx.output.side_effects.mutation(self)
        self.items[:], self.maxlen = made.items, made.maxlen
        return ConstantVariable.create(None)


class _Derived(UserDefinedObjectVariable):
    """An object of such a class."""

    def __init__(self, value: Any, held: Any = None, **kwargs: Any) -> None:
        super().__init__(value, **kwargs)
        self._base_vt = held if held is not None else _Held([], mutation_type=ValueMutationNew())
        self._base_methods = _METHODS

    def var_getattr(self, tx: Any, name: str) -> Any:
        return self._base_vt.maxlen if name == "maxlen" else super().var_getattr(tx, name)  # type: ignore[union-attr]

    def sq_item_impl(self, tx: Any, key: Any) -> Any:
        return self._base_vt.sq_item_impl(tx, key)  # type: ignore[union-attr]

    def sq_ass_item_impl(self, tx: Any, key: Any, value: Any) -> Any:
        return self._base_vt.sq_ass_item_impl(tx, key, value)  # type: ignore[union-attr]

    def sq_repeat_impl(self, tx: Any, count: Any) -> Any:
        raise_refusal("AG320", f"`*` of a {type(self.value).__name__}", "make one of what it is to hold")

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "copy" and not args and not kwargs and type(self.value).copy is deque.copy:  # type: ignore[attr-defined]
            return UserFunctionVariable(_copied).call_function(tx, [self], {})  # type: ignore[arg-type]
        return super().call_method(tx, name, args, kwargs)


@contextlib.contextmanager
def derived_deques() -> Iterator[None]:
    """While converted functions are traced."""
    if not _IS_POSSIBLE:
        yield
        return
    wrap, kind_of = VariableBuilder._wrap, SideEffects.get_variable_cls
    track, supports = SideEffects.track_new_user_defined_object, SideEffects.cls_supports_mutation_side_effects
    constructors = {*UserDefinedClassVariable.supported_c_new_functions(), deque.__new__}

    def wrap_value(self: Any, value: Any) -> Any:
        return _of_before(self, value) if _is_derived(type(value)) else wrap(self, value)

    def get_variable_cls(self: Any, cls: type) -> Any:
        return _Derived if _is_derived(cls) else kind_of(self, cls)

    def track_new(self: Any, base: Any, cls: Any, init_args: Any, **kwargs: Any) -> Any:
        return track(self, base, cls, [] if _is_derived(cls.value) else init_args, **kwargs)

    def supports_mutation(cls: type) -> bool:
        return _is_derived(cls) or supports(cls)

    with (
        patched(VariableBuilder, _wrap=wrap_value),
        patched(
            SideEffects,
            get_variable_cls=get_variable_cls,
            track_new_user_defined_object=track_new,
            cls_supports_mutation_side_effects=staticmethod(supports_mutation),
            codegen_update_mutated=writing_behind(SideEffects.codegen_update_mutated, _writes),
        ),
        patched(UserDefinedClassVariable, supported_c_new_functions=staticmethod(lambda: constructors)),
    ):
        yield


def _is_derived(cls: Any) -> bool:
    """Whether a class is derived from deque, and has none of these of its own."""
    return (
        cls is not deque
        and issubclass(cls, deque)
        and all(inspect.getattr_static(cls, name) is vars(deque)[name] for name in _NOT_ITS_OWN)
    )


def _of_before(builder: Any, value: Any) -> Any:
    """An object from before the call."""
    builder.install_guards(GuardBuilder.TYPE_MATCH, GuardBuilder.SEQUENCE_LENGTH)
    source, tx = builder.get_source(), builder.tx
    items = [unlooked_at(one, GetItemSource(source, k), tx) for k, one in enumerate(value)]
    length = constant_length(VariableBuilder(tx, AttrSource(source, "maxlen"))(value.maxlen))
    held = _Held(items, length, source=source, mutation_type=ValueMutationExisting())
    return tx.output.side_effects.track_object_existing(value, _Derived(value, held, source=source))


def _writes(effects: Any) -> list[Write]:
    derived = [one for one in effects._get_modified_vars() if isinstance(one, _Derived)]
    held: list[tuple[Any, Any]] = [(one, one._base_vt) for one in derived if effects.is_modified(one._base_vt)]
    return [(written_containers.write_deque, [one.source, ListVariable(list(of.items)), of.maxlen]) for one, of in held]


def _copied(given: Any) -> Any:
    return type(given)(given) if given.maxlen is None else type(given)(given, given.maxlen)
