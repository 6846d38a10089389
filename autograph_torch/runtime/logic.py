"""`and`, `or`, `not`, `any` and `all` where an operand may be a tensor. Results count as truth values only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.iteration import begin_taking, end_taking, end_trips, refuse_ahead
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.refusal import refuse

# Asking these for their truth runs no code of the program.
_SILENT = (torch.Tensor, bool, int, float, str, list, tuple, dict, type(None))


def not_(value: Any) -> bool | torch.Tensor:
    """`not value`."""
    flag = truth(value)
    return torch.logical_not(flag) if isinstance(flag, torch.Tensor) else not flag


def and_(left: Any, *rest: Callable[[], Any], lazy: bool = False, is_asked: bool = False) -> Any:
    """`left and rest[0]() and ...` where evaluating an operand in vain has no effect and cannot fail.

    lazy: it may fail for the sizes that tensors have. (Filled in by the tracer.)
    is_asked: who gets this asks for its truth: where Python decides, it is the operand.
    """
    if lazy:
        return and_then(left, *rest, is_asked=is_asked)
    if is_asked:
        return _operand(left, rest, False, and_)
    flag = truth(left)
    for operand in rest:
        if not isinstance(flag, torch.Tensor):
            if not flag:
                return False
            flag = truth(operand())
            continue
        other = truth(operand())
        if isinstance(other, torch.Tensor):
            flag = torch.logical_and(flag, other)
        elif not other:
            return False  # whatever the data
    return flag


def or_(left: Any, *rest: Callable[[], Any], lazy: bool = False, is_asked: bool = False) -> Any:
    """`left or rest[0]() or ...` where evaluating an operand in vain has no effect and cannot fail.

    lazy: it may fail for the sizes that tensors have. (Filled in by the tracer.)
    is_asked: who gets this asks for its truth: where Python decides, it is the operand.
    """
    if lazy:
        return or_else(left, *rest, is_asked=is_asked)
    if is_asked:
        return _operand(left, rest, True, or_)
    flag = truth(left)
    for operand in rest:
        if not isinstance(flag, torch.Tensor):
            if flag:
                return True
            flag = truth(operand())
            continue
        other = truth(operand())
        if isinstance(other, torch.Tensor):
            flag = torch.logical_or(flag, other)
        elif other:
            return True  # whatever the data
    return flag


def and_then(left: Any, *rest: Callable[[], Any], is_asked: bool = False) -> Any:
    """`left and rest[0]() and ...`: an operand is evaluated only when all before it are true."""
    if is_asked:
        return _operand(left, rest, False, and_then)
    flag = truth(left)
    if not rest:
        return flag
    if not isinstance(flag, torch.Tensor):
        return and_then(rest[0](), *rest[1:]) if flag else False
    device = flag.device
    return cond(flag, lambda: _as_tensor(and_then(rest[0](), *rest[1:]), device), lambda: _as_tensor(False, device))


def or_else(left: Any, *rest: Callable[[], Any], is_asked: bool = False) -> Any:
    """`left or rest[0]() or ...`: an operand is evaluated only when all before it are false."""
    if is_asked:
        return _operand(left, rest, True, or_else)
    flag = truth(left)
    if not rest:
        return flag
    if not isinstance(flag, torch.Tensor):
        return True if flag else or_else(rest[0](), *rest[1:])
    device = flag.device
    return cond(flag, lambda: _as_tensor(True, device), lambda: _as_tensor(or_else(rest[0](), *rest[1:]), device))


def _operand(left: Any, rest: tuple[Callable[[], Any], ...], decides: bool, joined: Callable[..., Any]) -> Any:
    """The operand whose truth is that of the whole; from the first on of which data tell it, all are `joined`."""
    value = left
    for k in range(len(rest)):
        flag = truth(value)
        if isinstance(flag, torch.Tensor):
            return joined(flag, *(_without_code(operand) for operand in rest[k:]))
        if flag is decides:
            return value
        value = rest[k]()
    return value


def _without_code(operand: Callable[[], Any]) -> Callable[[], Any]:
    """An operand behind one that data decide on: an object cannot see how often and when it is asked."""

    def checked() -> Any:
        value = operand()
        kind = type(value)
        if not isinstance(value, _SILENT) and (hasattr(kind, "__bool__") or hasattr(kind, "__len__")):
            advice = "ask for it before: `known = bool(b)`"
            refuse("AG321", "data tell whether `any` or `all` asks an object for its truth", advice)
        return value

    return checked


def and_value(left: Any, rest: Callable[[], Any]) -> Any:
    """The value of `left and rest()`: one of the two."""
    return cond(left, rest, lambda: _decided(left, False))


def or_value(left: Any, rest: Callable[[], Any]) -> Any:
    """The value of `left or rest()`: one of the two."""
    return cond(left, lambda: _decided(left, True), rest)


def _decided(value: Any, truth: bool) -> Any:
    """The operand that has decided: a Python bool is known by then."""
    return truth if torch.compiler.is_compiling() and isinstance(value, bool) else value


def any_(values: Iterable[Any]) -> Any:
    """`any(values)`: elements behind one that data may find true are evaluated in vain, and may do nothing else."""
    return _found(values, True, torch.logical_or)


def all_(values: Iterable[Any]) -> Any:
    """`all(values)`: elements behind one that data may find false are evaluated in vain, and may do nothing else."""
    return _found(values, False, torch.logical_and)


def _found(values: Iterable[Any], sought: bool, joined: Callable[[Any, Any], Any]) -> Any:
    """Whether one of the values has the truth `sought`, as that truth."""
    found: Any = not sought
    decided = False
    begin_taking(values)
    try:
        for value in values:
            flag = truth(value)
            if not isinstance(flag, torch.Tensor):
                if bool(flag) is sought:
                    decided = True
                    break
            elif isinstance(found, torch.Tensor):
                found = joined(found, flag)
            else:
                found = flag
    except Exception:
        if isinstance(found, torch.Tensor):  # an element before may be the one that decides
            refuse_ahead()
        raise
    if isinstance(found, torch.Tensor):
        end_taking()
    end_trips()
    return sought if decided else found


def _as_tensor(flag: Any, device: torch.device) -> torch.Tensor:
    """A truth value where the other one is: what is compared with a number of Python's may be on another device."""
    if isinstance(flag, torch.Tensor):
        return flag if flag.device == device else flag.to(device)
    return torch.full((), flag, dtype=torch.bool, device=device)


def is_false(flag: Any) -> bool:
    """`flag is False`, where data decide on the truth value (capture/identities.py)."""
    return bool(not_(flag))


def unlike(value: Any, other: Any) -> bool:
    """`value is not other`, before what changes nothing where they are the same (passes/identities.py)."""
    return value is not other
