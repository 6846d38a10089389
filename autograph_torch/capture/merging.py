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
from typing import Any

import torch
from torch._higher_order_ops.cond import CondOp
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

cond_module: Any = importlib.import_module("torch._higher_order_ops.cond")  # `cond` of the package is the function
Pair = tuple[Any, Any]


@contextlib.contextmanager
def known_sizes() -> Iterator[None]:
    """While this is in force, the results of a torch.cond keep what is known about their sizes."""
    merge, call = cond_module._merge_output, CondOp.__call__
    symbols: list[dict[Pair, Any]] = [{}]  # for every torch.cond under way: pairs of sizes -> the size of the result

    @functools.wraps(call)
    def called(*args: Any, **kwargs: Any) -> Any:
        symbols.append({})
        try:
            return call(*args, **kwargs)
        finally:
            symbols.pop()

    @functools.wraps(merge)
    def merged(a: Any, b: Any, mode: Any) -> Any:
        plain = isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor) and a.dim() == b.dim()
        if not plain or mode.shape_env is None or (a.dtype, a.device) != (b.dtype, b.device):
            return merge(a, b, mode)
        if not _symbolic(a) and not _symbolic(b):
            return merge(a, b, mode)
        sizes = [_size(x, y, mode.shape_env, symbols[-1]) for x, y in zip(a.size(), b.size(), strict=True)]
        with mode:
            return torch.empty(sizes, dtype=a.dtype, device=a.device)

    cond_module._merge_output = merged
    CondOp.__call__ = called  # type: ignore[method-assign]
    try:
        yield
    finally:
        cond_module._merge_output = merge
        CondOp.__call__ = call  # type: ignore[method-assign]


def _symbolic(tensor: torch.Tensor) -> bool:
    return any(isinstance(size, torch.SymInt) for size in tensor.size())


def _size(a: Any, b: Any, shape_env: Any, known: dict[Pair, Any]) -> Any:
    pair: Any = tuple(size.node.expr if isinstance(size, torch.SymInt) else size for size in (a, b))
    if pair[0] == pair[1] and not any(_from_data(size) for size in (a, b)):
        return a
    if pair not in known:
        new = shape_env.create_unbacked_symint()
        ranges = [shape_env.bound_sympy(size.node.expr) if isinstance(size, torch.SymInt) else None for size in (a, b)]
        lows = [size if found is None else found.lower for size, found in zip((a, b), ranges, strict=True)]
        highs = [size if found is None else found.upper for size, found in zip((a, b), ranges, strict=True)]
        shape_env.constrain_symbol_range(new.node.expr, max(min(lows), 0), max(highs))
        known[pair] = new
    return known[pair]


def _from_data(size: Any) -> bool:
    """Whether a size is known only when the graph runs."""
    return isinstance(size, torch.SymInt) and has_free_unbacked_symbols(size.node.expr)
