"""Lists and dicts from around a branch that its two sides leave with different lengths or keys.

    if x.sum() > 0:             the graph gives x * 2, and which side it was;
        log.append(x * 2)       behind the graph, Python puts [*log, x * 2] or [*log] into the list

As for results of two types (picking.py), Python picks when the graph has run. Until then such a container is *open*:
nothing can be asked of it, for nothing in the graph could answer. What follows may add to it, also under other tests.
Any other use is refused at the line of the branch, and the next trace moves what follows into it (capture/attempts.py).

What is in an open container is told by its content: a list or dict, a Choice of contents, or a tuple of contents, one
after the other. A body that gets an open container works on a copy that is open from the start; the content of the
copy is what the body adds. One that the body has made itself is given with all its contents.

The empty functions are filled in by the tracer (capture/open_contents.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def may_stay_open(found: bool = False) -> bool:
    """Whether there is a Python behind the graph that can pick. (Filled in by the tracer.)"""
    return found


def is_open(container: Any, found: bool = False) -> bool:
    """Whether only data can tell what is in a list or dict. (Filled in by the tracer.)"""
    return found


def is_open_here(container: Any, found: bool = False) -> bool:
    """Whether the body that is being traced has made an open list or dict, and can give its contents. (Filled in.)"""
    return found


def open_like(copy: Any, container: Any) -> None:
    """Let an empty list or dict stand for an open one, whatever is in that. (Done by the tracer.)"""


def open_content(container: Any, found: Any = None) -> Any:
    """The content of an open container. (Filled in by the tracer.)"""
    return found


def open_contents(container: Any) -> tuple[Any, ...]:
    """The contents of an open container, one after the other."""
    content = open_content(container)
    return content if isinstance(content, tuple) else (content,)


def opened(container: Any, contents: tuple[Any, ...]) -> Any:
    """A new list or dict, open from the start."""
    for k in range(len(contents)):
        put_content(container, contents[k])
    return container


def put_content(container: Any, content: Any) -> None:
    """Put a content into a container, or add it to an open one. (Done by the tracer.)"""


def gathered(*contents: Any) -> Any:
    """What runs behind the graph: the list or dict of contents one after the other."""
    pieces = list(_pieces(contents))
    if isinstance(pieces[0], list):
        return [item for piece in pieces for item in piece]
    return {key: value for piece in pieces for key, value in piece.items()}


def _pieces(contents: tuple[Any, ...]) -> Iterator[Any]:
    for content in contents:
        if isinstance(content, tuple):
            yield from _pieces(content)
        else:
            yield content
