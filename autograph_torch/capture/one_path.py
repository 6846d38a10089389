"""The last resort: the trace follows the path that the call under way takes, and the graph checks every step of it.

    while queue:                           `queue` is a list of objects, a dict has keys from data, a generator yields
        node = queue.pop()                 under a test: no operator of torch's holds them, but Python does while the
        if node.cost.sum() < best:         trace follows it. Each test is answered by the data of the call
            queue += node.children()       (capture/forecast.py); the graph fails where other data answer otherwise.

Such a graph is for calls whose data take the same path; others run in Python, as do those that fail. So it is made only
where a call can be run again, with a warning that says where and why. An error filter for that warning
(`warnings.simplefilter("error", OnePathWarning)`) has the refusal instead. Tensors that have no single type (int32 in
one branch, float32 in the other) are refused in any case: that is for the program to say.

Only what is not about paths is rewritten then (rewriting.py). Numbers that Python has to know are observed as
capture/observed_data.py does. So are those on the stack when an instruction fails, which is then tried again: what
torch has no symbol for (`math.copysign(1, v)`, `seen[n] = x`, `f"{n:08b}"[::-1]`), Python does with numbers. Where that
is not enough, the graph is for the numbers of the call alone: each one that is read from a tensor is known.

Private: the table of instructions (capture/replaced_instructions.py), and what they find on Dynamo's stack.
tests/capture/test_one_path.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import dis
import math
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import symbolic_convert
from torch._dynamo.exc import (
    ObservedException,
    TorchRuntimeError,
    Unsupported,
    UserError,
    handle_observed_exception,
    raise_observed_exception,
)
from torch._dynamo.variables import (
    BaseListVariable,
    BuiltinVariable,
    ConstantVariable,
    ListVariable,
    SymNodeVariable,
    TensorVariable,
    TupleVariable,
    UserFunctionVariable,
    builder,
    tensor,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import SkipFunctionVariable
from torch._dynamo.variables.misc import GetAttrVariable, NullVariable, StringFormatVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx import Node

from autograph_torch.capture.failing_calls import ERRORS
from autograph_torch.capture.observed_data import Answers, can_run_again, observing
from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import JUMPS, Instruction, is_from_data, jump, replaced
from autograph_torch.diagnostics import AutographError, CaptureError, Diagnostic, OnePathWarning
from autograph_torch.runtime import performing, queries
from autograph_torch.runtime.arithmetic import is_of_graph
from autograph_torch.runtime.refusal import raise_refusal
from autograph_torch.runtime.values import unbound_message

_TRUTHS = tuple(name for name in ("UNARY_NOT", "TO_BOOL") if name in dis.opmap)
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_BEGINNINGS = tuple(
    "BINARY UNARY COMPARE CONTAINS INPLACE CALL FORMAT BUILD UNPACK LIST SET DICT MAP STORE_SUBSCR STORE_ATTR "
    "STORE_SLICE STORE_GLOBAL STORE_DEREF DELETE LOAD_ATTR LOAD_METHOD GET_ITER".split()
)
_TRIED_AGAIN = tuple(name for name in dis.opmap if name.startswith(_BEGINNINGS))
_FAILURES = (Unsupported, UserError, AutographError, NotImplementedError, TypeError, AttributeError, ValueError)
_OF_NUMBERS = (pow, bytes, complex, *(function for function in vars(math).values() if callable(function)))
# Arithmetic that raises for some numbers (`math.floor(nan)`), where the trace knows no number.
_OF_PYTHON = (
    *(math.floor, math.ceil, math.trunc, round, torch.sym_int, torch.sym_float, math.sqrt, math.pow, torch.sym_sqrt),
    *(operator.truediv, operator.floordiv, operator.mod, operator.pow, torch.ops.autograph_torch.number),
)
_EXTREMES = {min: operator.lt, max: operator.gt}
_FOLLOWED = (
    "AG201",
    "AG202",
    "AG203",
    "AG206",
    "AG207",
    "AG310",
    "AG311",
    "AG312",
    "AG314",
    "AG320",
    "AG321",
    "AG323",
    "AG324",
)
_TWO_TENSORS = re.compile(r"the branches give an? \S+ tensor of shape .* and an? \S+ tensor of shape")
_MESSAGE = (
    "the graph is for calls whose data take the same path as this one, which it checks; others run in Python, for "
    "there is none for all data"
)


def may_follow(refused: CaptureError) -> bool:
    """Whether the path of the call under way may be followed, where there is no graph for all data."""
    found = refused.diagnostic
    return found.code in _FOLLOWED and not _TWO_TENSORS.match(found.message) and can_follow()


def can_follow() -> bool:
    """Whether the graph may be for one path: the user has not said otherwise, and other calls can run in Python."""
    chosen = performing.settings()
    return (chosen is None or chosen.one_path) and can_run_again() and not _is_an_error()


def _is_an_error() -> bool:
    with warnings.catch_warnings(record=True):
        try:
            warnings.warn("", OnePathWarning, stacklevel=1)
        except OnePathWarning:
            return True
    return False


def warn_of_path(reason: Diagnostic) -> None:
    """Say that the graph is for one path, and what stands in the way of one for all."""
    where = f"{reason.filename}:{reason.line}"
    warnings.warn(f"{where}: {_MESSAGE}:\n{reason.render()}", OnePathWarning, stacklevel=1)


@contextlib.contextmanager
def one_path(known_numbers: bool = False) -> Iterator[None]:
    """While this is in force, the data of the call under way answer every test, and the graph checks the answers.

    Args:
        known_numbers: whether they also tell every number that is read from a tensor.
    """
    answers = Answers(warns=False)

    def answering(use: Callable[[Any, Any, bool], None]) -> Callable[[Instruction], Instruction]:
        def made(original: Instruction) -> Instruction:
            def follow(translator: Any, instruction: Any) -> None:
                truth = _truth(answers, translator)
                if truth is None:
                    original(translator, instruction)
                else:
                    use(translator, instruction, truth)

            return follow

        return made

    call = BuiltinVariable.call_function

    def called(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is range:
            args = [_index(tx, one) for one in args]
        elif self.fn is len:
            args = [_Known(tx).of(one) if type(one.realize()) is StringFormatVariable else one for one in args]
        elif self.fn is sorted and "reverse" in kwargs:
            kwargs = {**kwargs, "reverse": _known(tx, kwargs["reverse"])}
        elif self.fn in _EXTREMES and not kwargs and (numbers := _of_two_types(args)):
            return _extreme(tx, _EXTREMES[self.fn], numbers)
        return call(self, tx, args, kwargs)

    makers: dict[str, Callable[[Instruction], Instruction]] = {
        **dict.fromkeys(JUMPS, answering(jump)),
        **dict.fromkeys(_TRUTHS, answering(_push)),
    }
    makers |= {name: make for name, make in _OPERANDS.items() if name in dis.opmap}
    with contextlib.ExitStack() as stack:
        stack.enter_context(observing(answers))
        stack.enter_context(replaced(**makers))
        stack.enter_context(patched(BuiltinVariable, call_function=called))
        stack.enter_context(_failures_of_operators(answers))
        stack.enter_context(_trying_again())
        if known_numbers:
            stack.enter_context(_knowing_numbers())
        yield


@contextlib.contextmanager
def _knowing_numbers() -> Iterator[None]:
    """While this is in force, a number that is read from a tensor is known to the trace.

    But not what is no number: Python tells one `nan` from another by which object it is.
    """
    call = TensorVariable.call_method
    handlers = dict(symbolic_convert.compare_op_handlers)
    for name in ("is", "is not"):
        handlers[name] = _refusing_numbers(handlers[name])

    def called(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        found = call(self, tx, name, args, kwargs)
        if name not in ("item", "tolist"):
            return found
        known = _Known(tx).of(found)
        number = known.as_python_constant() if known.is_python_constant() else None
        return known if number == number else found

    with patched(TensorVariable, call_method=called), patched(symbolic_convert, compare_op_handlers=handlers):
        yield


def _refusing_numbers(compare: Callable[..., Any]) -> Callable[..., Any]:
    """`is` of two numbers, of which nobody knows where they are from; small integers are one for each value."""

    def answer(tx: Any, operands: Any, kwargs: Any) -> Any:
        values = [one.as_python_constant() for one in operands if type(one.realize()) is ConstantVariable]
        if len(values) == 2 and all(isinstance(one, float) or (type(one) is int and abs(one) > 5) for one in values):
            raise_refusal(
                "AG320", "`is` between two numbers, one of which may depend on data", "compare them with `==`"
            )
        return compare(tx, operands, kwargs)

    return answer


@contextlib.contextmanager
def _failures_of_operators(answers: Answers) -> Iterator[None]:
    """While this is in force, what an operator raises for the data of the call is for the program to handle."""
    get_fake_value = builder.get_fake_value

    def fake_value(node: Node, tx: Any, *args: Any, **kwargs: Any) -> Any:
        raised = answers.failure_of(tx, node) if node.target in _OF_PYTHON else None
        if raised is not None and is_of_graph(raised):
            raised = None
        if raised is None:
            try:
                return get_fake_value(node, tx, *args, **kwargs)
            except (TorchRuntimeError, Unsupported, RuntimeError, TypeError, ValueError, IndexError):
                raised = answers.failure_of(tx, node)
                if raised is None or type(raised) not in ERRORS:
                    raise
        node.graph.erase_node(node)
        raise_observed_exception(type(raised), tx, args=[str(raised)])

    with patched(builder, get_fake_value=fake_value), patched(tensor, get_fake_value=fake_value):
        yield


@contextlib.contextmanager
def _trying_again() -> Iterator[None]:
    """While this is in force, what fails is tried a second time, with the numbers that data tell.

    But not where it has run a function of the program, which may have done something by then.
    """
    latest: list[Any] = [None]  # the translator whose instruction has begun last

    def instruction_of(original: Instruction) -> Instruction:
        def follow(translator: Any, instruction: Any) -> None:
            stack = list(translator.stack)
            keywords = translator.kw_names  # Python 3.11 and 3.12 name them before a call
            latest[0] = translator
            try:
                original(translator, instruction)
            except (*_FAILURES, ObservedException) as error:  # the latter is Dynamo's, where it knows no number
                if latest[0] is not translator:
                    raise
                known = _Known(translator)
                translator.stack[:] = [known.of(one) for one in stack]
                if not known.any:
                    raise
                if isinstance(error, ObservedException):
                    handle_observed_exception(translator)
                translator.kw_names = keywords
                original(translator, instruction)

        return follow

    def call_of(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
            before = latest[0]
            try:
                return original(self, tx, args, kwargs)
            except _FAILURES:
                of_numbers = _function(self) in _OF_NUMBERS  # which run nothing of the program
                if latest[0] is not before and not of_numbers:
                    raise
                known = _Known(tx, tensors=of_numbers)
                args = [known.of(one) for one in args]
                kwargs = {key: known.of(one) for key, one in kwargs.items()}
                if of_numbers and all(one.is_python_constant() for one in (*args, *kwargs.values())):
                    return _computed(tx, _function(self), args, kwargs)
                if not known.any:
                    raise
                return original(self, tx, args, kwargs)

        return call

    def method_of_constant(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        try:
            return method(self, tx, name, args, kwargs)
        except _FAILURES:
            if not all(one.is_python_constant() for one in (self, *args, *kwargs.values())):
                raise
            return _computed(tx, getattr(self.as_python_constant(), name), args, kwargs)

    method = ConstantVariable.call_method
    with contextlib.ExitStack() as stack:
        stack.enter_context(replaced(**dict.fromkeys(_TRIED_AGAIN, instruction_of)))
        for kind in (BuiltinVariable, TorchInGraphFunctionVariable, SkipFunctionVariable):
            stack.enter_context(patched(kind, call_function=call_of(kind.call_function)))
        stack.enter_context(patched(ConstantVariable, call_method=method_of_constant))
        yield


def _computed(tx: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What a function without effects gives, or raises, for constants."""
    given = [one.as_python_constant() for one in args]
    named = {key: one.as_python_constant() for key, one in kwargs.items()}
    try:
        found = function(*given, **named)
    except Exception as error:
        raise_observed_exception(type(error), tx, args=list(error.args))
    return VariableTracker.build(tx, found)


def _function(variable: Any) -> Any:
    """What a variable of a function stands for."""
    return getattr(variable, "fn", getattr(variable, "value", None))


def _push(translator: Any, instruction: Any, truth: bool) -> None:
    """Put the truth, or for `not` the other, in the place of what is on top of the stack."""
    translator.popn(1)
    translator.push(ConstantVariable.create(truth != (instruction.opname == "UNARY_NOT")))


class _Known:
    """Values with the numbers and texts in them as data tell; `any`: whether there were such."""

    def __init__(self, tx: Any, tensors: bool = False) -> None:
        self._tx = tx
        self._tensors = tensors  # whether a tensor of one number is one, too
        self.any = False

    def of(self, variable: Any) -> Any:
        if isinstance(variable, NullVariable):
            return variable
        value = variable.realize()
        if _is_told(value):
            self.any = True
            return _known(self._tx, value)
        if self._tensors and value.is_tensor() and value.ndim == 0:
            self.any = True
            return _known(self._tx, value.call_method(self._tx, "item", [], {}))
        if type(value) is StringFormatVariable:
            return self._text(value)
        if type(value) is GetAttrVariable:  # a method
            return GetAttrVariable(self.of(value.obj), value.name)
        if type(value) is TupleVariable:
            items = [self.of(one) for one in value.items]
            changed = any(now is not before for now, before in zip(items, value.items, strict=True))
            return TupleVariable(items) if changed else variable
        if type(value) is ListVariable:
            value.items[:] = [self.of(one) for one in value.items]
        return variable

    def _text(self, text: Any) -> Any:
        arguments = [self.of(one) for one in text.sym_args]
        named = {key: self.of(one) for key, one in text.sym_kwargs.items()}
        return StringFormatVariable.create(text.format_string, arguments, named)


def _known(tx: Any, value: Any) -> Any:
    """A number as one that the trace knows, where data tell it."""
    value = value.realize()
    return ConstantVariable.create(value.evaluate_expr()) if _is_told(value) else value


def _is_told(value: Any) -> bool:
    """Whether it is a number that data tell, or have told before."""
    return is_from_data(value) or (isinstance(value, SymNodeVariable) and value.sym_num.node.expr.is_number)


def _of_two_types(args: Any) -> list[Any]:
    """The numbers that `min` or `max` chooses from, where some are integers, some floats, and no constants."""
    values = args[0].items if len(args) == 1 and isinstance(args[0], BaseListVariable) else args
    values = [one.realize() for one in values]
    if not all(isinstance(one, (SymNodeVariable, ConstantVariable)) for one in values):
        return []
    kinds = {one.python_type() for one in values}
    has_symbols = any(isinstance(one, SymNodeVariable) for one in values)
    return values if float in kinds and len(kinds) > 1 and has_symbols else []


def _extreme(tx: Any, is_better: Callable[[Any, Any], Any], numbers: list[Any]) -> Any:
    """The first of the best numbers, as Python finds it: it keeps its type."""
    best, *others = numbers
    for one in others:
        asked = BuiltinVariable(is_better).call_function(tx, [one, best], {}).realize()
        if asked.evaluate_expr() if isinstance(asked, SymNodeVariable) else asked.as_python_constant():
            best = one  # of numbers that the call is given, a guard tells
    return best


def _index(tx: Any, value: Any) -> Any:
    """A bound or a position as a number: also a tensor that Python takes for one."""
    value = value.realize()
    is_integer = value.is_tensor() and value.ndim == 0 and value.dtype in _INTEGERS
    return _known(tx, value.call_method(tx, "item", [], {}) if is_integer else value)


def _truth(answers: Answers, translator: Any) -> bool | None:
    """The truth of the tensor or number on top of the stack; None where it does not depend on data."""
    value = translator.stack[-1].realize()
    if value.is_tensor():
        return answers.truth_of(translator, value)
    return bool(value.evaluate_expr()) if _is_told(value) else None


def _containing(original: Instruction) -> Instruction:
    def contains(translator: Any, instruction: Any) -> None:
        element, container = (one.realize() for one in translator.popn(2))
        if container.is_tensor():
            in_tensor: Any = queries.in_
            asked = UserFunctionVariable(in_tensor).call_function(translator, [element, container], {})
            found = _known(translator, asked).as_python_constant()
            translator.push(ConstantVariable.create(found != (instruction.argval == 1)))  # 1: `not in`
            return
        translator.push(element if element.is_tensor() else _known(translator, element))
        translator.push(container)
        original(translator, instruction)

    return contains


def _indexing(original: Instruction) -> Instruction:
    def index(translator: Any, instruction: Any) -> None:
        container, position = (one.realize() for one in translator.popn(2))
        translator.push(container)
        is_sequence = isinstance(container, BaseListVariable) or container.is_python_constant()
        if not container.is_tensor():
            position = (_index if is_sequence else _known)(translator, position)
        translator.push(position)
        original(translator, instruction)

    return index


def _loading(original: Instruction) -> Instruction:
    """A local variable that is not bound: for handlers of the program, where Dynamo gives up."""

    def load(translator: Any, instruction: Any) -> None:
        if instruction.argval not in translator.symbolic_locals and not instruction.argval.startswith("."):
            raise_observed_exception(UnboundLocalError, translator, args=[unbound_message(instruction.argval)])
        original(translator, instruction)

    return load


def _formatting(original: Instruction) -> Instruction:
    def show(translator: Any, instruction: Any) -> None:
        with_format = instruction.opname == "FORMAT_WITH_SPEC" or bool((instruction.arg or 0) & 4)
        value, *rest = translator.popn(2 if with_format else 1)
        for one in (value if value.is_tensor() else _known(translator, value), *rest):
            translator.push(one)
        original(translator, instruction)

    return show


# What needs to know a number, by the names of several versions of Python.
_OPERANDS = {
    "CONTAINS_OP": _containing,
    "LOAD_FAST": _loading,
    "LOAD_FAST_CHECK": _loading,
    "BINARY_SUBSCR": _indexing,
    "FORMAT_VALUE": _formatting,
    "FORMAT_SIMPLE": _formatting,
    "FORMAT_WITH_SPEC": _formatting,
}
