"""Tensors that are made with `requires_grad=True` in the function: made without, and told so behind it.

    w = torch.zeros(3, requires_grad=True)     w = torch.zeros(3).requires_grad_()

Dynamo takes the right one, for gradients that are computed inside, and refuses the left one. Such a tensor itself may
be a result, or live on in an object: the graph gives its value, and Python tells it so once more. Other results must
not record their gradient for such a tensor alone, whose own gradient nobody could ask for: compiled graphs give them
without. Dynamo says so of results that have nothing but its values, too (`w.detach() * x`), and of those that depend on
other tensors as well (a gradient penalty, on parameters); it says nothing of tensors made in a branch or loop, and
names no line: so the question is answered here. It binds `w` anew at `w -= g`, to a tensor without a `.grad`: here it
stays the leaf. And it gives no `.grad` to a tensor that is the result of a branch or loop: that is refused. torch 2.11
does not record that a tensor is told so: there all of this is refused.

Private: TorchInGraphFunctionVariable.call_function, TensorVariable.method_requires_grad_, SideEffects._track_obj, and
OutputGraph._check_requires_grad_intermediate_outputs with `leaf_var_creation_order`.
tests/capture/test_leaves_made.py shows the errors without this, and fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.variables import TensorVariable
from torch._dynamo.variables.base import AttributeMutationNew
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.fx import Graph, GraphModule, Node

from autograph_torch.capture.cuts import leaves_of_cuts, refuse_result_behind
from autograph_torch.capture.detached import detached
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.frozen_tensors import is_told
from autograph_torch.capture.graph_writes import IN_PLACE, arguments_of
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import gradients, performing, tracing
from autograph_torch.runtime.refusal import raise_refusal

Compiled = Callable[..., Any]

_WANTED = "requires_grad"
_LEAF = "autograph_torch_leaf"  # in the `meta` of a result: the leaf whose value it is
_MADE = "leaf_var_creation_order"
_CHECK = "_check_requires_grad_intermediate_outputs"  # torch 2.11 has none


@contextlib.contextmanager
def leaves_made() -> Iterator[None]:
    """While this is in force, such tensors are made in two steps."""
    called = TorchInGraphFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        wanted = kwargs.get(_WANTED)
        if wanted is None or not wanted.is_python_constant() or wanted.as_python_constant() is not True:
            return called(self, tx, args, kwargs)
        made = called(self, tx, args, {name: value for name, value in kwargs.items() if name != _WANTED})
        return made.call_method(tx, "requires_grad_", [], {}) if made.is_tensor() else made

    check = getattr(OutputGraph, _CHECK, None)

    def check_results(self: Any, results: Any, tx: Any) -> None:
        if not tx.one_graph:
            check(self, results, tx)  # type: ignore[misc]
            return
        recorded = [leaf for leaf in self.leaf_var_creation_order if leaf.is_tensor()]
        leaves = [leaf for leaf in recorded if not leaf.source or is_told(leaf)]
        made = {leaf.as_proxy().node for leaf in leaves}
        itself = [leaf for leaf in leaves if not leaf.has_grad_fn and any(result is leaf for result in results)]
        # The caller has those from around the function, and may ask for their gradients.
        given = {leaf.as_proxy().node for leaf in leaves if is_told(leaf) or any(leaf is one for one in itself)}
        for result in results if made else ():
            if not result.is_tensor():
                continue
            if not performing.is_looking() and any(result is leaf for leaf in itself):
                _give_value(result, self)
            else:
                _refuse_cuts(result.as_proxy().node, self)
                _refuse_leaves(result.as_proxy().node, made, given, self)

    record = TensorVariable.method_requires_grad_

    def record_gradient(self: Any, tx: Any, requires_grad: Any = True) -> Any:
        wanted = requires_grad is True or requires_grad.as_python_constant()
        changes = requires_grad is True or wanted is not self.requires_grad
        if check is None and wanted is not self.requires_grad and not tracing.may_break():
            raise_refusal("AG320", "`requires_grad_()` in a function, with torch 2.11", "use torch 2.12 or newer")
        if changes and not self.source and self.mutation_type is None:
            # The result of a branch or loop: it may have a `.grad`, too.
            tx.output.side_effects._track_obj(self.as_proxy(), self, mutation_type_cls=AttributeMutationNew)
        return record(self, tx, requires_grad)

    operate = BuiltinVariable.call_function

    def call_operator(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        result = operate(self, tx, args, kwargs)
        if self.fn not in IN_PLACE or not result.is_tensor():
            return result
        # `w -= g` leaves the name with the leaf, and with its `.grad`.
        target, leaves = args[0], getattr(tx.output, _MADE, ())
        return target if is_told(target) or any(target is leaf for leaf in leaves) else result

    checking = {_CHECK: check_results} if check is not None else {}
    with (
        patched(TorchInGraphFunctionVariable, call_function=call_function),
        patched(BuiltinVariable, call_function=call_operator),
        patched(TensorVariable, method_requires_grad_=record_gradient),
        patched(OutputGraph, **checking),
    ):
        yield


def _value(result: TensorVariable) -> Any:
    return result.as_proxy().node.meta["example_value"]


def _give_value(leaf: TensorVariable, output: Any) -> None:
    value = _value(leaf)
    leaf.proxy = detached(output, leaf)
    leaf.proxy.node.meta[_LEAF] = (value, leaf.class_type)


@dataclass(frozen=True)
class GivenLeaf:
    """A result that is such a tensor: its class, and the first result that is the same one (by position)."""

    place: int
    first: int
    kind: type


def given_leaves(module: GraphModule) -> tuple[GivenLeaf, ...]:
    """Such results of a graph."""
    (output,) = module.graph.find_nodes(op="output")
    results = arguments_of(output)[0]
    found = {k: one.meta[_LEAF] for k, one in enumerate(results) if _LEAF in getattr(one, "meta", {})}
    return tuple(
        GivenLeaf(k, next(first for first, (one, _) in found.items() if one is leaf), kind)
        for k, (leaf, kind) in found.items()
    )


def giving_leaves(leaves: tuple[GivenLeaf, ...], run: Compiled) -> Compiled:
    """`run`, whose results at these positions record their gradients."""
    if not leaves:
        return run

    @functools.wraps(run, updated=())
    def give(*inputs: Any) -> tuple[Any, ...]:
        results = list(run(*inputs))
        for one in leaves:
            value = results[one.first].detach()
            if one.place != one.first:
                results[one.place] = results[one.first]
            else:
                results[one.place] = nn.Parameter(value) if one.kind is nn.Parameter else value.requires_grad_()
        return tuple(results)

    return give


def _refuse_cuts(result: Node, output: Any) -> None:
    """Stop where a result has a gradient by way of a cut, whatever else it depends on."""
    leaf = _first_behind(result, output, leaves_of_cuts(output).__contains__)
    if leaf is not None:
        refuse_result_behind(leaf)


def _refuse_leaves(result: Node, made: set[Node], given: set[Node], output: Any) -> None:
    """Stop where a result records its gradient for nothing but a tensor that was told in the function to record its,
    or for one that is a result, too, so that its gradient may be asked for.
    """
    kept = _first_behind(result, output, given.__contains__)
    if kept is not None:
        raise capture_error_at(
            kept,
            "AG320",
            "the function returns or keeps a tensor that it tells to record its gradient (`requires_grad_()`), and "
            "returns what depends on it",
            "compute the gradient in the function, or make the tensor outside of it",
        )
    if _first_behind(result, output, lambda node: _is_given(node, result.graph), made) is not None:
        return
    found = _first_behind(result, output, made.__contains__)
    if found is not None:
        raise capture_error_at(
            found,
            "AG320",
            "the function returns what depends on a tensor that it tells to record its gradient (`requires_grad_()`)",
            "return it without (`.detach()`), or make the tensor outside of the function",
        )


def _first_behind(
    result: Node, output: Any, wanted: Callable[[Node], bool], closed: Collection[Node] = ()
) -> Node | None:
    """The first node of this kind by way of which a result may have a gradient, not through those that are closed."""
    seen: set[Node] = set(closed)

    def search(node: Node) -> Node | None:
        if node in seen:
            return None
        seen.add(node)
        value, of_bodies = node.meta.get("example_value"), _results_of_bodies(node, output)
        if isinstance(value, torch.Tensor) and not value.requires_grad and not of_bodies:  # which know nothing of them
            return None
        if wanted(node):
            return node
        behind = (*of_bodies, *node.all_input_nodes)
        return next((found for found in map(search, behind) if found is not None), None)

    return search(result)


def _is_given(node: Node, graph: Graph) -> bool:
    """Whether a node is a tensor from around the function: what depends on it has a gradient in any case.

    The inputs of bodies, which have graphs of their own, may be such as the function has made; and the anchor of
    runtime/gradients.py is none of the program's.
    """
    is_input = node.op in ("placeholder", "get_attr") and node.graph is graph
    given = getattr(node.meta.get("grapharg"), "example", None)
    return is_input and given is not gradients.ANCHOR and isinstance(node.meta.get("example_value"), torch.Tensor)


def _results_of_bodies(node: Node, output: Any) -> list[Node]:
    """What the bodies of an operator give for one of its results."""
    if node.target is not operator.getitem or not isinstance(node.args[0], Node):
        return []
    bodies = [output.nn_modules.get(one.target) for one in node.args[0].all_input_nodes if one.op == "get_attr"]
    graphs = [body.graph for body in bodies if isinstance(body, torch.fx.GraphModule)]
    given: list[Any] = [graph.output_node().args[0] for graph in graphs]  # of a loop's test a single one
    index: Any = node.args[1]
    found = [results[index] for results in given if isinstance(results, (tuple, list)) and len(results) > index]
    return [result for result in found if isinstance(result, Node)]
