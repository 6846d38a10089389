"""Writing an attribute back after a branch or loop that may have changed it."""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime.refusal import refuse


def write(target: Any, name: str, value: Any) -> None:
    """`target.name = value`, unless it is that object already: a setter runs only when there is something to set."""
    if getattr(target, name) is value:
        return
    if torch.compiler.is_compiling() and isinstance(getattr(type(target), name, None), property):
        refuse(
            "AG206",
            f"`{name}` is a property: its setter would run whichever branch is taken",
            "write the attribute behind it",
        )
    setattr(target, name, value)
