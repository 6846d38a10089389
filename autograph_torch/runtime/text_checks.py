"""Texts that cannot be made of every number: the graph raises where they are shown, and what that means Python tells.

    print("%d" % x[0].item())               an OverflowError where it is inf
    print(f"{x.sum().item():d}")            a ValueError, always

Effects are done behind the graph: what the program writes behind the text would be there, and a `try` around it would
not be asked. Such a text is therefore made where it is shown, too. Whether it may fail is tried, while tracing, with
numbers of each kind in the places of those that data give.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterator
from typing import Any

import torch

from autograph_torch.runtime.performing import HostCall, Part, put_together
from autograph_torch.runtime.places import raised_from

# Of each kind in turn: what is no whole number, negative, too long for a text's width or for a letter.
_SAMPLES: tuple[dict[str, Any], ...] = (
    {"float": 0.5, "int": 1, "bool": True},
    {"float": math.inf, "int": -1, "bool": False},
    {"float": math.nan, "int": 0x110000, "bool": True},
    {"float": -0.0, "int": 0, "bool": False},
)


class TextCheck(HostCall):
    """Raises what making the texts of a call raises."""

    def run(self, values: list[torch.Tensor]) -> None:
        """Make the texts, for nobody."""
        error = self.error(iter(values))
        if error is not None:
            raised_from(self.places, error)

    def is_due(self, values: list[torch.Tensor]) -> bool:
        """Whether there is something to raise."""
        return self.error(iter(values)) is not None

    def error(self, values: Iterator[torch.Tensor]) -> Exception | None:
        """What making the texts raises."""
        try:
            args, _ = put_together(self.arguments, values)
            if self.function is builtins.print:
                for shown in args:
                    str(shown)
        except Exception as error:
            return error
        return None


def may_fail(check: TextCheck) -> bool:
    """Whether there are numbers of which the texts cannot be made."""
    return any(check.error(_samples(check.arguments, k)) is not None for k in range(len(_SAMPLES)))


def _samples(part: Part, k: int) -> Iterator[torch.Tensor]:
    """A tensor for each place, in the order of `put_together`."""
    if part[0] == "number":
        yield torch.tensor(_SAMPLES[k][part[1]])
    elif part[0] == "tensor":
        kind = "bool" if part[4] == torch.bool else "float" if part[4].is_floating_point else "int"
        yield torch.full((2,) * part[3], _SAMPLES[k][kind], dtype=part[4])
    elif part[0] == "picked":
        yield torch.tensor(k % (len(part[2]) - 1))
        for constant in part[2][1:]:
            yield from _samples(constant, k)
    elif part[0] != "const":
        for inner in part[2]:
            yield from _samples(inner, k)
