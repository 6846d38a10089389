"""`and`, `or`, `not`, `any` and `all` where an operand may be a tensor. Results count as truth values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.predicate import truth


def not_(value: Any) -> bool | torch.Tensor:
    """`not value`."""
    flag = truth(value)
    return torch.logical_not(flag) if isinstance(flag, torch.Tensor) else not flag


def and_(left: Any, *rest: Callable[[], Any]) -> Any:
    """`left and rest[0]() and ...`: an operand is evaluated only when all before it are true."""
    flag = truth(left)
    if not rest:
        return flag
    if not isinstance(flag, torch.Tensor):
        return and_(rest[0](), *rest[1:]) if flag else False
    return cond(flag, lambda: _as_tensor(and_(rest[0](), *rest[1:]), flag), lambda: torch.zeros_like(flag))


def or_(left: Any, *rest: Callable[[], Any]) -> Any:
    """`left or rest[0]() or ...`: an operand is evaluated only when all before it are false."""
    flag = truth(left)
    if not rest:
        return flag
    if not isinstance(flag, torch.Tensor):
        return True if flag else or_(rest[0](), *rest[1:])
    return cond(flag, lambda: torch.ones_like(flag), lambda: _as_tensor(or_(rest[0](), *rest[1:]), flag))


def any_(values: Iterable[Any]) -> Any:
    """`any(values)`: elements after a true one are not evaluated when Python can tell."""
    found: Any = False
    for value in values:
        flag = truth(value)
        if not isinstance(flag, torch.Tensor):
            if flag:
                return True
        else:
            found = flag if found is False else torch.logical_or(found, flag)
    return found


def all_(values: Iterable[Any]) -> Any:
    """`all(values)`: elements after a false one are not evaluated when Python can tell."""
    found: Any = True
    for value in values:
        flag = truth(value)
        if not isinstance(flag, torch.Tensor):
            if not flag:
                return False
        else:
            found = flag if found is True else torch.logical_and(found, flag)
    return found


def _as_tensor(flag: Any, like: torch.Tensor) -> torch.Tensor:
    return flag if isinstance(flag, torch.Tensor) else torch.full_like(like, flag)
