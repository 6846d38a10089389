"""Lists that grow in a loop whose number of trips depends on data: tensors of a size that the loop has counted.

    xs = [x]                               xs = ag.growing_list([x])
    while x > 1:                           ag.while_loop(..., mutated=(xs,))    x, and all trips again
        x = x / 2                          return ag.stacked(xs)
        xs.append(x)
    return torch.stack(xs)

A graph's loop can carry no list. So it is run twice: the first time it counts what is appended, and all that it writes
is dropped; then there is room for that many rows, and the second time they are filled. A loop that prints or raises is
refused: it would do so twice. Nothing but the functions below is done with such a list (passes/growing.py), and nobody
writes in place to what is appended.

Outside of a trace `growing_list` gives the list, and every function here is what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail, fail_with
from autograph_torch.runtime.grown import behind, put_behind, stand_behind
from autograph_torch.runtime.iteration import Sequence
from autograph_torch.runtime.layout import NUMBER_DTYPES
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.structure import same_object

State = tuple[Any, ...]
_EMPTY = "torch.tensor of a list without elements is of floats; the graph takes it for one of the others' type"
ADVICE = "write into a tensor of the largest size and count, or loop over a range of known length and `break`"


class Growing:
    """A list of tensors of one type, or of numbers: `begin`, `count` rows of a tensor (None: none so far), and `more`.

    The tensor has one row more: torch takes the gradient of one trip also where a loop makes none.
    """

    def __init__(self, begin: list[Any], name: str) -> None:
        self.begin = begin
        self.rows: Any = None
        self.count: Any = 0
        self.more: list[Any] = []
        self.name = name

    def append(self, item: Any) -> None:
        _row(item, self.name)
        (self.begin if self.rows is None else self.more).append(item)

    def extend(self, items: Any) -> None:
        _add_all(self, items)


class Appending:
    """The list inside of a trip: how many rows have come so far; the last of the list, if the loop begins with one.

    The count stays a tensor (Inductor would forget to read a number that only tells where a row is put).
    """

    def __init__(self, before: Any, count: torch.Tensor, last: Any, rows: torch.Tensor | None, name: str) -> None:
        self.before = before
        self.count = count
        self.last = last
        self.rows = rows
        self.name = name

    def append(self, item: Any) -> None:
        row = _row(copied(item), self.name)
        if self.last is not None:
            self.last = row.clone() if isinstance(item, torch.Tensor) else item
        if self.rows is not None:
            position = self.count.reshape(1).to(row.device)
            self.rows = torch.index_copy(self.rows, 0, position, row.unsqueeze(0))
        self.count = self.count + 1

    def extend(self, items: Any) -> None:
        _add_all(self, items)


def _add_all(one: Growing | Appending, items: Any) -> None:
    for k in range(len(items)):
        for earlier in items[:k]:
            if isinstance(earlier, torch.Tensor) and same_object(earlier, items[k]):
                refuse("AG311", "a list that grows in a loop on data takes one tensor twice", "append a clone")
        one.append(items[k])


def _row(item: Any, name: str) -> torch.Tensor:
    """What is appended as a tensor, when all others are of its type."""
    if isinstance(item, torch.Tensor):
        notes.note_row(name, tuple(item.shape), item.dtype, str(item.device), False)
        return item
    kind = "bool" if isinstance(item, bool) else "int" if isinstance(item, int) else "float"
    if not isinstance(item, (int, float)):
        refuse("AG311", "a list that grows in a loop on data takes something else than tensors and numbers", ADVICE)
    notes.note_row(name, (), NUMBER_DTYPES[kind], "cpu", True)
    return torch.scalar_tensor(item, dtype=NUMBER_DTYPES[kind], device="cpu")


def _item(row: torch.Tensor, name: str) -> Any:
    """A row as an element."""
    copy = row.clone()
    return copy.item() if notes.rows_are_numbers(name) else copied(copy)


def note_copied(item: torch.Tensor) -> None:
    """An element has copies: it may not be written to. (Noted by the tracer, capture/growing.py.)"""


def copied(item: Any) -> Any:
    """An element that has copies, or is one."""
    if isinstance(item, torch.Tensor):
        note_copied(item)
    return item


def growing_list(items: list[Any]) -> Any:
    """A list that the loop behind this call appends to."""
    if not torch.compiler.is_compiling() or not isinstance(items, list):
        return items
    made = Growing([], notes.new_list())
    for k in range(len(items)):
        made.append(items[k])
    return made


def is_among(values: State) -> bool:
    """Whether one of the objects that a loop writes to is such a list."""
    return len([value for value in values if isinstance(value, (Growing, Appending))]) > 0


def run_twice(
    run: Callable[..., State],
    test: Callable[[State], Any],
    trip: Callable[[State], State],
    state: State,
    rebound: int,
    fixed: int,
    entered: bool | torch.Tensor,
    owners: tuple[list[Any], ...] = (),
) -> State:
    """The staged loop `run` (see loop.run_with_writes) over a state with such lists.

    owners: lists that stay the objects that they are (grown.py), and grow in the loop.
    """
    count = len(state) - fixed
    mutated: State = state[rebound:count]
    named: tuple[Any, ...] = tuple([value for value in mutated if isinstance(value, Growing)])
    lists: tuple[Any, ...] = (*named, *[attached(owner) for owner in owners])
    others = tuple([value for value in mutated if not isinstance(value, Growing)])
    number = len(lists)

    def whole(before: State, rooms: int) -> State:
        """The state with what stands for the lists: behind the rebound values are counts, last elements, rooms."""
        inside: State = ()
        for k in range(number):
            last = before[rebound + number + k]
            rows = before[rebound + 2 * number + k] if rooms else None
            inside += (Appending(_length(lists[k]), before[rebound + k], last, rows, lists[k].name),)
        stand_behind(owners, inside[len(named) :])
        given = before[rebound + 2 * number + rooms :]
        return (*before[:rebound], *_in_order(mutated, inside, given[: len(others)]), *given[len(others) :])

    def again(rooms: State, pure: bool) -> State:
        counts = [torch.zeros((), dtype=torch.int64) for _ in range(number)]
        extra: State = (*counts, *[_last(lists[k]) for k in range(number)], *rooms)
        begin = (*state[:rebound], *extra, *others, *state[count:])

        def one_trip(before: State) -> State:
            inside = whole(before, len(rooms))
            filled = [one for one in inside[rebound:count] if isinstance(one, Appending)]
            filled += [behind(owner) for owner in owners]
            after = trip(inside)
            counts: State = ()
            lasts: State = ()
            rows: State = ()
            for one in filled:
                counts += (one.count,)
                lasts += (one.last,)
                rows += (one.rows,) if rooms else ()
            written = [after[rebound + k] for k in range(len(mutated)) if not isinstance(mutated[k], Growing)]
            return (*after[:rebound], *counts, *lasts, *rows, *written, *after[len(after) - fixed :])

        return run(
            lambda s: test(whole(s, len(rooms))), one_trip, begin, rebound + len(extra), fixed, entered, pure=pure
        )

    first = again((), True)
    sizes: State = tuple([first[rebound + k].item() for k in range(number)])
    rooms: State = ()
    for k in range(number):
        shape, dtype, device, _ = notes.row_of(lists[k].name)
        size = sizes[k]
        torch._check(size >= 0)
        rooms += (torch.zeros((size + 1, *shape), dtype=dtype, device=device),)
    final = again(rooms, False)
    for k in range(number):
        rows = final[rebound + 2 * number + k].clone()  # with gradients a loop gives a part of all that it has kept
        _take(lists[k], rows, sizes[k])
    for k in range(len(owners)):
        _put_behind(owners[k], lists[len(named) + k])
    given = final[rebound + 3 * number :]
    return (*final[:rebound], *_in_order(mutated, named, given[: len(others)]), *given[len(others) :])


def attached(owner: list[Any]) -> Growing:
    """What takes the place of a list's contents from here on."""
    known = behind(owner)
    if isinstance(known, Growing):
        return known
    made = growing_list(owner)
    _put_behind(owner, made)
    return made  # type: ignore[no-any-return]


def _put_behind(owner: list[Any], one: Growing) -> None:
    rows = None if one.rows is None else one.rows.narrow(0, 0, one.count)
    put_behind(owner, (one.begin, rows, one.more, one.rows is not None and notes.rows_are_numbers(one.name)), one)


def _in_order(mutated: State, lists: State, others: State) -> State:
    """What trips write to, in the order in which they know it."""
    found: State = ()
    for value in mutated:
        if isinstance(value, Growing):
            found, lists = (*found, lists[0]), lists[1:]
        else:
            found, others = (*found, others[0]), others[1:]
    return found


def _last(one: Growing) -> Any:
    """The last element, where there surely is one."""
    last = one.more[-1] if one.more else None if one.rows is not None or not one.begin else one.begin[-1]
    return copied(last)


def _take(one: Growing, rows: torch.Tensor, count: Any) -> None:
    if one.rows is not None:
        rows = torch.cat(
            [one.rows.narrow(0, 0, one.count), *[_row(copied(item), one.name).unsqueeze(0) for item in one.more], rows]
        )
        count = one.count + len(one.more) + count
    one.rows = rows
    one.count = count
    one.more = []


def _length(one: Growing) -> Any:
    return len(one.begin) + one.count + len(one.more)


def _all(one: Growing) -> torch.Tensor:
    """All elements as one tensor of its own, and a row more."""
    if not one.begin and not one.more:
        return one.rows.clone()
    begin = [_row(copied(item), one.name).unsqueeze(0) for item in one.begin]
    more = [_row(copied(item), one.name).unsqueeze(0) for item in one.more]
    return torch.cat([*begin, one.rows.narrow(0, 0, one.count), *more, torch.zeros_like(one.rows.narrow(0, 0, 1))])


# -- what may be done with such a list --------------------------------------------------------------------------------


def append(one: Growing | Appending, item: Any) -> None:
    """`one.append(item)`."""
    one.append(item)


def extend(one: Growing | Appending, items: Any) -> None:
    """`one.extend(items)`."""
    one.extend(items)


def length(one: Any) -> Any:
    """`len(one)`."""
    one = behind(one)
    if isinstance(one, Appending):
        return one.before + one.count.item()
    return _length(one) if isinstance(one, Growing) else len(one)


def element(one: Any, index: int) -> Any:
    """`one[index]`."""
    one = behind(one)
    if isinstance(one, Appending):
        if index != -1 or one.last is None:
            refuse("AG311", "a loop on data reads another element than the last one of a list that it fills", ADVICE)
        return copied(one.last)
    if not isinstance(one, Growing):
        return one[index]
    if one.rows is None or 0 <= index < len(one.begin):
        return one.begin[index]
    if -len(one.more) <= index < 0:
        return one.more[index]
    rows, size = _all(one), _length(one)
    there = size > index if index >= 0 else size >= -index
    return cond(
        there,
        lambda: _item(rows.select(0, index if index >= 0 else size + index), one.name),
        lambda: fail(IndexError, "list index out of range"),
    )


def elements_of(one: Any) -> Any:
    """What a loop runs over."""
    one = behind(one)
    if not isinstance(one, Growing):
        return one
    if one.rows is None:
        return one.begin
    rows = _all(one)
    return Sequence(_length(one), lambda k: _item(rows.select(0, k), one.name), False)


def rows_of(one: Growing) -> Sequence:
    """What has come in loops."""
    rows = one.rows
    return Sequence(one.count, lambda k: _item(rows.select(0, k), one.name), False)


def element_at(one: Growing, k: Any) -> Any:
    """What has come in loops, by its position."""
    return _item(one.rows.select(0, k), one.name)


def part(one: Any, start: int | None, stop: int | None) -> Any:
    """`one[start:stop]`."""
    found = behind(one)
    if not isinstance(found, Growing):
        return one[start:stop]
    made = Growing([], found.name)
    if stop is None and 0 <= (start or 0) <= len(found.begin):  # the elements themselves
        made.begin, made.rows, made.count, made.more = found.begin[start:], found.rows, found.count, [*found.more]
        return owned(made)
    size = _length(found)
    first = _place(0 if start is None else start, size)
    count = max(_place(size if stop is None else stop, size) - first, 0)
    made.rows = _all(found).narrow(0, first, count + 1)
    made.count = count
    return owned(made)


def _place(index: Any, size: Any) -> Any:
    """Where a slice of a list of this size begins or ends."""
    return max(size + index, 0) if index < 0 else min(index, size)


def owned(one: Growing) -> list[Any]:
    """A list of its own with these elements."""
    made: list[Any] = []
    _put_behind(made, one)
    return made


def stacked(one: Any, dim: int = 0) -> Any:
    """`torch.stack(one, dim)`."""
    one = behind(one)
    if not isinstance(one, Growing) or one.rows is None:
        return torch.stack(one.begin if isinstance(one, Growing) else one, dim)
    _check_tensors(one)
    rows = _all(one).narrow(0, 0, _length(one)).movedim(0, dim).clone(memory_format=torch.contiguous_format)
    if one.begin or one.more:
        return rows
    return cond(one.count > 0, lambda: rows, lambda: fail(RuntimeError, "stack expects a non-empty TensorList"))


def concatenated(one: Any, dim: int = 0) -> Any:
    """`torch.cat(one, dim)`."""
    one = behind(one)
    if not isinstance(one, Growing) or one.rows is None:
        return torch.cat(one.begin if isinstance(one, Growing) else one, dim)
    _check_tensors(one)
    rows = _all(one).narrow(0, 0, _length(one))
    if rows.ndim == 1:
        refuse("AG311", "torch.cat of tensors without a dimension", "use torch.stack")
    joined = rows.movedim(0, dim if dim >= 0 else dim - 1)
    joined = (joined.flatten(dim, dim + 1) if dim >= 0 else joined.flatten(dim - 1, dim)).clone()
    if one.begin or one.more:
        return joined
    return cond(
        one.count > 0, lambda: joined, lambda: fail(ValueError, "torch.cat(): expected a non-empty list of Tensors")
    )


def tensor_of(one: Any) -> torch.Tensor:
    """`torch.tensor(one)`."""
    one = behind(one)
    if not isinstance(one, Growing) or one.rows is None:
        return torch.tensor(one.begin if isinstance(one, Growing) else one)
    if not notes.rows_are_numbers(one.name):
        refuse("AG311", "torch.tensor of a list of tensors", "use torch.stack")
    rows = _all(one).narrow(0, 0, _length(one))
    if rows.is_floating_point():
        return rows.to(torch.get_default_dtype())
    if not one.begin and not one.more:
        number = notes.refused_when_run(
            "AG310", _EMPTY, "ask for its length before; under @autograph such a call runs in Python"
        )
        cond(one.count == 0, lambda: fail_with(number))
    return rows.clone()


def _check_tensors(one: Growing) -> None:
    if notes.rows_are_numbers(one.name):
        refuse("AG311", "a list of numbers is taken for one of tensors", "use torch.tensor")


def listed(one: Any) -> Any:
    """The list itself, to be returned: Python makes it of the rows when the graph has run."""
    if not isinstance(one, Growing):
        return one
    if one.rows is None:
        return list(one.begin)
    return as_list(one.begin, one.rows.narrow(0, 0, one.count), one.more, notes.rows_are_numbers(one.name))


def as_list(begin: list[Any], rows: torch.Tensor, more: list[Any], numbers: bool, found: Any = None) -> Any:
    """The value that is made behind the graph. (Filled in by the tracer, capture/growing.py.)"""
    return found


def unbound(begin: list[Any], rows: torch.Tensor | None, more: list[Any], numbers: bool) -> list[Any]:
    """What runs behind the graph."""
    if rows is None:
        return [*begin, *more]
    return [*begin, *(rows.tolist() if numbers else [row.clone() for row in rows.unbind(0)]), *more]
