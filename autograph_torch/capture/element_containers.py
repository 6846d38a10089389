"""Lists and dicts in elements of lists that grow in a loop on data: copies, where eager has one object.

    while y > 1:
        xs.append({"y": y})      `xs[-1]` is made of a row of tensors in the graph; in eager it is in the list
        y = y / 2
    return xs, xs[-1]

Behind the graph Python puts what has been read outside of branches into the list (capture/elements.py). Two that have
been read, one that a branch or loop has given, one beside a list that the loop has not filled alone, and two lists with
the same elements may be one in eager for some data, and are refused when the call gives them.
"""

from __future__ import annotations

import itertools
from typing import Any

from torch.fx import GraphModule

from autograph_torch.capture.elements import containers, given_back, refuse
from autograph_torch.runtime import notes, tracing
from autograph_torch.runtime.layout import has_objects


def note_read(item: Any, name: str) -> None:
    """The program has read an element of a list."""
    _read_containers().update((one, (name, k)) for k, one in enumerate(containers(item)))


def note_taken(item: Any, name: str) -> None:
    """A list takes a list or dict: where another one has given it, the two have elements in common."""
    place = _read_containers().get(item)
    if place is not None:
        _sources()[_source(name)] = _source(place[0])


def note_given(container: Any) -> None:
    """A list or dict is written behind the graph."""
    if container in _read_containers():
        tracing.notebook().setdefault("containers given back", {})[container] = None


def note_handed(results: Any) -> None:
    """A body of an operator has these results."""
    known = _read_containers()
    if known:
        _handed().update(known[one][0] for one in containers(results) if one in known)


def _handed() -> set[str]:
    """The lists of which a branch or loop gives a list or dict that has come out of an element."""
    return tracing.notebook().setdefault("containers handed out", set())  # type: ignore[no-any-return]


def _source(name: str) -> str:
    """The list whose elements those of another may be."""
    while _sources().get(name, name) != name:
        name = _sources()[name]
    return name


def _sources() -> dict[str, str]:
    return tracing.notebook().setdefault("sources of lists", {})  # type: ignore[no-any-return]


def _read_containers() -> dict[Any, tuple[Any, ...]]:
    """The lists and dicts that have come out of elements of lists: each with its place."""
    return tracing.notebook().setdefault("containers of elements", {})  # type: ignore[no-any-return]


def check_containers(module: GraphModule) -> None:
    """Refuse to give back two lists or dicts that may be one in eager; of what a branch or loop gives nobody knows.

    Raises:
        CaptureError: AG314, at the results of the graph.
    """
    (output,) = module.graph.find_nodes(op="output")
    places = _read_containers()
    handed = {_source(name) for name in _handed()}
    given = [(one, *places[one]) for one in tracing.notebook().get("containers given back", ())]
    for (_, name, k), (_, other, m) in itertools.combinations(given, 2):
        if _source(name) == _source(other) and (name != other or k == m):
            refuse(output, "which may be one with another that it gives back")
    if any(_source(name) in handed for _, name, _ in given):
        refuse(output, "which may be one with another that it gives back")
    sources: set[str] = set()
    for listed in given_back():
        if not listed.name or not has_objects(notes.row_plan(listed.name)):
            continue
        source = _source(listed.name)
        beside = (one for one, name, _ in given if _source(name) == source)
        if not listed.told or source in handed or any(one not in listed.containers for one in beside):
            refuse(output, "and the list, too")
        if source in sources:
            refuse(output, "in two lists")
        sources.add(source)
