"""Results whose type depends on data: both are computed, and Python picks one when the graph has run.

    if p:                    return ag.cond(p, lambda: None, lambda: x * 2)
        return None
    return x * 2             the graph gives (which, x * 2 or zeros); what follows the graph picks None or the tensor

Such a value may only be returned: nothing in the graph could ask for its type. So the branches must be the last thing
that the compiled function does (`ending`); what follows an `if` is moved into it where that helps
(capture/attempts.py). What the branches write to may be of two types only when nothing at all follows: the end of a
`with` block may look at it.
"""

from __future__ import annotations

from typing import Any, Literal

import torch

Ending = Literal["", "value", "all"]


class Choice:
    """A value of one of several types inside of a branch that is returned: which (0-d int64), and each of them."""

    def __init__(self, which: torch.Tensor, values: tuple[Any, ...]) -> None:
        self.which = which
        self.values = values


def chosen(which: torch.Tensor, values: tuple[Any, ...], found: Any = None) -> Any:
    """The value that is to be picked behind the graph. (Filled in by the tracer, capture/choices.py.)"""
    return found


def ending(found: Ending = "") -> Ending:
    """What may be of two types of the results of the branch under trace. (Filled in by the tracer.)

    "all": the compiled function returns the branch's value, and does nothing else; "value": it returns the value, and
    leaves `with` blocks before; "": anything else.
    """
    return found


def leaves_the_graph(found: bool = False) -> bool:
    """Whether the compiled function returns what the caller of this function's caller returns. (Filled in.)"""
    return found


def of_constants(number: Any) -> Any:
    """A number that a branch has picked from constants. (Noted by the tracer, capture/chosen_numbers.py.)"""
    return number


def pick(which: torch.Tensor, *values: Any) -> Any:
    """What runs behind the graph."""
    return values[int(which)]
