"""Results that eager gives back as tensors from before, on some paths: Python puts those in their places.

    if x.norm() > 1:            the graph gives (cond(p, x / 2, copy of x), not p);
        x = x / 2               what runs it gives x itself where `not p` is true
    return x

torch's operators hand out copies. What a copy was made of shows in the finished graph (capture/origins.py). A tensor
that eager gives back is an input of the graph, a view of one, or another result; views are made once more, of what they
are views of in eager. Both tensors hold the same by then: capture/shared_results.py has passed on every write, or
refused it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from autograph_torch.capture.graph_writes import arguments_of, storage_at
from autograph_torch.capture.origins import Finder, Origin
from autograph_torch.capture.parameters_made import placed_in

Compiled = Callable[..., Any]

_MOST = 16  # what a result may be; each costs a flag in every branch around


@dataclass(frozen=True)
class Substitute:
    """What takes the place of a result where a flag, if any, is set: an input, or another result (all by position)."""

    place: int
    flag: int | None
    source: int
    is_input: bool


@dataclass(frozen=True)
class Substitutes:
    """What takes the places of the first `count` results of a graph, in this order."""

    count: int
    found: tuple[Substitute, ...] = ()


def tell_given_back(module: GraphModule) -> Substitutes:
    """Let a graph give, behind its results, what tells which of them are tensors from before, and views of these."""
    (output,) = module.graph.find_nodes(op="output")
    results = list(arguments_of(output)[0])
    inputs = module.graph.find_nodes(op="placeholder")
    made = {node: node.args[1] for node in module.graph.find_nodes(op="call_function", target=placed_in)}
    finder = Finder(module)
    given, found = list(results), []
    for place, result in enumerate(results):
        if storage_at(result) is None or result.op in ("placeholder", "get_attr"):
            continue
        for origin in _given_back(finder, result, [*inputs, *results, *made]):
            flag = finder.outermost.holds(result, origin)
            tensor = None if flag is False else _remade(origin, result, output)
            if tensor is None:
                continue
            tensor = made.get(tensor, tensor)
            is_input = tensor in inputs
            if not is_input and tensor not in given:
                given.append(tensor)
            source = inputs.index(tensor) if is_input else given.index(tensor)
            if isinstance(flag, Node):
                given.append(flag)
            found.append(Substitute(place, None if flag is True else len(given) - 1, source, is_input))
    if found:
        output.args = (tuple(given),)
        finder.finish()
    return Substitutes(len(results), tuple(found))


def giving_back(substitutes: Substitutes, run: Compiled) -> Compiled:
    """`run`, whose results are the tensors that eager gives; `run` itself where they all are."""
    if not substitutes.found:
        return run

    @functools.wraps(run, updated=())
    def give(*inputs: Any) -> tuple[Any, ...]:
        results = list(run(*inputs))
        for one in substitutes.found:
            if one.flag is None or results[one.flag]:
                results[one.place] = inputs[one.source] if one.is_input else results[one.source]
        return tuple(results[: substitutes.count])

    return give


def _given_back(finder: Finder, result: Node, known: list[Any]) -> list[Origin]:
    """What a result may be that has another one or itself in its place on other paths, if Python has it."""
    origins = finder.outermost.origins(result)
    found = [one for one in origins if one.root is not result and one.root in known]
    # The earliest comes last, and counts: what it is given back as may itself be given back as that.
    found.sort(key=lambda origin: origin.root, reverse=True)
    return found if len(origins) > 1 and len(found) <= _MOST else []


def _remade(origin: Origin, result: Node, output: Node) -> Node | None:
    """The root, or what views make of it, at the end of the graph; None where it lies in memory as no such view can."""
    node = origin.root
    for view in origin.views:
        made = _copy(view, node, output)
        if made is None:
            return None
        node = made
    value, like = node.meta["example_value"], result.meta["example_value"]
    if (value.dtype, value.ndim) != (like.dtype, like.ndim):
        return None
    if value.requires_grad and not like.requires_grad:
        with output.graph.inserting_before(output):
            node = output.graph.call_method("detach", (node,))
        node.meta["example_value"] = value.detach()
    return node


def _copy(view: Node, tensor: Node, output: Node) -> Node | None:
    """The same view of another tensor."""
    function: Any = getattr(torch.Tensor, str(view.target)) if view.op == "call_method" else view.target
    before = view.all_input_nodes[0]
    value = tensor.meta["example_value"]
    args, kwargs = map_arg((view.args, view.kwargs), lambda _: value)
    try:
        value = function(*args, **kwargs)
    except (RuntimeError, ValueError):
        return None
    with output.graph.inserting_before(output):
        made = output.graph.node_copy(view, {before: tensor}.__getitem__)
    made.meta["example_value"] = value
    return made
