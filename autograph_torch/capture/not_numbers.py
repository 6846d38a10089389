"""Floats from data may be no numbers, or rounded: what algebra says of all numbers is not true of NaN and infinity.

    s = x.sum().item()
    if s != s: ...            true of NaN; to algebra false, whatever s is
    if s * s >= 0: ...        false of NaN
    if s - s == 0: ...        false of infinity

    n == float(n)             false of integers beyond 2**53, which no float is; to algebra true

torch (2.13) takes a number from data for a symbol of algebra, and a test whose answer algebra knows is decided while
tracing. A comparison that would be decided so, and arithmetic in which the numbers from data cancel out, are Python's
here, as an operator of the graph (runtime/arithmetic.py): nothing is known of its result.

    if v < best: ...          where `best` is math.inf: torch cannot reason about it, says so in its log, and gives up
    if abs(best - v) < tol: ...

So what is infinite or no number is compared, added and multiplied as a tensor, and divided as above.

Private: BuiltinVariable.call_function, and compare_op_handlers, which holds bound methods of it.
tests/capture/test_not_numbers.py fails clearly when torch changes it.
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
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true, has_free_unbacked_symbols
from torch.utils._sympy.symbol import SymT, symbol_is_type

from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import is_from_data
from autograph_torch.runtime import queries

_COMPARISONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_ARITHMETIC = "add sub mul truediv floordiv mod".split()
_NAMES = {
    **{function: function.__name__ for function in _COMPARISONS.values()},
    **{getattr(operator, prefix + name): name for name in _ARITHMETIC for prefix in ("", "i")},
}
# What tensors of float64 compute as Python's floats, to the bit; in place it is the same for numbers.
_EXACT = {function: function for function in _COMPARISONS.values()}
_EXACT |= {
    getattr(operator, prefix + name): getattr(operator, name) for name in _ARITHMETIC[:3] for prefix in ("", "i")
}


@contextlib.contextmanager
def not_numbers() -> Iterator[None]:
    """While this is in force, algebra decides nothing about floats from data."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn not in _NAMES or len(args) != 2:
            return built_in(self, tx, args, kwargs)
        one, other = (arg.realize() for arg in args)
        is_with_infinity = _is_with_infinity(one, other)
        if is_with_infinity and self.fn in _EXACT:
            of_tensors: Any = queries.of_tensors
            function = BuiltinVariable(_EXACT[self.fn])
            return UserFunctionVariable(of_tensors).call_function(tx, [function, one, other], {})
        if is_with_infinity or _is_decided(self.fn, one, other):
            kind = "bool" if self.fn in _COMPARISONS.values() else "float"
            computed: Any = queries.computed
            name, result = ConstantVariable.create(_NAMES[self.fn]), ConstantVariable.create(kind)
            return UserFunctionVariable(computed).call_function(tx, [name, result, *args], {})
        return built_in(self, tx, args, kwargs)

    with patched(BuiltinVariable, call_function=call_builtin):
        bound = {symbol: BuiltinVariable(function).call_function for symbol, function in _COMPARISONS.items()}
        with patched(symbolic_convert, compare_op_handlers={**symbolic_convert.compare_op_handlers, **bound}):
            yield


def _is_with_infinity(one: Any, other: Any) -> bool:
    """Whether one of two numbers is from data, and the other infinite or NaN."""
    known = [number for number in (_number(one), _number(other)) if isinstance(number, float)]
    return any(map(is_from_data, (one, other))) and any(not math.isfinite(number) for number in known)


def _is_decided(function: Any, one: Any, other: Any) -> bool:
    """Whether algebra takes the result for one that no float from data has a part in."""
    numbers = [_number(one), _number(other)]
    remains = _has_floats_of_data if any(map(_has_floats_of_data, numbers)) else _has_data
    if None in numbers or not (remains is _has_floats_of_data or _are_rounded(numbers)):
        return False
    try:
        result = function(*numbers)
        if isinstance(result, torch.SymBool):
            return guard_or_false(result) or not guard_or_true(result)
    except (AssertionError, ZeroDivisionError):  # torch 2.13 cannot reason about comparisons with infinity
        return False
    return not remains(result)


def _are_rounded(numbers: list[Any]) -> bool:
    """Whether an integer from data, as a float, stands beside another number from data: to algebra none is rounded."""
    return any(isinstance(number, torch.SymFloat) for number in numbers) and all(map(_has_data, numbers))


def _number(variable: Any) -> Any:
    """The number that a variable of the trace stands for; None for anything else."""
    if isinstance(variable, SymNodeVariable):
        return variable.sym_num
    if isinstance(variable, ConstantVariable) and type(variable.value) in (bool, int, float):
        return variable.value
    return None


def _has_data(number: Any) -> bool:
    return isinstance(number, (torch.SymInt, torch.SymFloat)) and has_free_unbacked_symbols(number)


def _has_floats_of_data(number: Any) -> bool:
    if not isinstance(number, torch.SymFloat):
        return False
    return any(symbol_is_type(symbol, SymT.UNBACKED_FLOAT) for symbol in number.node.expr.free_symbols)
