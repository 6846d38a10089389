"""Lists, dicts and dataclasses in elements of lists that grow in a loop on data: copies, where eager has one object.

    while y > 1:
        xs.append({"y": y})      `xs[-1]` is made of a row of tensors in the graph; in eager it is in the list
        y = y / 2
    return xs, xs[-1]

Behind the graph Python puts what has been read outside of branches into the list (capture/elements.py). Two that have
been read, one that a branch or loop has given beside the list, one beside what the list begins with, and two lists with
elements in common may be one in eager for some data, and are refused when the call gives them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from torch._guards import TracingContext
from torch.fx import GraphModule

from autograph_torch.capture.elements import containers, given_back, refuse
from autograph_torch.runtime import notes, tracing
from autograph_torch.runtime.layout import has_objects


def note_read(item: Any, name: str, effects: Any) -> None:
    """The program has read an element of a list."""
    _read_containers().update((one, (name, k)) for k, one in enumerate(containers(item, effects)))


def note_taken(item: Any, name: str) -> None:
    """A list takes a list, dict or object: where another one has given it, the two have elements in common."""
    place = _read_containers().get(item)
    if place is None:
        _taken()[item] = name
    else:
        _sources()[_source(name)] = _source(place[0])


def note_given_behind(container: Any) -> None:
    """A list, dict or object is written behind the graph."""
    if TracingContext.try_get() is None:
        return
    if container in _read_containers() or container in _taken():
        tracing.notebook().setdefault("containers given back", {})[container] = None


def note_results(handed: Iterable[tuple[Any, list[Any]]]) -> None:
    """Behind an operator: what takes the place of an object of a body.

    handed: the lists, dicts and objects that bodies have handed out, each with what the operator gives in its place.
    """
    read = _read_containers()
    for item, found in handed if read else ():
        if item in read:
            read.update((one, read[item]) for one in found)


def _source(name: str) -> str:
    """The list whose elements those of another may be."""
    while _sources().get(name, name) != name:
        name = _sources()[name]
    return name


def _sources() -> dict[str, str]:
    return tracing.notebook().setdefault("sources of lists", {})  # type: ignore[no-any-return]


def _taken() -> dict[Any, str]:
    """The lists, dicts and objects that are elements of lists as they are: of which."""
    return tracing.notebook().setdefault("containers taken", {})  # type: ignore[no-any-return]


def _read_containers() -> dict[Any, tuple[Any, ...]]:
    """The lists, dicts and objects that have come out of elements of lists: each with its place."""
    return tracing.notebook().setdefault("containers of elements", {})  # type: ignore[no-any-return]


def check_containers(module: GraphModule) -> None:
    """Refuse to give back two lists, dicts or objects that may be one in eager.

    Raises:
        CaptureError: AG314, at the results of the graph.
    """
    (output,) = module.graph.find_nodes(op="output")
    places = _read_containers()
    known = tracing.notebook().get("containers given back", ())
    given = [(one, *places[one]) for one in known if one in places]
    taken = {_source(_taken()[one]) for one in known if one not in places}
    for (_, name, k), (_, other, m) in itertools.combinations(given, 2):
        if _source(name) == _source(other) and (name != other or k == m):
            refuse(output, "which may be one with another that it gives back")
    if any(_source(name) in taken for _, name, _ in given):
        refuse(output, "which may be one with another that it gives back")
    sources: set[str] = set()
    for listed in given_back():
        if not listed.name or not has_objects(notes.row_plan(listed.name)):
            continue
        source = _source(listed.name)
        beside = (one for one, name, _ in given if _source(name) == source)
        if any(one not in listed.containers for one in beside):
            refuse(output, "and the list, too")
        if source in sources:
            refuse(output, "in two lists")
        sources.add(source)
