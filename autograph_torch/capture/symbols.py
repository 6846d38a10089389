"""The numbers that an operator's body is computed from are inputs of the body.

    cond(p, true, false, (x, n + 1))        cond(p, true, false, (x, n + 1, n))

Inductor writes a body as a function of its own, in which `n + 1` is that expression: so `n` has to be known there
("NameError: name 'u0' is not defined", when the graph runs).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.computed_of import computed_of

_COND, _WHILE = torch.ops.higher_order.cond, torch.ops.higher_order.while_loop

# An input of a body whose value is an expression -> the inputs that it is an expression of.
Parts = Mapping[Node, tuple[Node, ...]]


def pass_symbols(module: GraphModule) -> None:
    """Give the bodies of operators what their inputs are computed from; in place, outer bodies first."""
    _pass_symbols(module, {})
    for one in (module, *module.children()):  # torch makes the code of the graph itself when it is called, if ever
        if isinstance(one, GraphModule):
            one.recompile()


def _pass_symbols(module: GraphModule, parts: Parts) -> None:
    for node in module.graph.nodes:
        if node.target in (_COND, _WHILE):
            _pass_to_bodies(module, node, parts)


def _pass_to_bodies(module: GraphModule, node: Node, parts: Parts) -> None:
    arguments: Any = node.args
    names, given = arguments[1:3], [*arguments[3]]
    if node.target is _WHILE:
        names, given = arguments[:2], [*arguments[2], *arguments[3]]
    made_of = {one: _leaves(one, parts) for one in given if isinstance(one, Node) and _is_integer(one)}
    more = [leaf for leaf in dict.fromkeys(leaf for found in made_of.values() for leaf in found) if leaf not in given]
    node.update_arg(3, (*arguments[3], *more))
    for name in dict.fromkeys(name.target for name in names):
        body: Any = module.get_submodule(name)
        inputs = dict(zip([*given, *more], [*_placeholders(body), *_more_placeholders(body, more)], strict=True))
        _pass_symbols(body, {inputs[one]: tuple(inputs[leaf] for leaf in found) for one, found in made_of.items()})


def _leaves(number: Node, parts: Parts) -> tuple[Node, ...]:
    """The integers that an integer is computed from."""

    def inputs(one: Node) -> list[Node]:
        known = one in parts or one.op != "call_function" or not all(map(_is_integer, one.all_input_nodes))
        return [] if known else one.all_input_nodes

    ends = [one for one, of in computed_of(number, inputs).items() if not of]
    return tuple(dict.fromkeys(leaf for one in ends for leaf in parts.get(one, (one,))))


def _is_integer(node: Node) -> bool:
    return isinstance(node.meta.get("example_value"), torch.SymInt)


def _placeholders(body: GraphModule) -> list[Node]:
    return [node for node in body.graph.nodes if node.op == "placeholder"]


def _more_placeholders(body: GraphModule, outer: list[Node]) -> list[Node]:
    """New inputs of a body, behind the others."""
    made = []
    with body.graph.inserting_before(next(node for node in body.graph.nodes if node.op != "placeholder")):
        for node in outer:
            made.append(body.graph.placeholder(node.name))
            made[-1].meta["example_value"] = node.meta["example_value"]
    return made
