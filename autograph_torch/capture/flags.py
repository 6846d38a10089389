"""Truth values that depend on data count as the integers 0 and 1, as in Python.

    n = int(x.sum() > 0)
    hits += bool(e > 0)
    1 << flag, pow(flag, 2), math.floor(flag), math.atan2(flag, 2)

torch would have to know them ("Could not guard on data-dependent expression Eq(u0, 1)"). Here they are made integers
by way of a tensor where `int` or arithmetic asks for that.

    if hits == True:                       hits == 1: an integer from data is equal to no truth value, to torch

So are those of numbers that the call is given (`n > 3`, where n has changed): they are constants, with a guard.

Private: call_function of BuiltinVariable and TorchInGraphFunctionVariable; compare_op_handlers, which holds bound
methods of the former. tests/capture/test_flags.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo import symbolic_convert
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, UserFunctionVariable
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.comparisons import answering_comparisons
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import queries

_NAMES = "add sub mul truediv floordiv mod pow lshift rshift"
_ARITHMETIC = frozenset(
    (abs, round, pow, math.floor, math.ceil, math.trunc, operator.neg, operator.pos)
    + tuple(getattr(operator, prefix + name) for name in _NAMES.split() for prefix in ("", "i"))
)
_BITS = frozenset(getattr(operator, name) for name in ("and_", "or_", "xor", "iand", "ior", "ixor"))
_OF_TENSORS = frozenset((operator.add, operator.mul, operator.iadd, operator.imul))
_OF_MATH = frozenset(one for one in vars(math).values() if callable(one))
_COMPARISONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne}


@contextlib.contextmanager
def flags_as_integers() -> Iterator[None]:
    """While this is in force, truth values from data are integers to `int`, to arithmetic, to `<` and `!=`."""
    built_in, called = BuiltinVariable.call_function, TorchInGraphFunctionVariable.call_function

    def call_torch(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value in _OF_MATH:
            args = _all_counted(tx, args) if any(map(is_flag, args)) else args
        return called(self, tx, args, kwargs)

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is int and len(args) == 1 and (is_flag(args[0]) or _is_flag_tensor(args[0])):
            return _integer(tx, args[0])
        if (self.fn in _ARITHMETIC or self.fn in _COMPARISONS.values()) and _suits(self.fn, args):
            args = _all_counted(tx, args) if any(map(is_flag, args)) else args
        if self.fn in _BITS and any(map(is_flag, args)):
            if any(_is_number(one.realize()) for one in args):
                args = _all_counted(tx, args)
        if self.fn in (operator.xor, operator.ixor) and any(map(is_flag, args)) and all(map(_is_bool, args)):
            return BuiltinVariable(operator.ne).call_function(tx, args, kwargs)
        return built_in(self, tx, args, kwargs)

    def compare(tx: Any, comparison: Any, operands: Any) -> Any:
        values = [one.realize() for one in operands]
        flags = [is_flag(one) or _is_constant_flag(one) for one in values]
        if sum(flags) != 1 or not all(flag or _is_number(one) for flag, one in zip(flags, values, strict=True)):
            return None
        if not any(isinstance(one, SymNodeVariable) for one in values):
            return None
        numbers = [_counted(tx, one) if flag else one for flag, one in zip(flags, values, strict=True)]
        return BuiltinVariable(comparison).call_function(tx, numbers, {})

    with (
        patched(BuiltinVariable, call_function=call_builtin),
        patched(TorchInGraphFunctionVariable, call_function=call_torch),
        answering_comparisons(compare),
    ):
        bound = {symbol: BuiltinVariable(function).call_function for symbol, function in _COMPARISONS.items()}
        handlers = {**symbolic_convert.compare_op_handlers, **bound}
        with patched(symbolic_convert, compare_op_handlers=handlers):
            yield


def _integer(tx: Any, variable: Any) -> Any:
    if is_flag(variable) and not has_free_unbacked_symbols(variable.realize().sym_num):
        return ConstantVariable.create(int(variable.realize().evaluate_expr()))  # of the call: a guard
    integer: Any = queries.integer_of
    return UserFunctionVariable(integer).call_function(tx, [variable], {})


def _counted(tx: Any, flag: Any) -> Any:
    return _integer(tx, flag) if is_flag(flag) else ConstantVariable.create(int(flag.value))


def _all_counted(tx: Any, numbers: Any) -> Any:
    values = [one.realize() for one in numbers]
    return [_counted(tx, one) if is_flag(one) or _is_constant_flag(one) else one for one in values]


def _is_constant_flag(value: Any) -> bool:
    return type(value) is ConstantVariable and type(value.value) is bool


def _is_number(value: Any) -> bool:
    """Whether it is an integer or a float, from data or not."""
    if isinstance(value, SymNodeVariable):
        return isinstance(value.sym_num, (torch.SymInt, torch.SymFloat))
    return type(value) is ConstantVariable and type(value.value) in (int, float)


def is_flag(variable: Any) -> bool:
    """Whether it is a truth value that depends on data, or on numbers that the call is given."""
    variable = variable.realize()
    return isinstance(variable, SymNodeVariable) and isinstance(variable.sym_num, torch.SymBool)


def _is_bool(variable: Any) -> bool:
    variable = variable.realize()
    return is_flag(variable) or (variable.is_python_constant() and variable.python_type() is bool)


def _is_flag_tensor(variable: Any) -> bool:
    variable = variable.realize()
    return bool(
        variable.is_tensor() and variable.dtype is torch.bool and variable.valid_size() and _is_single(variable)
    )


def _is_single(variable: Any) -> bool:
    return all(type(n) is int and n == 1 for n in variable.size)


def _suits(function: Any, operands: Any) -> bool:
    """Whether an integer does what a truth value does; a tensor of truth values stays one, and none is subtracted."""
    tensors = [one for one in (operand.realize() for operand in operands) if one.is_tensor()]
    return not tensors or (function in _OF_TENSORS and all(one.dtype not in (torch.bool, None) for one in tensors))
