"""What the function gives back of a graph whose gradients it has computed itself.

    loss.backward()
    optimizer.step()
    return loss                the graph gives its value; Python puts a tensor in its place that records a gradient,
                               and whose `backward` raises what it raises in eager

Dynamo refuses it (torch 2.13): who differentiates such a tensor a second time gets an exception in eager. Most who
return their loss do not. (Where no operator in between has kept anything, eager differentiates it again; this raises.)

Private: two checks of OutputGraph, and `autograd_grad_consumed_grad_fns`.
tests/capture/test_spent.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.variables import TensorVariable
from torch.fx import GraphModule

from autograph_torch.capture.detached import detached
from autograph_torch.capture.graph_writes import arguments_of
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import performing

Compiled = Callable[..., Any]

# What looks at the results of a graph, in this order; torch 2.11 has none.
_CHECKS = ("_check_requires_grad_intermediate_outputs", "_validate_outputs_safe_for_autograd_nodes")
_SPENT = "autograph_torch_spent"  # in the `meta` of a result
_TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


@dataclass(frozen=True)
class Spent:
    """A result whose gradient the function has computed, and the leaves that this led to (both by position).

    Who differentiates it with other tensors gets the exception before anything is added to the gradients of those.
    """

    place: int
    leaves: tuple[int, ...]


@contextlib.contextmanager
def spent_results() -> Iterator[None]:
    """While this is in force, such results are those of the graph without their gradients."""

    def detaching(check: Callable[..., None]) -> Callable[..., None]:
        def detach(self: Any, results: Any, tx: Any) -> None:
            if tx.one_graph and not performing.is_looking():
                for result in results:
                    if isinstance(result, TensorVariable) and result.requires_grad:
                        steps = _steps(result)
                        if not steps.isdisjoint(self.autograd_grad_consumed_grad_fns):
                            _detach(result, steps, self)
            check(self, results, tx)

        return detach

    found = {name: detaching(getattr(OutputGraph, name)) for name in _CHECKS if hasattr(OutputGraph, name)}
    with patched(OutputGraph, **found):
        yield


def _steps(result: TensorVariable) -> set[Any]:
    """The steps of its gradient, those that add to the leaves among them."""
    waiting, seen = [result.as_proxy().node.meta["example_value"].grad_fn], set()
    while waiting:
        step = waiting.pop()
        if step is not None and step not in seen:
            seen.add(step)
            waiting += [before for before, _ in step.next_functions]
    return seen


def _detach(result: TensorVariable, steps: set[Any], output: Any) -> None:
    result.proxy = detached(output, result)
    result.proxy.node.meta[_SPENT] = [step.variable for step in steps if hasattr(step, "variable")]


def spent_places(module: GraphModule) -> tuple[Spent, ...]:
    """Such results of a graph."""
    (output,) = module.graph.find_nodes(op="output")
    results = arguments_of(output)[0]
    return tuple(
        Spent(place, _positions(module, one.meta[_SPENT]))
        for place, one in enumerate(results)
        if _SPENT in getattr(one, "meta", {})
    )


def _positions(module: GraphModule, leaves: list[torch.Tensor]) -> tuple[int, ...]:
    values = [node.meta.get("example_value") for node in module.graph.find_nodes(op="placeholder")]
    return tuple(k for k, value in enumerate(values) if any(value is leaf for leaf in leaves))


def spending(spent: tuple[Spent, ...], run: Compiled) -> Compiled:
    """`run`, whose results at these positions record a gradient that is not there any more."""
    if not spent:
        return run

    @functools.wraps(run, updated=())
    def give(*inputs: Any) -> tuple[Any, ...]:
        results = list(run(*inputs))
        with torch.enable_grad():
            for one in spent:
                if not any(results[one.place] is given for given in inputs):
                    leaves = [inputs[k] for k in one.leaves]
                    results[one.place] = _Spent.apply(results[one.place], torch.zeros((), requires_grad=True), *leaves)
        return tuple(results)

    return give


class _Spent(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, tensor: torch.Tensor, _: torch.Tensor, *leaves: torch.Tensor) -> torch.Tensor:
        return tensor.detach()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> None:  # type: ignore[override]
        raise RuntimeError(_TWICE)
