"""One compiled function called again and again, while what it reads from around it changes between the calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tests.harness import compiled

Change = Callable[[], Any]


def differing_calls(
    make: Callable[[], tuple[Callable[..., Any], Sequence[Callable[[], tuple[Any, ...]]]]],
) -> list[str]:
    """What calls give that are not as in eager.

    Args:
        make: gives the function, as new, and for each call what makes its arguments.
    """
    found = []
    for way in (lambda function: function, compiled):
        function, calls = make()
        run = way(function)
        found.append([repr(run(torch.ones(2), *arguments())) for arguments in calls])
    return [f"call {k}: {one}, not {other}" for k, (other, one) in enumerate(zip(*found, strict=True)) if one != other]
