"""Views that are made once more, of what they are views of in eager: in the graph, or by Python behind it.

rows = w.rows               the graph makes `rows[:2]` again at its end where the branch has been taken;
if p:                       of `rows[:n]` it gives `n`, which the branch alone knows, and Python makes the view
    rows = rows[:n]
return rows

Of results that are one object in eager one view is made: of each that the function has made once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import Node
from torch.fx.node import map_aggregate, map_arg

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.kept_inputs import is_kept
from autograph_torch.capture.origins import Finder, Origin, is_number
from autograph_torch.capture.spent import SPENT


@dataclass(frozen=True)
class Number:
    """In the arguments of a view: a result of the graph, by its position."""

    place: int


class Whole:
    """In the arguments of a view: what it is a view of."""


@dataclass(frozen=True)
class View:
    """One that Python makes.

    records: whether its gradient comes to what it is a view of.
    """

    function: Callable[..., Any]
    args: Any
    kwargs: Any
    records: bool

    def of(self, tensor: Any, results: list[Any]) -> Any:
        """This view of a tensor, with the numbers that the graph has given."""

        def fill_in(argument: Any) -> Any:
            if isinstance(argument, Number):
                return int(results[argument.place])
            return tensor if argument is Whole else argument

        args, kwargs = map_aggregate(self.args, fill_in), map_aggregate(self.kwargs, fill_in)
        with torch.set_grad_enabled(self.records and torch.is_grad_enabled()):
            return self.function(*args, **kwargs)


def made_again(origin: Origin, result: Node, finder: Finder, given: list[Any]) -> tuple[Node, tuple[View, ...]] | None:
    """What a result is on some paths, at the end of the graph, and the views that Python makes of it.

    given: what the graph gives, to which the numbers of those come. None where the result lies in memory as no such
    view can. Raises CaptureError (AG314) where a loop alone knows the numbers.
    """
    if any(map(_numbers_of, origin.views)) or (origin.views and is_kept(origin.root)):
        parts = origin, _records(result)
        views = _once(finder, origin.views, parts, functools.partial(_by_python, origin, result, finder, given))
        return None if views is None else (origin.root, views)
    tensor = _in_the_graph(origin, result, finder)
    return None if tensor is None else (tensor, ())


def _once(finder: Finder, views: tuple[Node, ...], parts: Any, make: Callable[[], Any]) -> Any:
    """What is made of these parts; made once, if the function makes these views once."""
    if not all(map(finder.runs_once, views)):
        return make()
    if parts not in finder.views:
        finder.views[parts] = make()
    return finder.views[parts]


def _in_the_graph(origin: Origin, result: Node, finder: Finder) -> Node | None:
    node, output = origin.root, finder.outermost.output
    for k, view in enumerate(origin.views, 1):
        views = origin.views[:k]
        made = _once(finder, views, (origin.root, *views), functools.partial(_copy, view, node, output))
        if made is None:
            return None
        node = made
    value = node.meta["example_value"]
    if not _is_alike(value, result):
        return None
    if value.requires_grad and not _records(result):
        return _once(finder, origin.views, (origin, "detached"), functools.partial(_detached, node, output))  # type: ignore[no-any-return]
    return node


def _records(result: Node) -> bool:
    """Whether a result has a gradient in eager."""
    return bool(result.meta["example_value"].requires_grad) or SPENT in result.meta


def _detached(node: Node, output: Node) -> Node:
    with output.graph.inserting_before(output):
        made = output.graph.call_method("detach", (node,))
    made.meta["example_value"] = node.meta["example_value"].detach()
    return made


def _by_python(origin: Origin, result: Node, finder: Finder, given: list[Any]) -> tuple[View, ...] | None:
    if not _is_alike(origin.views[-1].meta["example_value"], result):
        return None
    places: dict[Node, Any] = {}
    for number in (one for view in origin.views for one in _numbers_of(view)):
        found = finder.number(number)
        if found is None:
            message = "the function gives back a view whose place or length only a loop knows"
            raise capture_error_at(origin.views[-1], "AG314", message, "give back a copy of it (`.clone()`)")
        given.append(found)
        places[number] = Number(len(given) - 1)
    records = _records(result)
    views = []
    for view in origin.views:
        args, kwargs = (map_arg(one, lambda node: places.get(node, Whole)) for one in (view.args, view.kwargs))
        views.append(View(_function(view), args, kwargs, records and not is_unrecorded(view.meta["example_value"])))
    return tuple(views)


def is_unrecorded(view: Any) -> bool:
    """Whether a view of what has a gradient is made under no_grad."""
    return isinstance(view, torch.Tensor) and view.requires_grad and view.grad_fn is None


def _is_alike(value: torch.Tensor, result: Node) -> bool:
    like = result.meta["example_value"]
    return (value.dtype, value.ndim) == (like.dtype, like.ndim)


def _numbers_of(view: Node) -> list[Node]:
    return [one for one in view.all_input_nodes if is_number(one)]


def _function(view: Node) -> Any:
    return getattr(torch.Tensor, str(view.target)) if view.op == "call_method" else view.target


def _copy(view: Node, tensor: Node, output: Node) -> Node | None:
    """The same view of another tensor; itself where the outermost graph has made it of this one."""
    (before,) = view.all_input_nodes
    if before is tensor and view.graph is output.graph:
        return view
    value = tensor.meta["example_value"]
    args, kwargs = map_arg((view.args, view.kwargs), lambda _: value)
    records = torch.is_grad_enabled() and not is_unrecorded(view.meta["example_value"])
    try:
        with torch.set_grad_enabled(records):
            value = _function(view)(*args, **kwargs)
    except (RuntimeError, ValueError):
        return None
    with output.graph.inserting_before(output):
        made = output.graph.node_copy(view, {before: tensor}.__getitem__)
    made.meta["example_value"] = value
    return made
