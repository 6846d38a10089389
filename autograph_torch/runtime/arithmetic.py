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


@torch.library.custom_op("autograph_torch::number", mutates_args=())
def _number_op(function: str, kind: str, numbers: list[torch.Tensor]) -> torch.Tensor:
    """A function of numbers; `kind` is the type that the trace has taken the result for."""
    result = FUNCTIONS[function](*[number.item() for number in numbers])
    if isinstance(result, complex if kind == "float" else (float, complex)):
        raise TypeError(f"`{function}` gives {result!r} here, but the graph was made for a result of type {kind}")
    if kind == "int" and not -(2**63) <= result < 2**63:
        raise OverflowError(f"`{function}` gives {result} here, but integers of the graph have 64 bits")
    return torch.tensor(result, dtype=NUMBER_DTYPES[kind])


@_number_op.register_fake
def _(function: str, kind: str, numbers: list[torch.Tensor]) -> torch.Tensor:
    return torch.empty((), dtype=NUMBER_DTYPES[kind])
