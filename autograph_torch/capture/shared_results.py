"""Results of operators that eager would share with a tensor from before: what writes to one of them is refused.

    z = x
    if p:
        z = x * 2
    helper_(z)             # in eager this writes to x, too, when p is false

torch's operators hand out copies only. That is the same as eager until the copy, or the tensor that eager would have in
its place, is written to while the other is still in use. It shows in the finished graph, wherever the write comes from.

A storage of the graph stands for itself (its root); a result also for the roots of whatever its branches, or no trip of
its loop, may hand through. Two storages that share a root may be one tensor in eager.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.runtime.outside import STAND_IN_OF

Storage = int
Roots = frozenset[Storage]

_CHECKED = "_autograph_torch_checked"
_OPERATORS = ("cond", "while_loop")
_OUR_COPIES = frozenset(("clone", "reshape", "where", "getitem", "to", "view", "autograd_function_apply"))
_NO_WRITES = frozenset(("requires_grad_",))
_IN_PLACE = frozenset(
    (
        operator.iadd,
        operator.iand,
        operator.ifloordiv,
        operator.ilshift,
        operator.imatmul,
        operator.imod,
        operator.imul,
        operator.ior,
        operator.ipow,
        operator.irshift,
        operator.isub,
        operator.itruediv,
        operator.ixor,
        operator.setitem,
    )
)


def check_at_the_end(output: Any) -> None:
    """Have the graph of a trace (an OutputGraph of Dynamo's) checked when it is finished, before a backend gets it."""
    backend = output.compiler_fn
    if getattr(backend, _CHECKED, False):
        return

    @functools.wraps(backend)
    def compile_graph(graph: GraphModule, inputs: list[Any], **settings: Any) -> Any:
        refuse_lost_writes(graph)
        return backend(graph, inputs, **settings)

    setattr(compile_graph, _CHECKED, True)
    output.compiler_fn = compile_graph


def refuse_lost_writes(module: GraphModule) -> None:
    """Check a graph and the bodies of its operators.

    Raises:
        CaptureError: AG314, at the branch or loop whose result is a copy.
    """
    _Check(module, module.graph, _Sharing(), outermost=True).run()


@dataclass(frozen=True)
class _Sharing:
    """What storages may be in eager, over a graph and all bodies in it."""

    roots: dict[Storage, Roots] = field(default_factory=dict)
    copied_by: dict[Storage, Node] = field(default_factory=dict)  # results: the operator that handed out the copy

    def of(self, storage: Storage) -> Roots:
        return self.roots.get(storage, frozenset((storage,)))

    def of_value(self, value: Any) -> Roots:
        storage = _storage(value)
        return frozenset() if storage is None else self.of(storage)

    def add(self, value: Any, roots: Roots) -> None:
        storage = _storage(value)
        if storage is not None and roots:
            self.roots[storage] = self.of(storage) | roots

    def behind_copy(self, value: Any) -> Roots:
        """The roots of what our own copy of a leaf was made of (runtime/codec.py, and what staged.py adds)."""
        if not isinstance(value, Node):
            return frozenset()
        found = self.of_value(value) if value.op == "placeholder" else frozenset()
        waiting, seen = [(value, False)], set()
        while waiting:
            node, behind = waiting.pop()
            if (node, behind) in seen:
                continue
            seen.add((node, behind))
            if behind:
                found |= self.of_value(node)
            if (not behind and _name(node) in _OUR_COPIES) or _name(node) == "reshape":
                behind = behind or _name(node) == "clone"
                waiting += [(source, behind) for source in node.all_input_nodes]
        return found


@dataclass
class _Check:
    """A walk through one graph, in the order in which it runs."""

    module: GraphModule
    graph: Graph
    sharing: _Sharing
    outermost: bool = False

    def run(self) -> None:
        self.position = {node: index for index, node in enumerate(self.graph.nodes)}
        self.last_use = self._last_uses()
        for node in self.graph.nodes:
            if STAND_IN_OF in node.meta:
                self.sharing.add(node, self.sharing.of(_storage_of(node.meta[STAND_IN_OF])))
            if _is_operator(node):
                self._follow(node)
            for target in _written(node):
                self._check_write(node, target)

    def _last_uses(self) -> dict[Storage, float]:
        """The position of the last use of every storage; those of the caller are used afterwards."""
        found: dict[Storage, float] = {}
        for node in self.graph.nodes:
            if (storage := _storage(node)) is None:
                continue
            last = max((self.position[user] for user in node.users), default=-1)
            of_caller = self.outermost and node.op in ("placeholder", "get_attr")
            found[storage] = max(found.get(storage, -1), float("inf") if of_caller else last)
        return found

    # -- results ------------------------------------------------------------------------------------------------------

    def _follow(self, node: Node) -> None:
        """Walk through the bodies of an operator; what its results may be."""
        sources = self._of_branches(node) if _name(node) == "cond" else self._of_loop(node)
        for user in node.users:
            if user.target is operator.getitem and _args(user)[1] < len(sources):
                for result in (user, *_decoded(user)):
                    if (storage := _storage(result)) is not None:
                        self.sharing.add(result, sources[_args(user)[1]])
                        self.sharing.copied_by[storage] = node

    def _of_branches(self, node: Node) -> list[Roots]:
        """For every result of a torch.cond, what either branch may hand through."""
        _, then, otherwise, operands = _args(node)
        given = [self.sharing.of_value(value) for value in operands]
        found = [self._handed_through(branch, given) for branch in (then, otherwise)]
        return [a | b for a, b in zip(*found, strict=True)]

    def _of_loop(self, node: Node) -> list[Roots]:
        """For every result of a torch.while_loop: its initial value, and what trips may hand through."""
        _, body, carried, additional = _args(node)
        state = [self.sharing.behind_copy(value) for value in carried]
        closed_over = [self.sharing.of_value(value) for value in additional]
        while True:
            trip = self._handed_through(body, [*state, *closed_over])
            after = [a | b for a, b in zip(state, trip, strict=True)]
            if after == state:
                return state
            state = after

    def _handed_through(self, body: Node, given: list[Roots]) -> list[Roots]:
        """What the results of a body may be, when its inputs may be what is given."""
        module = self.module.get_submodule(str(body.target))
        assert isinstance(module, GraphModule)
        placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
        for placeholder, roots in zip(placeholders, given, strict=True):
            self.sharing.add(placeholder, roots)
        _Check(module, module.graph, self.sharing).run()
        (output,) = (node for node in module.graph.nodes if node.op == "output")
        return [self.sharing.behind_copy(value) for value in _args(output)[0]]

    # -- writes -------------------------------------------------------------------------------------------------------

    def _check_write(self, write: Node, target: Any) -> None:
        storage = _storage(target)
        if storage is None:
            return
        origin = _operator_behind(write)
        roots = self.sharing.of(storage)
        for other, last_use in self.last_use.items():
            makers = (self.sharing.copied_by.get(storage), self.sharing.copied_by.get(other))
            # What an operator hands out, and what is written back after it, are the same content.
            agree = other == storage or (origin is not None and origin in makers)
            if not agree and last_use > self.position[write] and roots & self.sharing.of(other):
                raise capture_error_at(
                    next((maker for maker in makers if maker is not None), write),
                    "AG314",
                    "a result may be a tensor from before, and one of the two is written to while the other is in use",
                    "clone the tensor before the branch or loop, or write `y = y + 1` instead of `y += 1`",
                )


def _storage(value: Any) -> Storage | None:
    tensor = value.meta.get("example_value") if isinstance(value, Node) else None
    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided:
        return None
    return _storage_of(tensor)


def _storage_of(tensor: torch.Tensor) -> Storage:
    return int(tensor.untyped_storage()._cdata)


def _args(node: Node) -> tuple[Any, ...]:
    return node.args  # torch says that each may be anything an argument can be


def _name(node: Node) -> str:
    return node.target if isinstance(node.target, str) else str(getattr(node.target, "__name__", node.target))


def _is_operator(node: Node) -> bool:
    return node.op == "call_function" and _name(node) in _OPERATORS and len(node.args) == 4


def _decoded(result: Node) -> Iterator[Node]:
    """What our own code makes of a result: `where(entered, result, initial)` of a loop that may make no trip, and an
    integer that has travelled as a float (runtime/codec.py).
    """
    for user in result.users:
        if (_name(user) == "where" and _args(user)[0].meta["example_value"].ndim == 0) or (
            _name(result) == "view" and _name(user) == "to"
        ):
            yield user
            yield from _decoded(user)
        elif (_name(user) == "detach" and _name(result) == "getitem") or (
            _name(result) == "detach" and _name(user) == "view" and user.args[1:] == (torch.int64,)
        ):
            yield from _decoded(user)


def _operator_behind(write: Node) -> Node | None:
    """The operator whose result is written back by a `copy_` of ours (runtime/outside.py)."""
    if _name(write) != "copy_" or not isinstance(write.args[1], Node):
        return None
    source: Node = write.args[1]
    while not _is_operator(source):
        if _name(source) not in ("detach", "where", "getitem", "as_strided", "view", "to"):
            return None
        source = source.args[1] if _name(source) == "where" else source.args[0]  # type: ignore[assignment]
    return source


def _written(node: Node) -> list[Any]:
    """The nodes of the tensors that a node writes to."""
    if node.op == "call_method":
        method = _name(node)
        return [node.args[0]] if method.endswith("_") and not method.endswith("__") and method not in _NO_WRITES else []
    if node.op != "call_function" or _is_operator(node):
        return []
    if node.target in _IN_PLACE:
        return [node.args[0]]
    if isinstance(node.target, torch._ops.OpOverload):
        return _by_schema(node)
    name = _name(node)
    found = _flat(node.args[0]) if name.endswith("_") and not name.endswith("__") and node.args else []
    return [*found, *_by_signature(node)]


def _by_schema(node: Node) -> list[Any]:
    arguments = node.target._schema.arguments  # type: ignore[union-attr]
    values = {**dict(zip((one.name for one in arguments), node.args, strict=False)), **node.kwargs}
    writing = [one.name for one in arguments if one.alias_info is not None and one.alias_info.is_write]
    return [value for name in writing if name in values for value in _flat(values[name])]


def _by_signature(node: Node) -> list[Any]:
    """`out=`, `inplace=True`, and the running statistics of a normalisation in training."""
    try:
        given = inspect.signature(node.target).bind(*node.args, **node.kwargs).arguments  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a built-in function without a signature
        given = dict(node.kwargs)
    found = _flat(given.get("out"))
    if given.get("inplace") is True:
        found += _flat(next(iter(given.values())))
    if given.get("training") is True or given.get("use_input_stats") is True:
        found += [*_flat(given.get("running_mean")), *_flat(given.get("running_var"))]
    return found


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [node for part in value for node in _flat(part)]
    return [value] if isinstance(value, Node) else []
