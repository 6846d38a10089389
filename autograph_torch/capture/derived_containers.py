"""What methods of classes derived from Python's containers give is of the type that it is in eager.

    class Table(OrderedDict): ...
    table.copy(); table | other         a Table
    Table.fromkeys(names)               a Table
    class Names(frozenset): ...
    names.copy()                        a frozenset
    class Rows(list): ...
    rows += [x]; rows *= 2              the same Rows; so `|=` of a dict and what sets have
    (Names("a"), 1)                     a Names in a tuple, no constant of the graph's code

Dynamo (torch 2.13) gives what the container's own class would, and the other way round.

Private: call_method of its variables for such objects, what gives what `+=` and `*=` do, as_python_constant, and what
they hold what the container has in (`_base_vt`). tests/capture/test_derived_containers.py shows what torch does without
this.
"""

from __future__ import annotations

import contextlib
import functools
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from torch._dynamo.variables import (
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
    user_defined,
)
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.misc import SuperVariable

from autograph_torch.capture.patching import method_of, patched

# Not in torch 2.11.
_ORDERED, _SET = (getattr(user_defined, name, None) for name in ("OrderedDictVariable", "UserDefinedSetVariable"))

# What may give what an object holds the container's own in, where Python gives the object: `+=` and the like.
_GIVING_ITSELF = [
    name
    for name in ("call_method", "sq_inplace_concat_impl", "sq_inplace_repeat_impl")
    if name in vars(UserDefinedObjectVariable)
]


@contextlib.contextmanager
def derived_containers() -> Iterator[None]:
    """While this is in force, it is."""
    of_class = UserDefinedClassVariable.call_method

    def call_of_class(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "fromkeys" and _inherits(self.value, name):
            return UserFunctionVariable(_from_keys).call_function(tx, [self, *args], kwargs)  # type: ignore[arg-type]
        return of_class(self, tx, name, args, kwargs)

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(UserDefinedClassVariable, call_method=call_of_class))
        in_place = {name: _giving_itself(vars(UserDefinedObjectVariable)[name]) for name in _GIVING_ITSELF}
        stack.enter_context(patched(UserDefinedObjectVariable, **in_place))
        stack.enter_context(patched(SuperVariable, call_method=_giving_object(SuperVariable.call_method)))
        if _ORDERED is not None:
            stack.enter_context(patched(_ORDERED, call_method=_copying(_ORDERED, _of_its_class)))
        if _SET is not None:
            stack.enter_context(patched(_SET, call_method=_copying(_SET, _as_frozen_set)))
            stack.enter_context(patched(_SET, as_python_constant=_refuse_constant, is_python_equal=_is_equal))
        yield


def _giving_itself(call: Any) -> Any:
    @functools.wraps(call)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = call(self, *args, **kwargs)
        held = getattr(self, "_base_vt", None)
        return self if held is not None and result is held else result

    return method


def _giving_object(call: Any) -> Any:
    """The same for `super().__iadd__(...)`."""

    def call_method(self: Any, *args: Any) -> Any:
        result = call(self, *args)
        held = getattr(self.objvar, "_base_vt", None)
        return self.objvar if held is not None and result is held else result

    return call_method


def _copying(kind: Any, copied: Any) -> Any:
    call = method_of(kind, "call_method")

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "copy" and not args and _inherits(type(self.value), name):
            return copied(self, tx)
        return call(self, tx, name, args, kwargs)

    return call_method


def _of_its_class(variable: Any, tx: Any) -> Any:
    return UserFunctionVariable(_made_again).call_function(tx, [variable], {})  # type: ignore[arg-type]


def _as_frozen_set(variable: Any, tx: Any) -> Any:
    return BuiltinVariable(frozenset).call_function(tx, [variable], {})


def _refuse_constant(variable: Any) -> Any:
    raise NotImplementedError(f"{variable} is no constant: it has a class of its own")


def _is_equal(variable: Any, other: Any) -> bool:
    held = other._base_vt if isinstance(other, type(variable)) else other
    return variable._base_vt.as_python_constant() == held.as_python_constant()  # type: ignore[no-any-return]


def _inherits(cls: type, name: str) -> bool:
    """Whether a class is derived from one of Python's containers, and has the method of that."""
    owner = next((base for base in cls.__mro__ if name in vars(base)), None)
    return owner in (dict, OrderedDict, frozenset) and cls is not owner


def _made_again(given: Any) -> Any:
    return type(given)(given)


def _from_keys(cls: Any, keys: Iterable[Any], value: Any = None) -> Any:
    made = cls()
    for key in keys:
        made[key] = value
    return made
