"""Where the layout of a tensor decides what an operation is, and the paths of a branch or loop lay it out differently.

    if p: y = x.t() * 2
    else: y = x * 2
    flat = y.reshape(-1)     in eager a copy where p is true, else a view; in the graph a view: its y lies row by row
    flat.add_(1)             so what y is behind this is another thing on the two paths

When the graph is finished, this is refused at the branch or loop where something is written to the memory of `y` or
`flat` behind it, or both are given back; and `y.view(-1)`, which may raise, always is. The next trace may tell the
paths apart (capture/attempts.py).

What is computed of such a tensor is laid out as it is: that of a result of an operation is the layout of the first
tensor with as many dimensions that it is computed of (TensorIterator of ATen; what asks for row by row apart). This is
told once for each node, going back from what is asked.

Private: TensorVariable.call_method, TorchInGraphFunctionVariable.call_function.
tests/capture/test_laid_out.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._dynamo.variables.tensor import TensorVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx import GraphModule, Node

from autograph_torch.capture.asked_properties import counts
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.finished import check_at_the_end
from autograph_torch.capture.graph_writes import (
    arguments_of,
    handed_out,
    is_operator,
    name_of,
    storage_at,
    written,
)
from autograph_torch.capture.leaves_of_bodies import bodies_of, carries, input_of, leaves_of
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import refusal_at
from autograph_torch.runtime.reordering import order_of

_VIEWS = frozenset(("view", "view_as"))
_VIEWS_OR_COPIES = frozenset("contiguous flatten ravel reshape reshape_as".split())
_ASKED = _VIEWS | _VIEWS_OR_COPIES
_ROW_BY_ROW = frozenset(
    "contiguous matmul __matmul__ mm bmm addmm baddbmm linear softmax log_softmax layer_norm cat stack".split()
)
_THROUGH = ("getitem", "where", "view", "to")
_DIFFERENT = "`{}` of a tensor that the paths of a branch or loop lay out differently"
_OF_TRIPS = "`{}` of a tensor that the trips of a loop lay out differently"
_ADVICE = "make it row by row in the branch or loop (`.contiguous()`)"


@dataclass(frozen=True)
class _Question:
    """What was done with a tensor that may be laid out differently."""

    name: str
    asked: Node
    given: Node
    behind: Node  # the operator, or what a trip of a loop is given, as it has it
    line: tuple[str, int]


@dataclass(frozen=True)
class _Notes:
    """What is known of the layouts of one trace."""

    decided: dict[Node, Node | None] = field(default_factory=dict)
    around: dict[Node, Node] = field(default_factory=dict)  # what finished bodies are given -> what it is outside
    questions: list[_Question] = field(default_factory=list)


@contextlib.contextmanager
def laid_out() -> Iterator[None]:
    """While this is in force, such operations do as in eager, or are refused."""
    call, call_torch = TensorVariable.call_method, TorchInGraphFunctionVariable.call_function

    def call_method(self: Any, tx: Any, name: str, *args: Any) -> Any:
        result = call(self, tx, name, *args)
        _ask(tx, name, self, result)
        return result

    def function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        result = call_torch(self, tx, args, kwargs)
        name = getattr(self.value, "__name__", "")
        if name in _VIEWS_OR_COPIES and args and args[0].is_tensor() and getattr(torch, name, None) is self.value:
            _ask(tx, name, args[0].realize(), result)
        return result

    with (
        patched(TensorVariable, call_method=call_method),
        patched(TorchInGraphFunctionVariable, call_function=function),
    ):
        yield


def _ask(tx: Any, name: str, tensor: Any, result: Any) -> None:
    if name not in _ASKED or not counts(tx) or not result.is_tensor():
        return
    if name in _VIEWS and tensor.ndim == 1:  # of any layout
        return
    asked = tracing.resolved(tensor.as_proxy(), tx.output.current_tracer).node
    behind = _behind(tx.output, asked)
    if behind is None:
        return
    given = result.realize().as_proxy().node
    _notes().questions.append(_Question(name, asked, given, behind, tracing.user_line()[:2]))
    check_at_the_end(tx.output, _check_questions)


def _notes() -> _Notes:
    return tracing.notebook().setdefault("laid out", _Notes())  # type: ignore[no-any-return]


# -- what lays a tensor out --------------------------------------------------------------------------------------------


def _behind(output: Any, asked: Node) -> Node | None:
    """The operator whose paths lay a tensor out differently, or what a trip is given and may be laid out so; or None.

    In a loop of its own, for a trace may have more operations in a row than Python has frames.
    """
    known = _notes().decided
    pending = [asked]
    while pending:
        node = pending[-1]
        makers = _makers(output, node)
        unknown = [one for one in makers if one not in known]
        if unknown:
            pending.extend(unknown)
            continue
        known[pending.pop()] = _decided(output, node, makers)
    return known[asked]


def _makers(output: Any, node: Node) -> list[Node]:
    """The tensors that decide how a node is laid out."""
    value = node.meta.get("example_value")
    if not isinstance(value, torch.Tensor) or name_of(node) in _ROW_BY_ROW:
        return []
    given = input_of(node)
    if given is not None:
        around = _notes().around.get(given) or tracing.origin(given, output.current_tracer)
        return [] if around is None else [around]
    result = handed_out(node, _THROUGH)
    if result is not None:
        return _leaves(output, *arguments_of(result)[:2])
    return list(itertools.islice((one for one in node.all_input_nodes if _decides(one, node, value)), 1))


def _decides(maker: Node, node: Node, value: torch.Tensor) -> bool:
    """Whether it is a tensor with as many dimensions, or shares its memory."""
    given = maker.meta.get("example_value")
    if not isinstance(given, torch.Tensor):
        return False
    return given.ndim == value.ndim or storage_at(maker) == storage_at(node)


def _leaves(output: Any, operator: Node, index: int) -> list[Node]:
    """What decides on a result of an operator; what its bodies read is noted, which is something of around it."""
    for body in bodies_of(operator, output.nn_modules):
        pairs = zip(
            reversed(body.graph.find_nodes(op="placeholder")), reversed(arguments_of(operator)[3]), strict=False
        )
        _notes().around.update((inside, outside) for inside, outside in pairs if isinstance(outside, Node))
    return leaves_of(operator, index, output.nn_modules)


def _decided(output: Any, node: Node, makers: list[Node]) -> Node | None:
    known = _notes().decided
    if input_of(node) is not None and not makers and node.graph is not output.root_tracer.graph:
        return node
    result = handed_out(node, _THROUGH)
    if result is not None and not all(_lie_alike(one, node) for one in makers):
        return result.all_input_nodes[0]
    return next((known[one] for one in makers if known[one] is not None), None)


def _lie_alike(one: Node, other: Node) -> bool:
    """Whether the dimensions of two tensors lie in the same order; or they are no tensors."""
    values = [node.meta.get("example_value") for node in (one, other)]
    return len({order_of(value) for value in values if isinstance(value, torch.Tensor)}) <= 1


# -- when the graph is finished ----------------------------------------------------------------------------------------


def _check_questions(module: GraphModule) -> None:
    """Refuse where it matters whether a tensor and what was made of it share their memory."""
    for question in _notes().questions:
        if not _matters(question):
            continue
        if is_operator(question.behind):
            raise capture_error_at(question.behind, "AG314", _DIFFERENT.format(question.name), _ADVICE)
        if _is_carried_differently(module, question.behind):
            raise refusal_at(*question.line, "AG314", _OF_TRIPS.format(question.name), _ADVICE)


def _matters(question: _Question) -> bool:
    """Whether it may raise, or something is written to one of the two behind it, or both are given back."""
    if question.name in _VIEWS:
        return True
    asked, given = storage_at(question.asked), storage_at(question.given)
    nodes = list(question.given.graph.nodes)
    behind = nodes[nodes.index(question.given) :]
    if any(storage_at(target) in (asked, given) for node in behind for target in written(node)):
        return True
    results = [storage_at(one) for one in nodes[-1].all_input_nodes]
    return asked in results and given in results and len([one for one in results if one in (asked, given)]) > 1


def _is_carried_differently(module: GraphModule, carried: Node) -> bool:
    """Whether a loop begins with, or its trips make, a tensor that lies otherwise than what trips are given."""
    value = input_of(carried).meta["example_value"]  # type: ignore[union-attr]
    found = (leaves for given, leaves in carries(module) if given.meta.get("example_value") is value)
    return not all(_lie_alike(one, carried) for one in next(found, ()))
