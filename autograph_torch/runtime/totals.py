"""What is asked of all elements of a list that has grown in a loop (runtime/growing.py), in Python's order.

sum(xs)                    ag.total(xs)
max(xs), min(xs)           ag.largest(xs), ag.smallest(xs)
any(f(y) for y in xs)      ag.some_hold(xs, lambda y: f(y))
all(f(y) for y in xs)      ag.all_hold(xs, lambda y: f(y))
[f(y) for y in xs]         ag.mapped(xs, lambda y: f(y))
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail, fail_with
from autograph_torch.runtime.extremes import OF_NOTHING, extreme
from autograph_torch.runtime.growing import ADVICE, Growing, element_at, growing_list, owned, rows_of
from autograph_torch.runtime.grown import behind
from autograph_torch.runtime.iteration import Sequence, elements
from autograph_torch.runtime.logic import not_, or_else
from autograph_torch.runtime.loop import for_loop
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.rows import taken
from autograph_torch.runtime.sums import KEEPS_ROUNDED_OFF, as_tensor, begun, ended, more

_NO_FLOAT = "the sum of a list without elements is the integer 0; the graph takes it for a float"
_NO_TENSOR = "the sum of a list without elements is the integer 0; the graph takes it for a tensor of zeros"


def total(one: Any) -> Any:
    """`sum(one)`."""
    one = behind(one)
    if not isinstance(one, Growing):
        return builtins.sum(one)
    so_far, lost = begun(one.begin)
    if one.columns is not None:
        so_far = so_far if one.begin else _zero(one)
        if KEEPS_ROUNDED_OFF and type(so_far) is float:
            add: Any = lambda item, so_far, lost: more(so_far, lost, item)  # noqa: E731
            so_far, lost = for_loop(rows_of(one), add, (so_far, as_tensor(lost)))
        else:
            (so_far,) = for_loop(rows_of(one), lambda item, so_far: (so_far + item,), (so_far,))
    for value in one.more:
        so_far, lost = more(so_far, lost, value)
    return ended(so_far, lost)


def _zero(one: Growing) -> Any:
    """What the sum of the rows begins with: of their type, which that of no rows has not."""
    sizes, dtype, device = notes.columns_of(one.name)[0]
    if notes.rows_are_numbers(one.name) and dtype.is_floating_point:
        _refuse_no_rows(one, _NO_FLOAT, "begin with `[0.0]`, or ask for its length before")
        return 0.0
    if notes.rows_are_tensors(one.name) and sizes:
        _refuse_no_rows(one, _NO_TENSOR, "ask for its length before, or add to a tensor of zeros in the loop")
        return torch.zeros(sizes, dtype=torch.int64 if dtype == torch.bool else dtype, device=device)
    return 0


def _refuse_no_rows(one: Growing, message: str, advice: str) -> None:
    number = notes.refused_when_run("AG310", message, advice)
    cond(one.count == 0, lambda: fail_with(number))


def largest(one: Any) -> Any:
    """`max(one)`."""
    one = behind(one)
    return _extreme(one, True) if isinstance(one, Growing) else builtins.max(one)


def smallest(one: Any) -> Any:
    """`min(one)`."""
    one = behind(one)
    return _extreme(one, False) if isinstance(one, Growing) else builtins.min(one)


def _extreme(one: Growing, greatest: bool) -> Any:
    known = [*one.begin, *one.more]
    if one.columns is None:
        return builtins.max(known) if greatest else builtins.min(known)
    for item in known:
        if isinstance(item, torch.Tensor):  # a copy of a row is as good as the row, but this one has other names
            refuse("AG311", "the largest or smallest element may be a tensor from outside of the loop", ADVICE)
    first = one.begin[0] if one.begin else element_at(one, 0)  # a row that is there also where none has come
    found = extreme(greatest, (first, *one.begin[1:]))
    (found,) = for_loop(rows_of(one), lambda item, found: (extreme(greatest, (found, item)),), (found,))
    found = taken(extreme(greatest, (found, *one.more)), one.name, True)
    if known:
        return found
    return cond(one.count > 0, lambda: found, lambda: fail(ValueError, OF_NOTHING[greatest]))


def some_hold(one: Any, function: Callable[..., Any], handed: tuple[Any, ...] = ()) -> Any:
    """`any(function(item, *handed) for item in one)`."""
    found = _first_that(one, function, handed)
    return _as_flag(found)


def all_hold(one: Any, function: Callable[..., Any], handed: tuple[Any, ...] = ()) -> Any:
    """`all(function(item, *handed) for item in one)`."""
    found = _first_that(one, lambda item, *handed: not_(function(item, *handed)), handed)
    return _as_flag(not_(found))


def _as_flag(found: Any) -> Any:
    return found.item() if isinstance(found, torch.Tensor) else found


def _first_that(one: Any, function: Callable[..., Any], handed: tuple[Any, ...]) -> Any:
    """Whether the function holds for an element; those behind the first are not asked."""
    one = behind(one)
    if not isinstance(one, Growing):
        return _among(elements(one), function, handed, False)
    found = _among(one.begin, function, handed, False)
    if one.columns is not None and found is not True:

        def ask(item: Any, found: Any, *handed: Any) -> tuple[Any, ...]:
            return (or_else(found, lambda: function(item, *handed)), *handed)

        found, *_ = for_loop(rows_of(one), ask, (_as_tensor(found),), (), handed)
    return _among(one.more, function, handed, found)


def _among(items: Any, function: Callable[..., Any], handed: tuple[Any, ...], found: Any) -> Any:
    for item in items:
        found = or_else(found, lambda item=item: function(item, *handed))  # type: ignore[misc]
        if found is True:
            return True
    return found


def _as_tensor(found: Any) -> torch.Tensor:
    return found if isinstance(found, torch.Tensor) else torch.scalar_tensor(found, dtype=torch.bool)


def listed_map(one: Any, function: Callable[..., Any], handed: tuple[Any, ...] = ()) -> list[Any]:
    """The list `[function(item, *handed) for item in one]`."""
    made = mapped(one, function, handed)
    return owned(made) if isinstance(made, Growing) else made


def listed_map_of_tuples(many: Any, function: Callable[..., Any], handed: tuple[Any, ...] = ()) -> list[Any]:
    """The list `[function(*items, *handed) for items in many]`."""
    return listed_map(many, lambda items, *handed: function(*items, *handed), handed)


def mapped(one: Any, function: Callable[..., Any], handed: tuple[Any, ...] = ()) -> Any:
    """`[function(item, *handed) for item in one]`."""
    one = behind(one)
    if not isinstance(one, (Growing, Sequence)) or (isinstance(one, Sequence) and one.known):
        return [function(item, *handed) for item in elements(one)]
    made = growing_list([function(item, *handed) for item in one.begin] if isinstance(one, Growing) else [])

    def add(item: Any, made: Any, *handed: Any) -> tuple[Any, ...]:
        made.append(function(item, *handed))
        return (made, *handed)

    if isinstance(one, Sequence):
        for_loop(one, add, (), (made,), handed)
        return made
    if one.columns is not None:
        for_loop(rows_of(one), add, (), (made,), handed)
    for item in one.more:
        made.append(function(item, *handed))
    return made
