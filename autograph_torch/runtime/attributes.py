"""Taking an attribute over into a branch or loop, and writing it back afterwards."""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime.fields import is_answered, is_computed, is_own
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.structure import same_object
from autograph_torch.runtime.values import Maybe, Missing, Undefined


def read(target: Any, name: str) -> Any:
    """`target.name`, or a value that stands for an attribute that is not there: `__getattr__` is not asked."""
    _check(target, name, written=False)
    missing = _missing(target, name)
    return missing if is_answered(target, name) else getattr(target, name, missing)


def _has_already(target: Any, name: str, value: Any) -> bool:
    if is_answered(target, name) or not hasattr(target, name):
        return False
    # In one graph for both paths, None of a branch beside None of the class says nothing of which path is taken.
    return same_object(getattr(target, name), value) and not (value is None and torch.compiler.is_compiling())


def _check(target: Any, name: str, written: bool) -> None:
    if torch.compiler.is_compiling() and is_computed(target, name, written):
        refuse(
            "AG206",
            f"`{name}` is a property, or the class has other code for it, which would run whichever path is taken or "
            "sees what it was before",
            "write the attribute behind it, by a method",
        )


def _missing(target: Any, name: str) -> Any:
    return Missing(f"'{type(target).__name__}' object has no attribute '{name}'")


def write(target: Any, name: str, value: Any) -> None:
    """`target.name = value`, unless it is that object already."""
    _check(target, name, written=True)
    if isinstance(value, Undefined) or _has_already(target, name, value):
        return
    if isinstance(value, Maybe):
        refuse("AG312", f"attribute `{name}` is set in one branch only, and not there before", "set it before")
    if torch.compiler.is_compiling() and not is_own(target, name):
        refuse(
            "AG206",
            f"`{name}` is an attribute of the class: the object would get one of its own whichever branch is taken",
            "set it in `__init__`",
        )
    setattr(target, name, value)
