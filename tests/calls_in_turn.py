"""One compiled function called again and again, while what it reads from around it changes between the calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tests.harness import compiled

Calls = tuple[Callable[..., Any], Sequence[Callable[[], tuple[Any, ...]]]]  # a function, and makers of arguments


def calls_between_changes(
    function: Callable[..., Any], kind: Callable[[], Any], changes: Sequence[Callable[[Any], Any]]
) -> Callable[[], Calls]:
    """What makes calls of a function with one object of a kind: as it is, and behind each change."""

    def make() -> Calls:
        given = kind()
        return function, [lambda: (given,), *[lambda change=change: (change(given), (given,))[1] for change in changes]]

    return make


def differing_calls(make: Callable[[], Calls]) -> list[str]:
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
