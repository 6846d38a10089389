"""What is known about values where the types decide: dtype and rank of tensors, which Python number, or neither.

An example run writes such types down for every branch and loop (trial/observer.py); without one they come from the text
(analysis/metadata.py). A dtype or rank that the text only relates to a variable is a phrase: "dtype of x".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex32", "complex64", "complex128")


@dataclass(frozen=True)
class TensorType:
    """A tensor of one dtype, rank and device; shapes may differ from call to call."""

    dtype: str
    rank: int | str
    device: str = ""

    def __str__(self) -> str:
        where = f" on {self.device}" if self.device not in ("", "cpu") else ""
        rank = f" and rank {self.rank}" if isinstance(self.rank, int) else ""
        return f"a tensor of {f'[{self.dtype}]' if ' ' in self.dtype else self.dtype}{rank}{where}"

    @property
    def is_known(self) -> bool:
        """Whether dtype and rank are known, and not only related to a variable."""
        return " " not in self.dtype and isinstance(self.rank, int)

    @property
    def may_be_float(self) -> bool:
        """Whether it may take part in differentiation."""
        return self.dtype in FLOATS or " " in self.dtype


@dataclass(frozen=True)
class NumberType:
    """A Python number: "bool", "int" or "float"."""

    name: str

    def __str__(self) -> str:
        return f"a Python {self.name}"


@dataclass(frozen=True)
class TupleType:
    """A plain tuple."""

    parts: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.parts))})"


@dataclass(frozen=True)
class OtherType:
    """Anything else: it can be read by a branch, but not be its result."""

    name: str

    def __str__(self) -> str:
        return self.name


Type: TypeAlias = "TensorType | NumberType | TupleType | OtherType"


@dataclass(frozen=True)
class Site:
    """One branch or loop.

    names: local variables where it starts. test: what its test gives. results: what each arm gives, by its role
    ("then", "otherwise", "body"). calls: functions of torch called inside whose effect a branch must not have.
    """

    names: Mapping[str, Type] = field(default_factory=dict)
    test: Type | None = None
    results: Mapping[str, Type] = field(default_factory=dict)
    calls: tuple[str, ...] = ()


SEVERAL = "several dtypes"


def joined(one: Type | None, other: Type) -> Type:
    """The type of a value that had one type here and another there."""
    if one is None or one == other:
        return other
    if isinstance(one, TensorType) and isinstance(other, TensorType) and one.device == other.device:
        dtype = one.dtype if one.dtype == other.dtype else SEVERAL
        return TensorType(dtype, one.rank if one.rank == other.rank else "several ranks", one.device)
    if isinstance(one, TupleType) and isinstance(other, TupleType) and len(one.parts) == len(other.parts):
        return TupleType(tuple(joined(a, b) for a, b in zip(one.parts, other.parts, strict=True)))
    return OtherType(f"{one} or {other}")


def leaves(kind: Type) -> list[Type]:
    """The types in nested tuples, in order."""
    return [leaf for part in kind.parts for leaf in leaves(part)] if isinstance(kind, TupleType) else [kind]


def as_json(kind: Type) -> list[Any]:
    if isinstance(kind, TensorType):
        return ["tensor", kind.dtype, kind.rank, kind.device]
    if isinstance(kind, TupleType):
        return ["tuple", *(as_json(part) for part in kind.parts)]
    return ["number" if isinstance(kind, NumberType) else "other", kind.name]


def from_json(data: Iterable[Any]) -> Type:
    kind, *rest = data
    if kind == "tensor":
        return TensorType(*rest)
    if kind == "tuple":
        return TupleType(tuple(from_json(part) for part in rest))
    return NumberType(*rest) if kind == "number" else OtherType(*rest)


def site_as_json(site: Site) -> dict[str, Any]:
    return {
        "names": {name: as_json(kind) for name, kind in site.names.items()},
        "test": as_json(site.test) if site.test is not None else None,
        "results": {role: as_json(kind) for role, kind in site.results.items()},
        "calls": list(site.calls),
    }


def site_from_json(data: Mapping[str, Any]) -> Site:
    return Site(
        {name: from_json(kind) for name, kind in data["names"].items()},
        from_json(data["test"]) if data["test"] is not None else None,
        {role: from_json(kind) for role, kind in data["results"].items()},
        tuple(data["calls"]),
    )
