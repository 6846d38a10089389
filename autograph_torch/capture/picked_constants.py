"""How the tracer follows strings, members of enumerations and None of which data pick one (runtime/picked.py).

    status == "up"        ("up", "down") are the constants: (True, False), of which the place picks one
    status + "!"          ("up!", "down!"), a picked constant again
    rates[status]         (0.5, 0.25), a number of the graph
    if status: ...        True for both: the test is Python's

What Python gives for each constant is asked of Dynamo, for functions without effects alone. All that is not known here
is refused: nothing may take such a value for an object of its own.

Private: BuiltinVariable.call_function, compare_op_handlers, the instructions for `in` and f-strings, and what a
VariableTracker is asked. tests/capture/test_picked_constants.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from torch._dynamo import symbolic_convert
from torch._dynamo.exc import ObservedException
from torch._dynamo.variables import (
    ConstantVariable,
    ConstDictVariable,
    SymNodeVariable,
    TupleVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.misc import GetAttrVariable, StringFormatVariable

from autograph_torch.capture.choices import ChosenVariable, is_of_one_type
from autograph_torch.capture.enum_members import is_member
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.capture.replaced_instructions import Instruction, replaced
from autograph_torch.runtime import picked
from autograph_torch.runtime.picked import PICKED
from autograph_torch.runtime.refusal import raise_refusal

Locals = dict[str, Any]
Answer = Callable[[VariableTracker], VariableTracker]

_ADVICE = 'ask for it (`status == "done"`, `status in (...)`), look it up in a dict of numbers, or return it'
# Of constants, these have no effect.
_FUNCTIONS = (
    *(getattr(operator, name) for name in "eq ne lt le gt ge is_ is_not not_ contains add mod mul getitem".split()),
    *(bool, len, str, repr, isinstance, type, callable, format, str.format, ord, int, float),
)
_PLAIN_MODULES = ("builtins", "collections", "torch", "enum", "abc")
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=", "is", "is not")
# What Dynamo asks of a variable that it operates on, with all versions of torch.
_ASKED = re.compile(
    r"(nb|sq|mp|tp)_\w+|\w+_impl|call_\w+|(is|get)_(python_)?hash\w*|is_python_equal|next_variable|unpack_\w+"
)


class PickedVariable(ChosenVariable):
    """One of several constants. What is not asked by way of `_each` is refused."""

    def python_type(self) -> type:
        kinds = {value.python_type() for value in self.values}
        if len(kinds) > 1:
            raise NotImplementedError
        return kinds.pop()

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if not all(isinstance(value, ConstantVariable) for value in self.values):
            _refuse(f"a method of {PICKED}")
        return _each(tx, self, lambda value: value.call_method(tx, name, args, kwargs))

    def var_getattr(self, tx: Any, name: str) -> Any:
        if all(map(_is_string, self.values)) and callable(getattr(str, name, None)):
            return GetAttrVariable(self, name)  # a method, to be called
        if name not in ("name", "value") or not all(map(is_member, self.values)):
            _refuse(f"an attribute of {PICKED}")
        return _each(tx, self, lambda value: value.var_getattr(tx, name))

    def richcompare_impl(self, tx: Any, other: Any, op: str) -> Any:
        compare = BuiltinVariable(getattr(operator, op.strip("_")))
        return _each(tx, self, lambda value: compare.call_function(tx, [value, other], {}))

    def reconstruct(self, codegen: Any) -> None:
        if is_of_one_type():
            _refuse(f"{PICKED} leaves a graph that is to have no Python behind it")
        self.write(codegen)


def _refuse(what: str) -> NoReturn:
    raise_refusal("AG320", what, _ADVICE)


def _refused() -> Callable[..., Any]:
    def asked(self: Any, *args: Any, **kwargs: Any) -> Any:
        _refuse(f"{PICKED} is used where a graph needs to know it")

    return asked


for _name in dir(VariableTracker):
    if _ASKED.fullmatch(_name) and _name not in vars(PickedVariable):
        setattr(PickedVariable, _name, _refused())


def is_picked(variable: Any) -> bool:
    """Whether it is such a value. (It is never lazy; looking at others would put guards on them.)"""
    return type(variable) is PickedVariable


# -- what the runtime asks for -----------------------------------------------------------------------------------------


def _picked(_: Any, given: Locals) -> Locals:
    return {"found": PickedVariable(given["which"].realize(), list(given["values"].realize().items))}


def _place_of(_: Any, given: Locals) -> Locals:
    value = given["value"].realize()
    return {"found": value.which} if is_picked(value) else {}


def _constants_of(_: Any, given: Locals) -> Locals:
    return {"found": TupleVariable(given["value"].realize().values)}


PICKS = {
    picked.picked.__code__: _picked,
    picked.place_of.__code__: _place_of,
    picked.constants_of.__code__: _constants_of,
}


# -- answers -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def picked_constants() -> Iterator[None]:
    """While this is in force, what is asked of such a value is asked of each of its constants."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        position = _position(args) if self.fn in _KNOWN and not kwargs else None
        if position is None:
            return built_in(self, tx, args, kwargs)
        _check_operands(args)
        put = functools.partial(_with, list(args), position)
        return _each(tx, args[position], lambda value: self.call_function(tx, put(value), kwargs))

    method = method_of(ConstDictVariable, "call_method")

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        position = _position(args) if name == "get" and not kwargs else None
        if position is None:
            return method(self, tx, name, args, kwargs)
        _check_operands([self, *args])
        put = functools.partial(_with, list(args), position)
        return _each(tx, args[position], lambda value: self.call_method(tx, name, put(value), kwargs))

    handlers = symbolic_convert.compare_op_handlers
    comparing = {name: _comparing(handlers[name], name.startswith("is")) for name in _COMPARISONS}
    with (
        patched(BuiltinVariable, call_function=call_builtin),
        patched(ConstDictVariable, call_method=call_method),
        patched(symbolic_convert, compare_op_handlers={**handlers, **comparing}),
        replaced(CONTAINS_OP=_containing, BUILD_STRING=_building),
    ):
        yield


_KNOWN = frozenset(_FUNCTIONS)


def _position(operands: Any) -> int | None:
    """The first operand that data pick."""
    return next((k for k, one in enumerate(operands) if is_picked(one)), None)


def _check_operands(operands: Any) -> None:
    """Stop where an operand may have an effect of its own when it is asked: it would have it for each constant."""
    for one in map(_realized, operands):
        if not is_picked(one) and not is_member(one) and not _is_plain(one):
            _refuse(f"{PICKED}, and an object of a class that has a say in what is asked of it,")


def _realized(variable: Any) -> Any:
    return variable.realize()


def _is_plain(variable: Any) -> bool:
    """Whether a value is one of Python's own, or of torch's, and makes no missing items."""
    try:
        kind = variable.python_type()
    except NotImplementedError:
        return False
    return kind.__module__.partition(".")[0] in _PLAIN_MODULES and not hasattr(kind, "__missing__")


def _comparing(compare: Callable[..., Any], by_identity: bool) -> Callable[..., Any]:
    def answer(tx: Any, operands: Any, kwargs: Any) -> Any:
        position = _position(operands)
        if position is None:
            if by_identity and all(map(_is_string, operands)):
                _refuse("`is` between two strings, one of which data pick")
            return compare(tx, operands, kwargs)
        _check_operands(operands)
        put = functools.partial(_with, list(operands), position)
        return _each(tx, operands[position], lambda value: answer(tx, put(value), kwargs))

    def begin(tx: Any, operands: Any, kwargs: Any) -> Any:
        return (compare if _position(operands) is None else answer)(tx, operands, kwargs)

    return begin


def _is_string(variable: Any) -> bool:
    found = variable.realize()
    return isinstance(found, ConstantVariable) and isinstance(found.as_python_constant(), str)


def _with(operands: list[Any], position: int, value: Any) -> list[Any]:
    return [*operands[:position], value, *operands[position + 1 :]]


def _containing(original: Instruction) -> Instruction:
    """`element in container`, where either is picked."""

    def contains(translator: Any, instruction: Any) -> None:
        operands = translator.stack[-2:]
        position = _position(operands)
        if position is None:
            original(translator, instruction)
            return
        _check_operands(operands)
        translator.popn(2)

        def ask(value: Any) -> Any:
            for one in _with(operands, position, value):
                translator.push(one)
            contains(translator, instruction)
            return translator.pop()

        translator.push(_each(translator, operands[position], ask))

    return contains


def _building(original: Instruction) -> Instruction:
    """`f"{status}: {label}"`, as a sum of strings."""

    def build(translator: Any, instruction: Any) -> None:
        parts = translator.stack[len(translator.stack) - instruction.arg :]
        if _position(parts) is None:
            original(translator, instruction)
            return
        if any(isinstance(one.realize(), StringFormatVariable) for one in parts):
            _refuse(f"a text of {PICKED} and of other values of the graph")
        translator.popn(instruction.arg)
        add = BuiltinVariable(operator.add)
        translator.push(functools.reduce(lambda one, other: add.call_function(translator, [one, other], {}), parts))

    return build


def _each(tx: Any, variable: PickedVariable, ask: Answer) -> VariableTracker:
    """What a question gives for the constant that data pick."""
    try:
        answers = [ask(value).realize() for value in variable.values]
    except ObservedException:
        _refuse(f"{PICKED}, for one of which Python raises,")
    return _one_of(tx, variable.which, answers)


def _one_of(tx: Any, which: Any, answers: list[Any]) -> VariableTracker:
    """The answer at a place."""
    first = answers[0]
    if all(one is first or _is_same_constant(one, first) for one in answers):
        return first
    kinds = {_number_type(one) for one in answers}
    if len(kinds) == 1 and None not in kinds:
        looked_up: Any = picked.looked_up
        given = [which, TupleVariable(answers), ConstantVariable.create(kinds.pop())]
        return UserFunctionVariable(looked_up).call_function(tx, given, {})
    if all(_may_be_picked(one) for one in answers):
        return _flat(tx, which, answers)
    _refuse(f"a value that differs with {PICKED}")


def _flat(tx: Any, which: Any, answers: list[Any]) -> VariableTracker:
    """One picked constant of constants, some of which are picked themselves."""
    values: list[Any] = []
    places: list[Any] = []
    add = BuiltinVariable(operator.add)
    for one in answers:
        start = ConstantVariable.create(len(values))
        values += one.values if is_picked(one) else [one]
        places.append(add.call_function(tx, [one.which, start], {}) if is_picked(one) else start)
    if any(map(is_picked, answers)):
        place_among: Any = picked.place_among
        which = UserFunctionVariable(place_among).call_function(tx, [which, TupleVariable(places)], {})
    return PickedVariable(which, values)


def _is_same_constant(one: Any, other: Any) -> bool:
    if is_member(one) and is_member(other):
        return bool(one.value is other.value)
    if not (isinstance(one, ConstantVariable) and isinstance(other, ConstantVariable)):
        return _is_class(one) and _is_class(other) and one.as_python_constant() is other.as_python_constant()
    a, b = one.as_python_constant(), other.as_python_constant()
    return type(a) is type(b) and a == b and repr(a) == repr(b)


def _is_class(one: Any) -> bool:
    return one.is_python_constant() and isinstance(one.as_python_constant(), type)


def _number_type(answer: Any) -> str | None:
    kind = answer.python_type() if isinstance(answer, (ConstantVariable, SymNodeVariable)) else None
    return kind.__name__ if kind in (bool, int, float) else None


def _may_be_picked(answer: Any) -> bool:
    if is_picked(answer) or is_member(answer):
        return True
    if not isinstance(answer, ConstantVariable):
        return False
    return answer.as_python_constant() is None or type(answer.as_python_constant()) is str
