"""The one place of the runtime that leans on torch's private names: the trace that is under way.

torch._guards.TracingContext: what Dynamo knows about the frame it traces. `get()` raises outside a trace;
`extract_stack()` gives the user's frames.
torch._dynamo.symbolic_convert.InstructionTranslator.current_tx(): the graph that is being built.
tests/runtime/test_tracing.py fails clearly when torch changes one of them.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import weakref
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._guards import TracingContext

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What stands between a branch and the user's line: the operators, the mode of `with torch.device(...)`, and what Dynamo
# traces in the place of functions in C.
_OF_TORCH = ("torch/_higher_order_ops/", "torch/utils/_device.py", "torch/_dynamo/polyfills/")
_SCOPE = "_autograph_scope"  # of what builds a body: the scope of the objects that are made in it
_INNER = ("_base_vt", "_dict_vt", "_list_vt", "_tuple_vt", "_set_vt")  # the last four: torch 2.11
FIRST_NAME = "autograph_torch_first_name"  # in the `meta` of a node that has been renamed (repair_names)
_notebooks: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


def notebook() -> dict[Any, Any]:
    """Notes of the trace that is under way; a fresh one for every trace (and every restart of one)."""
    return _notebooks.setdefault(TracingContext.get(), {})


def in_backward() -> bool:
    """Whether autograd is running a backward pass right now (torch._C._current_graph_task_id)."""
    return bool(torch._C._current_graph_task_id() != -1)


@dataclass(frozen=True)
class Known:
    """What is known before a function is traced (capture/attempts.py), as far as the runtime makes use of it.

    splits: the places (file, line) of statements that have what follows in both branches.
    lists_grow: whether lists may grow in loops on data (runtime/grown.py).
    first_trips: whether the first trip of such a loop is made in the graph's loop, too.
    picks: whether data may pick strings and other constants (runtime/picked.py).
    listed: whether `tolist` of a vector whose length data tell gives a list of that length (runtime/growing.py).
    one_path: whether the trace follows the path of one call, and data answer every test (capture/one_path.py).
    until: when to give up, in processor time of the process: a graph for one path is better than none.
    forms: the elements of lists that data make longer and shorter (runtime/bounded.py): how one travels, and as what.
    lists_read: the lists of the caller, as Python expressions, that are looked into as soon as they are met.
    unread: those that bodies have taken for open (capture/appended_lists.py), filled by the trace.
    """

    splits: frozenset[tuple[str, int]] = frozenset()
    lists_grow: bool = False
    first_trips: bool = False
    picks: bool = False
    listed: bool = False
    one_path: bool = False
    forms: dict[str, Any] = field(default_factory=dict)
    until: float | None = None
    lists_read: frozenset[str] = frozenset()
    unread: set[str] = field(default_factory=set)


_known: list[Known] = []  # of the traces that are under way, the innermost last


@contextlib.contextmanager
def knowing(what: Known) -> Iterator[None]:
    """While a function is traced that this is known of."""
    _known.append(what)
    try:
        yield
    finally:
        _known.pop()


def known() -> Known:
    """What is known of the trace that is under way."""
    return _known[-1] if _known else Known()


def transform() -> str | None:
    """The transform of torch.func that is under way (torch._C._functorch.peek_interpreter_stack), by its name."""
    level: Any = torch._C._functorch.peek_interpreter_stack()  # type: ignore[attr-defined]
    return None if level is None else str(level.key().name)


def last_node() -> Any:
    """The newest node of the graph (or the body of an operator) that is being built; None when it is empty."""
    nodes = list(_graph().nodes)
    return nodes[-1] if nodes else None


def discard_after(mark: Any) -> None:
    """Take back what an attempt has put into the graph since `mark`: nothing uses it.

    Dead nodes would stay: backends that run the graph as it is would run them, a loop whose state never changes
    forever.
    """
    graph = _graph()
    for node in reversed(list(graph.nodes)):
        if node is mark:
            break
        if not node.users and not _is_remembered(node):
            graph.erase_node(node)
    _forget_erased()


def _forget_erased() -> None:
    """The body of an autograd.Function hands out all that the tracer knows in it: there is nothing left to hand out."""
    from torch._dynamo.symbolic_convert import InstructionTranslator

    known = getattr(InstructionTranslator.current_tx().output.current_tracer, "tracked_proxyable_vt", None)
    if known is None:  # torch 2.11
        return
    for variable in list(known):
        if variable.as_proxy().node._erased:
            known.discard(variable)


def _is_remembered(node: Any) -> bool:
    """Whether the tracer takes a node again when it needs the value: an input, or a float that is read from one."""
    return node.op in ("placeholder", "get_attr") or (node.target == "item" and node.args[0].op == "placeholder")


def nodes() -> list[Any]:
    """The nodes of the graph, or of the operator body, that is being built."""
    return list(_graph().nodes)


def with_bodies(nodes: Iterable[Any]) -> Iterator[Any]:
    """Nodes of the graph that is being built, and those of the bodies of their operators."""
    modules = current_translator().output.nn_modules
    for node in nodes:
        yield node
        body = modules.get(str(node.target)) if node.op == "get_attr" else None
        if isinstance(body, torch.fx.GraphModule):
            yield from with_bodies(body.graph.nodes)


def takes_part_in_gradients() -> bool:
    """Whether any tensor in the body of an operator that is being built requires a gradient."""
    values = (node.meta.get("example_value") for node in nodes())
    return any(isinstance(value, torch.Tensor) and value.requires_grad for value in values)


def has_enabled_gradients() -> bool:
    """Whether the recording of gradients has been turned on in the body of an operator that is being built."""
    return any(node.target is torch._C._set_grad_enabled and node.args == (True,) for node in nodes())


def in_inference_mode() -> bool:
    """Whether the graph has entered inference mode here. (Dynamo itself stays out of it while it traces.)"""
    modes = torch.autograd.grad_mode
    targets = [node.target for tracer in enclosing(current_tracer()) for node in tracer.graph.nodes]
    return targets.count(modes._enter_inference_mode) > targets.count(modes._exit_inference_mode)


def may_break() -> bool:
    """Whether the trace under way need not give one graph (torch.compile(fullgraph=False))."""
    from torch._dynamo.symbolic_convert import InstructionTranslator

    try:
        return not InstructionTranslator.current_tx().one_graph
    except AttributeError:  # no trace is under way
        return False


def _graph() -> Any:
    return current_tracer().graph


def current_translator() -> Any:
    """What follows the function that is compiled."""
    from torch._dynamo.symbolic_convert import InstructionTranslator

    return InstructionTranslator.current_tx()


def current_tracer() -> Any:
    """What builds the graph, or the body of an operator, that is being traced."""
    return current_translator().output.current_tracer


def enclosing(tracer: Any) -> Iterator[Any]:
    """What builds a graph, and what builds those around it, from the inside out."""
    while tracer is not None:
        yield tracer
        tracer = tracer.parent


def in_a_body() -> bool:
    """Whether a body of a branch or loop of ours is being traced."""
    return any("_autograph_table" in one.__dict__ for one in enclosing(current_tracer()))


def resolved(proxy: Any, tracer: Any) -> Any:
    """What a tensor is inside of a body: itself, or what stands in for it there or in a body around."""
    for around in reversed(list(enclosing(tracer))):
        proxy = stand_ins(around).get(proxy.node, proxy)
    return proxy


def origin(node: Any, tracer: Any) -> Any:
    """What an input of a body is outside of it; None where it is something of its own."""
    for around in enclosing(tracer):
        for outer, inner in around.lifted_freevars.items():
            if getattr(inner, "node", None) is node and hasattr(outer, "node"):
                return outer.node
    return None


def stand_ins(tracer: Any) -> dict[Any, Any]:
    """Nodes from around a body -> the proxies that stand in for them."""
    return tracer.__dict__.setdefault("_autograph_stand_ins", {})  # type: ignore[no-any-return]


def renewed(proxy: Any) -> Any:
    """What a tensor of an earlier trace is at the point that is being traced; None where that is not known.

    It may have been a stand-in, or a node of a body that has been traced anew since; there it has the same name.
    """
    innermost = current_tracer()
    original = _original(proxy.node, proxy.tracer)
    around = {one.graph: one for one in enclosing(innermost)}
    if original.graph not in around:
        owner = next((one for one in around.values() if body_of(one) == body_of(_owner(original, proxy.tracer))), None)
        original = None if owner is None else _namesake(original, owner.graph)
    if original is None or original._erased:
        return None
    owner = around[original.graph]
    known = proxy.node is original  # else the tracer has another proxy of this node, by which it may have come in
    proxy = proxy if known else torch.fx.Proxy(original, owner)
    now = resolved(proxy, innermost)
    return now if known or now is not proxy or owner is innermost else None


def _original(node: Any, tracer: Any) -> Any:
    """The node that a stand-in stands for, or the node itself."""
    for around in enclosing(tracer):
        node = next((of for of, stand_in in stand_ins(around).items() if stand_in.node is node), node)
    return node


def _owner(node: Any, tracer: Any) -> Any:
    """What has built the graph of a node that is known in a body."""
    return next(one for one in enclosing(tracer) if one.graph is node.graph)


def _namesake(node: Any, graph: Any) -> Any:
    """The node of a graph that is what `node` was in an earlier trace of the same body."""
    name = _first_name(node)
    found = next((one for one in graph.nodes if _first_name(one) == name and one.target == node.target), None)
    is_tensor = found is not None and isinstance(found.meta.get("example_value"), torch.Tensor)
    return found if is_tensor else None  # the other trace may have another path through the body


def _first_name(node: Any) -> str:
    """What its graph has called a node, whatever else the other graphs of this trace had names for."""
    return node.meta.get(FIRST_NAME, node.name)  # type: ignore[no-any-return]


def body_of(tracer: Any) -> str:
    """The name of the body that is being traced; empty for the function itself."""
    return tracer.__dict__.get("_autograph_body", "")  # type: ignore[no-any-return]


def enter_body(body: str) -> None:
    """At the start of a body: its name (see notes.new_site), and the state that it begins with."""
    from torch._dynamo.current_scope_id import current_scope_id

    current_tracer().__dict__["_autograph_body"] = body
    current_tracer().__dict__[_SCOPE] = current_scope_id()
    note_state()


def is_in_body_of(site: str) -> bool:
    """Whether the innermost body that is being traced is one of a site's."""
    body: str = current_tracer().__dict__.get("_autograph_body", "")
    return body.rpartition(".")[0] == site


def note_state() -> None:
    """Remember which attributes and closure cells have been written to so far.

    Private: SideEffects.store_attr_mutations, {variable: {name: value}}.
    """
    table = _side_effects().store_attr_mutations
    current_tracer().__dict__["_autograph_table"] = {item: dict(names) for item, names in table.items()}
    current_tracer().__dict__["_autograph_written_to"] = False


def note_fields(site: str) -> None:
    """At the end of a body: remember the attributes, cells and containers from around it that it has written to."""
    known = fields_of(site)
    places = {variable: place for place, variable in _side_effects().id_to_variable.items()}
    for item, name in written_fields():
        place = places.get(item)
        if not any(one.name == name and one.is_of(item, place) for one in known):
            known.append(Field(item, name, place, made_in=_maker(item)))
    containers = containers_of(site)
    for item in written_containers(current_tracer()):
        holder = next((one for one in places if inner_of(one) is item), item)
        if not any(one.is_of(item, places.get(holder)) for one in containers):
            containers.append(Field(item, "", places.get(holder), holder, _maker(item)))


def inner_of(variable: Any) -> Any:
    """The variable of the list, dict, set or tuple that an object of a class of its own is; None of any other.

    Private: _base_vt; torch 2.11 has a name for each kind.
    """
    return next((found for name in _INNER if (found := getattr(variable, name, None)) is not None), None)


def _maker(item: Any) -> Any:
    """What builds the body that has made an object; None when it was there before the trace (MutationType.scope)."""
    scope = item.mutation_type.scope
    return next((one for one in enclosing(current_tracer()) if one.__dict__.get(_SCOPE) == scope), None)


def written_fields() -> list[tuple[Any, str]]:
    """The attributes and cells from around a body that have been written to since `enter_body`.

    Private: MutationType.scope, how deep in bodies an object was made (0: it was there before the trace).
    """
    from torch._dynamo.current_scope_id import current_scope_id

    before = current_tracer().__dict__["_autograph_table"]
    return [
        (item, name)
        for item, names in _side_effects().store_attr_mutations.items()
        if item.mutation_type.scope < current_scope_id()  # not made here, nor in a body inside
        for name, value in names.items()
        if before.get(item, {}).get(name) is not value
    ]


def written_containers(tracer: Any) -> dict[Any, Any]:
    """The lists and dicts from around a body that it writes to (capture/container_writes.py) -> what was in them."""
    return tracer.__dict__.setdefault("_autograph_containers", {})  # type: ignore[no-any-return]


def replaced_objects(site: str) -> set[tuple[Any, ...]]:
    """Places in the lists and dicts of `remember(site, ...)` where trips put other objects (capture/replacing.py)."""
    return notebook().setdefault((site, "replaced objects"), set())  # type: ignore[no-any-return]


def shared_contents(tracer: Any) -> list[tuple[Any, Any, Any]]:
    """Containers that share contents in a body (capture/contents.py): (variable, its own contents, the copy)."""
    return tracer.__dict__.setdefault("_autograph_contents", [])  # type: ignore[no-any-return]


def shares_contents(tracer: Any, container: Any) -> bool:
    """Whether a container from around a body is written to as a copy there."""
    return any(one is container for one, *_ in shared_contents(tracer))


def hold_the_same(one: Any, other: Any, tracer: Any) -> bool:
    """Whether two containers are one for the program, of which a body around has a copy."""
    contents = vars(one).get("items")
    if contents is None or contents is not vars(other).get("items"):
        return False
    shared = (pair for around in enclosing(tracer) for pair in shared_contents(around))
    return any(known is one or known is other for variable, _, copy in shared for known in (variable, copy))


def lists_of_deques() -> dict[Any, Any]:
    """Variables of deques -> lists with the same contents (capture/container_writes.py)."""
    return notebook().setdefault("deques", {}) if TracingContext.try_get() is not None else {}


def taken_away(tracer: Any) -> list[tuple[Any, Any]]:
    """Objects that may not be used in a body, with their contents if they are containers."""
    return tracer.__dict__.setdefault("_autograph_taken_away", [])  # type: ignore[no-any-return]


def unusable() -> set[Any]:
    """Objects of this trace whose attributes may not be used any more."""
    return notebook().setdefault("unusable", set()) if TracingContext.try_get() is not None else set()


def frozen() -> set[Any]:
    """Lists, dicts and objects of this trace that elements of lists are copies of, or are (capture/growing.py)."""
    return notebook().setdefault("frozen", set()) if TracingContext.try_get() is not None else set()


def has_written_to_containers() -> bool:
    """Whether a list or dict from around has been written to since `enter_body`."""
    return bool(current_tracer().__dict__["_autograph_written_to"])


@dataclass(frozen=True)
class Field:
    """An attribute of an object, a closure cell or a container, as Dynamo's variable; `place`: what Dynamo knows an
    object by.
    """

    item: Any
    name: str
    place: int | None
    holder: Any = None  # of the contents of a dict of a class of its own (see inner_of), that object
    made_in: Any = None  # what has built the body that made it; None when it was there before the trace

    def is_of(self, item: Any, place: int | None) -> bool:
        """Whether it belongs to the object of a variable; Dynamo may make another one for an object it meets again."""
        return self.item is item or (place is not None and self.place == place)


def fields_of(site: str) -> list[Field]:
    """What `note_fields` has found."""
    return notebook().setdefault((site, "fields"), [])  # type: ignore[no-any-return]


def containers_of(site: str) -> list[Field]:
    """The lists and dicts that `note_fields` has found."""
    return notebook().setdefault((site, "containers"), [])  # type: ignore[no-any-return]


def stale_at(site: str) -> dict[Any, None]:
    """Objects that a loop begins with, writes to and replaces: behind it they are not what they are in eager."""
    return notebook().setdefault((site, "stale"), {})  # type: ignore[no-any-return]


def written_leaves(site: str) -> dict[int, None]:
    """The positions of tensors in the carry of a loop that trips write to in place."""
    return notebook().setdefault((site, "leaves"), {})  # type: ignore[no-any-return]


def same_tensors(site: str) -> dict[int, bool]:
    """The positions of tensors in the state of a loop -> whether all trips hand on the very same objects."""
    return notebook().setdefault((site, "same"), {})  # type: ignore[no-any-return]


def recall_fields(site: str) -> None:
    """The site is about to be traced anew. What its bodies have written to before, they are taken to write to again.

    So the bodies of a body that is traced twice are not. Objects that such a body had made are others now. What trips
    have handed on unchanged, they are taken to hand on again.
    """
    around = list(enclosing(current_tracer()))
    for found in (fields_of(site), containers_of(site)):
        found[:] = [one for one in found if one.made_in is None or one.made_in in around]
    for kind in ("stale", "leaves", "replaced", "grows"):
        notebook().pop((site, kind), None)
    for position in [position for position, same in same_tensors(site).items() if not same]:
        del same_tensors(site)[position]


def found_at(site: str) -> tuple[Any, ...]:
    """How much has been found out about a site."""
    counts = (len(one(site)) for one in (fields_of, containers_of, stale_at, written_leaves))
    return (*counts, tuple(same_tensors(site).values()))


def _side_effects() -> Any:
    from torch._dynamo.symbolic_convert import InstructionTranslator

    return InstructionTranslator.current_tx().output.side_effects


def user_line() -> tuple[str, int, str]:
    """File, line and text of the innermost frame of the user's that is being traced."""
    for frame in reversed(TracingContext.extract_stack()):
        if not is_ours(frame.filename):
            line = frame.lineno or 1
            return frame.filename, line, linecache.getline(frame.filename, line).rstrip("\n")
    try:
        root = current_translator()  # a generator of ours does not know who takes from it
    except AttributeError:
        root = None  # so says torch 2.11 itself
    if root is None:  # no trace is under way
        return "<unknown>", 1, ""
    positions = root.current_instruction.positions  # None up to Python 3.10
    filename, line = root.f_code.co_filename, (root.lineno if positions is None else positions.lineno) or 1
    return filename, line, linecache.getline(filename, line).rstrip("\n")


def is_ours(filename: str) -> bool:
    """Whether a file belongs to this package, or to the parts of torch that implement the operators."""
    path = os.path.abspath(filename)
    return is_of_package(path) or any(f"/{part}" in path.replace(os.sep, "/") for part in _OF_TORCH)


def is_of_package(filename: str) -> bool:
    """Whether a file belongs to this package."""
    return os.path.abspath(filename).startswith(_PACKAGE + os.sep)


_sites: list[list[tuple[str, int, str, str]]] = []


def record_site(construct: str, outcome: str) -> None:
    """Append to the recording that `explain` has open, if any."""
    if _sites:
        filename, line, _ = user_line()
        _sites[-1].append((filename, line, construct, outcome))


class SiteRecorder:
    """`with SiteRecorder() as sites:` collects (file, line, construct, outcome) of everything traced inside."""

    def __enter__(self) -> list[tuple[str, int, str, str]]:
        _sites.append([])
        return _sites[-1]

    def __exit__(self, *_: object) -> None:
        _sites.pop()
