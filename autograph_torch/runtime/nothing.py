"""Names that are None on some paths: in a graph they travel as names that may be unbound (passes/nones.py).

    best = ag.nothing("best")              None
    ag.is_nothing(best)                    best is None
    ag.some(best)                          best, where the program has found that it is not None
    ag.known(best)                         best, where the trace tells whether it is None
    return ag.optional(best)               best; Python picks it or None when the graph has run (picking.py)

Outside of a trace each is what stands on its right.
"""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail_with
from autograph_torch.runtime.picking import Choice, chosen, leaves_the_graph
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.values import Maybe, Undefined

_PLAIN = (torch.Tensor, bool, int, float, str, tuple)
_ADVICE = "ask `is None` before"


def nothing(name: str) -> Any:
    """None, as what a name is."""
    return Undefined(name) if torch.compiler.is_compiling() else None


def is_nothing(value: Any, as_value: bool = False) -> Any:
    """`value is None`; as a Python bool, where more than its truth counts."""
    if isinstance(value, Maybe):
        missing = torch.logical_not(value.flag)
        return missing.item() if as_value else missing
    return value is None or isinstance(value, Undefined)


def known(value: Any) -> Any:
    """The value, for whatever may be done with None."""
    if isinstance(value, Undefined):
        return None
    if isinstance(value, Maybe):
        refuse("AG310", f"data decide whether `{value.name}` is None", _ADVICE)
    return value


def some(value: Any) -> Any:
    """The value behind a test for None; the graph raises if it is None all the same."""
    if isinstance(value, Undefined):
        return None
    if not isinstance(value, Maybe):
        return value
    if not isinstance(value.value, _PLAIN):
        refuse("AG310", f"data decide whether `{value.name}` is None or an object that may be written to", _ADVICE)
    number = notes.refused_when_run(
        "AG310", f"`{value.name}` is None on this path", f"{_ADVICE}; under @autograph such a call runs in Python"
    )
    return cond(value.flag, lambda: value.value, lambda: fail_with(number))


def optional(value: Any) -> Any:
    """The value or None, to be returned."""
    if isinstance(value, Undefined):
        return None
    if not isinstance(value, Maybe):
        return value
    if not leaves_the_graph():
        refuse("AG310", f"data decide whether `{value.name}` is None, and a function around this one uses it", _ADVICE)
    which = value.flag.to(torch.int64)
    values = (None, value.value)
    return chosen(which, values) if notes.is_outermost() else Choice(which, values)
