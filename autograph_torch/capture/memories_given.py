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

import functools
from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch._dynamo.guards import install_guard
from torch.fx import GraphModule, Node

from autograph_torch.capture.dynamo_names import expression_of
from autograph_torch.capture.graph_writes import is_operator, storage_at, storage_of, written, written_in
from autograph_torch.capture.overlaps import may_overlap

Tensors = Sequence[torch.Tensor]
# Where a tensor lies in a memory: the bytes of that, and its own size, stride and offset.
Place = tuple[int, tuple[int, ...], tuple[int, ...], int]
# By the index of a tensor: that of the first one in its memory, and where it lies there.
Places = dict[int, tuple[int, Place]]


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
    changed = [k for k, memory in enumerate(memories) if memory in targets]
    if not changed or len(inputs) < 2:
        return
    sources = [node.meta["grapharg"].source for node in inputs]
    shared = {
        k: (memories.index(memory), _place(node.meta["grapharg"].example))
        for k, (node, memory) in enumerate(zip(inputs, memories, strict=True))
        if memory in targets and memories.count(memory) > 1
    }
    install_guard(sources[0].make_guard(functools.partial(_agree, sources=sources, changed=changed, shared=shared)))


def _is_given(node: Node) -> bool:
    """Whether an input is a tensor of the caller's, in a memory of which we know."""
    argument = node.meta.get("grapharg")
    if argument is None or expression_of(argument.source) is None or storage_at(node) is None:
        return False
    return isinstance(argument.example, torch.Tensor) and argument.example.layout == torch.strided


def _agree(builder: Any, guard: Any, sources: list[Any], changed: list[int], shared: Places) -> None:
    given = ", ".join(str(expression_of(source)) for source in sources)
    part = f"___lie_alike(({given}), {changed}, {shared})"
    builder.add_python_lambda_leaf_guard_to_root([part], [part], closure_vars={"___lie_alike": lie_alike})


def lie_alike(tensors: Tensors, changed: Collection[int], shared: Places) -> bool:
    """Whether tensors share memory with those that are written to as those of the trace did.

    Args:
        tensors: those of a call.
        changed: the indices of those that are written to.
        shared: where those of the trace were that shared a memory which is written to.
    """
    memories = [storage_of(tensor) for tensor in tensors]
    for k, (first, place) in shared.items():
        if memories[k] != memories[first] or _place(tensors[k]) != place:
            return False
    if len(set(memories)) == len(memories):
        return True
    alike = {k: shared[k][0] if k in shared else k for k in range(len(tensors))}
    return not any(
        may_overlap(tensors[k], tensors[j])
        for k in changed
        for j in range(len(tensors))
        if memories[j] == memories[k] and alike[j] != alike[k]
    )


def _place(tensor: torch.Tensor) -> Place:
    sizes = tuple(tensor.size()), tensor.stride()
    return tensor.untyped_storage().nbytes(), *sizes, int(tensor.storage_offset())
