"""Tensors that lose rows in a loop on data travel in a buffer of as many rows as they begin with, and their number.

    while len(order) > 0:                  order is buffer[:count]; a trip puts the rows that it leaves
        best = order[0]                    into a buffer of the same size, and counts them
        rest = order[1:]
        order = rest[overlap(best, rest) < 0.5]

A loop of a graph carries tensors of one size. What a trip may leave is not known to be less than what it found: where
it is more than the buffer holds, the graph stops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value, statically_known_true

from autograph_torch.runtime.predicate import is_data_dependent
from autograph_torch.runtime.refusal import refuse

_OF_ANY_SIZE = "a variable without a value before a loop gets a tensor in it whose number of rows depends on data"


def rows_of(count: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    """The rows of a buffer that are in use."""
    number: Any = count.item()
    torch._check(number >= 0)
    torch._check(number <= buffer.shape[0])
    return buffer.narrow(0, 0, number)


def buffered(rows: torch.Tensor, buffer: torch.Tensor) -> torch.Tensor:
    """A buffer of the same size with other rows. (Where it has no place, `index_copy` raises, too.)"""
    number = torch.scalar_tensor(rows.shape[0], dtype=torch.int64)
    torch._assert_async(number <= buffer.shape[0], "a tensor has more rows after a trip of a loop than it began with")
    places = torch.arange(rows.shape[0], device=rows.device)
    return torch.zeros_like(buffer).index_copy(0, places, rows)


def resized(new: Sequence[torch.Tensor], old: Sequence[torch.Tensor], rows: tuple[int, ...]) -> tuple[int, ...]:
    """Which tensors have another number of rows after a trip than before it, or may have; `rows`: their dimensions."""
    found: tuple[int, ...] = ()
    for k in range(len(new)):
        if new[k].dim() > 0 and not statically_known_true(new[k].shape[rows[k]] == old[k].shape[rows[k]]):
            found += (k,)
    return found


def of_size(new: torch.Tensor, old: torch.Tensor) -> torch.Tensor:
    """A tensor of the same size as before a trip, and which says so.

    A branch in a trip may have filled it, whose gradient is traced anew: torch then has a symbol of its own for a size
    that data decide on, and would refuse the loop.

    Raises:
        CaptureError: AG311 where the loop begins without a tensor, so that nothing is known of the number of rows.
    """
    if new.dim() == 0 or has_static_value(new.shape[0]):
        return new
    if has_static_value(old.shape[0]) and is_data_dependent(new.shape[0]):
        refuse("AG311", _OF_ANY_SIZE, "give it a tensor of the largest size before the loop, or keep a mask")
    return new.reshape(old.shape)
