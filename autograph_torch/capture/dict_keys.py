"""What keys a dict has, and in which order, every call asks anew where the function depends on it.

    if not cache: ...               Dynamo takes the dict of the first call for a constant, and asks later ones nothing
    str(options); any(options)
    try: found = table[name]
    except KeyError: ...            nothing asks later calls whether the key is there by now
    os.getenv(name)                 nor for the environment
    list(ordered)                   the order of an OrderedDict is not the one that the guards see

In plain torch.compile, too (torch 2.13).

Private: ConstDictVariable, GuardBuilder.guard_on_dict_keys_and_order.
tests/capture/test_dict_keys.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import collections
import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo import symbolic_convert
from torch._dynamo.exc import ObservedKeyError
from torch._dynamo.guards import GuardBuilder
from torch._dynamo.source import AttrSource
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    ConstDictVariable,
    ListVariable,
    UserFunctionVariable,
    builtin,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import PolyfilledFunctionVariable

from autograph_torch.capture.dynamo_names import TRUTH, expression_of, value_at
from autograph_torch.capture.later_calls import agree
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime import tracing

_READING = (str, repr, format)  # of constants, without a guard
_PLAIN = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_LOOK_UP = "getitem_const_raise_exception_if_absent"


@contextlib.contextmanager
def dict_keys() -> Iterator[None]:
    """While this is in force, it does."""
    look_up, built_in = getattr(ConstDictVariable, _LOOK_UP), BuiltinVariable.call_function
    negate, call = BuiltinVariable.call_not_, method_of(ListVariable, "call_method")
    polyfilled = PolyfilledFunctionVariable.call_function
    called = UserFunctionVariable.call_function
    in_order = GuardBuilder.guard_on_dict_keys_and_order

    def is_true(ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(tx: Any, value: Any) -> Any:
            value = value.realize()
            _guard_truth(value, tx)
            return ask(tx, value)

        return asked

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in _READING:
            for arg in args:
                guard_keys(arg.realize())
        return built_in(self, tx, args, kwargs)

    def call_polyfilled(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        for arg in args:
            guard_keys(arg.realize())
        return polyfilled(self, tx, args, kwargs)

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is not os.getenv:  # whose globals Dynamo does not ask later calls for
            return called(self, tx, args, kwargs)
        environment = VariableTracker.build(tx, os.environ, AttrSource(tx.import_source("os"), "environ"))
        return environment.call_method(tx, "get", args, kwargs)

    def call_not(self: Any, tx: Any, value: Any) -> Any:
        _guard_truth(value.realize(), tx)
        return negate(self, tx, value)

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "extend":  # also by `list(table)`
            for arg in args:
                guard_keys(arg.realize())
        return call(self, tx, name, args, kwargs)

    def get_item(self: Any, tx: Any, key: Any) -> Any:
        try:
            return look_up(self, tx, key)
        except ObservedKeyError:
            self.install_dict_contains_guard(tx, [key])
            raise

    def guard_on_dict_keys_and_order(self: Any, value: Any, guard: Any) -> None:
        in_order(self, value, guard)
        if isinstance(value, collections.OrderedDict) and all(map(ConstantVariable.is_literal, value)):
            part = f"list({self.arg_ref(guard)}) == {list(value)!r}"
            self.add_python_lambda_leaf_guard_to_root([part], [part])

    truth: Any = TRUTH
    with contextlib.ExitStack() as stack:
        for module in (symbolic_convert, builtin):
            if truth and hasattr(module, truth):
                stack.enter_context(patched(module, **{truth: is_true(getattr(module, truth))}))
        stack.enter_context(patched(BuiltinVariable, call_not_=call_not, call_function=call_builtin))
        stack.enter_context(patched(PolyfilledFunctionVariable, call_function=call_polyfilled))
        stack.enter_context(patched(UserFunctionVariable, call_function=call_function))
        stack.enter_context(patched(ListVariable, call_method=call_method))
        looking: Any = {_LOOK_UP: get_item}
        stack.enter_context(patched(ConstDictVariable, **looking))
        stack.enter_context(patched(GuardBuilder, guard_on_dict_keys_and_order=guard_on_dict_keys_and_order))
        yield


def _guard_truth(variable: Any, tx: Any) -> None:
    """Have later calls agree whether a dict is empty, if this is one of Python's own."""
    held = dict_in(variable)
    plain = isinstance(held, ConstDictVariable) and variable.python_type() in _PLAIN
    if plain and variable.source and expression_of(variable.source) is not None:
        known = bool(value_at(variable.source, tx))
        agree(variable.source, f"bool({expression_of(variable.source)}) is {known}")


def dict_in(variable: Any) -> Any:
    """The variable of a plain dict itself, or of the one that an object of a class of its own is."""
    return variable if isinstance(variable, ConstDictVariable) else tracing.inner_of(variable)


def guard_keys(variable: Any) -> None:
    """Have later calls agree on the keys of a dict and on their order."""
    held = dict_in(variable)
    if isinstance(held, ConstDictVariable) and held.source:
        held.install_dict_keys_match_guard()
        tracing.current_translator().output.guard_on_key_order.add(held.source)
