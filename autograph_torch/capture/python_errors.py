"""What Python's own operations raise, they raise in the trace, with Python's type and text, for handlers to see.

    best = max(scores)                 ValueError: max() arg is an empty sequence         of an empty list
    bundle[0] += [x]                   TypeError: 'tuple' object does not support ...     where the list has grown
    steps.index(3), "abc" + 1          ValueError: 3 is not in list, TypeError: ...

Dynamo stops at some, and raises others with another text or of another type. Where an operation has failed in the
trace, Python does it with values that stand for those of the trace: numbers, texts, and lists, dicts and sets of such.
In the place of all others are objects that stop Python when it touches them: then nothing is known. Iterators that ask
later (`range`, `zip`) are tried first.

Private: instructions by their names and operands, call_function of InstructionTranslatorBase and of BuiltinVariable,
and the variables of values and methods. tests/capture/test_python_errors.py fails clearly when torch changes them.
"""

from __future__ import annotations

import builtins
import collections
import contextlib
import dis
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.exc import ObservedException, Unsupported, handle_observed_exception, raise_observed_exception
from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables import (
    ConstantVariable,
    ConstDictVariable,
    GetAttrVariable,
    LazyVariableTracker,
    ListVariable,
    SymNodeVariable,
    TensorVariable,
    TupleVariable,
    functions,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.lists import DequeVariable, RangeVariable

from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import Instruction, replaced
from autograph_torch.capture.written_in_place import itself

Operation = Callable[..., Any]

_PLAIN = (int, float, complex, bool, str, bytes, type(None), type(...), range, slice)
_FAILURES: tuple[type[Exception], ...] = (
    *(ObservedException, Unsupported, TypeError, ValueError, LookupError, ArithmeticError, AttributeError),
    *(AssertionError, NotImplementedError),
)
_NAMES = (
    "abs bin bool bytes chr complex dict divmod enumerate float format frozenset getattr hash hex int isinstance "
    "issubclass iter len list map max min next oct ord pow range reversed round set slice sorted str sum tuple zip"
)
_FUNCTIONS = {itertools.islice, *(getattr(builtins, name) for name in _NAMES.split())}
_FUNCTIONS |= {one for module in (math, operator) for one in vars(module).values() if callable(one)}
_NUMBERS = (int, float, complex)  # which say it in other words than `x.item()` where a tensor has several
_DIVISIONS = {divmod, *(getattr(operator, f"{i}{name}") for name in ("truediv", "floordiv", "mod") for i in ("", "i"))}
# What they are given they ask later in the trace, or not at all.
_LATER = (range, enumerate, zip, map, itertools.islice)
_NOTHING_TO_CHOOSE = "_call_min_max_seq requires"  # so Dynamo says
_CONTAINERS: dict[Any, Any] = {
    ListVariable: list,
    TupleVariable: tuple,
    DequeVariable: collections.deque,
    ConstDictVariable: dict,
}
# Methods that may have changed something before they fail.
_IN_PARTS = ("sort", "update", "extend", "difference_update", "intersection_update", "symmetric_difference_update")
_METHODS = (GetAttrVariable, getattr(functions, "BoundBuiltinMethodVariable", GetAttrVariable))  # the latter: 2.13


class _Touched(BaseException):
    """Python has asked something of a value that is not known."""


class _Unknown:
    """A value that is not known."""


_touches: list[None] = []  # C code may swallow what an argument raises, and raise an exception of its own


def _touch(*_: Any, **__: Any) -> Any:
    _touches.append(None)
    raise _Touched


_SPECIAL = (
    "eq ne lt le gt ge hash bool repr str format bytes len iter next reversed contains getitem setitem delitem call "
    "index int float complex round trunc floor ceil neg pos abs invert enter exit getattribute setattr delattr "
    "length_hint instancecheck subclasscheck fspath get"
)
_OPERATORS = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or"
_PREFIXES = ("", "r", "i")
for _name in (*_SPECIAL.split(), *(prefix + name for name in _OPERATORS.split() for prefix in _PREFIXES)):
    setattr(_Unknown, f"__{_name}__", _touch)


@contextlib.contextmanager
def python_errors() -> Iterator[None]:
    """While this is in force, such operations raise what Python does."""
    call, of_builtin = InstructionTranslatorBase.call_function, BuiltinVariable.call_function

    def call_function(self: Any, fn: Any, args: Any, kwargs: Any) -> Any:
        found = _called(fn)
        if found is None:
            return call(self, fn, args, kwargs)
        operation, given = found[0], [*found[1:], *args]
        if operation in _LATER and any(type(_whichever(one)) is ConstantVariable for one in args):
            _raise(self, _failure(operation, [_whichever(one) for one in given], kwargs))
        return _run(self, lambda: call(self, fn, args, kwargs), operation, given, kwargs)

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if not _is_known(self.fn):
            return of_builtin(self, tx, args, kwargs)
        if self.fn in _DIVISIONS and type(args[0]) is SymNodeVariable:  # what torch cannot divide stays in its graph
            _raise(tx, _failure(self.fn, args, kwargs))
        return _run(tx, lambda: of_builtin(self, tx, args, kwargs), self.fn, args, kwargs)

    makers = {name: make for name, make in _INSTRUCTIONS.items() if name in dis.opmap}
    with (
        replaced(**makers),
        patched(InstructionTranslatorBase, call_function=call_function),
        patched(BuiltinVariable, call_function=call_builtin),
    ):
        yield


def _run(tx: Any, run: Callable[[], Any], operation: Operation, args: Any, kwargs: Any) -> Any:
    """What an operation gives in the trace; what it raises there is what Python raises, where that is known."""
    try:
        return run()
    except _FAILURES as error:
        if isinstance(error, AssertionError) and _NOTHING_TO_CHOOSE in str(error):
            args, kwargs = [TupleVariable([])], {}
        if getattr(operation, "in_parts", False) and not isinstance(error, ObservedException):
            raise
        found = _failure(operation, args, kwargs)
        if found is None:
            raise
        if isinstance(error, ObservedException):
            handle_observed_exception(tx)
    _raise(tx, found)


def _raise(tx: Any, error: Exception | None) -> None:
    if error is not None:
        raise_observed_exception(type(error), tx, args=[VariableTracker.build(tx, one) for one in error.args])


def _failure(operation: Operation, args: Any, kwargs: Any) -> Exception | None:
    """What Python raises for the operation; None where it does not, or where that is not known."""
    several = _several(args[0]) if operation in _NUMBERS and len(args) == 1 else None
    _touches.clear()
    try:
        if several is not None:
            operation(several)
        standing_in = [_stand_in(one) for one in args]
        if operation in _DIVISIONS and type(args[0]) is SymNodeVariable and standing_in[1:] == [0]:
            standing_in[0] = args[0].python_type()(1)  # whichever it is
        operation(*standing_in, **{key: _stand_in(one) for key, one in kwargs.items()})
    except _Touched:
        return None
    except Exception as error:
        known = type(error).__module__ == "builtins" and all(type(one) in _PLAIN for one in error.args)
        return error if known and not _touches and _Unknown.__name__ not in str(error) else None
    return None


def _stand_in(variable: Any) -> Any:
    """What stands for a value of the trace."""
    if isinstance(variable, LazyVariableTracker):
        if not variable.is_realized():
            return _Unknown()
        variable = variable.realize()
    kind = type(variable)
    if kind is ConstantVariable:
        return variable.value if type(variable.value) in _PLAIN else _Unknown()
    if kind is RangeVariable and variable.is_python_constant():
        return variable.as_python_constant()
    if kind is BuiltinVariable and isinstance(variable.fn, type):
        return variable.fn
    if kind is not ConstDictVariable and kind in _CONTAINERS:
        return _CONTAINERS[kind]([_stand_in(one) for one in variable.items])
    if kind is ConstDictVariable and variable.python_type() is dict:
        return _hashed(lambda: {_stand_in(key.vt): _stand_in(one) for key, one in variable.items.items()})
    if kind.__name__ == "SetVariable" and variable.python_type() is set:
        return _hashed(lambda: {_stand_in(key.vt) for key in variable.set_items})
    return _Unknown()


def _whichever(variable: Any) -> Any:
    """A float from data as one that is none of an integer: what counts takes neither."""
    is_float = isinstance(variable, SymNodeVariable) and isinstance(variable.sym_num, torch.SymFloat)
    return ConstantVariable.create(0.5) if is_float else variable


def _hashed(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except (_Touched, TypeError):
        return _Unknown()


def _several(variable: Any) -> torch.Tensor | None:
    """A tensor of as many elements as one of the trace has; None where that is one, or not known."""
    found = variable.realize()
    if type(found) is not TensorVariable:
        return None
    value = found.as_proxy().node.meta["example_value"]
    count = value.numel()
    return torch.zeros(count, dtype=value.dtype) if type(count) is int and count != 1 else None


def _is_known(function: Any) -> bool:
    try:
        return function in _FUNCTIONS
    except TypeError:  # it has no hash
        return False


def _called(function: Any) -> tuple[Any, ...] | None:
    """The operation that a call is, with the variable of what it belongs to; None for functions of the program."""
    if type(function) is ConstantVariable:  # a value that cannot be called
        return _call, function
    if isinstance(function, _METHODS):
        name = function.name if isinstance(function, GetAttrVariable) else function.descriptor.__name__
        return _call_of(name), function.obj
    value = getattr(function, "fn", getattr(function, "value", None))
    return (value,) if _is_known(value) else None


def _call(function: Any, *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


@functools.cache
def _call_of(name: str) -> Operation:
    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(owner, name)(*args, **kwargs)

    call.in_parts = name in _IN_PARTS  # type: ignore[attr-defined]
    return call


# -- instructions ------------------------------------------------------------------------------------------------------


def _doing(count: int, operation_of: Callable[[Any], Operation]) -> Callable[[Instruction], Instruction]:
    """What makes of an instruction one that is tried in Python with so many values from the top of the stack."""

    def made(original: Instruction) -> Instruction:
        def follow(translator: Any, instruction: Any) -> None:
            given = translator.stack[-count:]
            run = functools.partial(original, translator, instruction)
            _run(translator, run, operation_of(instruction), given, {})

        return follow

    return made


def _store(value: Any, container: Any, key: Any) -> None:
    container[key] = value


def _delete(container: Any, key: Any) -> None:
    del container[key]


def _store_slice(value: Any, container: Any, start: Any, stop: Any) -> None:
    container[start:stop] = value


def _contains(element: Any, container: Any) -> bool:
    return element in container


def _enter(manager: Any) -> None:
    with manager:
        pass


def _raising(original: Instruction) -> Instruction:
    def follow(translator: Any, instruction: Any) -> None:
        run = functools.partial(original, translator, instruction)
        _run(translator, run, _raised, translator.stack[-1:] if instruction.arg == 1 else [], {})

    return follow


def _raised(error: Any = _Unknown) -> None:
    if type(error) in _PLAIN:
        raise error  # which is a TypeError


def _formatting(original: Instruction) -> Instruction:
    """The same of up to Python 3.12: with a format on top of the value, and a conversion, or without."""

    def follow(translator: Any, instruction: Any) -> None:
        flags = instruction.arg or 0
        given = translator.stack[-2:] if flags & 4 else translator.stack[-1:]
        convert = _CONVERSIONS[flags & 3]
        run = functools.partial(original, translator, instruction)
        _run(translator, run, lambda value, spec="": format(convert(value), spec), given, {})

    return follow


def _same(value: Any) -> Any:
    return value


_CONVERSIONS: tuple[Operation, ...] = (_same, str, repr, ascii)


def _compared(instruction: Any) -> Operation:
    return _COMPARISONS.get(instruction.argval, operator.eq)


@functools.cache
def _unpacking(targets: str) -> Operation:
    """A function that assigns what it is given to so many names (with a star for the rest)."""
    made: dict[str, Any] = {}
    exec(f"def unpack(values): [{targets}] = values", made)
    return made["unpack"]  # type: ignore[no-any-return]


def _names(count: int, rest: int = -1) -> str:
    behind = [] if rest < 0 else ["*_", *["_"] * rest]
    return ", ".join(["_"] * count + behind)


def _reading(original: Instruction) -> Instruction:
    """Dynamo asks for some attributes only where they are used: what no list, dict or tensor has is told at once."""

    def follow(translator: Any, instruction: Any) -> None:
        owner, name = translator.stack[-1:], instruction.argval
        read = functools.partial(_get, name)
        kind = _CONTAINERS.get(type(owner[0]))
        if kind is not None and not hasattr(kind, name):
            _raise(translator, _failure(read, owner, {}))
        _raise(translator, _missing(translator, owner[0], name))
        _run(translator, functools.partial(original, translator, instruction), read, owner, {})

    return follow


def _missing(translator: Any, owner: Any, name: str) -> Exception | None:
    """What Python says of an attribute that a tensor of the graph does not have."""
    if type(owner) is not TensorVariable or hasattr(owner.python_type(), name):
        return None
    owner = itself(owner)
    if owner.source is not None and owner.source.subguards_allowed():  # Dynamo looks at a tensor of the call
        return None
    if translator.output.side_effects.has_pending_mutation_of_attr(owner, name):
        return None
    return AttributeError(f"'{owner.python_type().__name__}' object has no attribute '{name}'")


def _get(name: str, owner: Any) -> Any:
    return getattr(owner, name)


def _setting(instruction: Any) -> Operation:
    return functools.partial(_set, instruction.argval)


def _set(name: str, value: Any, owner: Any) -> None:
    setattr(owner, name, value)


_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_INSTRUCTIONS: dict[str, Callable[[Instruction], Instruction]] = {
    "BINARY_SUBSCR": _doing(2, lambda _: operator.getitem),
    "STORE_SUBSCR": _doing(3, lambda _: _store),
    "DELETE_SUBSCR": _doing(2, lambda _: _delete),
    "STORE_SLICE": _doing(4, lambda _: _store_slice),
    "COMPARE_OP": _doing(2, _compared),
    "CONTAINS_OP": _doing(2, lambda _: _contains),
    "UNPACK_SEQUENCE": _doing(1, lambda found: _unpacking(_names(found.argval))),
    "UNPACK_EX": _doing(1, lambda found: _unpacking(_names(found.argval & 0xFF, found.argval >> 8))),
    "GET_ITER": _doing(1, lambda _: iter),
    "LOAD_ATTR": _reading,
    "LOAD_METHOD": _reading,
    "STORE_ATTR": _doing(2, _setting),
    "FORMAT_VALUE": _formatting,
    "FORMAT_SIMPLE": _doing(1, lambda _: format),
    "FORMAT_WITH_SPEC": _doing(2, lambda _: format),
    "BEFORE_WITH": _doing(1, lambda _: _enter),
    "SETUP_WITH": _doing(1, lambda _: _enter),
    "RAISE_VARARGS": _raising,
}
