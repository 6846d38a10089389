"""Gradients of functions whose formulas ask for a size, in a body where data decide on that size.

    if x.sum() > 0: y = x[x > 0].prod()        "Could not guard on data-dependent expression Eq(u0, 0)"

torch's formulas for the gradients of cumsum, prod, logsumexp and the like treat tensors of no or one element apart;
those of std and var tensors with too few elements. Where a body is traced for its backward pass, these functions are
computed in a form whose formulas need not ask: of a tensor with two more elements in each such dimension, which change
nothing (0 for a sum, 1 for a product), or by their definition.

The form of the trace is seen by gradients alone: what the program gets is still torch's own function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols
from torch.overrides import TorchFunctionMode

Dims = int | Sequence[int] | None


class FormulasWithoutSizes(TorchFunctionMode):
    """While this is in force, functions with such formulas are computed in another form."""

    def __torch_function__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        form = _FORMS.get(getattr(func, "__name__", "").partition(".")[0])
        if form is not None and args and isinstance(args[0], torch.Tensor) and _has_open_size(args[0]):
            return form(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))


def _has_open_size(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() and has_free_unbacked_symbols(tensor.numel())


def _cumulative(function: Callable[..., torch.Tensor], neutral: float) -> Callable[..., torch.Tensor]:
    def form(x: torch.Tensor, dim: int, *, dtype: torch.dtype | None = None) -> torch.Tensor:
        longer = _with_two_more(x if dtype is None else x.to(dtype), neutral)
        return _without(function(longer, dim), list(x.shape))

    return form


def _reduced(function: Callable[..., torch.Tensor], neutral: float) -> Callable[..., torch.Tensor]:
    def form(
        x: torch.Tensor, dim: Dims = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
    ) -> torch.Tensor:
        longer = _with_two_more(x if dtype is None else x.to(dtype), neutral)
        dims = _dims(x, dim)
        for one in dims:
            longer = function(longer, one, keepdim=True)
        kept = _without(longer, [1 if k in dims else size for k, size in enumerate(x.shape)])
        return kept if keepdim else _dropped(kept, dims)

    return form


def _var(
    x: torch.Tensor,
    dim: Dims | bool = None,
    unbiased: bool = True,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> torch.Tensor:
    if isinstance(dim, bool):
        return _var(x, None, dim)
    dims = _dims(x, dim)
    count: Any = 1
    for one in dims:
        count = count * x.shape[one]
    squares = (x - x.mean(dims, keepdim=True)).square().sum(dims, keepdim=True)
    found = squares / torch.sym_max(count - (int(unbiased) if correction is None else correction), 0)
    return found if keepdim else _dropped(found, dims)


def _std(x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    variance = _var(x, *args, **kwargs)
    constant = variance == 0  # where torch takes 0 for the gradient
    return variance.masked_fill(constant, 1).sqrt().masked_fill(constant, 0)


def _masked_select(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    values, chosen = torch.broadcast_tensors(x, mask)
    return values[chosen]


_FORMS: dict[str, Callable[..., torch.Tensor]] = {
    "cumsum": _cumulative(torch.cumsum, 0),
    "logcumsumexp": _cumulative(torch.logcumsumexp, -torch.inf),
    "prod": _reduced(torch.prod, 1),
    "logsumexp": _reduced(torch.logsumexp, -torch.inf),
    "var": _var,
    "std": _std,
    "masked_select": _masked_select,
}


def _with_two_more(tensor: torch.Tensor, neutral: float) -> torch.Tensor:
    """With two neutral elements behind the others in each dimension whose size depends on data."""
    for dim, size in enumerate(tensor.shape):
        if has_free_unbacked_symbols(size):
            sizes = list(tensor.shape)
            sizes[dim] = 2
            tensor = torch.cat([tensor, tensor.new_full(sizes, neutral)], dim)
    return tensor


def _without(tensor: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
    """Of these sizes again."""
    for dim, size in enumerate(sizes):
        if has_free_unbacked_symbols(size):
            tensor = tensor.narrow(dim, 0, size)
    return tensor


def _dims(tensor: torch.Tensor, dim: Dims) -> list[int]:
    given = [dim] if isinstance(dim, int) else list(dim or range(tensor.ndim))
    return [one % tensor.ndim for one in given]


def _dropped(tensor: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
    """Without these dimensions, each of which has one element."""
    return tensor.squeeze(tuple(dims))
