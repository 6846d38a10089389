"""What is known of the Python number for which a tensor may stand, as text (see runtime/either.py).

    "float"        any float
    "float:2:1"    one of at most 2, with one binary digit behind the point: 0.0, 0.5, -1.5, ...; or NaN or an infinity

Sums and products of numbers of the second kind are of it, with other bounds: torch computes them in its types as Python
does in its own, as long as the type of the tensor has room for all of their digits.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch

# One number of each type.
_EXAMPLES: dict[str, Any] = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}
_Bounds = tuple[int, int]  # of the absolute value, and the binary digits behind the point
_SUMS = (operator.add, operator.sub, operator.iadd, operator.isub)
_PRODUCTS = (operator.mul, operator.imul)
_SIGNS = (operator.neg, operator.pos, operator.abs)


def kind_of(number: Any) -> str:
    """The kind of a constant."""
    name = type(number).__name__
    if isinstance(number, (bool, complex)):
        return name
    if not math.isfinite(number):
        return f"{name}:0:0"
    _, denominator = number.as_integer_ratio()
    return f"{name}:{math.ceil(abs(number))}:{denominator.bit_length() - 1}"


def joined(kinds: Iterable[str]) -> list[str]:
    """One kind for each type, for numbers that are of any of these kinds."""
    bounds: dict[str, _Bounds | None] = {}
    for kind in kinds:
        name, found = type_name(kind), _bounds(kind)
        before = bounds.get(name, found)
        bounds[name] = None if before is None or found is None else (max(before[0], found[0]), max(before[1], found[1]))
    return sorted(_text(name, found) for name, found in bounds.items())


def computed(function: Callable[..., Any], kinds: Sequence[str]) -> str:
    """The kind of what an operator gives for numbers of these kinds."""
    name = type(function(*map(example, kinds))).__name__
    return _text(name, _bounds_of_result(function, [_bounds(kind) for kind in kinds]))


def example(kind: str) -> Any:
    """A number of the type of a kind."""
    return _EXAMPLES[type_name(kind)]


def type_name(kind: str) -> str:
    """The name of the type of a kind."""
    return kind.partition(":")[0]


def holds(dtype: torch.dtype, kind: str) -> bool:
    """Whether a tensor of a type holds every number of a kind exactly."""
    if kind == "bool" or dtype in (torch.float64, torch.complex128):
        return True
    if dtype == torch.int64:
        return type_name(kind) == "int"
    found = _bounds(kind)
    if found is None or dtype == torch.bool:
        return False
    bound, digits = found
    if not (dtype.is_floating_point or dtype.is_complex):
        return digits == 0 and torch.iinfo(dtype).min <= -bound and bound <= torch.iinfo(dtype).max
    info = torch.finfo(dtype)
    return bound * 2**digits <= 2 / info.eps and bound <= info.max and 2.0**-digits >= info.smallest_normal


def _bounds(kind: str) -> _Bounds | None:
    if kind == "bool":
        return 1, 0
    _, _, numbers = kind.partition(":")
    if not numbers:
        return None
    bound, digits = numbers.split(":")
    return int(bound), int(digits)


def _text(name: str, found: _Bounds | None) -> str:
    return name if found is None or name not in ("int", "float") else f"{name}:{found[0]}:{found[1]}"


def _bounds_of_result(function: Callable[..., Any], given: Sequence[_Bounds | None]) -> _Bounds | None:
    known = [one for one in given if one is not None]
    if len(known) < len(given):
        return None
    bounds, digits = zip(*known, strict=True)
    if function in _SUMS:
        return sum(bounds), max(digits)
    if function in _PRODUCTS:
        return math.prod(bounds), sum(digits)
    return known[0] if function in _SIGNS else None
