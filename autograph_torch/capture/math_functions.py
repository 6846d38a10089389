"""Functions of Python's math that torch has no symbol for: Python computes them when the graph runs.

    math.copysign(1, v)       torch.ops.autograph_torch.number("copysign", "float", [1, v]).item()
    math.gcd(n, m)            likewise, of integers; an integer that has more than 64 bits ends the graph
    math.dist(p, q)           of two lists of numbers
    round(n, -2)              to hundreds, which torch takes for n itself
    math.isclose(n / 2, 1)    runtime/math.py, also of numbers that the call is given

Dynamo would ask what the numbers are, and make a graph for these alone. The graph raises what Python raises; where the
trace follows the path of one call, the trace does (capture/one_path.py).

Private: call_function of TorchInGraphFunctionVariable and of BuiltinVariable.
tests/capture/test_math_functions.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    SymNodeVariable,
    TupleVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import is_from_data
from autograph_torch.runtime import math as mathematics
from autograph_torch.runtime import notes, performing, queries
from autograph_torch.runtime.arithmetic import OF_MATH

_KINDS = {getattr(math, name): (name, kind) for name, kind in OF_MATH.items() if hasattr(math, name)}
_QUESTIONS = (math.isnan, math.isinf, math.isfinite, math.isclose)
_OF_LISTS = (math.dist, math.fsum)


@contextlib.contextmanager
def math_functions() -> Iterator[None]:
    """While this is in force, such functions of numbers from data are operators of the graph."""
    called, built_in = TorchInGraphFunctionVariable.call_function, BuiltinVariable.call_function

    def call_torch(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value in _QUESTIONS and _is_of_symbols([*args, *kwargs.values()]):
            question: Any = getattr(mathematics, self.value.__name__)
            return UserFunctionVariable(question).call_function(tx, args, kwargs)
        numbers = _numbers(self.value, args) if self.value in _KINDS and not kwargs else []
        if any(map(is_from_data, numbers)) and not performing.is_looking():
            name, kind = _KINDS[self.value]
            if kind == "float" or not notes.on_one_path():  # there integers are as long as they are
                return _asked(tx, name, kind, numbers)
        return called(self, tx, args, kwargs)

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is round and kwargs.keys() <= {"ndigits"}:
            given = [one.realize() for one in (*args, *kwargs.values())]
            if len(given) == 2 and _needs_python(*given):
                return _asked(tx, "round", given[0].python_type().__name__, given)
            args, kwargs = given, {}  # as Python hands them on to `__round__`
        return built_in(self, tx, args, kwargs)

    with (
        patched(TorchInGraphFunctionVariable, call_function=call_torch),
        patched(BuiltinVariable, call_function=call_builtin),
    ):
        yield


def _is_of_symbols(given: list[Any]) -> bool:
    """Whether they are numbers, some of which are known when the graph runs, or when it is called."""
    values = [one.realize() for one in given]
    symbols = [one.sym_num for one in values if isinstance(one, SymNodeVariable)]
    return all(map(_is_number, values)) and not all(map(has_static_value, symbols))


def _asked(tx: Any, name: str, kind: str, numbers: list[Any]) -> Any:
    asked: Any = queries.asked
    given = [ConstantVariable.create(name), ConstantVariable.create(kind), TupleVariable(numbers)]
    return UserFunctionVariable(asked).call_function(tx, given, {})


def _numbers(function: Any, args: Any) -> list[Any]:
    """The numbers that a function is given; none where it is given something else."""
    values = [one.realize() for one in args]
    if function in _OF_LISTS:
        lists = [one.items for one in values if isinstance(one, BaseListVariable)]
        if len(lists) != len(values) or len({len(one) for one in lists}) != 1:
            return []
        values = [one.realize() for items in lists for one in items]
    return values if all(map(_is_number, values)) else []


def _is_number(value: Any) -> bool:
    """Whether it is a number, of 64 bits at most."""
    if isinstance(value, SymNodeVariable):
        return True
    is_constant = type(value) is ConstantVariable and type(value.value) in (bool, int, float)
    return is_constant and (isinstance(value.value, float) or -(2**63) <= value.value < 2**63)


def _needs_python(number: Any, digits: Any) -> bool:
    """Whether it is a number with a symbol, to be rounded to digits that torch does not look at."""
    if not isinstance(number, SymNodeVariable) or not _is_number(digits) or digits.python_type() is not int:
        return False
    is_known = type(digits) is ConstantVariable
    return not is_known or (number.python_type() is int and digits.value < 0)
