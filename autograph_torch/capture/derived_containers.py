"""What methods of classes derived from Python's containers give is of the type that it is in eager.

    class Table(OrderedDict): ...
    table.copy(); table | other         a Table
    Table.fromkeys(names)               a Table
    class Names(frozenset): ...
    names.copy()                        a frozenset

Dynamo (torch 2.13) gives what the container's own class would, and the other way round.

Private: call_method of its variables for such objects. tests/capture/test_derived_containers.py shows what torch does
without this.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any

from torch._dynamo.variables import UserDefinedClassVariable, UserFunctionVariable, user_defined
from torch._dynamo.variables.builtin import BuiltinVariable

from autograph_torch.capture.patching import method_of, patched

# Not in torch 2.11.
_ORDERED, _SET = (getattr(user_defined, name, None) for name in ("OrderedDictVariable", "UserDefinedSetVariable"))


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
        if _ORDERED is not None:
            stack.enter_context(patched(_ORDERED, call_method=_copying(_ORDERED, _of_its_class)))
        if _SET is not None:
            stack.enter_context(patched(_SET, call_method=_copying(_SET, _as_frozen_set)))
        yield


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
