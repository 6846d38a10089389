"""Lists and sets that data make longer and shorter: rows of tensors, and how many of them count.

    stack = [(a, b)]                       stack = ag.bounded("stack", [(a, b)])
    while stack:                           while ag.height(stack) > 0:
        lo, hi = stack.pop()                   stack, (lo, hi) = ag.popped("stack", stack)
        if ...:                                if ...:
            stack.append((lo, mid))                stack = ag.pushed("stack", stack, (lo, mid))

Such a list travels as a tuple of tensors, which branches and loops bind anew as any other value. Its elements have one
form (rows.py), known by the list's name; where a list begins empty, the first trace that comes to an element tells it,
and the next one begins with it. There is room for a fixed number of rows; a call that needs more says so when it runs.

Outside of a trace it is the list itself, or a deque, and every function here is what it stands for.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail, fail_with
from autograph_torch.runtime.growing import Growing
from autograph_torch.runtime.predicate import is_data_dependent
from autograph_torch.runtime.rows import Columns, appended, put_together, take_apart

# How many rows count, and the columns; nothing while no element has been seen.
Rows = tuple[torch.Tensor, ...]

_FULL = "a list that data make longer has no room for another element"
_NO_NUMBER = "a list or set of floats is asked for NaN, which may or may not be the one that is in it"
_ADVICE = "raise the limit of what is in it, or write into a tensor of the largest size"


def bounded(name: str, items: Any) -> Any:
    """`[...]`, `deque([...])` or `set()`."""
    if not torch.compiler.is_compiling():
        return items
    rows: Any = ()
    if notes.recall_list(name):
        rows = (torch.zeros((), dtype=torch.int64), *_room(name))
    for item in items:
        rows = _with_one_more(name, rows, item)
    notes.list_has_begun()
    return rows


def pushed(name: str, one: Any, *items: Any) -> Any:
    """The list behind `one.append(item)` or `one.extend([item, ...])`."""
    if isinstance(one, (list, deque)):
        one.extend(items)
        return one
    for item in items:
        one = _with_one_more(name, one, item)
    return one


def _with_one_more(name: str, rows: Rows, item: Any) -> Rows:
    row = take_apart(appended(item, name, True, []), name)
    if not rows:
        notes.begin_with_form(name)
        rows = (torch.zeros((), dtype=torch.int64), *_room(name))
    if notes.may_be_full(name):
        _check_room(name, rows, torch.zeros((), dtype=torch.bool))
    return (rows[0] + 1, *_replaced(rows[1:], rows[0], row))


def inserted(name: str, one: Any, item: Any) -> Any:
    """The list behind `one.insert(0, item)` or `one.appendleft(item)`."""
    if isinstance(one, (list, deque)):
        one.insert(0, item)
        return one
    rows = _with_one_more(name, one, item)
    return (rows[0], *_moved(rows[1:], rows[0] - 1, item_first=True))


def popped(name: str, one: Any, index: int = -1, sure: bool = False) -> tuple[Any, Any]:
    """The list behind `one.pop(index)` or `one.popleft()`, and the element. `sure`: there is one, by a test before."""
    if isinstance(one, list):
        item = one.pop(index)
        return one, item
    if isinstance(one, deque):
        item = one.pop() if index == -1 else one.popleft()
        return one, item
    if not one:
        raise IndexError("pop from empty list")
    count, columns = one[0], one[1:]
    place = _place(count, index)
    message = "pop from empty list" if index in (-1, 0) else "pop index out of range"
    item = _read(name, count, columns, place, "" if sure else message)
    return (count - 1, *(columns if index == -1 else _moved(columns, place, item_first=False))), item


def item_of(name: str, one: Any, index: Any, sure: bool = False) -> Any:
    """`one[index]`."""
    if isinstance(one, (list, deque)):
        return one[index]
    if not one:
        raise IndexError("list index out of range")
    return _read(name, one[0], one[1:], _place(one[0], index), "" if sure else "list index out of range")


def put(name: str, one: Any, index: Any, item: Any, sure: bool = False) -> Any:
    """The list behind `one[index] = item`."""
    if isinstance(one, (list, deque)):
        one[index] = item
        return one
    if not one:
        raise IndexError("list assignment index out of range")
    row = take_apart(appended(item, name, True, []), name)
    place = _place(one[0], index)
    if not sure:
        cond(_is_there(one[0], place), _nothing, lambda: fail(IndexError, "list assignment index out of range"))
    return (one[0], *_replaced(one[1:], place.clamp(min=0), row))


def added(name: str, one: Any, item: Any) -> Any:
    """The set behind `one.add(item)`."""
    if isinstance(one, set):
        one.add(item)
        return one
    if not one:
        return _with_one_more(name, one, item)
    row = take_apart(item, name)
    known = _is_among(name, one, row)
    if notes.may_be_full(name):
        _check_room(name, one, known)
    return (one[0] + torch.logical_not(known).long(), *_replaced(one[1:], one[0], row))


def discarded(name: str, one: Any, item: Any) -> Any:
    """The set behind `one.discard(item)`."""
    if isinstance(one, set):
        one.discard(item)
        return one
    if not one:
        return one
    row = take_apart(item, name)
    place = _matches(name, one, row).long().argmax()
    known = _is_among(name, one, row)
    return (one[0] - known.long(), *_moved(one[1:], torch.where(known, place, one[0]), item_first=False))


def holds(name: str, one: Any, item: Any) -> Any:
    """`item in one`."""
    if isinstance(one, (list, deque, set)):
        return item in one
    return _is_among(name, one, take_apart(item, name)).item() if one else False


def _is_among(name: str, one: Rows, row: Columns) -> torch.Tensor:
    return _matches(name, one, row).any()


def _matches(name: str, one: Rows, row: Columns) -> torch.Tensor:
    """For every row, whether it counts and is this one."""
    notes.check_comparable(name)
    position = torch.arange(one[1].shape[0])
    same = position < one[0]
    for k in range(len(row)):
        if row[k].is_floating_point():  # one that is no number is itself, and equal to no other
            _refuse_nan(row[k])
        same = torch.logical_and(same, one[k + 1] == row[k])
    return same


def _refuse_nan(value: torch.Tensor) -> None:
    number = notes.refused_when_run("AG311", _NO_NUMBER, "test for NaN before")
    cond(value.isnan(), lambda: fail_with(number))


def emptied(one: Any) -> Any:
    """The list behind `one.clear()`."""
    if isinstance(one, (list, deque, set)):
        one.clear()
        return one
    return (torch.zeros_like(one[0]), *one[1:]) if one else one


def height(one: Any) -> Any:
    """`len(one)`."""
    if isinstance(one, (list, deque, set)):
        return len(one)
    if not one:
        return 0
    size: Any = one[0].item()
    torch._check(size >= 0)
    return size


def as_grown(name: str, one: Any) -> Any:
    """The list for what asks of all of its elements (growing.py, totals.py)."""
    if isinstance(one, (list, deque)):
        return one
    made = Growing([], name)
    if one:
        size = height(one)
        torch._check(size < one[1].shape[0])
        made.columns = tuple([one[k].narrow(0, 0, size + 1) for k in range(1, len(one))])
        made.count = size
    return made


def _nothing() -> None:
    """What there is to do where all is well."""


def _room(name: str) -> Columns:
    """Rows of zeros, one more than may ever count."""
    size = notes.room_of(name) + 1
    known = notes.columns_of(name)
    return tuple([torch.zeros((size, *shape), dtype=dtype, device=device) for shape, dtype, device in known])


def _check_room(name: str, rows: Rows, needs_none: torch.Tensor) -> None:
    number = notes.refused_when_run("AG311", _FULL, _ADVICE)
    cond(torch.logical_or(needs_none, rows[0] < notes.room_of(name)), _nothing, lambda: fail_with(number))


def _place(count: torch.Tensor, index: Any) -> torch.Tensor:
    """The row of an index, which may count from the end."""
    if isinstance(index, int) and not is_data_dependent(index):
        return count + index if index < 0 else torch.full_like(count, index)
    place = torch.as_tensor(index, dtype=torch.int64)
    return torch.where(place < 0, place + count, place)


def _is_there(count: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    return torch.logical_and(place >= 0, place < count)


def _read(name: str, count: torch.Tensor, columns: Columns, place: torch.Tensor, message: str) -> Any:
    """The element in a row that counts, or has to (else the message says what is raised)."""

    def read() -> Any:
        leaves = [columns[k].index_select(0, place.reshape(1).to(columns[k].device)) for k in range(len(columns))]
        return put_together(tuple([leaves[k].squeeze(0) for k in range(len(leaves))]), name)

    if not message:
        return read()
    return cond(_is_there(count, place), read, lambda: fail(IndexError, message))


def _replaced(columns: Columns, place: torch.Tensor, row: Columns) -> Columns:
    """The columns with another row in this place."""
    return tuple(
        [
            torch.index_copy(columns[k], 0, place.reshape(1).to(columns[k].device), row[k].unsqueeze(0))
            for k in range(len(columns))
        ]
    )


def _moved(columns: Columns, place: torch.Tensor, item_first: bool) -> Columns:
    """The columns with the row in this place in front of all others, or taken away."""
    moved: Columns = ()
    for k in range(len(columns)):
        position = torch.arange(columns[k].shape[0], device=columns[k].device)
        at = place.to(columns[k].device)
        if item_first:
            order = torch.where(position == 0, at, position - (position <= at).long())
        else:
            order = (position + (position >= at).long()).clamp(max=columns[k].shape[0] - 1)
        moved += (columns[k].index_select(0, order),)
    return moved
