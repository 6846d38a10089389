"""Results of operators that eager would share with a tensor from before: no write to one of the two may be lost.

    z = x
    if p:
        z = x * 2
    helper_(z)             # in eager this writes to x, too, when p is false

torch's operators hand out copies only. That is the same as eager until the copy, or the tensor that eager would have in
its place, is written to while the other is still in use. It shows in the finished graph, wherever the write comes from.

A storage of the graph stands for itself (its root); a result also for the roots of whatever its branches, or no trip of
its loop, may hand through. Two storages that share a root may be one tensor in eager. Where branches hand through whole
tensors, writes are passed on (capture/write_through.py); anything else is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from autograph_torch.capture.common_roots import PAIRS, GivenRoots, roots_given
from autograph_torch.capture.elements import lead_to_one
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import (
    Storage,
    arguments_of,
    is_operator,
    name_of,
    operator_behind,
    other_bodies,
    storage_at,
    storage_of,
    written,
    written_in,
)
from autograph_torch.capture.growing import check_lists
from autograph_torch.capture.leaves_of_bodies import copied
from autograph_torch.capture.operator_results import result_of
from autograph_torch.capture.write_through import Link, Lost, Write, pass_on
from autograph_torch.runtime import tracing
from autograph_torch.runtime.memories import EITHER_OF, STAND_IN_OF, written_leaves
from autograph_torch.runtime.refusal import refusal_at
from autograph_torch.runtime.reordering import is_reordered

Root = Storage | tuple[int, ...]  # a storage, or what a loop's trips tell the tensors of its carry apart by
Roots = frozenset[Root]
Compared = tuple[Storage, Node | None]  # a tensor, and the operator whose result it is
Pairs = frozenset[tuple[int, int]]  # of results, by position: those of which both may be one tensor at a time

IDENTITY = (
    "`is` asks, or a key, whether a value is an object from before the branch or loop, where the graph has a copy"
)
IDENTITY_OF_ELEMENTS = (
    "`is` asks, or a key, whether a value is an element of a list that data make longer or shorter, which is a copy"
)
ADVICE = "remember in a flag which of the two it is"

_OUR_COPIES = frozenset(("clone", "reshape", "where", "getitem", "to", "view", "index_copy", "autograd_function_apply"))
_NOTHING: Roots = frozenset()
_NONE_GIVEN = GivenRoots(frozenset(), frozenset())


def keep_writes(module: GraphModule) -> None:
    """Pass the writes of a graph on to what eager would have written to as well.

    Raises:
        CaptureError: AG314, at the branch or loop whose result is a copy; AG311 for elements of lists that grow.
    """
    check = _checked(module, _NONE_GIVEN)
    given = roots_given(module)  # which asks for the pairs that the first walk has noted
    if given != _NONE_GIVEN:
        check = _checked(module, given)
    check_lists(module, check.sharing.origins)
    _check_identities(module, check.sharing)
    if check.lost:
        pass_on(module, check.links, check.writes, check.lost)


def _checked(module: GraphModule, given: GivenRoots) -> _Check:
    check = _Check(module, module.graph, _Sharing(), given, outermost=True)
    check.run()
    return check


def told_apart() -> list[tuple[Compared, Compared, tuple[str, int]]]:
    """The tensors of this trace that `is` has told apart, and where (capture/identities.py)."""
    return tracing.notebook().setdefault("told apart", [])  # type: ignore[no-any-return]


def _check_identities(module: GraphModule, sharing: _Sharing) -> None:
    graphs = {one.graph for one in module.modules() if isinstance(one, GraphModule)}
    for one, other, line in told_apart():
        if any(maker is not None and maker.graph not in graphs for _, maker in (one, other)):
            continue  # of a body that has been traced anew, where it has been asked again
        if one[0] != other[0] and lead_to_one(one[0], other[0], sharing.origins):
            raise refusal_at(*line, "AG314", IDENTITY_OF_ELEMENTS, ADVICE)
        unseen = [maker for storage, maker in (one, other) if maker is not None and storage not in sharing.results]
        common = frozenset[Root](sharing.origins(one[0]) & sharing.origins(other[0]))
        if unseen or (one[0] != other[0] and sharing.may_be_one(one[0], other[0], common)):
            makers = [sharing.results[storage][0] for storage, _ in (one, other) if storage in sharing.results]
            if not unseen and not makers:
                raise refusal_at(*line, "AG314", IDENTITY, ADVICE)
            raise capture_error_at([*unseen, *makers][0], "AG314", IDENTITY, ADVICE)


@dataclass(frozen=True)
class _Sharing:
    """What storages may be in eager, over a graph and all bodies in it."""

    roots: dict[Storage, Roots] = field(default_factory=dict)
    results: dict[Storage, tuple[Node, int]] = field(default_factory=dict)  # the operator that handed out a copy
    pairs: dict[Node, Pairs] = field(default_factory=dict)  # of the results of operators
    unlinked: dict[Storage, Roots] = field(default_factory=dict)  # roots that are not shared by links alone
    carried: dict[Root, Roots] = field(default_factory=dict)  # what tells tensors of a carry apart -> what they may be

    def of(self, storage: Storage) -> Roots:
        return self.roots.get(storage, frozenset((storage,)))

    def of_value(self, value: Any) -> Roots:
        storage = storage_at(value)
        return _NOTHING if storage is None else self.of(storage)

    def origins(self, storage: Storage) -> frozenset[Storage]:
        """All storages that one may be in eager, in whichever trip of a loop."""
        found: set[Root] = set()
        waiting = [*self.of(storage)]
        while waiting:
            root = waiting.pop()
            if root not in found:
                found.add(root)
                waiting += self.carried.get(root, ())
        return frozenset(abs(root) for root in found if isinstance(root, int))

    def add(self, value: Any, roots: Roots, unlinked: Roots = _NOTHING) -> None:
        storage = storage_at(value)
        if storage is not None and roots:
            self.roots[storage] = self.of(storage) | roots
            self.unlinked[storage] = self.unlinked.get(storage, _NOTHING) | unlinked

    def may_be_one(self, storage: Storage | None, other: Storage | None, common: Roots) -> bool:
        """Whether two storages with these roots in common may be one: results of one operator, on one of its sides."""
        one, two = (self.results.get(each) if each is not None else None for each in (storage, other))
        if not common or one is None or two is None or one[0] is not two[0] or one[1] == two[1]:
            return bool(common)
        return (min(one[1], two[1]), max(one[1], two[1])) in self.pairs[one[0]]

    def behind_copy(self, value: Any) -> Roots:
        """The roots of what our own copy of a leaf was made of (runtime/codec.py, and what staged.py adds)."""
        if not isinstance(value, Node):
            return _NOTHING
        found = self.of_value(value) if value.op == "placeholder" else _NOTHING
        waiting, seen = [(value, False)], set()
        while waiting:
            node, behind = waiting.pop()
            if (node, behind) in seen:
                continue
            seen.add((node, behind))
            if behind:
                found |= self.of_value(node)
            if (not behind and name_of(node) in _OUR_COPIES) or name_of(node) == "reshape" or is_reordered(node):
                behind = behind or name_of(node) == "clone"
                waiting += [(source, behind) for source in node.all_input_nodes]
        return found


@dataclass(frozen=True)
class _Through:
    """What a body hands through as one of its results.

    source: the tensor of the graph around that it is as a whole, where it is one.
    unlinked: what it may be besides.
    """

    roots: Roots
    unlinked: Roots
    source: Node | None
    copied: Storage | None = None  # the tensor of the body


@dataclass
class _Check:
    """A walk through one graph, in the order in which it runs.

    alive: for a body, what is still used when its operator has run, or in the next trip; the caller's tensors are.
    worked_on: for the body of a loop, the inputs of which it writes to copies (of these, _check_written_leaves tells).
    given: what takes the place of results behind the graphs, so that it has to be as they are.
    """

    module: GraphModule
    graph: Graph
    sharing: _Sharing
    given: GivenRoots
    outermost: bool = False
    alive: Roots = _NOTHING
    worked_on: frozenset[Node] = frozenset()
    links: list[Link] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)

    def run(self) -> None:
        self.position = {node: index for index, node in enumerate(self.graph.nodes)}
        self.last_use = self._last_uses()
        for node in list(self.graph.nodes):
            if STAND_IN_OF in node.meta:
                self.sharing.add(node, self.sharing.of(storage_of(node.meta[STAND_IN_OF])))
            if EITHER_OF in node.meta:
                roots = _NOTHING.union(*(self.sharing.of(storage_of(one)) for one in node.meta[EITHER_OF]))
                self.sharing.add(node, roots, roots)
            if is_operator(node):
                self._follow(node)
            self._walk_bodies(node)
            for target in (*written(node), *written_in(node, self.module)):
                if (storage := storage_at(target)) is not None:
                    self._check_write(Write(node, storage, operator_behind(node)))

    def _last_uses(self) -> dict[Storage, float]:
        """The position of the last use of every storage; what is used behind the graph comes after all."""
        found: dict[Storage, float] = {}
        for node in self.graph.nodes:
            if (storage := storage_at(node)) is None:
                continue
            last = max((self.position[user] for user in node.users if not _asks_for_size(user)), default=-1)
            from_around = node.op in ("placeholder", "get_attr") and node not in self.worked_on
            used_behind = from_around and (self.outermost or bool(self.sharing.of(storage) & self.alive))
            used_behind = used_behind or storage in self.given.inside
            found[storage] = max(found.get(storage, -1), float("inf") if used_behind else last)
        return found

    def _alive_behind(self, node: Node) -> Roots:
        """What may be used when an operator has run."""
        used = (storage for storage, last in self.last_use.items() if last > self.position[node])
        return self.alive.union(*(self.sharing.of(storage) for storage in used))

    def _in_use(self, write: Node) -> Iterator[Storage]:
        """The storages that exist when a node writes, and are used after it."""
        known: set[Storage | None] = set()
        for node, position in self.position.items():
            storage = storage_at(node)
            if storage is None or storage in known or position > self.position[write]:
                continue
            known.add(storage)
            if self.last_use[storage] > self.position[write]:
                yield storage

    # -- results ------------------------------------------------------------------------------------------------------

    def _follow(self, node: Node) -> None:
        """Walk through the bodies of an operator; what its results may be."""
        if name_of(node) == "cond":
            sides = self._branches(node)
            self.sharing.pairs[node] = frozenset().union(*(self._pairs(side) for side in sides))
        else:
            state, self.sharing.pairs[node] = self._loop(node)
            sides = [state]
        node.meta[PAIRS] = self.sharing.pairs[node]
        for user in node.users:
            if user.target is not operator.getitem or arguments_of(user)[1] >= len(sides[0]):
                continue
            handed = [side[arguments_of(user)[1]] for side in sides]
            roots = _NOTHING.union(*(one.roots for one in handed))
            unlinked = _NOTHING.union(*(one.unlinked for one in handed))
            results = [user, *_decoded(user)]
            for result in results:
                self.sharing.add(result, roots, unlinked)
                if (storage := storage_at(result)) is not None:
                    self.sharing.results[storage] = (node, arguments_of(user)[1])
            for holds, one in zip((True, False), handed, strict=False):
                if one.source is not None:
                    self.links.append(Link(results[-1], one.source, node, holds))

    def _walk_bodies(self, node: Node) -> None:
        """Walk through the bodies of another operator; what its results may be."""
        for body, given in other_bodies(node, self.module):
            for placeholder, value in zip(body.graph.find_nodes(op="placeholder"), given, strict=False):
                self.sharing.add(placeholder, self.sharing.of_value(value))
            _Check(body, body.graph, self.sharing, self.given, alive=self._alive_behind(node)).run()
            if given:
                self._hand_out(node, body)

    def _hand_out(self, node: Node, body: GraphModule) -> None:
        (output,) = body.graph.find_nodes(op="output")
        results = arguments_of(output)[0]
        if not isinstance(results, (tuple, list)):  # of a hook
            return
        results = results[0] if results and isinstance(results[0], (tuple, list)) else results  # and what is saved
        for user in node.users:
            if user.target is operator.getitem and arguments_of(user)[1] < len(results):
                roots = self.sharing.of_value(results[arguments_of(user)[1]])
                self.sharing.add(user, roots, roots)

    def _branches(self, node: Node) -> list[list[_Through]]:
        """For every result of a torch.cond, what either branch may hand through."""
        _, then, otherwise, operands = arguments_of(node)
        given = [self.sharing.of_value(value) for value in operands]
        alive = self._alive_behind(node)
        return [self._handed_through(branch, given, operands, alive) for branch in (then, otherwise)]

    def _pairs(self, results: list[_Through]) -> Pairs:
        """Which two results of a body may be one tensor."""
        return frozenset(
            (i, j)
            for j, one in enumerate(results)
            for i, other in enumerate(results[:j])
            if self.sharing.may_be_one(other.copied, one.copied, other.roots & one.roots)
        )

    def _loop(self, node: Node) -> tuple[list[_Through], Pairs]:
        """For every result of a torch.while_loop, its initial value and what trips may hand through; its pairs."""
        _, body, carried, additional = arguments_of(node)
        begin = [_Through(self.sharing.behind_copy(leaf), _NOTHING, None, storage_at(copied(leaf))) for leaf in carried]
        state = [one.roots for one in begin]
        closed_over = [self.sharing.of_value(value) for value in additional]
        outside = self._stand_ins_in(body).union(*closed_over)
        before = outside.union(*state)
        alive = self._alive_behind(node).union(*closed_over)
        pairs = self._pairs(begin)
        while True:
            given = [(roots & outside) | _own_roots(node, k, pairs) for k, roots in enumerate(state)]
            carried = (_own_roots(node, k, pairs) for k, roots in enumerate(state) if roots & alive)
            in_use = alive.union(*carried)
            trip = self._handed_through(body, [*given, *closed_over], (), in_use, written_leaves(node))
            found = [one.roots for one in trip]
            sources = [[state[j] for j in range(len(state)) if (id(node), j) in roots] for roots in found]
            after = [
                a.union(_of_an_earlier_trip(roots, before), *inner)
                for a, roots, inner in zip(state, found, sources, strict=True)
            ]
            together = pairs | self._pairs(trip)
            if after == state and together == pairs:
                self._check_written_leaves(node, state, pairs, closed_over)
                for k, roots in enumerate(state):
                    for root in _own_roots(node, k, pairs):
                        self.sharing.carried[root] = self.sharing.carried.get(root, _NOTHING) | roots
                return [_Through(roots, roots, None) for roots in state], pairs
            state, pairs = after, together

    def _stand_ins_in(self, body: Node) -> Roots:
        """What stand-ins inside of a body stand for; not what the body has made itself."""
        modules = self.module.get_submodule(str(body.target)).modules()
        inside = [node for module in modules if isinstance(module, GraphModule) for node in module.graph.nodes]
        originals = {storage_of(node.meta[STAND_IN_OF]) for node in inside if STAND_IN_OF in node.meta}
        return _NOTHING.union(*(self.sharing.of(one) for one in originals - {storage_at(node) for node in inside}))

    def _handed_through(
        self, body: Node, given: list[Roots], operands: tuple[Any, ...], alive: Roots, copied: tuple[int, ...] = ()
    ) -> list[_Through]:
        """What the results of a body may be, when its inputs may be what is given; it works on copies of some.

        alive: what is still used behind the body.
        """
        module = self.module.get_submodule(str(body.target))
        assert isinstance(module, GraphModule)
        placeholders = module.graph.find_nodes(op="placeholder")
        for placeholder, roots in zip(placeholders, given, strict=True):
            self.sharing.add(placeholder, roots)
        worked_on = frozenset(placeholders[k] for k in copied)
        for copy in (user for one in worked_on for user in one.users if name_of(user) == "clone"):
            self.sharing.add(copy, self.sharing.of_value(arguments_of(copy)[0]))
        _Check(module, module.graph, self.sharing, self.given, alive=alive, worked_on=worked_on).run()
        around = dict(zip(placeholders, operands, strict=False))
        (output,) = (node for node in module.graph.nodes if node.op == "output")
        return [self._through(value, around) for value in arguments_of(output)[0]]

    def _through(self, leaf: Any, around: dict[Node, Any]) -> _Through:
        roots = self.sharing.behind_copy(leaf)
        whole = copied(leaf)
        source = None if whole is None else around.get(whole, self._stands_for(whole))
        if whole is None or not isinstance(source, Node):
            return _Through(roots, roots, None, storage_at(whole))
        linked = self.sharing.of_value(source) | {storage_at(whole)}
        beyond = self.sharing.unlinked.get(storage_at(source) or 0, _NOTHING)
        return _Through(roots, (roots - linked) | beyond, source, storage_at(whole))

    def _stands_for(self, node: Node) -> Node | None:
        """The tensor of this graph that a copy inside of a body stands for."""
        original = node.meta.get(STAND_IN_OF)
        same = (one for one in self.graph.nodes if one.meta.get("example_value") is original)
        return None if original is None else next(same, None)

    def _check_written_leaves(self, loop: Node, state: list[Roots], pairs: Pairs, closed_over: list[Roots]) -> None:
        """Trips write to copies of what the carry holds: nothing else may be the same tensor in eager."""
        made = {storage_at(node) for node in self.graph.nodes if node.op not in ("placeholder", "get_attr")}
        for k in written_leaves(loop):
            used = any(self.sharing.of(other) & state[k] for other in self._in_use(loop))
            from_outside = frozenset(root for root in state[k] if isinstance(root, int) and root > 0)
            others = any(k in pair for pair in pairs) or state[k] & _NOTHING.union(*closed_over)
            if used or others or not (self.outermost or from_outside <= made):
                raise capture_error_at(
                    loop,
                    "AG314",
                    "a loop writes to a tensor in place and binds its name anew, and the tensor is in use elsewhere",
                    "clone the tensor before the loop, or write `y = y + 1` instead of `y += 1`",
                )

    # -- writes -------------------------------------------------------------------------------------------------------

    def _check_write(self, write: Write) -> None:
        self.writes.append(write)
        if not self.sharing.roots:  # no operator so far
            return
        if write.storage in self.given.outside:
            raise Lost(write, write.storage, self.sharing.results[write.storage][0]).error()
        roots = self.sharing.of(write.storage)
        for other in self._in_use(write.node):
            makers = [self.sharing.results.get(storage, (None, 0))[0] for storage in (write.storage, other)]
            # What an operator hands out, and what is written back after it, are the same content.
            agree = other == write.storage or (write.origin is not None and write.origin in makers)
            common = roots & self.sharing.of(other)
            if agree or not self.sharing.may_be_one(write.storage, other, common):
                continue
            unlinked = [self.sharing.unlinked.get(storage, _NOTHING) for storage in (write.storage, other)]
            lost = Lost(write, other, next((maker for maker in makers if maker is not None), write.node))
            in_a_body = bool(other_bodies(write.node, self.module))
            if not self.outermost or in_a_body or common & _NOTHING.union(*unlinked):
                raise lost.error()
            self.lost.append(lost)


def _own_roots(loop: Node, position: int, pairs: Pairs) -> Roots:
    """What tells a tensor of the carry apart inside of a trip.

    Tensors that change places from trip to trip have the same roots, but never at the same time: what counts is which
    two may be one.
    """
    return frozenset(((id(loop), position), *((id(loop), *pair) for pair in pairs if position in pair)))


def _asks_for_size(user: Node) -> bool:
    """Whether it is no matter to a use what has been written to the tensor."""
    return user.target in ("size", torch.ops.aten.sym_size.int)


def _of_an_earlier_trip(roots: Roots, before: Roots) -> Roots:
    """What a trip has made itself is another tensor in the next one."""
    return (roots & before) | frozenset(-abs(root) for root in roots - before if isinstance(root, int))


def _decoded(result: Node) -> Iterator[Node]:
    """What our own code makes of a result."""
    for user in result.users:
        if result_of(user) is not None:
            yield user
            yield from _decoded(user)
