"""A call whose graph raises is run once more in Python, from the state in which it began.

So it ends as eager Python ends it: writes made before the exception are there, those behind it are not, the traceback
is the user's, and a `try` of the program handles it. For that the tensors that a graph with exceptions writes to are
copied when it starts, and the states of random generators kept. (All its tensors, where it says `w.data = y`: what is
written to w from then on is written to y.) Errors of torch itself (a matrix that has no inverse) are taken for the
program's, too, unless the graph writes to its inputs: graphs without exceptions copy nothing.
(Not when the world has seen effects of the call already: then the graph itself raises.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch

from autograph_torch.capture.arithmetic import can_fail, may_not_fit
from autograph_torch.capture.graph_writes import storage_at, written
from autograph_torch.capture.kept_asserts import is_taken_for_granted
from autograph_torch.capture.parameters_made import is_made
from autograph_torch.runtime import notes, performing
from autograph_torch.runtime.arithmetic import may_refuse
from autograph_torch.runtime.gradients import draws_random_numbers

Compiled = Callable[..., Any]


def keeping_inputs(graph: torch.fx.GraphModule, run: Compiled, raises: bool) -> Compiled:
    """`run`, which remembers what the graph is about to change; `run` itself when that is nothing.

    raises: whether the graph may come to an exception behind which the call runs in Python.
    """
    positions = written_inputs(graph.graph)
    draws = raises and any(draws_random_numbers(node) for node in nodes_of(graph))

    def keep(*inputs: Any) -> Any:
        performing.remember([inputs[position] for position in positions], draws)
        return run(*inputs)

    def write(*inputs: Any) -> Any:
        performing.cannot_restore()
        return run(*inputs)

    if raises:
        return keep if positions or draws else run
    return write if positions else run


def may_raise(graph: torch.fx.GraphModule) -> bool:
    """Whether a graph has exceptions of the program in it, arithmetic that raises, or checks of what was assumed."""
    checks = any(
        node.target is torch._assert_async
        or is_taken_for_granted(node)
        or _asks_python(node)
        or can_fail(node)
        or may_not_fit(node)
        for node in nodes_of(graph)
    )
    return checks or any(notes.is_failure(number) for number in _effects(graph))


def _asks_python(node: Any) -> bool:
    return node.target is torch.ops.autograph_torch.number and may_refuse(node.args[0])


def _effects(graph: torch.fx.GraphModule) -> Iterator[int]:
    """The numbers of the effects in a graph and in the bodies of its operators."""
    operators = (torch.ops.autograph_torch.effect, torch.ops.autograph_torch.settled)
    return (int(node.args[1]) for node in nodes_of(graph) if node.target in operators)


def nodes_of(graph: torch.fx.GraphModule) -> Iterator[Any]:
    """The nodes of a graph and of the bodies of its operators."""
    for module in graph.modules():
        if isinstance(module, torch.fx.GraphModule):
            yield from module.graph.nodes


def written_inputs(graph: torch.fx.Graph) -> list[int]:
    """The positions of the placeholders whose memory some node writes to, or may."""
    placeholders = [node for node in graph.nodes if node.op == "placeholder"]
    if any(node.target is torch.Tensor.set_ for node in graph.nodes):
        return [index for index, node in enumerate(placeholders) if storage_at(node) is not None and not is_made(node)]
    storages = {storage_at(target) for node in graph.nodes for target in written(node)} - {None}
    given = [(index, node) for index, node in enumerate(placeholders) if not is_made(node)]
    return [index for index, node in given if storage_at(node) in storages]
