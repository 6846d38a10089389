"""What is learned about sizes in a body of a branch or loop holds only there.

    idx = mask.nonzero()
    if len(idx) > 1:
        y = idx[1]            # in here len(idx) >= 2

torch writes every such fact down for the whole graph: the program above would raise for all inputs with one index
only, and an `if len(idx) > 1` behind the branch would be taken for true. Here what is learned about symbols from
outside is forgotten when a body has been traced, by Dynamo or by what comes after it; what torch has only assumed is
checked in the body itself when it runs, for an index out of bounds would read foreign memory. What guards see to before
the graph runs, of the sizes and numbers that the function is given, holds everywhere.

Private names: the tables of ShapeEnv (torch.fx.experimental.symbolic_shapes); higher_order_ops.speculate_subgraph,
which traces a body, and check_aliasing_and_input_mutation, which it calls at the end; the operators' `__call__`.
tests/capture/test_assumptions.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch._dynamo.variables import higher_order_ops
from torch._guards import TracingContext
from torch._higher_order_ops.cond import CondOp
from torch._higher_order_ops.while_loop import WhileLoopOp, WhileLoopStackOutputOp
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis
from torch.utils._sympy.symbol import SymT, symbol_is_type

from autograph_torch.capture.patching import patched

_OPERATORS: tuple[Any, ...] = (CondOp, WhileLoopOp, WhileLoopStackOutputOp)


@contextlib.contextmanager
def local_assumptions() -> Iterator[None]:
    """While this is in force, bodies of operators leave no facts about symbols from outside."""
    speculate, check = higher_order_ops.speculate_subgraph, higher_order_ops.check_aliasing_and_input_mutation
    checking = {"speculate_subgraph": _forgetting(speculate), "check_aliasing_and_input_mutation": _asserting(check)}
    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(higher_order_ops, **checking))
        for operator in _OPERATORS:
            stack.enter_context(patched(operator, __call__=_forgetting(operator.__call__)))
        yield


def _forgetting(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        context = TracingContext.try_get()
        shape_env = getattr(getattr(context, "fake_mode", None), "shape_env", None)
        if shape_env is None or not shape_env.var_to_range:
            return function(*args, **kwargs)
        before = _Facts(shape_env)
        _bodies.append(before)
        try:
            return function(*args, **kwargs)
        finally:
            _bodies.pop()
            before.restore()

    return call


_bodies: list[_Facts] = []  # the innermost last


def in_body() -> bool:
    """Whether what is learned about symbols now is forgotten at the end of a body."""
    return bool(_bodies)


def _asserting(check: Callable[..., Any]) -> Callable[..., Any]:
    """At the end of a body: what was assumed in it is checked where its symbols are known."""

    @functools.wraps(check)
    def call(subtracer: Any, graph: torch.fx.Graph, *args: Any, **kwargs: Any) -> Any:
        for expression in _bodies[-1].assumed() if _bodies else ():
            for part in expression.args if isinstance(expression, sympy.And) else (expression,):
                _assert_in(subtracer, graph, part)
        return check(subtracer, graph, *args, **kwargs)

    return call


def _assert_in(subtracer: Any, graph: torch.fx.Graph, expression: Any) -> None:
    proxies = {symbol: subtracer.bound_symbols.get(symbol) for symbol in expression.free_symbols}
    if not all(isinstance(proxy, torch.fx.Proxy) for proxy in proxies.values()):
        return
    known = {proxy.node for proxy in proxies.values()}
    nodes = list(graph.nodes)
    last = max(index for index, node in enumerate(nodes) if node in known or node.op == "placeholder")
    with graph.inserting_before(nodes[last + 1]):
        holds = sympy_interp(_InTheGraph, proxies, expression)
        flag = subtracer.create_proxy("call_function", torch.scalar_tensor, (holds,), {"dtype": torch.bool})
        message = f"the program needs {expression} here"
        subtracer.create_proxy("call_function", torch._assert_async, (flag, message), {})


class _InTheGraph(PythonReferenceAnalysis):  # type: ignore[misc]
    """What is assumed as nodes of a graph, with the functions of Python that take numbers only."""

    @staticmethod
    def floor_to_int(x: Any, dtype: Any) -> Any:
        return _called(math.floor, x)

    @staticmethod
    def ceil_to_int(x: Any, dtype: Any) -> Any:
        return _called(math.ceil, x)


def _called(function: Callable[[float], int], number: Any) -> Any:
    if not isinstance(number, torch.fx.Proxy):
        return function(number)
    return number.tracer.create_proxy("call_function", function, (number,), {})


def _is_from_data(symbol: Any) -> bool:
    return bool(symbol_is_type(symbol, (SymT.UNBACKED_INT, SymT.UNBACKED_FLOAT)))


class _Facts:
    """What is known about the symbols that exist now."""

    def __init__(self, shape_env: Any) -> None:
        self._env = shape_env
        self._version = shape_env._version_counter
        self._ranges = dict(shape_env.var_to_range)
        self._axioms = dict(shape_env.axioms)
        self._replacements = dict(shape_env.replacements)
        self._divisible = set(shape_env.divisible)
        self._asserts = {symbol: len(found) for symbol, found in shape_env.deferred_runtime_asserts.items()}

    def assumed(self) -> list[Any]:
        """What has been assumed since, and is to be checked when the graph runs."""
        found: list[Any] = []
        for symbol, asserts in self._env.deferred_runtime_asserts.items():
            found.extend(one.expr for one in asserts[self._asserts.get(symbol, 0) :] if self._is_old(one.expr))
        return found

    def restore(self) -> None:
        """Forget what has been learned about them since; what concerns newer symbols alone stays."""
        env = self._env
        if env._version_counter == self._version:
            return
        env.var_to_range.update(self._ranges)
        for key in [key for key in env.axioms if key not in self._axioms and self._is_old(key)]:
            del env.axioms[key]
        env.axioms.update(self._axioms)
        self._restore_replacements()
        env.divisible = {e for e in env.divisible if e in self._divisible or not self._is_old(e)}
        for symbol, found in env.deferred_runtime_asserts.items():
            if symbol in self._ranges or symbol is None:
                del found[self._asserts.get(symbol, 0) :]
        env.num_deferred_runtime_asserts = sum(map(len, env.deferred_runtime_asserts.values()))
        env._update_version_counter()

    def _restore_replacements(self) -> None:
        """Symbols that guards have settled (the size of an argument, which a loop has gone through) stay so."""
        table, old = self._env.replacements, self._replacements
        changed = {key: value for key, value in table.items() if self._is_old(key) and old.get(key) != value}
        for key, value in changed.items():
            if any(map(_is_from_data, key.free_symbols | value.free_symbols)):
                del table[key]
                table.update({key: old[key]} if key in old else {})
        if hasattr(self._env, "_replacements_version_counter"):  # of what numbers remember; not with torch 2.11
            self._env._replacements_version_counter += 1

    def _is_old(self, expression: Any) -> bool:
        return any(symbol in self._ranges for symbol in expression.free_symbols)
