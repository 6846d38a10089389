"""Lists that grow in a loop on data, wherever they are: in attributes and dicts, under several names.

    while err > tol:                  before the loop, a Growing (growing.py) takes the place of the list's contents;
        x, err = step(x)              in a trip an Appending does, and behind the loop the Growing again,
        self.errors.append(err)       with the rows that the loop has filled
    return torch.stack(self.errors)

The list stays the object that it is for all that leads to it. What is asked of it is asked of the Growing: the tracer
does that for methods, `len` and indices; the text for the rest (passes/growing.py), by way of `behind`. When the graph
has run, Python puts the elements into the list.

Which lists these are, the first trace of the loop tells: those that a trip leaves longer.

The empty functions are filled in by the tracer (capture/grown.py).
"""

from __future__ import annotations

from typing import Any


class Grows:
    """What a staged loop gives instead of its state, when lists grow in it."""

    def __init__(self, lists: tuple[list[Any], ...]) -> None:
        self.lists = lists


def is_grown(value: Any, found: bool = False) -> bool:
    """Whether a Growing or an Appending has taken the place of a list's contents. (Filled in by the tracer.)"""
    return found


def behind(value: Any, found: Any = None) -> Any:
    """What has taken the place of a list's contents; any other value itself. (Filled in by the tracer.)"""
    return value if found is None else found


def put_behind(owner: list[Any], parts: tuple[Any, ...], growing: Any) -> None:
    """Let a Growing take the place of a list's contents, from here on. (Done by the tracer.)

    parts: what `growing.unbound` makes the list of, behind the graph.
    """


def stand_behind(owners: tuple[list[Any], ...], inside: tuple[Any, ...]) -> None:
    """In the body that is being traced, these take the places of the lists' contents. (Done by the tracer.)"""


def check_given(value: Any) -> None:
    """At the end of a branch: it may not give a list that it has made, and that has grown. (Done by the tracer.)"""


def note_longer(site: str) -> None:
    """At the end of a trip: which lists from around the loop it has left longer. (Noted by the tracer.)"""


def lists_that_grow(site: str, found: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """The lists that `note_longer` has noted. (Filled in by the tracer.)"""
    return found
