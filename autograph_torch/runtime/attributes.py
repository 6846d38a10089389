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
    _check(target, name)
    missing = _missing(target, name)
    return missing if is_answered(target, name) else getattr(target, name, missing)


def _present(target: Any, name: str) -> Any:
    return None if is_answered(target, name) else getattr(target, name, None)


def _check(target: Any, name: str) -> None:
    if torch.compiler.is_compiling() and is_computed(target, name):
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
    _check(target, name)
    if isinstance(value, Undefined) or (value is not None and same_object(_present(target, name), value)):
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
