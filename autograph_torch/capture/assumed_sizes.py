"""What torch's functions ask of sizes that depend on data, and what nothing answers.

    rows = x[mask]
    F.scaled_dot_product_attention(rows, rows, rows)      "Could not guard on data-dependent expression Eq(u0, 0)"

Some functions treat tensors without elements apart, sizes of 1, which broadcast, or ask whether two sizes are the same.
When nothing else has been of use (capture/attempts.py), the trace goes on with what holds for most data: a size is
neither 0 nor 1, and two that are compared are the same. The graph checks it, and refuses what is different. What the
program asks itself (`if len(rows) == 0`) is no such question: that is a branch.

Private: `get_fake_value`, which tries each call on tensors without data; the symbols that a tracer knows
(`bound_symbols`); what a ShapeEnv makes of symbols. tests/capture/test_assumed_sizes.py fails clearly when torch
changes them. What is learned in a body ends with it (capture/assumptions.py).
"""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Iterator
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch._dynamo.exc import UserError
from torch._dynamo.output_graph import LazyProxy
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, builder
from torch._dynamo.variables.functions import UserFunctionVariable
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import queries, tracing

ASKED = re.compile(r"Could not guard on data-dependent expression (Eq|Ne)\(")
_QUESTIONS = 16  # of one call


@contextlib.contextmanager
def assumed_sizes() -> Iterator[None]:
    """While this is in force, such questions are answered, and the graph checks the answers."""
    get_fake_value = builder.get_fake_value

    def fake_value(node: Node, tx: Any, *args: Any, **kwargs: Any) -> Any:
        for _ in range(_QUESTIONS):
            try:
                return get_fake_value(node, tx, *args, **kwargs)
            except UserError as error:
                asked = _asked(error.__cause__)
                if not asked or tracing.may_break() or not all(_answer(tx, *one.args) for one in asked):
                    raise
                next(reversed(node.graph.nodes)).append(node)  # the call comes behind the checks
        return get_fake_value(node, tx, *args, **kwargs)

    with patched(builder, get_fake_value=fake_value):
        yield


def _asked(cause: BaseException | None) -> list[Any]:
    """The comparisons of sizes that a call has stopped at."""
    asked = cause.cond if isinstance(cause, GuardOnDataDependentSymNode) else sympy.true
    found = sorted(asked.atoms(sympy.Eq, sympy.Ne), key=str)
    known = not asked.atoms(sympy.core.relational.Relational) - set(found)
    return found if known else []


def _answer(tx: Any, one: Any, other: Any) -> bool:
    """Go on with what is likely of two sizes; whether the graph can check that."""
    env = tx.output.shape_env
    if env._maybe_evaluate_static(sympy.Eq(one, other)) is not None:
        return True
    sizes = [_number(tx, size) for size in (one, other)]
    if any(size is None for size in sizes):
        return False
    same = not {one, other} & {0, 1}
    check: Any = queries.refuse_sizes
    UserFunctionVariable(check).call_function(tx, [*sizes, ConstantVariable.create(same)], {})
    tracer, compare = tx.output.current_tracer, operator.eq if same else operator.ne
    if tracer.parent is not None:  # a body is traced again, and what is known here is not known there
        holds = tracer.create_proxy("call_function", compare, tuple(size.as_proxy() for size in sizes), {})
        tracer.create_proxy("call_function", torch._check, (holds,), {})
    known = compare(*(env.create_symintnode(size, hint=None) for size in (one, other)))
    torch._check(known, lambda: queries.OTHER_SIZES)
    return True


def _number(tx: Any, size: Any) -> Any:
    """A size as a variable of the tracer; None where its symbols are not known in the graph."""
    if size.is_number:
        return ConstantVariable.create(int(size))
    known = tx.output.current_tracer.bound_symbols
    if any(symbol not in known for symbol in size.free_symbols):
        return None
    for symbol in size.free_symbols:
        if isinstance(known[symbol], LazyProxy):
            known[symbol] = known[symbol]()
    proxy = sympy_interp(PythonReferenceAnalysis, {symbol: known[symbol] for symbol in size.free_symbols}, size)
    value = proxy.node.meta.setdefault("example_value", tx.output.shape_env.create_symintnode(size, hint=None))
    return SymNodeVariable.create(tx, proxy, value)
