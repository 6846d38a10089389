"""`range`, `enumerate` and `zip` whose length may depend on data.

Outside a trace, and where all bounds are known, they are Python's own. Otherwise they give a Sequence: a length and a
function from position to element, which is all that a loop in the graph needs.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_false

from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail
from autograph_torch.runtime.predicate import is_data_dependent
from autograph_torch.runtime.queries import tolist
from autograph_torch.runtime.refusal import refuse

_RAISES = "an iterator raises at an element that eager comes to behind other trips, or not at all"
_NO_STEP = "range() arg 3 must not be zero"


@dataclass(frozen=True)
class Sequence:
    """Elements by position, and how many; `known` when the length is a Python constant."""

    length: Any
    item: Callable[[Any], Any]
    known: bool


def range_(*bounds: Any) -> Any:
    """`range(...)` whose bounds may be tensors or numbers that depend on data."""
    if not torch.compiler.is_compiling():
        return builtins.range(*bounds)
    numbers = [whole_number(bound) for bound in bounds]
    start, stop = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
    step = numbers[2] if len(numbers) > 2 else 1
    if not any(is_data_dependent(number) for number in numbers):
        known = builtins.range(start, stop, step)
        return Sequence(len(known), lambda k: start + k * step, True)
    length = -((start - stop) // nonzero(step))  # rounded up, whatever the sign of the step
    return Sequence(length, lambda k: start + k * step, False)


def nonzero(step: Any) -> Any:
    """The step of a range, which Python refuses when it is zero; here it is something else then."""
    if not is_data_dependent(step):
        if step == 0:
            raise ValueError(_NO_STEP)
        return step
    found = torch.scalar_tensor(step, dtype=torch.int64)
    cond(found == 0, lambda: fail(ValueError, _NO_STEP))
    return torch.where(found == 0, 1, found).item()


def whole_number(given: Any) -> Any:
    """`operator.index(given)`: what Python makes of a bound, or of where to begin to count."""
    if isinstance(given, torch.Tensor):
        if given.is_floating_point() or given.is_complex() or guard_or_false(given.numel() != 1):
            raise TypeError("only integer tensors of a single element can be converted to an index")
        # Of a copy: a tensor remembers its number, and a second attempt at a branch needs a symbol of its own.
        given = given.clone().item()
    return int(given) if isinstance(given, int) else operator.index(given)


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """`enumerate(...)` of something whose length may depend on data."""
    if not torch.compiler.is_compiling() or not isinstance(iterable, (Sequence, torch.Tensor)):
        return builtins.enumerate(iterable, start)
    start = whole_number(start)
    iterable = as_sequence(iterable)
    return Sequence(iterable.length, lambda k: (start + k, iterable.item(k)), iterable.known)


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip(...)` where a length may depend on data; the shortest counts."""
    if not torch.compiler.is_compiling() or not any(isinstance(i, (Sequence, torch.Tensor)) for i in iterables):
        return builtins.zip(*iterables, strict=strict)
    found = [staged(iterable) for iterable in iterables]
    if None in found and all(part is None or part.known for part in found):
        # Trips may make a list longer: Python tells where it ends.
        pairs = builtins.zip(iterables, found, strict=True)
        return builtins.zip(*[one if part is None else list(elements(part)) for one, part in pairs], strict=strict)
    parts = [as_sequence(iterable) for iterable in iterables]
    if strict and not all(part.known for part in parts):
        refuse("AG320", "zip(strict=True) over lengths that depend on data", "compare the lengths before the loop")
    if strict and any(part.length != parts[0].length for part in parts):
        # Python raises behind the trips of the shortest.
        return builtins.zip(*[list(elements(part)) for part in parts], strict=True)
    length = parts[0].length
    for part in parts[1:]:
        length = min(length, part.length)
    return Sequence(length, lambda k: tuple(part.item(k) for part in parts), all(part.known for part in parts))


def numbers(values: Any) -> Any:
    """`values.tolist()`, to run over; a tensor may have a size that depends on data."""
    known = not isinstance(values, torch.Tensor) or values.ndim != 1 or not is_data_dependent(values.shape[0])
    if known or not torch.compiler.is_compiling():
        return tolist(values)
    return Sequence(values.shape[0], lambda k: values.select(0, k).item(), False)


def rolled(iterable: Any) -> Any:
    """What a loop in the graph runs over, also where the number of its trips is known."""
    if not torch.compiler.is_compiling():
        return iterable
    found = staged(_as_rows(iterable))
    return iterable if found is None else Sequence(found.length, found.item, False)


def _as_rows(iterable: Any) -> Any:
    """A list of integers, some of which depend on data, as something that the graph can index."""
    if not isinstance(iterable, list) or not all(
        isinstance(one, int) and not isinstance(one, bool) for one in iterable
    ):
        return iterable
    if not any(is_data_dependent(one) for one in iterable):
        return iterable
    rows = torch.stack([torch.scalar_tensor(item, dtype=torch.int64) for item in iterable])
    return Sequence(len(iterable), lambda k: rows.select(0, k).item(), True)


class Once:
    """The iterable of a block that is run once and may be left early."""


def once() -> Any:
    """One trip: for a `with` or `try` that data may return from."""
    return Once() if torch.compiler.is_compiling() else (None,)


def as_sequence(iterable: Any) -> Sequence:
    """A tensor, list or Sequence as elements by position."""
    if isinstance(iterable, Sequence):
        return iterable
    if isinstance(iterable, torch.Tensor):
        if iterable.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return Sequence(iterable.shape[0], lambda k: _row(iterable, k), not is_data_dependent(iterable.shape[0]))
    items = [item for _, item in taken(iterable)]
    end_trips()
    return Sequence(len(items), lambda k: items[k], True)


def _row(rows: torch.Tensor, k: Any) -> torch.Tensor:
    """A view, as in eager: of `unbind`, so that autograd refuses to write into it where eager's does."""
    may_have_gradient = rows.is_floating_point() or rows.is_complex()
    return rows.narrow(0, k, 1).unbind()[0] if may_have_gradient else rows.select(0, k)


def staged(iterable: Any) -> Sequence | None:
    """The Sequence that a loop in the graph runs over; None when Python can run over it while tracing."""
    if isinstance(iterable, Sequence):
        return iterable
    if isinstance(iterable, torch.Tensor) and torch.compiler.is_compiling() and iterable.ndim > 0:
        return as_sequence(iterable)
    return None


def elements(iterable: Any) -> Iterable[Any]:
    """Elements one by one, for a loop that Python runs."""
    if isinstance(iterable, Sequence):
        return (iterable.item(k) for k in builtins.range(iterable.length))
    return iterable


Element = tuple[int, Any]  # of a loop that takes all of them before its first trip, with a number of its own


def taken(iterable: Any) -> list[Element]:
    """All elements, before the first trip of a loop that data may leave early (capture/taken_elements.py)."""
    begin_taking(iterable)
    found = []
    try:
        for item in elements(iterable):
            found.append((number_of_taken(), item))
    except Exception:
        refuse_ahead()
    end_taking()
    return found


def refuse_ahead() -> None:
    """What an iterator raises when its elements are taken comes too early."""
    refuse("AG320", _RAISES, "raise in the loop, under a test")


def at_its_trip(element: Element) -> Any:
    """An element when its trip begins."""
    number, item = element
    return what_is_there(number, item)


def begin_taking(iterable: Any) -> None:
    """From here on, all its elements are taken. (Noted by the tracer.)"""


def number_of_taken(found: int = 0) -> int:
    """A number for the element that has just been taken. (Filled in by the tracer.)"""
    return found


def end_taking() -> None:
    """They have been taken, whatever the data. (Noted by the tracer.)"""


def what_is_there(number: int, item: Any) -> Any:
    """An element when its trip begins: trips before may have put others in its place. (Filled in by the tracer.)"""
    return item


def check_end(items: list[Element]) -> None:
    """A loop ends behind the last of the elements that were taken: eager comes to what was added meanwhile."""
    if items:
        what_is_there(*items[-1])


def end_trips() -> None:
    """The trips have been made for which they were taken. (Noted by the tracer.)"""


def continued(values: Any, given: int | None, backwards: int | None) -> Any:
    """An iterator over a list or deque that has given so many elements; None: it has come to the end, and stays there.

    backwards: how many there are to give from behind.
    """
    turn: Any = builtins.iter if backwards is None else builtins.reversed
    if not isinstance(values, list):
        found = turn(values)
        return type(found)(values, len(values) if given is None else given)
    found = turn(values if given is not None else [])
    if given is None:
        next(found, None)
    else:
        found.__setstate__(given if backwards is None else backwards - 1 - given)
    return found


def reversed_(iterable: Any) -> Any:
    """`reversed(...)` of something whose length may depend on data."""
    if not isinstance(iterable, Sequence):
        return builtins.reversed(iterable)
    return Sequence(iterable.length, lambda k: iterable.item(iterable.length - 1 - k), iterable.known)
