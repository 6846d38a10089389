"""`a is b` of values that torch's operators have handed out: a copy, where eager may have the very object.

    y = x
    if p: y = y + 1
    if y is x: ...          true in eager where p is false; in the graph y is always another tensor

Such a question is refused at the branch or loop that gives the value; the next trace may tell its paths apart
(capture/attempts.py). Whether two tensors may be one is known when the graph is finished (capture/shared_results.py).
Tensors as keys are told apart like this, too (`y in {x: 1}`). `operator.is_(a, b)` is the same question, and so are
`a == b`, `a in [b]` and `{a: 1}.get(b)` of objects whose class has no `__eq__`.

Private: compare_op_handlers of torch._dynamo.symbolic_convert, which are asked for calls of BuiltinVariable, too,
vt_identity_compare (torch 2.11 calls `__eq__`), and HashableTracker, by which Dynamo finds keys.
tests/capture/test_identities.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import copy
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import symbolic_convert, variables
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    ConstDictVariable,
    SymNodeVariable,
    TensorVariable,
    UserDefinedObjectVariable,
    builtin,
    dicts,
)
from torch._dynamo.variables.functions import UserFunctionVariable
from torch._dynamo.variables.lazy import LazyVariableTracker
from torch._dynamo.variables.lists import DequeVariable
from torch.fx import Node

from autograph_torch.capture.aliases import note_keys_given, tell_apart, tell_key_apart
from autograph_torch.capture.copied_values import line_of_copied
from autograph_torch.capture.field_writes import line_of_twin
from autograph_torch.capture.graph_writes import handed_out, storage_at
from autograph_torch.capture.identity import is_same
from autograph_torch.capture.identity_of_constants import is_one_constant
from autograph_torch.capture.identity_of_floats import is_one_float, may_be_no_number
from autograph_torch.capture.identity_of_values import are_such_values, is_given, is_one_value, values_built
from autograph_torch.capture.known_torch import is_before
from autograph_torch.capture.patching import patched
from autograph_torch.capture.settling import refuse_question_of_type
from autograph_torch.capture.shared_results import ADVICE, IDENTITY, IDENTITY_OF_ELEMENTS, Compared, told_apart
from autograph_torch.runtime import logic, tracing
from autograph_torch.runtime.refusal import raise_refusal, refusal_at

_COMPARE = "vt_identity_compare"
_UNKNOWN = "`is` between two tuples, frozensets or functions, which the trace does not tell"


@contextlib.contextmanager
def identities() -> Iterator[None]:
    """While this is in force, `is` and `is not` are answered as in eager, or refused."""
    handlers = dict(symbolic_convert.compare_op_handlers)
    functions: dict[Any, Callable[..., Any]] = {}
    for name, function, holds in (("is", operator.is_, True), ("is not", operator.is_not, False)):
        functions[function] = _answering(handlers[name], holds, lambda _: False)  # by `reduce`, which is torch's
        handlers[name] = _answering(handlers[name], holds, tracing.is_ours)
    names: Any = dicts
    key = names.HashableTracker if hasattr(dicts, "HashableTracker") else names.ConstDictVariable._HashableTracker
    reading: list[Any] = []  # dicts that were there before the trace: nobody has asked for their keys yet
    begin, built_in = ConstDictVariable.__init__, BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        asked = functions.get(self.fn) if len(args) == 2 and not kwargs else None
        return (asked or built_in.__get__(self))(tx, args, kwargs)

    def read(self: Any, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("source") is None:
            begin(self, *args, **kwargs)
            return
        reading.append(self)
        try:
            begin(self, *args, **kwargs)
        finally:
            reading.pop()
        note_keys_given(one.vt for one in self.items)

    with (
        values_built(),
        patched(symbolic_convert, compare_op_handlers=handlers),
        patched(BuiltinVariable, call_function=call_builtin),
        patched(ConstDictVariable, __init__=read),
        patched(key, __init__=_telling_apart(key.__init__, reading)),
        contextlib.ExitStack() as stack,
    ):
        for module in (getattr(variables, "object_protocol", None), builtin):
            if hasattr(module, _COMPARE):
                stack.enter_context(patched(module, **{_COMPARE: _refusing(getattr(module, _COMPARE))}))
        if is_before(2, 12):
            call = UserDefinedObjectVariable.call_method
            stack.enter_context(patched(UserDefinedObjectVariable, call_method=_refusing_calls(call)))
        yield


def _refusing(compare: Callable[..., Any]) -> Callable[..., Any]:
    """Of objects that nothing but their identity tells apart, which `==` and `in` ask for it as well."""

    def answer(one: Any, other: Any) -> Any:
        if one is not other and _is_by_identity(one) and _is_by_identity(other):
            _refuse_copies(one, other, tracing.current_translator())
        return compare(one, other)

    return answer


def _refusing_calls(call: Callable[..., Any]) -> Callable[..., Any]:
    """The same where Dynamo calls `__eq__` for this."""

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__eq__" and len(args) == 1:
            other = args[0].realize()
            if self is not other and _is_by_identity(self) and _is_by_identity(other):
                _refuse_copies(self, other, tx)
        return call(self, tx, name, args, kwargs)

    return call_method


def _is_by_identity(value: Any) -> bool:
    return isinstance(value, UserDefinedObjectVariable) and value.python_type().__eq__ is object.__eq__


def _refuse_copies(one: Any, other: Any, tx: Any) -> None:
    """Stop where one of two values may be the other one in eager, and is a copy here."""
    filename = tx.f_code.co_filename
    if tracing.is_of_package(filename) or filename == copy.__file__:
        return  # either answer will do
    for line in filter(None, (line_of_twin(one), line_of_twin(other), line_of_copied(one, other))):
        raise refusal_at(*line, "AG314", IDENTITY, ADVICE)


def _answering(compare: Callable[..., Any], holds: bool, is_ours: Callable[[str], bool]) -> Callable[..., Any]:
    """An answer to `is` or `is not`. `is_ours`: where the asker takes either."""

    def answer(tx: Any, operands: Any, kwargs: Any) -> Any:
        one, other = (operand.realize() for operand in operands)
        found: Any
        known = None if _is_of_others(tx.f_code.co_filename) else is_one_constant(tx, one, other)
        if known is not None:
            return ConstantVariable.create(known is holds)
        if any(isinstance(operand, DequeVariable) for operand in (one, other)):  # Dynamo knows it of None alone
            tell_apart(one, other)
            found = ConstantVariable.create((one is other) is holds)
        elif _are_floats(one, other):
            found = ConstantVariable.create(is_one_float(one, other, tx.output.current_tracer) is holds)
        elif are_such_values(one, other) and not _is_of_others(tx.f_code.co_filename):
            known = is_one_value(tx, one, other)
            if known is None:
                raise_refusal(
                    "AG320",
                    "`is` between two tuples, frozensets or functions, which the trace does not tell",
                    "compare with `==`",
                )
            found = ConstantVariable.create(known is holds)
        else:
            found = compare(tx, operands, kwargs)
        if not found.is_python_constant() or found.as_python_constant() is holds:
            return found
        if is_ours(tx.f_code.co_filename):  # either answer will do (runtime/logic.py)
            return found
        tracer = tx.output.current_tracer
        if is_same(one, other, tracer):
            return ConstantVariable.create(holds)
        if isinstance(one, TensorVariable) and isinstance(other, TensorVariable):
            note_told_apart(one, other, tracer)
            return found
        for constant, value in ((one, other), (other, one)):
            if type(constant) is ConstantVariable and constant.as_python_constant() is not None:
                return _told_of_number(tx, value, constant.as_python_constant(), holds) or found
        if any(type(operand) is ConstantVariable for operand in (one, other)):  # None is no list and no object
            return found
        if one in tracing.frozen() and other in tracing.frozen():
            raise_refusal("AG314", IDENTITY_OF_ELEMENTS, ADVICE)
        _refuse_copies(one, other, tx)
        return found

    return answer


def note_told_apart(one: TensorVariable, other: TensorVariable, tracer: Any) -> None:
    """Note that the trace takes them for two tensors, which is refused where they may be one."""
    told_apart().append((_compared(one, tracer), _compared(other, tracer), tracing.user_line()[:2]))


def _are_floats(one: Any, other: Any) -> bool:
    """Whether they are two floats, one at least from data, of which neither need be equal to itself."""
    is_from_data = isinstance(one, SymNodeVariable) or isinstance(other, SymNodeVariable)
    return is_from_data and may_be_no_number(one) and may_be_no_number(other)


def _is_of_others(filename: str) -> bool:
    """Whether it is not the program that asks: `copy.deepcopy` does of tuples that it has made itself."""
    return tracing.is_ours(filename) or filename == copy.__file__


def _telling_apart(make: Callable[..., Any], reading: list[Any]) -> Callable[..., Any]:
    def begin(self: Any, value: Any) -> None:
        make(self, value)
        if _is_tensor(self.vt):
            _tell_apart_from_keys(self.vt.realize())
        elif not reading:
            tell_key_apart(self.vt)
            _refuse_as_key(self.vt)

    return begin


def _refuse_as_key(value: Any) -> None:
    """Stop at an object as a key, which another one may be in eager."""
    if isinstance(value, LazyVariableTracker) and not value.is_realized():
        return
    key = value.realize()
    line = line_of_twin(key) if _is_by_identity(key) else None
    if line is not None:
        raise refusal_at(*line, "AG314", IDENTITY, ADVICE)


def _is_tensor(value: Any) -> bool:
    """Whether a value is a tensor; nothing else is looked at for this, which would put guards on it."""
    if isinstance(value, LazyVariableTracker) and not value.is_realized():
        return isinstance(value.original_value(), torch.Tensor)
    return isinstance(value.realize(), TensorVariable)


def _tell_apart_from_keys(tensor: TensorVariable) -> None:
    """Note that a tensor is another key than those that have been used in this trace."""
    keys: list[TensorVariable] = tracing.notebook().setdefault("tensors as keys", [])
    tracer, line = tracing.current_tracer(), tracing.user_line()[:2]
    known = [other for other in keys if is_same(tensor, other, tracer)]
    if any(_value(other) is not _value(tensor) for other in known):
        raise refusal_at(*line, "AG314", IDENTITY, ADVICE)
    if known:
        return
    for other in keys:
        if not (is_given(tensor, tracer) and is_given(other, tracer)):
            told_apart().append((_compared(tensor, tracer), _compared(other, tracer), line))
    keys.append(tensor)


def _value(tensor: TensorVariable) -> Any:
    """What Dynamo finds a tensor by."""
    return tensor.as_proxy().node.meta["example_value"]


def _told_of_number(tx: Any, value: Any, constant: Any, holds: bool) -> Any:
    """The answer for a truth value from data: it is True where it is true. None where `value` is something else."""
    if value.is_tensor():
        refuse_question_of_type(value, tx)
    if not isinstance(value, SymNodeVariable) or value.python_type() is not type(constant):
        return None
    if not isinstance(constant, bool):
        raise_refusal("AG320", "`is` between two numbers, one of which depends on data", "compare them with `==`")
    negated: Any = logic.is_false
    return value if constant is holds else UserFunctionVariable(negated).call_function(tx, [value], {})


def _compared(tensor: TensorVariable, tracer: Any) -> Compared:
    node = tracing.resolved(tensor.as_proxy(), tracer).node
    return storage_at(node) or 0, _maker(node)


def _maker(node: Node) -> Node | None:
    """The operator whose result it is: what nobody else uses is not in the finished graph."""
    result = handed_out(node, ("getitem", "where", "view", "to", "detach"))
    return None if result is None else result.all_input_nodes[0]
