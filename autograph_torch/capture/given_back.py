"""Results that eager gives back as tensors from before, on some paths: Python puts those in their places.

    if x.norm() > 1:            the graph gives (cond(p, x / 2, copy of x), not p);
        x = x / 2               what runs it gives x itself where `not p` is true
    return x

torch's operators hand out copies. What a copy was made of shows in the finished graph (capture/origins.py). A tensor
that eager gives back is an input of the graph, a view of one, or another result; views are made once more, of what they
are views of in eager. Both tensors hold the same by then: capture/shared_results.py has passed on every write, or
refused it.

A view that is made under no_grad hands on no gradient, though it says that it requires one. What comes out of a
compiled graph, or is made once more, does: Python makes another view of it under no_grad.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule, Node

from autograph_torch.capture.common_roots import hand_out_roots
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import arguments_of, has_gradient, storage_at
from autograph_torch.capture.origins import Finder, Flag, Origin, before_view
from autograph_torch.capture.parameters_made import placed_in
from autograph_torch.capture.records import records_gradient
from autograph_torch.capture.spent import Spent, positions_of, spend, tell_spent
from autograph_torch.capture.used_inputs import used_inputs, where_used
from autograph_torch.capture.views_again import View, is_unrecorded, made_again

Compiled = Callable[..., Any]

_MOST = 32  # what a result may be; each costs a flag in every branch around


@dataclass(frozen=True)
class Substitute:
    """What takes the place of a result where a flag, if any, is set: an input, or another result (all by position), or
    a view that Python makes of it.
    """

    place: int
    flag: int | None
    source: int
    is_input: bool
    views: tuple[View, ...] = ()


@dataclass(frozen=True)
class Substitutes:
    """What takes the places of the first `count` results of a graph, in this order.

    views: results that are views made under no_grad, or (True) views with a gradient of such.
    recorded: results that record a gradient where a flag is set.
    used: inputs that are used where a flag is set, or never.
    spent: results whose gradients the function has computed itself.
    """

    count: int
    found: tuple[Substitute, ...] = ()
    views: tuple[tuple[int, bool], ...] = ()
    recorded: tuple[tuple[int, int], ...] = ()
    used: tuple[tuple[int, int | None], ...] = ()
    spent: tuple[Spent, ...] = ()


def tell_given_back(module: GraphModule) -> Substitutes:
    """Let a graph give, behind its results, what tells which of them are tensors from before, and views of these."""
    (output,) = module.graph.find_nodes(op="output")
    results = list(arguments_of(output)[0])
    count = len(results)
    inputs = module.graph.find_nodes(op="placeholder")
    made = {node: node.args[1] for node in module.graph.find_nodes(op="call_function", target=placed_in)}
    finder = Finder(module)
    spent = tell_spent(finder.outermost, results)
    tensors = [one for one in results if isinstance(one, Node) and storage_at(one) is not None]
    results += hand_out_roots(finder, tensors)
    given, found = list(results), []
    known = [*inputs, *results, *made]
    all_that_may_be = ((place, *one) for place in range(count) for one in _may_be(finder, place, results, known))
    for place, origin, flag in all_that_may_be:
        again = None if flag is False else made_again(origin, results[place], finder, given)
        if again is None:
            continue
        tensor = made.get(again[0], again[0])
        is_input = tensor in inputs
        if not is_input and tensor not in given:
            given.append(tensor)
        source = inputs.index(tensor) if is_input else given.index(tensor)
        if isinstance(flag, Node):
            given.append(flag)
        found.append(Substitute(place, None if flag is True else len(given) - 1, source, is_input, again[1]))
    recording = [place for place, result in enumerate(results) if _records(result)]
    flags = records_gradient(finder.outermost, [results[place] for place in recording])
    told = [(place, flag) for place in recording if isinstance(flag := flags[results[place]], Node)]
    used = used_inputs(finder.outermost, list(zip(given, _replaced(finder, found, given, count), strict=True)))
    flags_of_spent = [(place, flag) for place, _, flag in spent if flag is not True]
    given += dict.fromkeys(flag for _, flag in (*told, *used, *flags_of_spent) if isinstance(flag, Node))
    if found or told or used or flags_of_spent or len(results) > count:
        output.args = (tuple(given),)
        finder.finish()
    views = [(place, one) for place, one in enumerate(given) if isinstance(one, Node) and _hands_on_nothing(one)]
    recorded = [(place, not is_unrecorded(one.meta["example_value"])) for place, one in views]
    # Of each flag, not of those that are True or False.
    at: dict[Flag, int] = {one: place for place, one in reversed([*enumerate(given)]) if isinstance(one, Node)}
    on_paths = tuple((place, at[flag]) for place, flag in told)
    in_use = tuple((place, at.get(flag)) for place, flag in used)
    spent_where = tuple(
        Spent(place, positions_of(leaves, module), at.get(flag)) for place, leaves, flag in spent if flag is not False
    )
    return Substitutes(count, tuple(found), tuple(recorded), on_paths, in_use, spent_where)


def _replaced(finder: Finder, found: list[Substitute], given: list[Any], count: int) -> list[Flag]:
    """Of all that the graph gives: whether Python has something else.

    An input takes the place of one of the first `count` (not of what comes out in another place as well); a tensor
    behind them counts where it comes out in the place of one.
    """
    level = finder.outermost
    flags = [(one, True if one.flag is None else given[one.flag]) for one in found]
    elsewhere = {one.source for one in found if not one.is_input}

    def is_replaced(place: int) -> Flag:
        if place < count:
            inputs = [flag for one, flag in flags if one.is_input and one.place == place]
            return level.either([] if place in elsewhere else inputs)
        if not has_gradient(given[place]):
            return False
        return level.opposite(level.either([flag for one, flag in flags if not one.is_input and one.source == place]))

    return [is_replaced(place) for place in range(len(given))]


def _may_be(finder: Finder, place: int, results: list[Any], known: list[Any]) -> Iterator[tuple[Origin, Flag]]:
    """What a result may be, and when."""
    level, result = finder.outermost, results[place]
    if storage_at(result) is None or result.op in ("placeholder", "get_attr"):
        return
    for origin in _given_back(finder, result, known):
        if not origin.told:
            message = "the function gives back what the trips of a loop have made views of, one of the other"
            raise capture_error_at(result, "AG314", message, "give back a copy of it (`.clone()`)")
        yield origin, level.holds(result, origin)


def giving_back(substitutes: Substitutes, run: Compiled) -> Compiled:
    """`run`, whose results are the tensors that eager gives; `run` itself where they all are."""
    if substitutes == Substitutes(substitutes.count):
        return run

    @functools.wraps(run, updated=())
    def give(*inputs: Any) -> tuple[Any, ...]:
        taken = list(inputs)
        uses = where_used(taken, substitutes.used)
        results = list(run(*taken))
        for place, use in uses.items():
            use.told_by(results[place])
        results = _recorded(results, substitutes.recorded)
        results = _without_gradient(results, substitutes.views)
        spend(substitutes.spent, results, inputs)
        made: dict[tuple[int, int], Any] = {}  # what is one view in eager
        for one in substitutes.found:
            if one.flag is None or results[one.flag]:
                tensor = inputs[one.source] if one.is_input else results[one.source]
                parts = id(tensor), id(one.views)
                if one.views and parts not in made:
                    made[parts] = functools.reduce(lambda of, view: view.of(of, results), one.views, tensor)
                results[one.place] = made[parts] if one.views else tensor
        return tuple(results[: substitutes.count])

    return give


def _recorded(results: list[Any], recorded: tuple[tuple[int, int], ...]) -> list[Any]:
    """The results, without a gradient where they record none."""
    made: dict[int, torch.Tensor] = {}
    given = list(results)
    for place, flag in recorded:
        if not results[flag] and results[place].requires_grad:
            given[place] = made.setdefault(id(results[place]), results[place].detach())
    return given


def _without_gradient(results: list[Any], views: tuple[tuple[int, bool], ...]) -> list[Any]:
    """The results, of which some are views that hand on no gradient; what is one object stays one."""
    made: dict[int, torch.Tensor] = {}
    given = list(results)
    for place, recorded in views:
        tensor = results[place]
        if tensor.grad_fn is not None and id(tensor) not in made:
            with torch.no_grad():
                made[id(tensor)] = tensor.view_as(tensor)
            if recorded:
                made[id(tensor)] = made[id(tensor)].view_as(tensor)
        given[place] = made.get(id(tensor), tensor)
    return given


def _records(result: Any) -> bool:
    value = result.meta.get("example_value") if isinstance(result, Node) and result.op.startswith("call") else None
    return isinstance(value, torch.Tensor) and value.requires_grad


def _hands_on_nothing(result: Node) -> bool:
    """Whether a gradient of this view does not come to what it is a view of."""
    while (before := before_view(result)) is not None:
        if any(is_unrecorded(view.meta["example_value"]) for view in before.views):
            return True
        result = before.root
    return False


def _given_back(finder: Finder, result: Node, known: list[Any]) -> list[Origin]:
    """What a result may be that has another one or itself in its place on other paths, if Python has it.

    Raises:
        CaptureError: AG314, it may be too many.
    """
    origins = finder.outermost.origins(result)
    found = [one for one in origins if one.root is not result and one.root in known]
    # The earliest comes last, and counts: what it is given back as may itself be given back as that.
    found.sort(key=lambda origin: origin.root, reverse=True)
    if len(found) > _MOST:
        message = f"the function gives back what may be one of more than {_MOST} tensors from before"
        raise capture_error_at(result, "AG314", message, "give back a copy of it (`.clone()`)")
    return found if len(origins) > 1 else []
