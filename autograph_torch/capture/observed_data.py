"""What torch or Python has to know of numbers that data decide, and what nothing but the data answers.

    lengths = (ends - starts).tolist()     how many are there? "Could not guard on data-dependent expression ..."
    parts = torch.split(x, lengths)
    y = torch.cat([f(part) for part in parts])

The last thing to try (capture/attempts.py): the trace goes on with what the data of the call under way say (there is
one length). The graph checks each such answer, and a call whose data answer otherwise runs in Python. So it is done
only where a call can be run again (runtime/performing.py), and outside of the bodies of operators.

Private names: ShapeEnv._make_data_dependent_error and size_like; SymNodeVariable.evaluate_expr;
TensorVariable.method_tolist.
tests/capture/test_observed_data.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import sympy  # type: ignore[import-untyped]
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TensorVariable
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv, has_free_unbacked_symbols

from autograph_torch.capture.again import frame_under_way
from autograph_torch.capture.assumptions import in_body
from autograph_torch.capture.checked_facts import answered, answering_calls, assume
from autograph_torch.capture.forecast import Forecast
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import performing, tracing
from autograph_torch.runtime.refusal import raise_refusal

DEPENDS = "data-dependent expression"
_OTHER_DATA = "the graph is for data like those of the call that it was made in, and these are different"
_ADVICE = "keep the value a tensor, or compute it from shapes; such a call runs in Python"
_WARNING = (
    "the graph is for data that decide here as they do in this call, which it checks; calls with other data run in "
    "Python. Keep the value a tensor, or compute it from shapes, to have one graph for all"
)
_LONGEST = 64  # elements of a list whose length data decide: each is followed by itself
_UNHINTED = "autograph_torch_unhinted"  # of an error: what was asked, before the sizes of inputs were put in


def can_run_again() -> bool:
    """Whether a call of what is compiled can run in Python when its data are other than those of this call."""
    in_session = performing.settings() is not None and performing.runs_again() and not performing.is_looking()
    return in_session or frame_under_way() is not None


@contextlib.contextmanager
def observed_data() -> Iterator[None]:
    """While this is in force, such questions are answered, and the graph checks the answers."""
    answers = _Answers()
    evaluate, tolist = SymNodeVariable.evaluate_expr, TensorVariable.method_tolist
    make_error = ShapeEnv._make_data_dependent_error

    def evaluated(self: Any, output_graph: Any = None) -> Any:
        return answered(lambda: evaluate(self, output_graph), InstructionTranslator.current_tx(), answers.give)

    def listed(self: Any, tx: Any) -> Any:
        for dim, size in enumerate(self.as_proxy().node.meta["example_value"].size()):
            if has_free_unbacked_symbols(size):
                _refuse_long(self.call_method(tx, "size", [ConstantVariable.create(dim)], {}).evaluate_expr())
        return tolist(self, tx)

    def error_of(self: Any, expression: Any, unhinted: Any, **kwargs: Any) -> GuardOnDataDependentSymNode:
        made = make_error(self, expression, unhinted, **kwargs)
        setattr(made, _UNHINTED, unhinted)
        return made

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(ShapeEnv, _make_data_dependent_error=error_of))
        stack.enter_context(patched(SymNodeVariable, evaluate_expr=evaluated))
        stack.enter_context(patched(TensorVariable, method_tolist=listed))
        stack.enter_context(answering_calls(answers.give))
        yield


def _refuse_long(length: int) -> None:
    if length > _LONGEST:
        message = f"a list whose length data decide has {length} elements, each of which the graph would follow"
        raise_refusal("AG321", message, "keep it a tensor")


class _Answers:
    """What the data of the call say, in one trace."""

    def __init__(self) -> None:
        self._forecast = Forecast()
        self._warned = False

    def give(self, tx: Any, asked: GuardOnDataDependentSymNode) -> bool:
        """Go on with what the data say to a question; whether they say something, and the graph can check it."""
        if in_body() or tx.output.current_tracer.parent is not None:
            return False
        env = tx.output.shape_env
        facts = _facts(getattr(asked, _UNHINTED), self._forecast.symbols(tx.output), env)
        for fact in facts:
            _let_be_small(fact, env)
        if not facts or not all(assume(tx, fact, _OTHER_DATA, _ADVICE) for fact in facts):
            return False
        self._warn()
        return True

    def _warn(self) -> None:
        if not self._warned:
            filename, line, _ = tracing.user_line()
            warnings.warn(f"{filename}:{line}: {_WARNING}", RuntimeWarning, stacklevel=1)
        self._warned = True


def _let_be_small(fact: Any, env: Any) -> None:
    """Of what torch takes for a size of 2 or more where it need not ask, it learns nothing else."""
    if isinstance(fact, sympy.Eq) and fact.rhs in (0, 1):
        env.size_like.discard(fact.lhs)


def _facts(question: Any, symbols: dict[Any, Any], env: Any) -> list[Any]:
    """The answer as booleans of sympy: a number is known when those that it is computed of are."""
    found = question.xreplace(symbols).xreplace(env.backed_var_to_val)
    if found.free_symbols:
        return []
    if found in (sympy.true, sympy.false):
        return [question if found == sympy.true else sympy.Not(question)]
    of_data = question.free_symbols - env.backed_var_to_val.keys()
    return [sympy.Eq(symbol, symbols[symbol]) for symbol in sorted(of_data, key=str)]
