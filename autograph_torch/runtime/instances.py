"""Objects of plain classes that a branch or loop gives: taken apart into their attributes, and put together again.

    if p:                                  v = Vector(x, y)        made in the body, so nobody tells a copy
        v = Vector(x, y)
    else:
        v = Vector(y, x)
    return v.x + v.y

`__init__` has run where the object was made; the copy gets the attributes as they were at the end of the body.
"""

from __future__ import annotations

from typing import Any


def own_attributes(value: Any, found: tuple[str, ...] | None = None) -> tuple[str, ...] | None:
    """The attributes of an object that the code under trace has made itself; None for any other.

    (Filled in by the tracer, capture/standing_in.py.)
    """
    return found


def extra_attributes(table: Any, found: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The attributes of an OrderedDict, such as `module.state_dict()._metadata`, or of a tuple of another class.

    (Filled in by the tracer.)
    """
    return found


def attributed(table: Any, attributes: dict[str, Any]) -> Any:
    """An OrderedDict with these attributes."""
    for name in attributes:
        setattr(table, name, attributes[name])
    return table


def put_together(kind: type, names: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    """An object of a class with these attributes."""
    made: Any = object.__new__(kind)
    for k in range(len(names)):
        object.__setattr__(made, names[k], values[k])
    return made


def copied(value: Any) -> Any:
    """A frozen dataclass or a named tuple, put together again, which may be one from before. (Noted by the tracer.)"""
    return value


def note_replaced(before: Any, after: Any) -> None:
    """A loop has begun with objects and ended with others, which are the same in eager where it makes no trip.

    (Noted by the tracer for all that is in the two values: once one is written to, the other may not be used.)
    """


def note_handed(
    site: str, value: Any, around: tuple[Any, ...] = (), inside: tuple[Any, ...] = (), held: tuple[Any, ...] = ()
) -> None:
    """At the end of a body: which of its results are lists or dicts from around it, or what stands `inside` of it for
    one `around` it. `held`: what it hands out besides. (Noted by the tracer.)
    """


def note_results(site: str, value: Any, flag: Any = None, held: tuple[Any, ...] = ()) -> None:
    """Behind an operator: its results, which may be those lists and dicts in eager. (Noted by the tracer.)"""
