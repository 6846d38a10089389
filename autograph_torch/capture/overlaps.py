"""Whether two tensors of one memory have an element in common.

rows[0], rows[1]          no: a write to one is none to the other
rows[:, 0], rows[:, 1]    no, though each lies between elements of the other
rows[0], rows.t()[0]      yes
"""

from __future__ import annotations

import torch

_MOST = 4096  # elements that are looked at one by one


def may_overlap(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two strided tensors of one memory may have an element in common; large ones between each other's may."""
    if not one.numel() or not other.numel():
        return False
    if _start(one) + bytes_of(one) <= _start(other) or _start(other) + bytes_of(other) <= _start(one):
        return False
    if one.element_size() != other.element_size() or max(one.numel(), other.numel()) > _MOST:
        return True
    return not _positions(one).isdisjoint(_positions(other))


def _start(tensor: torch.Tensor) -> int:
    return int(tensor.storage_offset()) * tensor.element_size()


def bytes_of(tensor: torch.Tensor) -> int:
    """How many bytes lie between the beginning of a tensor with elements and its end."""
    if tensor.is_contiguous():
        return int(tensor.nbytes)
    steps = zip(tensor.size(), tensor.stride(), strict=True)
    return (sum((size - 1) * stride for size, stride in steps) + 1) * tensor.element_size()


def _positions(tensor: torch.Tensor) -> set[int]:
    found = {int(tensor.storage_offset())}
    for size, stride in zip(tensor.size(), tensor.stride(), strict=True):
        found = {position + k * stride for position in found for k in range(size)}
    return found
