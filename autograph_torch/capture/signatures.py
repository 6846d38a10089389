"""inspect.signature of a function or class is computed while tracing: what it tells depends on no data.

    names = set(inspect.signature(self.forward).parameters)      {"input_ids", "attention_mask"}

Dynamo traces the body of `inspect.signature` instead, and stops in it where a module's globals lead to the loader of
its file. It also remembers signatures by the function alone: of a method and of its function, which has `self` as well,
the one is given that was asked for first, and the result is wrong. Left to Dynamo are functions made in the trace
whose defaults data tell. And once the function has written to a dict of the caller, Dynamo lets nobody read what may be
a view of it: the parameters of a signature are of no dict that anybody writes to.

Private: UserFunctionVariable.call_function and InspectSignatureVariable, which torch 2.11 does not have;
MappingProxyVariable and SideEffects.has_existing_dict_mutation.
tests/capture/test_signatures.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import GlobalSource
from torch._dynamo.variables import (
    MappingProxyVariable,
    UserDefinedClassVariable,
    UserFunctionVariable,
    UserMethodVariable,
    functions,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import NestedUserFunctionVariable
from torch._guards import ChainedSource

from autograph_torch.capture.patching import patched

_NAME = "__signature"  # of globals that hold signatures


@contextlib.contextmanager
def signatures() -> Iterator[None]:
    """While this is in force, signatures are constants of the trace."""
    with contextlib.ExitStack() as stack:
        for owner in (UserFunctionVariable, getattr(functions, "InspectSignatureVariable", None)):
            if owner is not None:
                stack.enter_context(patched(owner, call_function=_answering(owner.call_function)))
        stack.enter_context(patched(MappingProxyVariable, call_method=_reading(MappingProxyVariable.call_method)))
        yield


def _reading(called: Callable[..., Any]) -> Callable[..., Any]:
    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        source = self.source
        while isinstance(source, ChainedSource):
            source = source.base
        if not isinstance(source, GlobalSource) or not source.global_name.startswith(_NAME):
            return called(self, tx, name, args, kwargs)
        with patched(SideEffects, has_existing_dict_mutation=lambda _: False):  # nobody writes to its parameters
            return called(self, tx, name, args, kwargs)

    return call_method


def _answering(called: Callable[..., Any]) -> Callable[..., Any]:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        asks = self.fn is inspect.signature and len(args) == 1 and not kwargs
        found = _signature(args[0].realize(), tx) if asks else None
        if found is None:
            return called(self, tx, args, kwargs)
        name = tx.output.install_global(_NAME, found)
        return VariableTracker.build(tx, found, GlobalSource(name))

    return call_function


def _signature(variable: Any, tx: Any) -> inspect.Signature | None:
    """The signature of a function, method or class."""
    if type(variable) is UserFunctionVariable:
        asked: Any = variable.fn
    elif type(variable) is UserMethodVariable:
        asked = types.MethodType(variable.fn, object())  # the object itself does not count
    elif type(variable) is UserDefinedClassVariable:
        asked = variable.value
    elif type(variable) is NestedUserFunctionVariable:
        asked = _like(variable, tx.output.side_effects)
    else:
        return None
    try:
        return inspect.signature(asked)
    except (TypeError, ValueError):
        return None  # the trace raises the same


def _like(variable: Any, effects: Any) -> types.FunctionType | None:
    """A function with the parameters of one that was made in the trace."""
    shown = any(effects.has_pending_mutation_of_attr(variable, name) for name in ("__wrapped__", "__signature__"))
    defaults = [one for one in (variable.defaults, variable.kwdefaults) if one is not None]
    if shown or variable.wrapped_fn is not None or not all(one.is_python_constant() for one in defaults):
        return None
    code = variable.get_code()
    made = types.FunctionType(code, {}, code.co_name, closure=tuple(types.CellType() for _ in code.co_freevars))
    made.__defaults__ = variable.defaults and variable.defaults.as_python_constant()
    made.__kwdefaults__ = variable.kwdefaults and variable.kwdefaults.as_python_constant()
    return made
