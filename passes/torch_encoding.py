"""How values travel through torch.cond and torch.while_loop, as text.

tensor              itself; a copy where it may share memory with something else: x.clone()
Python number       torch.full((), n) on the way in, .item() on the way out; not torch.tensor(n), which the tracer
                    takes for a constant, and a loop's result with it (torch 2.11 to 2.13)
integers and truth values beside floats, in a branch that may be differentiated: the same bits, or the same
                    value, as float64: torch.cond (2.13) takes results of one sort only, with or without gradient
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import gast

from autograph_torch.analysis.seen import SEVERAL, NumberType, OtherType, TensorType, TupleType, Type, leaves
from autograph_torch.source.nodes import name, walk
from autograph_torch.source.templates import call, constant

# Methods and functions of torch that give a tensor in memory of its own, whatever their arguments are.
FRESH = frozenset(
    "clone sum mean std var prod any all max min amax amin argmax argmin norm abs exp log log1p sqrt rsqrt sin "
    "cos tan tanh sigmoid relu softmax log_softmax clamp matmul mm bmm mv dot cumsum cumprod isnan isinf isfinite "
    "eq ne lt le gt ge logical_and logical_or logical_not where cat stack zeros ones full tensor zeros_like "
    "ones_like full_like arange new_zeros new_ones round floor ceil square sign pow cond add sub mul div neg "
    "maximum minimum outer lerp masked_fill roll flip count_nonzero scalar_tensor linear".split()
)
_TO_DTYPE = {"bool": "bool", "int32": "int", "int16": "short"}


@dataclass(frozen=True)
class Leaf:
    """One value among the results of a branch or the carry of a loop."""

    kind: TensorType | NumberType
    as_float: bool

    @property
    def changes(self) -> bool:
        """Whether it looks different while it travels."""
        return self.as_float or isinstance(self.kind, NumberType)


def first_untransportable(kind: Type) -> OtherType | None:
    """What in a type cannot be a result."""
    several = OtherType(f"tensors of {SEVERAL}")
    parts = [several if isinstance(leaf, TensorType) and leaf.dtype == SEVERAL else leaf for leaf in leaves(kind)]
    return next((leaf for leaf in parts if isinstance(leaf, OtherType)), None)


def is_known(kind: Type) -> bool:
    """Whether every dtype and rank in it is known."""
    return all(leaf.is_known for leaf in leaves(kind) if isinstance(leaf, TensorType))


def leaf_of(kind: Type, whole: Type, differentiable: bool) -> Leaf:
    """How one part of a result travels beside the others."""
    assert isinstance(kind, (TensorType, NumberType))
    floats = differentiable and any(isinstance(leaf, TensorType) and leaf.may_be_float for leaf in leaves(whole))
    is_float = kind.may_be_float if isinstance(kind, TensorType) else kind.name == "float"
    return Leaf(kind, floats and not is_float)


class Encoder:
    """Writes encodings with the name that the file has for torch."""

    def __init__(self, torch: str) -> None:
        self._torch = torch

    def torch(self, path: str) -> gast.expr:
        """`torch.path`."""
        return attribute(name(self._torch), path)

    def encode(self, value: gast.expr, leaf: Leaf, is_fresh: bool, is_tensor: bool) -> gast.expr:
        """What a branch returns for `value`."""
        if not is_tensor:
            return self._number(value, leaf)
        if not leaf.as_float:
            return value if is_fresh else method(value, "clone")
        if _dtype(leaf) == "int64":
            return method(value if is_fresh else method(value, "clone"), "view", self.torch("float64"))
        return method(value, "double")

    def _number(self, value: gast.expr, leaf: Leaf) -> gast.expr:
        if leaf.as_float and leaf.kind == NumberType("int"):
            return method(self.full(value), "view", self.torch("float64"))
        wide = leaf.as_float or leaf.kind == NumberType("float")
        return self.full(value, **({"dtype": self.torch("float64")} if wide else {}))

    def full(self, value: gast.expr, **keywords: gast.expr) -> gast.expr:
        """A number as a 0-d tensor."""
        return call(self.torch("full"), gast.Tuple(elts=[], ctx=gast.Load()), value, **keywords)

    def no_constant(self, tensor: str) -> gast.expr:
        """A tensor as it is, but for the tracer none whose value it knows."""
        device = attribute(name(tensor), "device")
        return call(self.torch("where"), self.full(constant(True), device=device), name(tensor), name(tensor))

    def decode(self, value: gast.expr, leaf: Leaf) -> gast.expr:
        """The value again, from what came out."""
        is_number = isinstance(leaf.kind, NumberType)
        if leaf.as_float:
            value = self._from_float(value, _dtype(leaf))
        return method(value, "item") if is_number else value

    def _from_float(self, value: gast.expr, dtype: str) -> gast.expr:
        if dtype == "int64":
            return method(method(value, "detach"), "view", self.torch("int64"))
        if dtype in _TO_DTYPE:
            return method(value, _TO_DTYPE[dtype])
        return method(value, "to", self.torch(dtype))


def _dtype(leaf: Leaf) -> str:
    if isinstance(leaf.kind, TensorType):
        return leaf.kind.dtype
    return {"bool": "bool", "int": "int64", "float": "float64"}[leaf.kind.name]


def attribute(base: gast.expr, attr: str) -> gast.Attribute:
    return gast.Attribute(value=base, attr=attr, ctx=gast.Load())


def method(base: gast.expr, attr: str, *arguments: gast.expr) -> gast.Call:
    return call(attribute(base, attr), *arguments)


def is_fresh(node: gast.expr) -> bool:
    """Whether an expression that gives a tensor gives one in memory of its own."""
    if isinstance(node, gast.UnaryOp):
        return not isinstance(node.op, gast.UAdd)
    if isinstance(node, (gast.BinOp, gast.Compare)):
        return True
    return is_fresh_call(node)


def is_fresh_call(node: gast.expr) -> bool:
    """Whether it is a call whose name says so: of torch, or of a method of a tensor."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute):
        return False
    return node.func.attr in FRESH and not any(keyword.arg in ("out", "inplace") for keyword in node.keywords)


def freshly_bound(block: Iterable[gast.stmt], is_fresh: Callable[[gast.expr], bool]) -> set[str]:
    """Names that straight-line statements last bind to a tensor in memory of its own.

    Args:
        is_fresh: whether an expression gives such a tensor.
    """
    found: set[str] = set()
    for node in block:
        if isinstance(node, gast.AugAssign):
            continue  # in place, or new
        targets = node.targets if isinstance(node, gast.Assign) else []
        stored = {n.id for n in walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)}
        found -= stored
        if len(targets) == 1 and isinstance(targets[0], gast.Name) and is_fresh(node.value):
            found.add(targets[0].id)
        if isinstance(node, gast.AnnAssign) and isinstance(node.target, gast.Name) and is_fresh(node.value):
            found.add(node.target.id)
    return found


def true_of(tensor: str) -> gast.expr:
    """A 0-d tensor that is true, on the device of another tensor."""
    return method(name(tensor), "new_ones", gast.Tuple(elts=[], ctx=gast.Load()))


def as_parts(node: gast.expr, kind: TupleType) -> list[gast.expr] | None:
    """The elements of a tuple that is written out."""
    plain = isinstance(node, gast.Tuple) and not any(isinstance(part, gast.Starred) for part in node.elts)
    return list(node.elts) if plain and len(node.elts) == len(kind.parts) else None
