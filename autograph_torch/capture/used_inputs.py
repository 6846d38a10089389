"""Inputs that only some paths use: on the others a gradient does not come to them, as in eager.

    if p:                  torch.cond gives zeros to what the body that has not run reads:
        y = x * w          v.grad would be zeros where p, and an optimizer would take a step with it
    else:
        y = x * v
    return y

A flag of the graph tells of such an input whether anything that the graph gives depends on it (capture/records.py).
Python puts a view in the place of the input that hands on its gradient where the flag is set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.fx import Node

from autograph_torch.capture.graph_writes import has_gradient, is_operator, written
from autograph_torch.capture.origins import Flag, Level, result_of
from autograph_torch.capture.parameters_made import is_made
from autograph_torch.capture.records import Records

_USED_ANYWAY = -1  # no position


def used_inputs(level: Level, results: Iterable[tuple[Any, Flag]]) -> list[tuple[int, Flag]]:
    """The inputs of the outermost graph that not all paths use, by position, with what tells whether one does.

    results: all that the graph gives, and whether Python has something else in its place.
    """
    behind = [node for node in level.graph.nodes if written(node) or node.target is torch.autograd.grad]
    ends = [*results, *((one, False) for node in behind for one in node.all_input_nodes)]
    ends = list(dict.fromkeys(one for one in ends if isinstance(one[0], Node) and has_gradient(one[0])))
    anyway = _reached([node for node, _ in ends])
    inputs = {node: place if node not in anyway else _USED_ANYWAY for place, node in enumerate(level.inputs)}
    placed = [node for node, place in inputs.items() if place != _USED_ANYWAY and has_gradient(node)]
    places = [inputs[node] for node in placed if not is_made(node)]
    if not places:
        return []
    records = Records(level, {node: place for node, place in inputs.items() if has_gradient(node)})
    told: dict[int, list[Flag]] = {place: [] for place in places}
    for node, replaced in ends:
        causes = records.causes(node)
        for place in places:
            uses = [causes[by] for by in (place, None) if by in causes]
            told[place].append(level.both([level.either(uses), level.opposite(replaced)]))
    flags = {place: level.either(those) for place, those in told.items()}
    return [(place, flag) for place, flag in flags.items() if flag is not True]


def _reached(ends: list[Node]) -> set[Node]:
    """What leads to these otherwise than by the bodies of branches and loops."""
    reached: set[Node] = set()
    waiting = [*ends]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += [] if is_operator(node) or result_of(node) is not None else node.all_input_nodes
    return reached


class _Use:
    """Whether a call has used an input; many may share one."""

    def __init__(self) -> None:
        self._flag: Any = None
        self._known: bool | None = None

    def told_by(self, flag: torch.Tensor) -> None:
        # Read when the gradient comes, so a forward pass waits for no device; by then graphs of CUDA may have been
        # replayed, which write to the same memory.
        self._flag = flag if flag.device.type == "cpu" else flag.clone()

    def __bool__(self) -> bool:
        if self._known is None and self._flag is None:
            return True  # the graph is still running, and differentiates itself
        if self._known is None:
            self._known, self._flag = bool(self._flag), None
        return self._known


class _WhereUsed(torch.autograd.Function):
    """A tensor; its gradient where a call has used it, and else none."""

    @staticmethod
    def forward(tensor: torch.Tensor, use: _Use) -> torch.Tensor:
        return tensor.view_as(tensor)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.set_materialize_grads(False)
        (_, ctx.use) = inputs

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor | None) -> tuple[torch.Tensor | None, None]:  # type: ignore[override]
        return (gradient if ctx.use else None), None


def where_used(inputs: list[Any], flags: Iterable[tuple[int, int | None]]) -> dict[int, _Use]:
    """Put views into the places of inputs; what is to be told by which result, by its position (None: never used).

    A tensor with hooks is left alone: they would be called with None.
    """
    uses: dict[int, _Use] = {}
    if not torch.is_grad_enabled():
        return uses
    for place, flag in flags:
        tensor = inputs[place]
        if tensor.requires_grad and type(tensor) in _PLAIN and not _has_hooks(tensor):
            used = None if flag is None else uses.setdefault(flag, _Use())
            inputs[place] = tensor.detach() if used is None else _WhereUsed.apply(tensor, used)
    return uses


_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _has_hooks(tensor: Any) -> bool:
    return bool(tensor._backward_hooks or tensor._post_accumulate_grad_hooks or tensor.retains_grad)
