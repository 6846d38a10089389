"""Elements that are read from lists whose length data tell: copies, where eager has the tensor that was appended.

    while y > 1:             `xs[-1]` is a row of a tensor in the graph; in eager it is the last `y`, or an argument,
        xs.append(y)         where a trip has appended what it was given
        y = y / 2
    return y, xs[-1]

Nothing tells the two apart but `is`, and what the caller does with them. So it is noted which tensors go into a list
and which come out of it, for each place in its elements. A copy may not leave the call where the caller has the tensor
itself, too: as an argument, as another result, or in the list, unless Python puts the copy into the list. What stands
in front of the rows or behind them is read as it is (runtime/growing.py). The rows of a tensor that a loop runs over
are copies in any case.

Private: PyCodegen.graph_outputs; Dynamo writes the bytecode behind a graph twice, and the first time tells what else
it gives. tests/capture/test_elements.py fails clearly when torch changes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.variables import ConstDictVariable, ListVariable, TensorVariable, UserDefinedObjectVariable
from torch.fx import GraphModule, Node

from autograph_torch.capture.contents import as_tuple
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import (
    Storage,
    argument,
    arguments_of,
    has_gradient,
    is_anchor,
    name_of,
    storage_at,
)
from autograph_torch.capture.leading import Leading
from autograph_torch.capture.parts import parts
from autograph_torch.runtime import tracing

Origins = Callable[[Storage], frozenset[Storage]]  # what a storage may be in eager
Storages = frozenset[Storage]
Tensors = dict[Storage, bool]  # whether all that has been noted of the storage are rows that a loop runs over
Read = list[tuple[Any, Any]]  # an index and an element, as variables

_CONTAINERS = (ListVariable, ConstDictVariable, UserDefinedObjectVariable)
_NOTHING: Storages = frozenset()
_ROW_OF, _READ_OF = "autograph_row_of", "autograph_read_of"  # in the meta of nodes: places in the elements of lists


@dataclass
class _Place:
    """A place in the elements of one list: what it takes, and what is read of it.

    rows, ends: of those that are rows of the list, and of others.
    read_rows, read: what is one of the rows, or any element.
    kept: the tensors, so that no other storage is taken for one of theirs.
    """

    rows: Tensors = field(default_factory=dict)
    ends: Tensors = field(default_factory=dict)
    read_rows: Tensors = field(default_factory=dict)
    read: Tensors = field(default_factory=dict)
    kept: list[torch.Tensor] = field(default_factory=list)

    def sources(self, storage: Storage) -> Tensors:
        """What a tensor that has been read here may be."""
        if storage in self.read:
            return self.ends | self.rows
        return self.rows if storage in self.read_rows else {}


@dataclass
class Given:
    """A list that is given back: its name, and the elements that Python puts into it.

    name: empty where no loop has filled it.
    placed, containers: the tensors, and the lists, dicts and objects, in these elements.
    """

    name: str
    placed: set[Storage]
    containers: set[Any]


def note_element(node: Node, place: tuple[Any, ...], is_read: bool) -> None:
    """A tensor goes into a list, or comes out of one (runtime/rows.py, note_copied)."""
    storage = storage_at(node)
    if storage is None:
        return
    name, which, *path = place
    if is_read or which:
        node.meta.setdefault(_READ_OF if is_read else _ROW_OF, []).append((name, *path))
    known = _places().setdefault((name, *path), _Place())
    tensors = (known.read if which else known.read_rows) if is_read else (known.rows if which else known.ends)
    tensors[storage] = tensors.get(storage, True) and _is_row(node)
    known.kept.append(node.meta["example_value"])


def _is_row(node: Node) -> bool:
    """Whether it is what a loop over the rows of a tensor has for an element (runtime/iteration.py)."""
    if name_of(node) == "getitem":
        (unbound,) = node.all_input_nodes[:1]
        narrowed = unbound.all_input_nodes[0] if name_of(unbound) == "unbind" else None
        return narrowed is not None and name_of(narrowed) == "narrow" and isinstance(argument(narrowed, 2), Node)
    return name_of(node) == "select" and len(node.args) > 2 and isinstance(node.args[2], Node)


def _places() -> dict[tuple[Any, ...], _Place]:
    return tracing.notebook().setdefault("elements of lists", {})  # type: ignore[no-any-return]


def lead_to_one(one: Storage, other: Storage, origins: Origins) -> bool:
    """Whether two tensors may be one in eager because of what a list has held."""
    found = [_behind(each, origins, True) for each in (one, other)]
    by_list = any(behind != origins(each) for behind, each in zip(found, (one, other), strict=True))
    return by_list and bool(found[0] & found[1])


def _behind(storage: Storage, origins: Origins, with_rows: bool) -> Storages:
    """All that a tensor may be, also by way of lists."""
    found: set[Storage] = set()
    waiting = [storage]
    while waiting:
        new = origins(waiting.pop()) - found
        found |= new
        waiting += [source for one in new for source in _sources(one, with_rows)]
    return frozenset(found)


def _sources(storage: Storage, with_rows: bool) -> Iterator[Storage]:
    """What a tensor may be that is read from a list."""
    for place in _places().values():
        yield from (source for source, is_row in place.sources(storage).items() if with_rows or not is_row)


def _copied(storage: Storage, origins: Origins) -> dict[Storage, Storages]:
    """By the elements that a tensor may be: what each of them is a copy of."""
    by_element = {one: [*_sources(one, False)] for one in origins(storage)}
    return {
        one: _NOTHING.union(*(_behind(source, origins, False) for source in sources))
        for one, sources in by_element.items()
        if sources
    }


# -- what the call gives back -----------------------------------------------------------------------------------------


def given_elsewhere(codegen: Any, form: int, read: Read) -> Read:
    """Of the elements of a list that is written behind the graph: those that are results of it, too.

    Dynamo writes all results twice: first it only counts what it comes to; what it has come to more than once is made
    once (private: `uses` and `tempvars`, lists and dicts among them).
    """
    effects = codegen.tx.output.side_effects
    writing = tracing.notebook().setdefault("writers of lists", [])
    if codegen not in writing:
        writing.append(codegen)
    if codegen is writing[0]:
        codegen.uses.update(one for _, item in read for one in containers(item, effects))
        return []
    results = writing[0].graph_outputs

    def is_given(item: Any) -> bool:
        tensors = any(id(one.as_proxy()) in results for one in _tensors(item, effects))
        return tensors or any(one in codegen.tempvars for one in containers(item, effects))

    placed = [(index, item) for index, item in read if is_given(item)]
    name = tracing.notebook().get("builders", {}).get(form, "")
    nodes = [one.as_proxy().node for _, item in placed for one in _tensors(item, effects)]
    tensors = {storage for node in nodes if (storage := storage_at(node)) is not None}
    kept = {one for _, item in placed for one in containers(item, effects)}
    given_back().append(Given(name, tensors, kept))
    return placed


def _within(item: Any, effects: Any) -> Iterator[Any]:
    """An element, and what is in it."""
    item = as_tuple(item.realize())
    yield item
    for _, part in parts(item, effects) or ():
        yield from _within(part, effects)


def _tensors(item: Any, effects: Any) -> Iterator[TensorVariable]:
    return (one for one in _within(item, effects) if isinstance(one, TensorVariable))


def containers(item: Any, effects: Any) -> Iterator[Any]:
    """The lists, dicts and objects in an element."""
    return (one for one in _within(item, effects) if isinstance(one, _CONTAINERS))


def given_back() -> list[Given]:
    return tracing.notebook().setdefault("lists given back", [])  # type: ignore[no-any-return]


def check_elements(module: GraphModule, origins: Origins) -> None:
    """Refuse to give back copies of elements, also in lists, where the caller has the element itself as well.

    Raises:
        CaptureError: AG314, at what gives the copy.
    """
    (output,) = module.graph.find_nodes(op="output")
    results = [one for one in dict.fromkeys(arguments_of(output)[0]) if storage_at(one) is not None]
    inputs = [*module.graph.find_nodes(op="placeholder"), *module.graph.find_nodes(op="get_attr")]
    given = {storage for node in inputs if (storage := storage_at(node)) is not None}
    storages = {one: storage_at(one) or 0 for one in results}
    copied = {one: _copied(storages[one], origins) for one in results}
    for result in results:
        sources = _NOTHING.union(*copied[result].values())
        if sources & given:
            refuse(result, "which may be a tensor from before the call")
        if sources & _in_lists(storages[result], origins):
            refuse(result, "and the list, too")
    lists = [_held({one.name}, origins) for one in given_back()]
    if any(one & other for one, other in itertools.combinations(lists, 2)):
        refuse(output, "in two lists")
    for held in lists:
        if held & given or any(held & origins(storages[one]) for one in results if not copied[one]):
            message = (
                "a list whose length depends on data is given back with a tensor in it that the caller has elsewhere"
            )
            raise capture_error_at(output, "AG314", message, "append a clone of it")
    _check_records(module, [node for node in inputs if has_gradient(node) and not is_anchor(node)])
    for one, other in itertools.permutations(results, 2):
        direct = origins(storages[other])
        for element, sources in copied[one].items():
            beside = [also for copy, also in copied[other].items() if copy != element]
            if storages[one] != storages[other] and sources & direct.union(*beside):
                refuse(one, "which may be one with another tensor that it gives back")


def _check_records(module: GraphModule, leaves: list[Node]) -> None:
    """Refuse to use rows of a list one by one when only some record a gradient: in the graph they are one tensor.

    leaves: what the caller may differentiate by; any of them is as good as another.
    """
    if not leaves:
        return
    recording: dict[tuple[Any, ...], set[bool | None]] = {}
    used: set[str] = {one.name for one in given_back()}
    for node, leading in Leading(module, dict.fromkeys(leaves, frozenset(leaves[:1])), always=True).everywhere():
        used.update(name for name, *_ in node.meta.get(_READ_OF, ()))
        for place in node.meta.get(_ROW_OF, ()):
            recording.setdefault(place, set()).add(bool(leading) or (None if has_gradient(node) else False))
    if any(name in used and found not in ({True}, {False}) for (name, *_), found in recording.items()):
        (output,) = module.graph.find_nodes(op="output")
        message = "only some elements of a list whose length depends on data record a gradient, and are used one by one"
        raise capture_error_at(
            output, "AG314", message, "append `detach()` of all of them, or use `torch.stack` of them"
        )


def _in_lists(result: Storage, origins: Origins) -> Storages:
    """What is in the lists that are given back, but for those that Python puts this result into."""
    names = {one.name for one in given_back()} - {one.name for one in given_back() if result in one.placed}
    return _held(names, origins)


def _held(names: Set[str], origins: Origins) -> Storages:
    """What lists hold that a trip has appended."""
    rows = (source for (name, *_), place in _places().items() if name in names for source in place.rows)
    return _NOTHING.union(*(_behind(source, origins, False) for source in rows))


def refuse(result: Node, why: str) -> None:
    message = f"the function gives back an element of a list whose length depends on data, {why}"
    raise capture_error_at(result, "AG314", message, "give a copy of it")
