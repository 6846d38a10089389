"""What torch or Python has to know of numbers that data decide, and what nothing but the data answers.

    lengths = (ends - starts).tolist()     how many are there? "Could not guard on data-dependent expression ..."
    parts = torch.split(x, lengths)
    y = torch.cat([f(part) for part in parts])

The last thing to try (capture/attempts.py): the trace goes on with what the data of the call under way say (there is
one length). The graph checks each such answer, and a call whose data answer otherwise runs in Python. So it is done
only where a call can be run again (runtime/performing.py), and outside of the bodies of operators.

Private names: ShapeEnv._make_data_dependent_error, pending_fresh_unbacked_symbols and size_like;
SymNodeVariable.evaluate_expr; TensorVariable.call_method.
tests/capture/test_observed_data.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import struct
import warnings
from collections.abc import Iterator
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch._dynamo.exc import UserError
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import (
    ConstantVariable,
    SymNodeVariable,
    TensorVariable,
    TupleVariable,
    UserFunctionVariable,
    builder,
)
from torch.fx import Node, Proxy
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv, has_free_unbacked_symbols
from torch.fx.node import map_arg

from autograph_torch.capture.again import frame_under_way
from autograph_torch.capture.assumptions import in_body
from autograph_torch.capture.checked_facts import answered, answering_calls, assume, refuse_if
from autograph_torch.capture.forecast import Forecast
from autograph_torch.capture.marks import mark, marked
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import notes, performing, queries, tracing
from autograph_torch.runtime.refusal import raise_refusal

DEPENDS = "data-dependent expression"
_OTHER_DATA = "the graph is for data like those of the call that it was made in, and these are different"
_ADVICE = "keep the value a tensor, or compute it from shapes; such a call runs in Python"
_WARNING = (
    "the graph is for data that decide here as they do in this call, which it checks; calls with other data run in "
    "Python. Keep the value a tensor, or compute it from shapes, to have one graph for all"
)
_LONGEST = 64  # elements of a list whose length data decide: each is followed by itself
_MOST = 256  # answers in one graph, each with a check
_INTEGRAL = (torch.int8, torch.int16, torch.int32, torch.int64)  # torch takes lists of these
_DTYPES = {bool: torch.bool, int: torch.int64, float: torch.float64}
_FAILS = "_autograph_fails"  # on an exception
_UNHINTED = "autograph_torch_unhinted"  # of an error: what was asked, before the sizes of inputs were put in


def can_run_again() -> bool:
    """Whether a call of what is compiled can run in Python when its data are other than those of this call."""
    in_session = performing.settings() is not None and performing.runs_again() and not performing.is_looking()
    return in_session or frame_under_way() is not None


def observed_data() -> contextlib.AbstractContextManager[None]:
    """While this is in force, such questions are answered, and the graph checks the answers."""
    return observing(Answers())


@contextlib.contextmanager
def observing(answers: Answers) -> Iterator[None]:
    """While this is in force, such questions are answered so, and the graph checks the answers."""
    evaluate, call = SymNodeVariable.evaluate_expr, TensorVariable.call_method
    make_error = ShapeEnv._make_data_dependent_error

    def evaluated(self: Any, output_graph: Any = None) -> Any:
        tx = InstructionTranslator.current_tx()
        node = self.as_proxy().node
        computed = answers.number_of(tx, node) if _is_of_floats(self.sym_num) else None
        if computed is not None:
            return computed
        try:
            return answered(lambda: evaluate(self, output_graph), tx, answers.give)
        except UserError:
            number = answers.number_of(tx, node)
            if number is None:
                raise
            return number

    def fake_value(node: Node, tx: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return get_fake_value(node, tx, *args, **kwargs)
        except UserError as error:
            asked = error.__cause__ or error.__context__
            if not isinstance(asked, GuardOnDataDependentSymNode) or not answers.make_constant(tx, node, asked):
                raise
        next(iter(reversed(node.graph.nodes))).append(node)  # the call comes behind the checks
        return get_fake_value(node, tx, *args, **kwargs)

    def called(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name != "tolist" or notes.lists_numbers():  # which have a length of their own there
            return call(self, tx, name, args, kwargs)
        for dim, size in enumerate(self.as_proxy().node.meta["example_value"].size()):
            if has_free_unbacked_symbols(size):
                length: Any = call(self, tx, "size", [ConstantVariable.create(dim)], {})
                _refuse_long(length.evaluate_expr())
        to_list: Any = queries.tolist
        if self.ndim == 0 or self.dtype in _INTEGRAL or not is_at_the_top(tx):
            return call(self, tx, name, args, kwargs)
        return UserFunctionVariable(to_list).call_function(tx, [self], {})

    def error_of(self: Any, expression: Any, unhinted: Any, **kwargs: Any) -> GuardOnDataDependentSymNode:
        made = make_error(self, expression, unhinted, **kwargs)
        setattr(made, _UNHINTED, unhinted)
        return made

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(ShapeEnv, _make_data_dependent_error=error_of))
        stack.enter_context(patched(SymNodeVariable, evaluate_expr=evaluated))
        stack.enter_context(patched(TensorVariable, call_method=called))
        stack.enter_context(answering_calls(answers.give))
        get_fake_value = builder.get_fake_value
        stack.enter_context(patched(builder, get_fake_value=fake_value))
        yield


def _refuse_long(length: int) -> None:
    if length > _LONGEST:
        message = f"a list whose length data decide has {length} elements, each of which the graph would follow"
        raise_refusal("AG321", message, "keep it a tensor")


class Answers:
    """What the data of the call say, in one trace."""

    def __init__(self, warns: bool = True) -> None:
        self._forecast = Forecast()
        self._warned = not warns
        self._given = 0  # in the trace that gives `_output`
        self._output: Any = None

    def truth_of(self, tx: Any, tensor: Any) -> bool | None:
        """The truth of a tensor that has one, which the graph checks from here on; None where nobody can tell."""
        if not is_at_the_top(tx):
            return None
        found = self._forecast.value(tx.output, tensor.as_proxy().node)
        if not isinstance(found, torch.Tensor) or found.numel() != 1:
            self._stop_where_it_fails(tx)
            return None
        truth = bool(found)
        flag = tensor.call_method(tx, "reshape", [TupleVariable([])], {})
        other = flag.call_method(tx, "eq" if truth else "ne", [ConstantVariable.create(0)], {})
        refuse_if(tx, other, _OTHER_DATA, _ADVICE)
        self._note(tx)
        return truth

    def failure_of(self, tx: Any, node: Node) -> Exception | None:
        """What the call of a node raises for the tensors of the call; None where nobody can tell."""
        return self._forecast.failure(tx.output, node) if is_at_the_top(tx) else None

    def number_of(self, tx: Any, node: Node) -> Any:
        """What a node gives that is a number, or a tensor of one, which the graph checks from here on.

        None where nobody can tell.
        """
        if not is_at_the_top(tx):
            return None
        found = self._forecast.value(tx.output, node)
        call: tuple[Any, ...]
        if isinstance(found, torch.Tensor):
            found, call = found.item(), ("call_method", "to", (Proxy(node), torch.float64), {})
        else:
            call = ("call_function", torch.scalar_tensor, (Proxy(node),), {"dtype": _DTYPES.get(type(found))})
        if type(found) not in _DTYPES:
            self._stop_where_it_fails(tx)
            return None
        number: Any = builder.wrap_fx_proxy(tx, tx.output.create_proxy(*call))
        if isinstance(found, float):  # bit for bit: -0.0 is 0.0, and what is no number is not itself
            number = number.call_method(tx, "view", [ConstantVariable.create(torch.int64)], {})
        expected = struct.unpack("q", struct.pack("d", found))[0] if isinstance(found, float) else found
        refuse_if(tx, number.call_method(tx, "ne", [ConstantVariable.create(expected)], {}), _OTHER_DATA, _ADVICE)
        self._note(tx)
        return found

    def make_constant(self, tx: Any, node: Node, asked: GuardOnDataDependentSymNode) -> bool:
        """Put constants in the place of the floats that a call needs to know; whether there are such.

        They are numbers, or tensors of one that torch reads (`t.uniform_(low, high)`): the symbol is of the call then.
        """
        tx.output.shape_env.pending_fresh_unbacked_symbols.clear()  # those of the call that has failed
        read = asked.cond.free_symbols - tx.output.current_tracer.bound_symbols.keys()
        floats = [one for one in node.all_input_nodes if _is_float(one.meta.get("example_value"), bool(read))]
        known = {one: self.number_of(tx, one) for one in floats}
        if not known or None in known.values():
            return False
        node.args, node.kwargs = map_arg((node.args, node.kwargs), lambda one: known.get(one, one))
        return True

    def give(self, tx: Any, asked: GuardOnDataDependentSymNode) -> bool:
        """Go on with what the data say to a question; whether they say something, and the graph can check it."""
        if not is_at_the_top(tx):
            return False
        env = tx.output.shape_env
        facts = _facts(getattr(asked, _UNHINTED), self._forecast.symbols(tx.output), env)
        for fact in facts:
            _let_be_small(fact, env)
        if not facts:
            self._stop_where_it_fails(tx)
        if not facts or not all(assume(tx, fact, _OTHER_DATA, _ADVICE) for fact in facts):
            return False
        self._note(tx)
        return True

    def _stop_where_it_fails(self, tx: Any) -> None:
        """On a path, stop where the call has come to an exception: Python is to raise it, and to run what handles it.

        Raises:
            CaptureError: AG321, with a mark (`fails_before`).
        """
        error = self._forecast.error(tx.output) if notes.on_one_path() else None
        if error is not None:
            message = f"the call fails before it comes to this ({type(error).__name__}: {error})"
            with marked(_FAILS, True):
                raise_refusal("AG321", message, "such a call runs in Python")

    def _note(self, tx: Any) -> None:
        if tx.output is not self._output:
            self._output, self._given = tx.output, 0
        self._given += 1
        if self._given > _MOST:
            raise_refusal("AG321", f"more than {_MOST} questions that data answer", "keep the values tensors")
        if not self._warned:
            filename, line, _ = tracing.user_line()
            warnings.warn(f"{filename}:{line}: {_WARNING}", RuntimeWarning, stacklevel=1)
        self._warned = True


def fails_before(error: BaseException) -> bool:
    """Whether a trace has ended in a question of which the data of the call say nothing, for the call fails before."""
    return bool(mark(error, _FAILS))


def _is_of_floats(number: Any) -> bool:
    """Whether data tell a float, or how floats compare: sympy computes them in another way than Python does.

    (It has one zero, and exact quotients.) What data have told before may be no symbol any more.
    """
    expression = number.node.expr
    if expression.free_symbols and not has_free_unbacked_symbols(expression):
        return False
    if isinstance(number, torch.SymBool) and expression.free_symbols:
        parts = (part for one in expression.atoms(sympy.core.relational.Relational) for part in one.args)
        return not all(part.is_integer for part in parts)
    return isinstance(number, (torch.SymFloat, torch.SymBool))


def is_at_the_top(tx: Any) -> bool:
    """Whether the trace is in no body of an operator, where the graph can check nothing."""
    return not in_body() and tx.output.current_tracer.parent is None and tracing.transform() is None


def _is_float(value: Any, of_tensors: bool) -> bool:
    if isinstance(value, torch.Tensor) and of_tensors:
        return value.ndim == 0 and value.is_floating_point() and not value.requires_grad
    return isinstance(value, torch.SymFloat)


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
