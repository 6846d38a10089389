"""Sizes of a branch's results: what is known of both branches is known of the result.

torch gives every size that differs between two branches a new symbol, and forgets what it knew: two results that have
one size in either branch get two symbols, and a size of `n + 1` may be zero. Here equal pairs of sizes get equal
symbols, with the range of the two together. Results in row-major order (all that the runtime hands out) stay so.

Private names: cond._merge_output of torch._higher_order_ops, which joins two results, and CondOp.__call__.
tests/capture/test_merging.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._higher_order_ops.cond import CondOp
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.patching import patched

cond_module: Any = importlib.import_module("torch._higher_order_ops.cond")  # `cond` of the package is the function
Pair = tuple[Any, Any]


@contextlib.contextmanager
def known_sizes() -> Iterator[None]:
    """While this is in force, the results of a torch.cond keep what is known about their sizes."""
    merge, call = cond_module._merge_output, CondOp.__call__
    under_way = [_Call()]

    @functools.wraps(call)
    def called(*args: Any, **kwargs: Any) -> Any:
        under_way.append(_Call(_symbols_of(args)))
        try:
            return call(*args, **kwargs)
        finally:
            under_way.pop()

    @functools.wraps(merge)
    def merged(a: Any, b: Any, mode: Any) -> Any:
        plain = isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and a.dim() == b.dim()
        if not plain or mode.shape_env is None or (a.dtype, a.device) != (b.dtype, b.device):
            return merge(a, b, mode)
        if not _symbolic(a) and not _symbolic(b):
            return merge(a, b, mode)
        sizes = [_size(x, y, mode.shape_env, under_way[-1]) for x, y in zip(a.size(), b.size(), strict=True)]
        with mode:
            return torch.empty(sizes, dtype=a.dtype, device=a.device)

    with patched(cond_module, _merge_output=merged), patched(CondOp, __call__=called):
        yield


@dataclass(frozen=True)
class _Call:
    """A torch.cond under way: the symbols in its inputs, and pairs of sizes with the size of the result."""

    inputs: frozenset[Any] = frozenset()
    known: dict[Pair, Any] = field(default_factory=dict)


def _symbols_of(values: Any) -> frozenset[Any]:
    """The symbols of numbers and sizes in nested tuples and lists."""
    if isinstance(values, (tuple, list)):
        return frozenset().union(*map(_symbols_of, values))
    if isinstance(values, torch.Tensor):
        return _symbols_of(tuple(values.size()))
    return frozenset(values.node.expr.free_symbols) if isinstance(values, torch.SymInt) else frozenset()


def _symbolic(tensor: torch.Tensor) -> bool:
    return any(isinstance(size, torch.SymInt) for size in tensor.size())


def _size(a: Any, b: Any, shape_env: Any, call: _Call) -> Any:
    pair: Any = tuple(size.node.expr if isinstance(size, torch.SymInt) else size for size in (a, b))
    # A symbol made in a branch means nothing outside.
    if pair[0] == pair[1] and (not _from_data(a) or pair[0].free_symbols <= call.inputs):
        return a
    if pair not in call.known:
        new = shape_env.create_unbacked_symint()
        ranges = [shape_env.bound_sympy(size.node.expr) if isinstance(size, torch.SymInt) else None for size in (a, b)]
        lows = [size if found is None else found.lower for size, found in zip((a, b), ranges, strict=True)]
        highs = [size if found is None else found.upper for size, found in zip((a, b), ranges, strict=True)]
        shape_env.constrain_symbol_range(new.node.expr, max(min(lows), 0), max(highs))
        call.known[pair] = new
    return call.known[pair]


def _from_data(size: Any) -> bool:
    """Whether a size is known only when the graph runs."""
    return isinstance(size, torch.SymInt) and has_free_unbacked_symbols(size.node.expr)
