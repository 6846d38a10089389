"""`functools.lru_cache` around functions from outside: what their caches hold is what they give.

    @functools.lru_cache
    def table(width):
        print("made")
        return torch.arange(width)

    y = x + table(3)

Where the cache has an answer, that is what the call gives, and later calls ask whether the cache still has it. Where
it has none, the call of what `@autograph` has compiled runs in Python this time, which fills the cache. Under
torch.compile it is filled while the trace stands there, if that is in no branch and nothing has been changed before.
Else the function behind the cache is traced, as in Dynamo, and must change nothing: it would do so in each call.

What is in a cache, CPython tells by `gc.get_referents`. Private: WrapperUserFunctionVariable.call_function.
tests/capture/test_caches_given.py fails clearly when one of them changes.
"""

from __future__ import annotations

import contextlib
import functools
import gc
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import torch
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import GlobalSource
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, UserDefinedObjectVariable
from torch._dynamo.variables.base import AttributeMutationNew, ValueMutationNew, VariableTracker
from torch._dynamo.variables.functions import WrapperUserFunctionVariable

from autograph_torch.capture.assumptions import in_body
from autograph_torch.capture.attempts import attempt_under_way
from autograph_torch.capture.caches import known_constant
from autograph_torch.capture.later_calls import agree
from autograph_torch.capture.observed_data import can_run_again
from autograph_torch.capture.patching import patched
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime import performing, tracing
from autograph_torch.runtime.refusal import raise_refusal, refusal_at

_CONSTANTS = (int, float, bool, str, bytes, type(None))
_NEW = (AttributeMutationNew, ValueMutationNew)
_CHANGING = ("mutation", "store_attr", "store_cell", "store_global")
_CHANGES = "a cached function has no answer yet to what it is called with in a branch or loop, and changes something"
_CALL_BEFORE = "call it once before; or compile by `@autograph`, which runs such a call in Python"
_TWICE = "a cached function is called twice with one tensor or object that the compiled function has made"
_MISSED = "a cached function has no answer yet to what it is called with"
_GIVEN = "a cached function is called with a tensor from outside, and its cache may have an answer in some calls only"


class RunsInPython(CaptureError):
    """No graph is made in this call, which runs in Python; the next may get one."""


@contextlib.contextmanager
def caches_given() -> Iterator[None]:
    """While this is in force, they are asked."""
    call = WrapperUserFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        function = self.wrapper_obj
        if not can_run_again() or not self.source or not _keeps_answers(function):
            return call(self, tx, args, kwargs)
        given = [argument.realize() for argument in (*self.self_args(), *args)]
        named = {name: argument.realize() for name, argument in kwargs.items()}
        if any(_is_made(one) for one in (*given, *named.values())):  # no cache has an answer to what is new
            _note_call(function, [*given, *named.values()])
            return call(self, tx, args, kwargs)
        values, by_name = [_known(one) for one in given], {name: _known(one) for name, one in named.items()}
        found = _answer(self, tx, function, values, by_name)
        if found is not None:
            return found
        with _changing_nothing():
            return call(self, tx, args, kwargs)

    with patched(WrapperUserFunctionVariable, call_function=call_function):
        yield


@contextlib.contextmanager
def _changing_nothing() -> Iterator[None]:
    """While a function is traced that may be called or not."""
    before = _effects_of_graph()

    def refusing(change: Any) -> Any:
        def refuse(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
            if not isinstance(item.mutation_type, _NEW):
                raise_refusal("AG320", _CHANGES, _CALL_BEFORE)
            return change(self, item, *args, **kwargs)

        return refuse

    with patched(SideEffects, **{name: refusing(getattr(SideEffects, name)) for name in _CHANGING}):
        yield
    if _effects_of_graph() != before:
        raise_refusal("AG320", _CHANGES, _CALL_BEFORE)


def _effects_of_graph() -> int:
    return sum(node.target is torch.ops.autograph_torch.effect for node in tracing.nodes())


def _keeps_answers(function: Any) -> bool:
    if not isinstance(function, functools._lru_cache_wrapper) or function.cache_parameters()["maxsize"] == 0:
        return False
    return (function.__module__ or "").partition(".")[0] != "torch"


def _is_made(argument: Any) -> bool:
    """Whether the call under way has made a tensor or an object."""
    return argument.source is None and (argument.is_tensor() or isinstance(argument, UserDefinedObjectVariable))


def _note_call(function: Any, arguments: Sequence[Any]) -> None:
    """Refuse a second call with a tensor or an object of this call: that the cache would have an answer to."""
    made = [id(one.as_proxy().node) if one.is_tensor() else id(one) for one in arguments if _is_made(one)]
    calls = tracing.notebook().setdefault("calls of cached functions", set())
    if (id(function), *made) in calls:
        raise_refusal("AG320", _TWICE, "call it once, and keep what it gives")
    calls.add((id(function), *made))


def _known(argument: Any) -> Any:
    """What a function is called with, as its cache compares it."""
    if argument.is_tensor():
        raise_refusal("AG320", _GIVEN, "call it before, and hand over what it gives")
    if isinstance(argument, UserDefinedObjectVariable) and argument.source:
        install_guard(argument.source.make_guard(GuardBuilder.ID_MATCH))
        return argument.value
    attempt = attempt_under_way()
    if isinstance(argument, SymNodeVariable) and attempt is not None and attempt.one_path:
        return argument.evaluate_expr()
    return known_constant(argument)


def _answer(variable: Any, tx: Any, function: Any, values: Sequence[Any], named: dict[str, Any]) -> Any:
    cache, key = _cache_and_key(function, values, named)
    if key not in cache and performing.settings() is None:
        if in_body() or tx.output.current_tracer.parent is not None or _has_changed(tx.output.side_effects):
            return None
    elif key not in cache:
        filename, line, _ = tracing.user_line()
        advice = "under `@autograph` this call runs in Python"
        raise RunsInPython(refusal_at(filename, line, "AG320", _MISSED, advice).diagnostic)
    found = function(*values, **named)
    names = [tx.output.install_global_by_id("kept_by_a_cache", one) for one in (key, cache)]
    part = " in ".join(f"G[{name!r}]" for name in names)
    agree(variable.source, part)
    if type(found) in _CONSTANTS:
        return ConstantVariable.create(found)
    return VariableTracker.build(tx, found, GlobalSource(tx.output.install_global_by_id("kept_by_a_cache", found)))


def _has_changed(effects: Any) -> bool:
    """Whether the call under way has changed something, which the function might look at.

    So has a print, whose place is kept in a list of the runtime's (`effects.TOP`).
    """
    there = (one for one in effects.id_to_variable.values() if not isinstance(one.mutation_type, _NEW))
    return any(effects.is_modified(one) for one in there)


def _cache_and_key(function: Any, values: Sequence[Any], named: dict[str, Any]) -> tuple[dict[Any, Any], Hashable]:
    """The dict of a cache, and what it would have an answer at (`lru_cache_make_key` in CPython)."""
    parts = gc.get_referents(function)
    (cache,) = (part for part in parts if type(part) is dict and part is not vars(function))
    typed = function.cache_parameters()["typed"]
    key = tuple(values)
    if not named and not typed:
        return cache, key[0] if len(key) == 1 and type(key[0]) in (str, int) else key
    if named:
        (mark,) = (part for part in parts if type(part) is object)
        key += (mark, *(part for item in named.items() for part in item))
    if typed:
        key += tuple(type(value) for value in (*values, *named.values()))
    return cache, key
