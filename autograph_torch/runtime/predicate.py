"""What a predicate is: decided now by Python, or by data when the graph runs.

| predicate | becomes |
|---|---|
| Python value, or a symbol that can be guarded on | bool |
| tensor or number outside a trace | bool |
| tensor, or array of NumPy, while tracing | 0-d bool tensor |
| number that depends on data (`.item()`, `len(x.nonzero())`) | 0-d bool tensor |
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true, has_static_value

from autograph_torch.runtime import notes
from autograph_torch.runtime.refusal import refuse

_UNLIKELY = 982451653.5
_UNASKED = object()


def truth(predicate: Any, found: bool | torch.Tensor | None = None) -> bool | torch.Tensor:
    """The truth value of a predicate: a Python bool, or a 0-d bool tensor when only data can tell.

    (For what is one of these, and for constants, the tracer fills in the answer.)
    """
    flag = _truth(predicate) if found is None else found
    if isinstance(flag, torch.Tensor) and notes.on_one_path():
        return True if flag else False  # noqa: SIM210 (the tracer answers tests, not calls of bool)
    return flag


def _truth(predicate: Any) -> bool | torch.Tensor:
    if not torch.compiler.is_compiling():
        return bool(predicate)
    if isinstance(predicate, torch.Tensor):
        return _flag(predicate)
    if isinstance(predicate, (bool, int, float)):
        return _number(predicate)
    if is_array(predicate):
        return _flag(torch.as_tensor(predicate))
    return _number(bool(predicate))  # a list may have grown in a loop, and an object answer with a number that changes


def is_array(value: Any, found: bool = False) -> bool:
    """Whether a value is an array or scalar of NumPy, which the graph holds as a tensor. (Filled in by the tracer.)"""
    return found


def _flag(tensor: torch.Tensor) -> torch.Tensor:
    if guard_or_false(tensor.numel() != 1):
        refuse("AG313", f"the predicate has {tensor.numel()} elements", "reduce it first, with .all() or .any()")
    flag = tensor if tensor.ndim == 0 else tensor.reshape(())  # a view of itself would count as an alias
    return flag if flag.dtype == torch.bool else flag != 0


def is_data_dependent(number: bool | int | float) -> bool:
    """Whether a number is known only when the graph runs (and not merely a size that Dynamo guards on)."""
    if has_static_value(number):
        return False
    if isinstance(number, bool):
        return True
    if isinstance(number, float):
        return depends(number)
    # Where no guard can be put on a number, nothing is true of it; its range alone may decide the first question.
    if not guard_or_false(number > 1) and not guard_or_false(number <= 1):
        return True
    return not guard_or_false(number % 2 == 0) and not guard_or_false(number % 2 == 1)


def _number(number: bool | int | float) -> bool | torch.Tensor:
    nonzero = number if isinstance(number, bool) else number != 0
    known = decided(nonzero)
    return torch.scalar_tensor(nonzero, dtype=torch.bool) if known is None else known  # type: ignore[arg-type]


def depends(number: float, answer: Any = _UNASKED) -> bool:
    """Whether a float is known only when the graph runs. The tracer fills in `answer`, where it can."""
    return guard_or_true(number == _UNLIKELY) if answer is _UNASKED else bool(answer)


def decided(flag: bool, answer: Any = _UNASKED) -> bool | None:
    """The truth of a flag where Python can tell. The tracer fills in `answer`, where it can (capture/hosts.py)."""
    if answer is not _UNASKED:
        return answer  # type: ignore[no-any-return]
    return True if guard_or_false(flag) else None if guard_or_true(flag) else False
