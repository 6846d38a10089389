"""What a trace goes on with although only data can tell, and what the graph checks in turn.

    torch.trapz(x[mask])                   "Could not guard on data-dependent expression Eq(u0, 0)"
                                           -> the trace goes on as if u0 != 0; where it is 0 the graph refuses

Private: `get_fake_value`, which tries each call on tensors without data; the symbols that a tracer knows
(`bound_symbols`); what a ShapeEnv makes of symbols. tests/capture/test_assumed_sizes.py fails clearly when torch
changes them. What is learned in a body ends with it (capture/assumptions.py).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import sympy  # type: ignore[import-untyped]
import torch
from torch._dynamo.exc import UserError
from torch._dynamo.output_graph import LazyProxy
from torch._dynamo.variables import ConstantVariable, builder
from torch._dynamo.variables.functions import UserFunctionVariable
from torch.fx import Node, Proxy
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import queries, tracing

_QUESTIONS = 64  # of one call

Answer = Callable[[Any, GuardOnDataDependentSymNode], bool]  # of the tracer and of what was asked: whether it went well
Result = TypeVar("Result")


@contextlib.contextmanager
def answering_calls(answer: Answer) -> Iterator[None]:
    """While this is in force, calls of torch that stop at such a question are tried again when it is answered."""
    get_fake_value = builder.get_fake_value

    def fake_value(node: Node, tx: Any, *args: Any, **kwargs: Any) -> Any:
        def answer_before(tx: Any, asked: GuardOnDataDependentSymNode) -> bool:
            given = answer(tx, asked)
            if given:
                next(iter(reversed(node.graph.nodes))).append(node)  # the call comes behind the checks
            return given

        return answered(lambda: get_fake_value(node, tx, *args, **kwargs), tx, answer_before)

    with patched(builder, get_fake_value=fake_value):
        yield


def answered(ask: Callable[[], Result], tx: Any, answer: Answer) -> Result:
    """What `ask` gives when the questions at which it stops have been answered."""
    for _ in range(_QUESTIONS):
        try:
            return ask()
        except UserError as error:
            cause = error.__cause__ or error.__context__
            if not isinstance(cause, GuardOnDataDependentSymNode) or tracing.may_break() or not answer(tx, cause):
                raise
    return ask()


def assume(tx: Any, fact: Any, message: str, advice: str) -> bool:
    """Go on with a fact (a boolean of sympy), and let the graph refuse data for which it does not hold.

    Returns whether it can be checked here: its symbols are known in the graph.
    """
    env = tx.output.shape_env
    if env._maybe_evaluate_static(fact) is not None:
        return True
    holds, fails = _proxy(tx, fact), _proxy(tx, sympy.Not(fact))
    if holds is None or fails is None:
        return False
    tracer = tx.output.current_tracer
    if tracer.parent is not None:  # a body is traced again, and what is known here is not known there
        tracer.create_proxy("call_function", torch._check, (holds,), {})
    torch._check(env.create_symboolnode(fact), lambda: message)
    # As a tensor: a number would be asked, and the answer is known by now.
    flag = tracer.create_proxy("call_function", torch.scalar_tensor, (fails,), {"dtype": torch.bool})
    refuse_if(tx, builder.wrap_fx_proxy(tx, flag), message, advice)
    return True


def refuse_if(tx: Any, flag: Any, message: str, advice: str) -> None:
    """Let the graph refuse data for which a flag is true."""
    told = [ConstantVariable.create(text) for text in (message, advice)]
    check: Any = queries.refuse_if
    UserFunctionVariable(check).call_function(tx, [flag, *told], {})


def _proxy(tx: Any, fact: Any) -> Any:
    """A fact in the graph; None where its symbols are not known in it, or it cannot be written there."""
    known = tx.output.current_tracer.bound_symbols
    if any(symbol not in known for symbol in fact.free_symbols):
        return None
    for symbol in fact.free_symbols:
        if isinstance(known[symbol], LazyProxy):
            known[symbol] = known[symbol]()
    proxies = {symbol: known[symbol] for symbol in fact.free_symbols}
    try:
        proxy: Proxy = sympy_interp(PythonReferenceAnalysis, proxies, fact)
    except TypeError:  # Python has no such operator for proxies (`round`)
        return None
    proxy.node.meta.setdefault("example_value", tx.output.shape_env.create_symboolnode(fact))
    return proxy
