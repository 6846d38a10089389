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
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node

from autograph_torch.capture.graph_writes import has_gradient, is_operator
from autograph_torch.capture.operator_results import result_of, result_of_block
from autograph_torch.capture.origins import Flag, Level
from autograph_torch.capture.parameters_made import is_made
from autograph_torch.capture.records import Records

_USED_ANYWAY = -1  # no position


def used_inputs(level: Level, results: Iterable[tuple[Any, Flag]]) -> list[tuple[int, Flag]]:
    """The inputs of the outermost graph that not all paths use, by position, with what tells whether one does.

    results: all that the graph gives, and whether Python has something else in its place.
    """
    behind = [*level.targets, *level.graph.find_nodes(op="call_function", target=torch.autograd.grad)]
    ends = [*results, *((one, False) for node in behind for one in node.all_input_nodes)]
    ends = list(dict.fromkeys(one for one in ends if isinstance(one[0], Node) and has_gradient(one[0])))
    anyway = _reached([node for node, replaced in ends if replaced is False])
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
    """What leads to these otherwise than by the bodies of branches and loops, and the blocks of checkpoints."""
    reached: set[Node] = set()
    waiting = [*ends]
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            has_body = is_operator(node) or result_of(node) is not None or result_of_block(node) is not None
            waiting += [] if has_body else node.all_input_nodes
    return reached


@dataclass
class Use:
    """Whether a call has used some inputs; None while its graph runs, which may differentiate itself."""

    flag: torch.Tensor | None = None

    def told_by(self, flag: torch.Tensor) -> None:
        # Read when the gradient comes, so a forward pass waits for no device; by then graphs of CUDA may have been
        # replayed, which write to the same memory.
        self.flag = flag if flag.device.type == "cpu" else flag.clone()


class _WhereUsed(torch.autograd.Function):
    """Views of tensors; they hand on their gradients where a call has used them, and else none."""

    @staticmethod
    def forward(use: Use, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(tensor.view_as(tensor) for tensor in tensors)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.set_materialize_grads(False)
        ctx.use = inputs[0]

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:  # type: ignore[override]
        is_used = ctx.use.flag is None or bool(ctx.use.flag)
        return None, *(gradients if is_used else [None for _ in gradients])


def where_used(inputs: list[Any], flags: Iterable[tuple[int, int | None]]) -> dict[int, Use]:
    """Put views into the places of inputs; what is to be told by which result, by its position (None: never used).

    A tensor with hooks is left alone: they would be called with None.
    """
    if not torch.is_grad_enabled():
        return {}
    alike: dict[tuple[int, torch.device], list[int]] = {}  # one step of the backward pass runs on one device
    for place, flag in flags:
        tensor = inputs[place]
        if not tensor.requires_grad or type(tensor) not in _PLAIN or _has_hooks(tensor):
            continue
        if flag is None:
            inputs[place] = tensor.detach()
        else:
            alike.setdefault((flag, tensor.device), []).append(place)
    uses: dict[int, Use] = {}
    for (flag, _), places in alike.items():
        views = _WhereUsed.apply(uses.setdefault(flag, Use()), *(inputs[place] for place in places))
        for place, view in zip(places, views, strict=True):
            inputs[place] = view
    return uses


_PLAIN = (torch.Tensor, torch.nn.Parameter)


def _has_hooks(tensor: Any) -> bool:
    return bool(tensor._backward_hooks or tensor._post_accumulate_grad_hooks or tensor.retains_grad)
