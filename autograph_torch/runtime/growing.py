"""Lists that grow in a loop whose number of trips depends on data: tensors of a size that the loop has counted.

    xs = [x]                               xs = ag.growing_list([x])
    while x > 1:                           ag.while_loop(..., mutated=(xs,))    x, and all trips again
        x = x / 2                          return ag.stacked(xs)
        xs.append(x)
    return torch.stack(xs)

A graph's loop can carry no list. So it is run twice: the first time it counts what is appended, and all that it writes
is dropped; then there is room for that many rows, and the second time they are filled. What it prints or raises it does
the first time only. Nothing but the functions below is done with such a list (passes/growing.py), and nobody
writes in place to what is appended.

Outside of a trace `growing_list` gives the list, and every function here is what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail, fail_with, surrounding_effects, take_back, tokens_of
from autograph_torch.runtime.grown import behind, put_behind, stand_behind
from autograph_torch.runtime.iteration import Sequence
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.rows import Columns, appended, builder, built, note_read, put_together, take_apart
from autograph_torch.runtime.structure import same_object

State = tuple[Any, ...]
_EMPTY = "torch.tensor of a list without elements is of floats; the graph takes it for one of the others' type"
UNKNOWN = "this is not known of a list that grows in a loop whose number of trips depends on data"
_MOST_ENDS = 4  # elements in front of or behind the rows of which one may be read; each costs a branch
ADVICE = "write into a tensor of the largest size and count, or loop over a range of known length and `break`"


class Growing:
    """A list of elements of one form: `begin`, `count` rows of some columns (None: none so far), and `more`.

    A column has one row more: torch takes the gradient of one trip also where a loop makes none.

    read: elements that the program has read, each with its index and what the list was made of then: read once more,
    and in the list when it is given back, each is the same object.
    """

    def __init__(self, begin: list[Any], name: str) -> None:
        self.begin = begin
        self.columns: Columns | None = None
        self.count: Any = 0
        self.more: list[Any] = []
        self.read: list[Any] = []
        self.loops = 0  # that have filled it
        self.name = name

    def append(self, item: Any) -> None:
        take_apart(item, self.name)
        (self.begin if self.columns is None else self.more).append(item)

    def extend(self, items: Any) -> None:
        _add_all(self, items)


class Appending:
    """The list inside of a trip.

    one: the list as the loop finds it; count: how many rows have come so far. The count stays a tensor (Inductor would
    forget to read a number that only tells where a row is put).
    window: what its last elements have travelled as, as many as trips ask for (None: there has been no element yet).
    """

    def __init__(self, one: Growing, count: torch.Tensor, window: Columns | None, columns: Columns | None) -> None:
        self.one = one
        self.name = one.name
        self.count = count
        self.window = window
        self.columns = columns

    def append(self, item: Any) -> None:
        row = take_apart(appended(item, self.name, True, self), self.name)
        if self.window is not None:
            self.window = tuple([_shifted(self.window[k], row[k]) for k in range(len(self.window))])
        if self.columns is not None:
            filled: Columns = ()
            for k in range(len(row)):
                position = self.count.reshape(1).to(row[k].device)
                filled += (torch.index_copy(self.columns[k], 0, position, row[k].unsqueeze(0)),)
            self.columns = filled
        self.count = self.count + 1

    def extend(self, items: Any) -> None:
        _add_all(self, items)


def _add_all(one: Growing | Appending, items: Any) -> None:
    for k in range(len(items)):
        for earlier in items[:k]:
            if isinstance(earlier, torch.Tensor) and same_object(earlier, items[k]):
                refuse("AG311", "a list that grows in a loop on data takes one tensor twice", "append a clone")
        one.append(items[k])


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
    return len([value for value in values if _is_list(value)]) > 0


def _is_list(value: Any) -> bool:
    return isinstance(value, (Growing, Appending))


def run_filling(
    run: Callable[..., State],
    test: Callable[[State], Any],
    trip: Callable[[State], State],
    state: State,
    rebound: int,
    fixed: int,
    entered: bool | torch.Tensor,
    owners: tuple[list[Any], ...] = (),
    pure: bool = False,
) -> State:
    """The staged loop `run` (see loop.run_with_writes) over a state with such lists: twice, to count and to fill.

    Lists that a loop around this one fills, and already counts, are carried.

    owners: lists that stay the objects that they are (grown.py), and grow in the loop.
    pure: whether it is run to count for other lists, and these are to stay as they are.
    """
    count = len(state) - fixed
    mutated: State = state[rebound:count]
    named: tuple[Any, ...] = tuple([value for value in mutated if _is_list(value)])
    lists: tuple[Any, ...] = (*named, *[attached(owner) for owner in owners])
    others = tuple([value for value in mutated if not _is_list(value)])
    number = len(lists)

    def whole(before: State) -> State:
        """The state with what stands for the lists: behind the rebound values is what each of them carries."""
        inside: State = ()
        for k in range(number):
            one = lists[k]
            inside += (Appending(one if isinstance(one, Growing) else one.one, *before[rebound + k]),)
        stand_behind(owners, inside[len(named) :])
        given = before[rebound + number :]
        return (*before[:rebound], *_in_order(mutated, inside, given[: len(others)]), *given[len(others) :])

    def again(rooms: tuple[Columns | None, ...], pure: bool) -> State:
        extra = tuple([_carried(lists[k], rooms[k]) for k in range(number)])
        begin = (*state[:rebound], *extra, *others, *state[count:])

        def one_trip(before: State) -> State:
            inside = whole(before)
            filled = [one for one in inside[rebound:count] if isinstance(one, Appending)]
            filled += [behind(owner) for owner in owners]
            after = trip(inside)
            carried = [(filled[k].count, filled[k].window, filled[k].columns) for k in range(number)]
            written = [after[rebound + k] for k in range(len(mutated)) if not _is_list(mutated[k])]
            return (*after[:rebound], *carried, *written, *after[len(after) - fixed :])

        return run(lambda s: test(whole(s)), one_trip, begin, rebound + number, fixed, entered, pure=pure)

    counted = [k for k in range(number) if isinstance(lists[k], Growing)]
    nothing: tuple[Columns | None, ...] = (None,) * number
    if counted:
        first = _count(lambda: again(nothing, True), tuple([lists[k].name for k in counted]))
    if counted and pure:
        final = first
    elif counted:
        rooms = tuple([_room_for(lists[k], first[rebound + k][0]) for k in range(number)])
        notes.mute(True)
        final = again(rooms, False)
        notes.mute(False)
    else:
        final = again(nothing, pure)
    for k in range(number):
        if not (pure and isinstance(lists[k], Growing)):
            _take(lists[k], *final[rebound + k])
    for k in range(len(owners)):
        if isinstance(lists[len(named) + k], Growing) and not pure:
            _put_behind(owners[k], lists[len(named) + k])
    given = final[rebound + number :]
    return (*final[:rebound], *_in_order(mutated, named, given[: len(others)]), *given[len(others) :])


def _count(run: Callable[[], State], names: tuple[str, ...]) -> State:
    """What the loop gives the first time, once it is known what it asks of the lists."""
    place = surrounding_effects()
    while True:
        tokens = tokens_of(place)
        notes.begin_windows(names)
        first = run()
        if notes.windows_suffice(names):
            return first
        take_back(place, tokens)


def _carried(one: Growing | Appending, room: Columns | None) -> tuple[torch.Tensor, Columns | None, Columns | None]:
    """What a loop begins with for a list: a count, a window, and the columns to fill."""
    if isinstance(one, Appending):
        return one.count, one.window, one.columns
    return torch.zeros((), dtype=torch.int64), _window(one), room


def _room_for(one: Growing | Appending, count: torch.Tensor) -> Columns | None:
    if isinstance(one, Appending):
        return None
    size = count.item()
    torch._check(size >= 0)
    return _room(one.name, size + 1)


def attached(owner: list[Any]) -> Growing | Appending:
    """What takes the place of a list's contents from here on."""
    known = behind(owner)
    if _is_list(known):
        return known  # type: ignore[no-any-return]
    made = growing_list(owner)
    _put_behind(owner, made)
    return made  # type: ignore[no-any-return]


def _room(name: str, size: Any) -> Columns:
    known = notes.columns_of(name)
    return tuple([torch.zeros((size, *shape), dtype=dtype, device=device) for shape, dtype, device in known])


def _put_behind(owner: list[Any], one: Growing) -> None:
    put_behind(owner, (one.begin, *_filled(one), one.more, one.read, one.loops), one)


def _filled(one: Growing) -> tuple[Columns | None, int]:
    """What has come in loops, and how to build elements of it."""
    if one.columns is None:
        return None, 0
    return _narrowed(one.columns, 0, one.count), builder(one.name)


def _narrowed(columns: Columns, start: Any, count: Any) -> Columns:
    return tuple([columns[k].narrow(0, start, count) for k in range(len(columns))])


def _in_order(mutated: State, lists: State, others: State) -> State:
    """What trips write to, in the order in which they know it."""
    found: State = ()
    for value in mutated:
        if _is_list(value):
            found, lists = (*found, lists[0]), lists[1:]
        else:
            found, others = (*found, others[0]), others[1:]
    return found


def _window(one: Growing) -> Columns | None:
    """The last elements, as many as the loop is known to ask for, behind zeros where there are not so many."""
    asked = notes.provided(one.name)
    if asked < 0:
        return None
    room = _room(one.name, asked)
    if asked == 0:
        return room
    if one.columns is None:
        rows = [room, *_rows(one.begin[-asked:], one.name)]
        return _narrowed(_joined(rows), len(rows) - 1, asked)
    size = _length(one)
    return _narrowed(_joined([room, _narrowed(_all(one), 0, size)]), size, asked)


def _shifted(window: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
    return torch.cat([window, row.unsqueeze(0)]).narrow(0, 1, window.shape[0])


def _take(one: Growing | Appending, count: torch.Tensor, window: Columns | None, columns: Any) -> None:
    """What a loop has filled."""
    if isinstance(one, Appending):
        one.count, one.window, one.columns = count, window, columns
        return
    columns = tuple([columns[k].clone() for k in range(len(columns))])  # with gradients: a part of all that is kept
    number: Any = columns[0].shape[0] - 1
    if one.columns is not None:
        columns = _joined([_narrowed(one.columns, 0, one.count), *_rows(one.more, one.name, True), columns])
        number = one.count + len(one.more) + number
    one.columns = columns
    one.count = number
    one.more = []
    one.loops += 1


def _length(one: Growing) -> Any:
    return len(one.begin) + one.count + len(one.more)


def _all(one: Growing) -> Columns:
    """All elements as columns of their own, and a row more."""
    assert one.columns is not None
    if not one.begin and not one.more:
        return tuple([one.columns[k].clone() for k in range(len(one.columns))])
    room = tuple([torch.zeros_like(one.columns[k].narrow(0, 0, 1)) for k in range(len(one.columns))])
    begin, more = _rows(one.begin, one.name), _rows(one.more, one.name)
    return _joined([*begin, _narrowed(one.columns, 0, one.count), *more, room])


def _rows(items: list[Any], name: str, stay: bool = False) -> list[Columns]:
    """Elements as columns of one row. `stay`: they are rows of the list from here on."""
    rows = [take_apart(appended(items[k], name, stay), name) for k in range(len(items))]
    return [tuple([rows[k][c].unsqueeze(0) for c in range(len(rows[k]))]) for k in range(len(rows))]


def _joined(parts: list[Columns]) -> Columns:
    return tuple([torch.cat([parts[k][c] for k in range(len(parts))]) for c in range(len(parts[0]))])


def _at(columns: Columns, k: Any) -> Columns:
    return tuple([columns[c].select(0, k) for c in range(len(columns))])


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
        if one.window is None:
            notes.ask(one.name, 0)
        return _length(one.one) + (one.count.item() if notes.is_known_row(one.name) else 0)
    return _length(one) if isinstance(one, Growing) else len(one)


def element(one: Any, index: int) -> Any:
    """`one[index]`."""
    one = behind(one)
    if isinstance(one, Appending):
        return _element_inside(one, index)
    if not isinstance(one, Growing):
        return one[index]
    if one.columns is None or 0 <= index < len(one.begin):
        return one.begin[index]
    if -len(one.more) <= index < 0:
        return one.more[index]
    if not notes.is_outermost():  # nothing that a body has made is known behind it
        return _read(_found(one, index), one.name)
    state = (one.loops, len(one.begin), len(one.more))
    for k in range(len(one.read)):
        if one.read[k][0] == index and one.read[k][1] == state:
            return one.read[k][2]
    item = _read(_found(one, index), one.name)
    one.read.append((index, state, item))
    return item


def _found(one: Growing, index: int) -> Any:
    """An element that may be a row: which one, data tell."""
    away = -index - len(one.more) if index < 0 else index - len(one.begin)
    if index < 0:
        ends = [(away - k, one.begin[-k]) for k in range(1, min(away, len(one.begin)) + 1)]
    else:
        ends = [(away - k, one.more[k]) for k in range(min(away + 1, len(one.more)))]
    if len(ends) <= _MOST_ENDS and all([_is_plain(item) for _, item in ends]):
        return cond(
            one.count >= away if index < 0 else one.count > away,
            lambda: element_at(one, one.count - away if index < 0 else away),
            lambda: _end_at(one, ends, 0),
        )
    columns, size = _all(one), _length(one)
    there = size > index if index >= 0 else size >= -index
    return cond(
        there,
        lambda: put_together(_at(columns, index if index >= 0 else size + index), one.name, True),
        lambda: fail(IndexError, "list index out of range"),
    )


def _end_at(one: Growing, ends: list[tuple[int, Any]], k: int) -> Any:
    """An element from in front of the rows or behind them, itself: the one that stands beside their number."""
    if k == len(ends):
        return fail(IndexError, "list index out of range")
    count, item = ends[k]
    if count == 0:
        return item
    return cond(one.count == count, lambda: item, lambda: _end_at(one, ends, k + 1))


def _is_plain(item: Any) -> bool:
    """Whether it is made of tensors and numbers: what a branch can give as it is."""
    if isinstance(item, tuple):
        return all([_is_plain(item[k]) for k in range(len(item))])
    return isinstance(item, (torch.Tensor, int, float))


def _element_inside(one: Appending, index: int) -> Any:
    """An element of the list that a loop fills, in the loop."""
    if 0 <= index < len(one.one.begin):
        return one.one.begin[index]
    if index >= 0 or not notes.is_known_row(one.name):
        message = "a loop on data reads an element of a list that it fills, which may not be there yet"
        refuse(
            "AG311", message, "read its last elements, behind a test as `if xs` or in a list that does not begin empty"
        )
    window = _asked_window(one, -index)
    size = _length(one.one)
    there = size + one.count >= -index
    if len(one.one.begin) + len(one.one.more) >= -index:
        return put_together(_at(window, index), one.name, True)
    return cond(
        there,
        lambda: put_together(_at(window, index), one.name, True),
        lambda: fail(IndexError, "list index out of range"),
    )


def _asked_window(one: Appending, asked: int) -> Columns:
    """The last elements inside of a trip; zeros when not so many of them are known yet."""
    notes.ask(one.name, asked)
    known = one.window is not None and notes.provided(one.name) >= asked
    return one.window if known else _room(one.name, asked)  # type: ignore[return-value]


def elements_of(one: Any) -> Any:
    """What a loop runs over."""
    one = behind(one)
    if not isinstance(one, Growing):
        return one
    if one.columns is None:
        return one.begin
    columns = _all(one)
    ends = len(one.begin) + len(one.more) > 0
    return Sequence(_length(one), lambda k: _read(put_together(_at(columns, k), one.name, ends), one.name), False)


def rows_of(one: Growing) -> Sequence:
    """What has come in loops."""
    return Sequence(one.count, lambda k: _read(element_at(one, k), one.name), False)


def _read(item: Any, name: str) -> Any:
    note_read(item, name)
    return item


def element_at(one: Growing, k: Any) -> Any:
    """What has come in loops, by its position."""
    assert one.columns is not None
    return put_together(_at(one.columns, k), one.name)


def part(one: Any, start: int | None, stop: int | None) -> Any:
    """`one[start:stop]`."""
    found = behind(one)
    if isinstance(found, Appending):
        return _part_inside(found, start, stop)
    if not isinstance(found, Growing):
        return one[start:stop]
    made = Growing([], found.name)
    if stop is None and 0 <= (start or 0) <= len(found.begin):  # the elements themselves
        made.begin, made.columns, made.count, made.more = found.begin[start:], found.columns, found.count, [*found.more]
        return owned(made)
    _put_among_rows(found)
    size = _length(found)
    first = _place(0 if start is None else start, size)
    count = max(_place(size if stop is None else stop, size) - first, 0)
    made.columns = _narrowed(_all(found), first, count + 1)
    made.count = count
    return owned(made)


def _part_inside(one: Appending, start: int | None, stop: int | None) -> Any:
    """`one[-3:]`, in the loop that fills it."""
    if start is None or start >= 0 or stop is not None:
        return refuse("AG311", "a loop on data reads a part of a list that it fills, which is not its end", ADVICE)
    if not notes.is_known_row(one.name):
        notes.ask(one.name, 0)
        return []
    made = Growing([], one.name)
    count = min((_length(one.one) + one.count).item(), -start)
    window = _asked_window(one, -start)
    made.columns = _joined([_narrowed(window, -start - count, count), _room(one.name, 1)])
    made.count = count
    return owned(made)


def backwards(one: Any) -> Any:
    """`one[::-1]`."""
    found = behind(one)
    if isinstance(found, Appending):
        return refuse("AG311", "a loop on data turns a list around that it fills", ADVICE)
    return owned(_turned(found)) if isinstance(found, Growing) else one[::-1]


def copied(one: Any) -> list[Any]:
    """`list(one)`; what has not grown may be a tuple, or an iterator, which is no list and has no parts."""
    return part(one, None, None) if isinstance(behind(one), (Growing, Appending)) else list(one)


def copied_backwards(one: Any) -> list[Any]:
    """`list(reversed(one))`."""
    return backwards(one) if isinstance(behind(one), (Growing, Appending)) else list(reversed(one))


def reverse(owner: list[Any]) -> None:
    """`owner.reverse()`."""
    found = behind(owner)
    if isinstance(found, Appending) or not notes.is_outermost():
        refuse("AG311", "a branch or loop turns a list around that has grown in a loop on data", "write `xs[::-1]`")
    _put_behind(owner, _turned(found))


def _turned(one: Growing) -> Growing:
    made = Growing([], one.name)
    size = _length(one)
    if one.columns is None:
        made.begin = one.begin[::-1]
        return made
    _put_among_rows(one)
    rows = tuple([column.flip(0) for column in _narrowed(_all(one), 0, size)])
    made.columns = _joined([rows, _room(one.name, 1)])
    made.count = size
    return made


def _put_among_rows(one: Growing) -> None:
    """From here on rows of a list of this name may be what the list begins or ends with."""
    for item in [*one.begin, *one.more]:
        appended(item, one.name, True)


def _place(index: Any, size: Any) -> Any:
    """Where a slice of a list of this size begins or ends."""
    return max(size + index, 0) if index < 0 else min(index, size)


def owned(one: Growing) -> list[Any]:
    """A list of its own with these elements."""
    made: list[Any] = []
    _put_behind(made, one)
    return made


def numbers_of(values: torch.Tensor) -> list[Any]:
    """`values.tolist()` of a vector whose length data tell. (While tracing.)"""
    made = Growing([], notes.new_list())
    column = values.detach().to("cpu", notes.begin_numbers(made.name, values.dtype))
    made.columns = (torch.cat([column, column.new_zeros(1)]),)
    made.count = values.shape[0]
    return owned(made)


def stacked(one: Any, dim: int = 0) -> Any:
    """`torch.stack(one, dim)`."""
    one = behind(one)
    if not isinstance(one, Growing) or one.columns is None:
        return torch.stack(one.begin if isinstance(one, Growing) else one, dim)
    rows = _elements(one).movedim(0, dim).clone(memory_format=torch.contiguous_format)
    if one.begin or one.more:
        return rows
    return cond(one.count > 0, lambda: rows, lambda: fail(RuntimeError, "stack expects a non-empty TensorList"))


def concatenated(one: Any, dim: int = 0) -> Any:
    """`torch.cat(one, dim)`."""
    one = behind(one)
    if not isinstance(one, Growing) or one.columns is None:
        return torch.cat(one.begin if isinstance(one, Growing) else one, dim)
    rows = _elements(one)
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
    if not isinstance(one, Growing) or one.columns is None:
        return torch.tensor(one.begin if isinstance(one, Growing) else one)
    if not notes.rows_are_numbers(one.name):
        refuse("AG311", "torch.tensor of a list of tensors", "use torch.stack")
    rows = _all(one)[0].narrow(0, 0, _length(one))
    if rows.is_floating_point():
        return rows.to(torch.get_default_dtype())
    if not one.begin and not one.more:
        number = notes.refused_when_run(
            "AG310", _EMPTY, "ask for its length before; under @autograph such a call runs in Python"
        )
        cond(one.count == 0, lambda: fail_with(number))
    return rows.clone()


def _elements(one: Growing) -> torch.Tensor:
    """All elements, which are tensors, as one."""
    if not notes.rows_are_tensors(one.name):
        refuse("AG311", "a list of numbers or rows is taken for one of tensors", "use torch.tensor, or take one column")
    return _all(one)[0].narrow(0, 0, _length(one))


def listed(one: Any) -> Any:
    """The list itself, to be returned: Python makes it of the columns when the graph has run."""
    if not isinstance(one, Growing):
        return one
    if one.columns is None:
        return list(one.begin)
    return as_list(one.begin, *_filled(one), one.more, one.read, one.loops)


def as_list(
    begin: list[Any],
    columns: Columns | None,
    form: int,
    more: list[Any],
    read: list[Any],
    loops: int,
    found: Any = None,
) -> Any:
    """The value that is made behind the graph. (Filled in by the tracer, capture/growing.py.)"""
    return found


def unbound(
    begin: list[Any], columns: Columns | None, form: int, more: list[Any], read: tuple[tuple[int, Any], ...] = ()
) -> list[Any]:
    """What runs behind the graph. `read`: elements that the call gives in other places, too, with their indices."""
    made = [*begin, *([] if columns is None else built(columns, form)), *more]
    for index, item in read:
        if -len(made) <= index < len(made):
            made[index] = item
    return made
