"""Arithmetic of numbers that Python does when the graph runs.

Backends that compile take a graph's arithmetic of numbers for algebra: there `1 / s` is infinite where Python raises,
and `s // k` is an integer whatever s is. As an operator it is Python's own (see capture/arithmetic.py).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime.layout import NUMBER_DTYPES

_OPERATORS = "truediv floordiv mod pow abs add sub mul neg lt le gt ge eq ne"
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in _OPERATORS.split()},
    **{name: getattr(math, name) for name in ("floor", "ceil", "trunc")},
    **{name: getattr(math, name) for name in "sqrt cos cosh sin sinh tan tanh asin acos atan log2".split()},
    "max": max,
    "min": min,
}
_FLOATS = (
    "acosh asinh atan2 atanh cbrt copysign degrees dist erf erfc exp exp2 expm1 fabs fmod fsum gamma hypot ldexp "
    "lgamma log log10 log1p nextafter radians remainder ulp"
)
_INTEGERS = "comb factorial gcd isqrt lcm perm"
# What Python alone computes (capture/math_functions.py), with the type of what it gives.
OF_MATH = dict.fromkeys(_FLOATS.split(), "float") | dict.fromkeys(_INTEGERS.split(), "int")
_ASKED: dict[str, Callable[..., Any]] = {
    **{name: getattr(math, name) for name in OF_MATH if hasattr(math, name)},  # some are of Python 3.11
    "dist": lambda *numbers: math.dist(numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :]),
    "fsum": lambda *numbers: math.fsum(numbers),
    "round": round,
}
_NEVER_REFUSED = frozenset("abs add sub mul neg lt le gt ge eq ne max min".split())
_OF_GRAPH = "_autograph_of_graph"  # on an exception
_ALL = FUNCTIONS | _ASKED


def _of_graph(error: Exception) -> Exception:
    """An exception that Python does not raise."""
    setattr(error, _OF_GRAPH, True)
    return error


def is_of_graph(error: Exception) -> bool:
    """Whether the graph cannot give what Python does."""
    return hasattr(error, _OF_GRAPH)


def may_refuse(function: str) -> bool:
    """Whether Python may raise where it computes this of numbers."""
    return function not in _NEVER_REFUSED


@torch.library.custom_op("autograph_torch::number", mutates_args=())
def _number_op(function: str, kind: str, numbers: list[torch.Tensor]) -> torch.Tensor:
    """A function of numbers; `kind` is the type that the trace has taken the result for."""
    result = _ALL[function](*[number.item() for number in numbers])
    if isinstance(result, complex if kind == "float" else (float, complex)):
        message = f"`{function}` gives {result!r} here, but the graph was made for a result of type {kind}"
        raise _of_graph(TypeError(message))
    if kind == "int" and not -(2**63) <= result < 2**63:
        raise _of_graph(OverflowError(f"`{function}` gives {result} here, but integers of the graph have 64 bits"))
    return torch.tensor(result, dtype=NUMBER_DTYPES[kind])


@_number_op.register_fake
def _(function: str, kind: str, numbers: list[torch.Tensor]) -> torch.Tensor:
    return torch.empty((), dtype=NUMBER_DTYPES[kind])
