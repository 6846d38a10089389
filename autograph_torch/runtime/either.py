"""Tensors that stand for a Python number on some paths.

    penalty = 0.0
    if p:
        penalty = x.norm()          a float or a tensor: only data can tell
    return x.sum() + penalty, penalty

Inside a graph such a value is a tensor, which combines with others as the number would; where it does not, the paths
are told apart (capture/number_or_tensor.py). Its result carries a flag that says whether the path that was taken gave
the number. Where the value leaves the graph its type would be visible: there the graph raises when the flag is set, and
`@autograph` runs the call in Python (capture/settling.py).
"""

from __future__ import annotations

from typing import Any

import torch


def either(tensor: torch.Tensor, flag: torch.Tensor, kinds: str) -> torch.Tensor:
    """A tensor that stands for a number where `flag` is set.

    Args:
        kinds: of the number, such as "int", or "float int:1:0" (runtime/number_kinds.py).
    """
    return note_number(tensor, flag.clone(), kinds)  # a result of an operator that nobody uses would be dropped


def note_number(tensor: torch.Tensor, flag: torch.Tensor, kinds: str) -> torch.Tensor:
    """Remember the flag of a tensor. (Done by the tracer.)"""
    return tensor


def number_flag(tensor: torch.Tensor, found: Any = None) -> Any:
    """The flag that says whether a tensor stands for a number; None when it never does. (Filled in by the tracer.)"""
    return found


def number_kinds(tensor: torch.Tensor, found: str = "") -> str:
    """The kinds of the number that a tensor may stand for. (Filled in by the tracer.)"""
    return found
