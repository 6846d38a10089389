"""What the function gives back of a graph whose gradients it has computed itself.

    loss.backward()
    optimizer.step()
    return loss                the graph gives its value; Python puts a tensor in its place that records a gradient,
                               and whose `backward` raises what it raises in eager

    if norm < 1e-6:            the branch is given `loss.detach()`, so that the other path's gradient does not lead into
        return loss            what autograd has forgotten; a flag tells Python when the result is such a tensor
    return model(x).mean()

Dynamo refuses it (torch 2.13): who differentiates such a tensor a second time gets an exception in eager. Most who
return their loss do not. (Steps that keep nothing can be differentiated again: capture/kept_nothing.py.)

Private: two checks of OutputGraph, and `autograd_grad_consumed_grad_fns`.
tests/capture/test_spent.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.variables import TensorVariable
from torch.fx import GraphModule, Node

from autograph_torch.capture.detached import detached
from autograph_torch.capture.graph_writes import arguments_of, has_gradient
from autograph_torch.capture.origins import Flag, Level
from autograph_torch.capture.patching import patched
from autograph_torch.capture.records import Records
from autograph_torch.runtime import performing
from autograph_torch.runtime.memories import HANDED_ON

# What looks at the results of a graph, in this order; torch 2.11 has none.
_CHECKS = ("_check_requires_grad_intermediate_outputs", "_validate_outputs_safe_for_autograd_nodes")
SPENT = "autograph_torch_spent"  # in the `meta` of a result
_FORGOTTEN = "autograph_torch_forgotten"  # in that of a call of torch.autograd.grad: what autograd has forgotten in all
_TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


@dataclass(frozen=True)
class Spent:
    """A result whose gradient the function has computed, and the leaves that this led to (all by position).

    flag: what tells whether it is one; None where it is in any case.
    Who differentiates it with other tensors gets the exception before anything is added to the gradients of those.
    """

    place: int
    leaves: tuple[int, ...]
    flag: int | None = None


@contextlib.contextmanager
def spent_results() -> Iterator[None]:
    """While this is in force, such results are those of the graph without their gradients."""

    def detaching(check: Callable[..., None]) -> Callable[..., None]:
        def detach(self: Any, results: Any, tx: Any) -> None:
            if tx.one_graph and not performing.is_looking():
                _detach_spent(results, self)
            check(self, results, tx)

        return detach

    found = {name: detaching(getattr(OutputGraph, name)) for name in _CHECKS if hasattr(OutputGraph, name)}
    with patched(OutputGraph, **found):
        yield


def _steps(node: Node) -> set[Any]:
    """The steps of its gradient, those that add to the leaves among them."""
    waiting, seen = [node.meta["example_value"].grad_fn], set()
    while waiting:
        step = waiting.pop()
        if step is not None and step not in seen:
            seen.add(step)
            waiting += [before for before, _ in step.next_functions]
    return seen


def _detach_spent(results: Any, output: Any) -> None:
    forgotten = output.autograd_grad_consumed_grad_fns
    for node in output.graph.find_nodes(op="call_function", target=torch.autograd.grad) if forgotten else ():
        node.meta[_FORGOTTEN] = forgotten
    for result in results if forgotten else ():
        if not isinstance(result, TensorVariable) or not result.requires_grad:
            continue
        steps = _steps(result.as_proxy().node)
        if not steps.isdisjoint(forgotten):
            result.proxy = detached(output, result)
            result.proxy.node.meta[HANDED_ON] = True  # a result may be a tensor from before on other paths
            result.proxy.node.meta[SPENT] = [step.variable for step in steps if hasattr(step, "variable")]


def tell_spent(level: Level, results: list[Any]) -> list[tuple[int, list[torch.Tensor], Flag]]:
    """Such results: their places, the leaves, and what tells whether they are. Those that are so on some paths only
    are replaced, in `results`, by those with the gradients of the other paths.
    """
    places = [place for place, one in enumerate(results) if SPENT in getattr(one, "meta", {})]
    if not places:
        return []
    originals = {place: arguments_of(results[place])[0] for place in places}
    leaves = {place: results[place].meta[SPENT] for place in places}
    calls = [node for node in level.graph.nodes if _FORGOTTEN in node.meta]
    if not calls or all(_is_forgotten(one, calls[0]) for one in originals.values()):
        return [(place, leaves[place], True) for place in places]  # mostly: a loss, and what it is computed from
    behind = {node: _forgotten_by(node) for node in calls}
    records = Records(level, {node: 0 for found in behind.values() for node in found})
    told: list[tuple[int, list[torch.Tensor], Flag]] = []
    for place, original in originals.items():
        causes = records.causes(original)
        flag = level.either([causes[cause] for cause in (0, None) if cause in causes])
        told.append((place, leaves[place], flag))
        if flag is not True:
            results[place] = original
    if any(flag is not True for _, _, flag in told):
        for node, found in behind.items():
            _cut_behind(node, found)
    return told


def _is_forgotten(tensor: Node, call: Node) -> bool:
    return tensor.meta["example_value"].grad_fn in call.meta[_FORGOTTEN]


def _forgotten_by(node: Node) -> list[Node]:
    """What no gradient goes through any more behind a call of torch.autograd.grad."""
    given = inspect.signature(torch.autograd.grad).bind(*node.args, **node.kwargs).arguments
    retains = given.get("retain_graph")
    if given.get("create_graph", False) if retains is None else retains:
        return []
    outputs = given["outputs"] if isinstance(given["outputs"], (tuple, list)) else [given["outputs"]]
    steps = set().union(*(_steps(one) for one in outputs)) & node.meta[_FORGOTTEN]
    earlier = itertools.takewhile(lambda one: one is not node, node.graph.nodes)
    return [one for one in earlier if has_gradient(one) and not steps.isdisjoint(_steps(one))]


def _cut_behind(node: Node, forgotten: list[Node]) -> None:
    """Let what comes behind a node use these tensors without their gradients."""
    for tensor in forgotten:
        users = [user for user in tensor.users if user > node and user.target is not torch.autograd.grad]
        if users:
            with node.graph.inserting_after(node):
                cut = node.graph.call_method("detach", (tensor,))
            cut.meta["example_value"] = tensor.meta["example_value"].detach()
            for user in users:
                user.replace_input_with(tensor, cut)


def positions_of(leaves: list[torch.Tensor], module: GraphModule) -> tuple[int, ...]:
    """The inputs of a graph that are these tensors."""
    values = [node.meta.get("example_value") for node in module.graph.find_nodes(op="placeholder")]
    return tuple(k for k, value in enumerate(values) if any(value is leaf for leaf in leaves))


def spend(spent: tuple[Spent, ...], results: list[Any], inputs: tuple[Any, ...]) -> None:
    """Let the results at these positions record a gradient that is not there any more."""
    with torch.enable_grad():
        for one in spent:
            if one.flag is None or results[one.flag]:
                leaves = [inputs[k] for k in one.leaves]
                value = results[one.place].detach()
                results[one.place] = _Spent.apply(value, torch.zeros((), requires_grad=True), *leaves)


class _Spent(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, _: torch.Tensor, *leaves: torch.Tensor) -> torch.Tensor:
        return tensor.detach()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> None:  # type: ignore[override]
        raise RuntimeError(_TWICE)
