"""Strings, members of enumerations and None, of which data pick one.

    status = "running"
    while x.abs().max() > 1:
        x = x / 2
        if x.sum() < 0: status = "negative"      which of ("running", "negative"): a number of the graph

In a graph such a value is the place of a constant among those that the paths assign. What Python gives for each of the
constants is known while tracing; so a question (`status == "negative"`, `rates[status]`, `f"{status}!"`) is answered
for each of them, and the place picks the answer. Behind the graph Python picks the constant itself. (How the tracer
does it: capture/picked_constants.py.)
"""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime.layout import NUMBER_DTYPES

PICKED = "a string, None or member of an enumeration that data pick"


def picked(which: torch.Tensor, values: tuple[Any, ...], found: Any = None) -> Any:
    """One of these constants. (Filled in by the tracer.)"""
    return found


def place_of(value: Any, found: Any = None) -> Any:
    """The place of a constant that data pick (0-d, int64); None for any other value. (Filled in by the tracer.)"""
    return found


def constants_of(value: Any, found: Any = ()) -> Any:
    """The constants of which data pick one. (Filled in by the tracer.)"""
    return found


def looked_up(which: torch.Tensor, answers: tuple[Any, ...], kind: str) -> Any:
    """The number of this type at a place."""
    dtype = NUMBER_DTYPES[kind]
    found = torch.scalar_tensor(answers[0], dtype=dtype)
    for k in range(1, len(answers)):
        found = torch.where(which == k, torch.scalar_tensor(answers[k], dtype=dtype), found)
    return found.clone().item()


def place_among(which: torch.Tensor, places: tuple[Any, ...]) -> torch.Tensor:
    """The place that another place picks: a number, or a tensor where the answer is a picked constant itself."""
    found = torch.as_tensor(places[0])
    for k in range(1, len(places)):
        found = torch.where(which == k, torch.as_tensor(places[k]), found)
    return found.clone()
