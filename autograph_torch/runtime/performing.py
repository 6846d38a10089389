"""What happens when an effect's turn comes: its arguments are put together and the host function is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

Parts = tuple[Any, ...]


@dataclass(frozen=True)
class HostCall:
    """A function to call, its constant arguments with places for tensors, and its keywords."""

    function: Callable[..., Any]
    parts: Parts
    keywords: tuple[tuple[str, Any], ...] = ()
    raises: bool = False

    def run(self, values: list[torch.Tensor]) -> None:
        """Call the function, or raise what it makes."""
        rest = iter(values)
        arguments = [_value(part, rest) for part in self.parts]
        made = self.function(*arguments, **dict(self.keywords))
        if self.raises:
            raise made


def _value(part: Any, values: Iterator[torch.Tensor]) -> Any:
    kind = part[0]
    if kind == "const":
        return part[1]
    if kind == "tensor":
        return next(values)
    if kind == "number":
        return next(values).item()
    inner = [_value(one, values) for one in part[3]]
    if kind == "text":
        return part[1].format(*inner)
    return inner if kind == "list" else torch.Size(inner) if kind == "size" else tuple(inner)
