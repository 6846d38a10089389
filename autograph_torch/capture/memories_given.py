"""Tensors that lie in one memory, when one of them is written to, later calls have to agree on.

    def step(a, b):
        while a.sum() < 10:
            a += 1
            b *= 2
        return a + b

    step(torch.ones(3), torch.ones(3))
    step(rows[1], rows[1])                 the write to one tensor is one to the other
    step(rows[1], rows[2])                 and here it is not

Dynamo asks later calls which tensors are one object, not which are views of one memory (AOTAutograd: where those of the
first call are). So does plain torch.compile, whose compiling backends give something else than eager, too.

Private: the `grapharg` of the inputs of a graph, Tensor.untyped_storage()._cdata, GuardBuilder.
tests/capture/test_memories_given.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.dynamo_names import expression_of
from autograph_torch.capture.graph_writes import is_operator, storage_at, storage_of, written, written_in
from autograph_torch.capture.later_calls import agree
from autograph_torch.capture.overlaps import bytes_of, may_overlap

# Where a tensor lies in a memory: the bytes of that, and its own size, stride and offset.
Place = tuple[int, tuple[int, ...], tuple[int, ...], int]


@dataclass(frozen=True)
class Layout:
    """How the tensors of a call lie in memory. They are told by their index among those of a call.

    changed: those that are written to.
    shared: by those of the trace that shared a memory which is written to: the first one there, and the place.
    sizes: how many bytes each takes; 0 where later calls may have other sizes.
    """

    changed: frozenset[int]
    shared: dict[int, tuple[int, Place]]
    sizes: tuple[int, ...]

    def is_of(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether tensors share memory with those that are written to as those of the trace did."""
        for k, (first, place) in self.shared.items():
            if storage_of(tensors[k]) != storage_of(tensors[first]) or _place(tensors[k]) != place:
                return False
        begins = [tensor.data_ptr() for tensor in tensors]
        end = 0
        for k in sorted(range(len(begins)), key=begins.__getitem__):
            if begins[k] < end:
                return not self._meet(tensors)
            end = begins[k] + (self.sizes[k] or bytes_of(tensors[k]))
        return True

    def _meet(self, tensors: Sequence[torch.Tensor]) -> bool:
        """Whether one that is written to has an element in common with one of another memory in the trace."""
        memories: dict[int, list[int]] = {}
        for k, tensor in enumerate(tensors):
            memories.setdefault(storage_of(tensor), []).append(k)
        alike = {k: self.shared[k][0] if k in self.shared else k for k in range(len(tensors))}
        return any(
            may_overlap(tensors[k], tensors[j])
            for members in memories.values()
            if len(members) > 1
            for k in members
            if k in self.changed
            for j in members
            if alike[j] != alike[k]
        )


def agree_on_memories(graph: GraphModule, compiles: bool) -> None:
    """Have later calls agree on how the tensors that a graph is given share memory with those that it writes to.

    Args:
        compiles: whether its backend makes something else of it than torch's operators, one by one.
    """
    nodes = graph.graph.nodes
    if not compiles and not any(is_operator(node) for node in nodes):
        return
    inputs = [node for node in graph.graph.find_nodes(op="placeholder") if _is_given(node)]
    memories = [storage_at(node) for node in inputs]
    targets = {storage_at(target) for node in nodes for target in (*written(node), *written_in(node, graph))}
    changed = frozenset(k for k, memory in enumerate(memories) if memory in targets)
    if not changed or len(inputs) < 2:
        return
    sources = [node.meta["grapharg"].source for node in inputs]
    tensors = [node.meta["grapharg"].example for node in inputs]
    shared = {
        k: (memories.index(memory), _place(tensors[k]))
        for k, memory in enumerate(memories)
        if memory in targets and memories.count(memory) > 1
    }
    sizes = tuple(bytes_of(one) if _is_of_a_module(source) else 0 for source, one in zip(sources, tensors, strict=True))
    layout = Layout(changed, shared, sizes)
    given = ", ".join(str(expression_of(source)) for source in sources)
    agree(sources[0], f"___layout(({given}))", ___layout=layout.is_of)


def _is_given(node: Node) -> bool:
    """Whether an input is a tensor of the caller's, in a memory of which we know."""
    argument = node.meta.get("grapharg")
    if argument is None or expression_of(argument.source) is None or storage_at(node) is None:
        return False
    return isinstance(argument.example, torch.Tensor) and _has_address(argument.example)


def _has_address(tensor: torch.Tensor) -> bool:
    """Not so a tensor of tensors, or one of vmap."""
    try:
        return tensor.layout == torch.strided and tensor.data_ptr() != 0
    except (RuntimeError, NotImplementedError):
        return False


def _is_of_a_module(source: Any) -> bool:
    """Whether it is a parameter or buffer, whose size torch takes for known."""
    name = str(expression_of(source))
    return "._parameters[" in name or "._buffers[" in name


def _place(tensor: torch.Tensor) -> Place:
    sizes = tuple(tensor.size()), tensor.stride()
    return tensor.untyped_storage().nbytes(), *sizes, int(tensor.storage_offset())
