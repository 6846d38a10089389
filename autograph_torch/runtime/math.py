"""Functions of Python's math for numbers that depend on data, which torch.compile does not take.

The graph computes them in double precision. What math refuses (`log(0)`) is an exception of the graph.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail
from autograph_torch.runtime.messages import message_of
from autograph_torch.runtime.predicate import is_data_dependent

_DOMAIN = "math domain error" if not hasattr(math, "fma") else "expected a positive input"
_RANGE = "math range error"
_OF_TOLERANCES = "tolerances must be non-negative"
_BY_ZERO = message_of(divmod, 1.0, 0.0)


def _of_graph(*numbers: Any) -> bool:
    """Whether one of the numbers is known only when the graph runs."""
    if not torch.compiler.is_compiling():
        return False
    return any(isinstance(number, (bool, int, float)) and is_data_dependent(number) for number in numbers)


def is_asked(*numbers: Any) -> bool:
    """Whether one of the numbers has a symbol: is known when the graph runs, or when it is called.

    For what gives a truth value, which tensors tell to the bit.
    """
    if not torch.compiler.is_compiling() or not all([isinstance(number, (bool, int, float)) for number in numbers]):
        return False
    return not all([has_static_value(number) for number in numbers])


def tensor_of(number: Any) -> torch.Tensor:
    """A number in double precision."""
    return torch.scalar_tensor(number, dtype=torch.float64)


def _raised(wrong: torch.Tensor, error: type[Exception], message: str) -> None:
    cond(wrong, lambda: fail(error, message))


def _logarithm(function: Callable[..., torch.Tensor], number: Any, least: float) -> Any:
    value = tensor_of(number)
    _raised(value <= least, ValueError, _DOMAIN)
    return function(value).item()


def _bounded(function: Callable[..., torch.Tensor], number: Any) -> Any:
    value = tensor_of(number)
    result = function(value)
    _raised(result.isinf() & value.isfinite(), OverflowError, _RANGE)
    return result.item()


def exp(number: Any) -> Any:
    return _bounded(torch.exp, number) if _of_graph(number) else math.exp(number)


def expm1(number: Any) -> Any:
    return _bounded(torch.expm1, number) if _of_graph(number) else math.expm1(number)


def log(number: Any, *base: Any) -> Any:
    if not _of_graph(number, *base):
        return math.log(number, *base)
    top = _logarithm(torch.log, number, 0.0)
    return top / _logarithm(torch.log, base[0], 0.0) if base else top


def log2(number: Any) -> Any:
    return _logarithm(torch.log2, number, 0.0) if _of_graph(number) else math.log2(number)


def log10(number: Any) -> Any:
    return _logarithm(torch.log10, number, 0.0) if _of_graph(number) else math.log10(number)


def log1p(number: Any) -> Any:
    return _logarithm(torch.log1p, number, -1.0) if _of_graph(number) else math.log1p(number)


def fabs(number: Any) -> Any:
    return tensor_of(number).abs().item() if _of_graph(number) else math.fabs(number)


def hypot(*numbers: Any) -> Any:
    if not _of_graph(*numbers) or len(numbers) != 2:
        return math.hypot(*numbers)
    return torch.hypot(tensor_of(numbers[0]), tensor_of(numbers[1])).item()


def divided(number: Any, by: Any) -> tuple[Any, Any]:
    """`divmod(number, by)`, of two numbers one of which may be of data. (While tracing.)"""
    if isinstance(number, float) or isinstance(by, float):
        if is_data_dependent(by):
            _raised(tensor_of(by) == 0, ZeroDivisionError, _BY_ZERO)
        elif by == 0:
            raise ZeroDivisionError(_BY_ZERO)
    return number // by, number % by


def prod(numbers: Any, *, start: Any = 1) -> Any:
    """`math.prod`, number by number: each may be one of data. (While tracing.)"""
    product = start
    for number in numbers:
        product = product * number
    return product


def isnan(number: Any) -> Any:
    return tensor_of(number).isnan().item() if is_asked(number) else math.isnan(number)


def isinf(number: Any) -> Any:
    return tensor_of(number).isinf().item() if is_asked(number) else math.isinf(number)


def isfinite(number: Any) -> Any:
    return tensor_of(number).isfinite().item() if is_asked(number) else math.isfinite(number)


def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if not is_asked(a, b, rel_tol, abs_tol):
        return math.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    left, right, relative, absolute = (tensor_of(number) for number in (a, b, rel_tol, abs_tol))
    if is_asked(rel_tol, abs_tol):
        _raised((relative < 0) | (absolute < 0), ValueError, _OF_TOLERANCES)
    elif rel_tol < 0 or abs_tol < 0:
        raise ValueError(_OF_TOLERANCES)
    distance = (left - right).abs()
    within = (distance <= (relative * right).abs()) | (distance <= (relative * left).abs()) | (distance <= absolute)
    return ((left == right) | (within & left.isfinite() & right.isfinite())).item()
