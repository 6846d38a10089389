"""Writes passed on between a result of torch.cond and the tensors that it is, in eager, on one of its sides.

    y = cond(p, ...)[0]        # x on one side        y = cond(p, ...)[0]
    y.add_(1)                                         y.add_(1)
                                                      x.copy_(where(p, y, x))

A result and such a tensor are *linked* under the predicate. A write to one of them goes to the other where the link
holds, and on from there. All writes to linked tensors are passed on as soon as one of them matters, so that nothing
stale is ever handed on. Links have to form a tree: then there is one way from each tensor to each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import Storage, arguments_of, name_of, storage_at
from autograph_torch.diagnostics import CaptureError


@dataclass(frozen=True)
class Write:
    """A node that writes to a storage; `origin`: the operator whose result it writes back, if it does that."""

    node: Node
    storage: Storage
    origin: Node | None


@dataclass(frozen=True)
class Link:
    """A result of an operator (torch.cond) is one tensor with `source` where the predicate is what `holds` says."""

    result: Node
    source: Node
    operator: Node
    holds: bool

    def ends(self) -> tuple[Storage | None, Storage | None]:
        return storage_at(self.result), storage_at(self.source)


@dataclass(frozen=True)
class Lost:
    """A write that does not reach a storage which may be the same tensor; `maker`: who has handed out the copy."""

    write: Write
    other: Storage
    maker: Node

    def error(self) -> CaptureError:
        return capture_error_at(
            self.maker,
            "AG314",
            "a result may be a tensor from before, and one of the two is written to while the other is in use",
            "clone the tensor before the branch or loop, or write `y = y + 1` instead of `y += 1`",
        )


def pass_on(module: GraphModule, links: list[Link], writes: list[Write], lost: list[Lost]) -> None:
    """Insert what passes the writes on.

    Args:
        module: the outermost graph; rewritten in place.
        links: of the results in it.
        writes: all of it, in the order in which they run.
        lost: those that matter.

    Raises:
        CaptureError: AG314 where links cannot pass a write on.
    """
    position = {node: index for index, node in enumerate(module.graph.nodes)}
    recording = _recording(module.graph)
    passing = _Passing(module.graph, {})
    for one in lost:
        tree = _tree(one.write.storage, links)
        if tree is None or one.other not in {end for link in tree for end in link.ends()}:
            raise one.error()
    for write in writes:
        concerned = [one for one in lost if write.storage in _connected(one, links)]
        if concerned:
            made = [link for link in links if position[link.result] < position[write.node]]
            passing.after(write, made, recording[write.node], concerned[0])
    module.graph.lint()
    module.recompile()


def _connected(lost: Lost, links: list[Link]) -> set[Storage | None]:
    return {end for link in _tree(lost.write.storage, links) or [] for end in link.ends()}


def _tree(storage: Storage, links: list[Link]) -> list[Link] | None:
    """The links that lead on from a storage, nearest first; None where two ways lead to one place."""
    found: list[Link] = []
    reached: set[Storage | None] = {storage}
    waiting = [storage]
    while waiting:
        here = waiting.pop(0)
        for link in links:
            if link in found or here not in link.ends():
                continue
            there = _other_end(link, here)
            if there is None or there in reached:
                return None
            found.append(link)
            reached.add(there)
            waiting.append(there)
    return found


def _other_end(link: Link, here: Storage) -> Storage | None:
    result, source = link.ends()
    return source if here == result else result


def _recording(graph: Graph) -> dict[Node, bool]:
    """Whether gradients are recorded, at every node."""
    enabled = torch.is_grad_enabled()
    found = {}
    for node in graph.nodes:
        if name_of(node) == "_set_grad_enabled":
            enabled = bool(arguments_of(node)[0])
        found[node] = enabled
    return found


@dataclass
class _Passing:
    graph: Graph
    flags: dict[tuple[Node, bool], Node]

    def after(self, write: Write, links: list[Link], recording: bool, lost: Lost) -> None:
        """What follows a write: every tensor that is linked to it, however far, gets its content where that holds."""
        here, cursor = {write.storage}, write.node
        for link in _tree(write.storage, links) or []:
            from_result = storage_at(link.result) in here
            given, taking = (link.result, link.source) if from_result else (link.source, link.result)
            storage = storage_at(taking)
            if write.origin is link.operator or storage is None or storage_at(given) not in here:
                continue  # both have the content from one operator; what lies behind is reached by its own write
            self._refuse_unlike(given, taking, recording, lost)
            here.add(storage)
            cursor = self._copy(cursor, self._flag(link, lost), given, taking)

    def _copy(self, after: Node, flag: Node, given: Node, taking: Node) -> Node:
        with self.graph.inserting_after(after):
            chosen = self.graph.call_function(torch.where, (flag, given, taking))
        with self.graph.inserting_after(chosen):
            copy = self.graph.call_method("copy_", (taking, chosen))
        values = [node.meta["example_value"] for node in (flag, given, taking)]
        chosen.meta.update(example_value=torch.where(*values), stack_trace=after.meta.get("stack_trace"))
        copy.meta.update(example_value=values[-1], stack_trace=after.meta.get("stack_trace"))
        return copy

    def _flag(self, link: Link, lost: Lost) -> Node:
        """The predicate as it was when the operator ran: it may be written to afterwards."""
        key = (link.operator, link.holds)
        if key not in self.flags:
            predicate: Any = link.operator.args[0]
            value = predicate.meta["example_value"] if isinstance(predicate, Node) else None
            if not isinstance(value, torch.Tensor):
                raise lost.error()
            with self.graph.inserting_before(link.operator):
                method = "clone" if link.holds else "logical_not"
                self.flags[key] = self.graph.call_method(method, (predicate,))
            self.flags[key].meta.update(example_value=getattr(value, method)())
        return self.flags[key]

    def _refuse_unlike(self, given: Node, taking: Node, recording: bool, lost: Lost) -> None:
        """What cannot be copied, and gradients: an operator has saved what would be written to."""
        one, other = given.meta["example_value"], taking.meta["example_value"]
        alike = (one.dtype, one.shape, one.device) == (other.dtype, other.shape, other.device)
        if not alike or (recording and (one.requires_grad or other.requires_grad)):
            raise lost.error()
