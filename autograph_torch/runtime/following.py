"""ag.followed: what follows a call, for each of the values that the call may give (see runtime/open_calls.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.open_calls import Opened, opened


def followed(value: Any, rest: Callable[..., Any], given: tuple[Any, ...] = ()) -> Any:
    """`rest(value, *given)`; of an Opened, for each of the values that it may be."""
    if not isinstance(value, Opened):
        return rest(value, *given)
    return cond(
        value.flag,
        lambda *given: followed(opened(value.true_fn(*value.arguments)), rest, given),
        lambda *given: followed(opened(value.false_fn(*value.arguments)), rest, given),
        reads=given,
    )
