"""Which tensor from before a result of torch.cond or torch.while_loop is a copy of, in a finished graph, and when.

    y = cond(p, copy of x, x / 2)                       x, where p
    y = while_loop(n > 0, y / 2 in each trip, copy of x)  x, until there is a trip

A result of torch.cond is what one of its bodies has copied (runtime/codec.py), under the predicate; one of
torch.while_loop is what the loop begins with until a trip hands on another tensor: the loop carries a flag that tells.
A body whose own branches tell the two apart gives such a flag, too.

    if p:                          y is t where p: a result may be another one, or a view of it
        t = x * 2
        w.last = y = t
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import (
    arguments_of,
    before_anchor,
    name_of,
    storage_at,
    writes_in_place,
    written,
    written_in,
)
from autograph_torch.capture.leaves_of_bodies import copied
from autograph_torch.capture.operator_results import calls, has_note, hides_value, result_of
from autograph_torch.runtime.memories import EITHER_OF, STAND_IN_OF
from autograph_torch.runtime.reordering import inverse, is_reordered, order_of, reordered_node

Flag = bool | Node  # known of every run; or a truth value of the graph
Views = tuple[Node, ...]
Key = tuple[int, Any]  # of a flag that a loop carries: it tells something of the tensor at this place in the carry


@dataclass(frozen=True)
class Origin:
    """What a tensor may be: another one, or what views make of that.

    told: whether it is known which: the trips of a loop may make views, each of the one before.
    """

    root: Node
    views: Views = ()
    told: bool = True

    def through(self, other: Origin) -> Origin:
        """What another one makes of it."""
        told = self.told and other.told
        return Origin(self.root, (*self.views, *other.views) if told else (), told)

    def before(self, other: Origin) -> Origin | None:
        """What the views of another one make this of; None when they do not."""
        count = len(self.views) - len(other.views)
        fits = self.told and other.told and count >= 0 and self.views[count:] == other.views
        return Origin(self.root, self.views[:count]) if fits else None


class Finder:
    """A graph and all bodies in it, as far as somebody has asked."""

    def __init__(self, module: GraphModule) -> None:
        self._levels: dict[GraphModule, Level] = {}
        self.views: dict[Any, Any] = {}  # those that are made once more (views_again.py)
        self.outermost = self.level(module)

    def level(self, module: GraphModule, outside: tuple[Level, Node] | None = None) -> Level:
        return self._levels.setdefault(module, Level(self, module, outside))

    def number(self, node: Any) -> Any:
        """What a number of a body is in the outermost graph, if the body runs; None for one of a loop."""
        level = self._level_of(node)
        if level is None or level.outside is None:
            return node
        around, operator = level.outside
        if name_of(operator) != "cond":
            return None
        if node.op == "placeholder":
            return self.number(arguments_of(operator)[3][level.inputs.index(node)])
        return self.number(Branches(around, operator).hand_out(level, node))

    def _level_of(self, node: Any) -> Level | None:
        return next((one for one in self._levels.values() if isinstance(node, Node) and one.graph is node.graph), None)

    def runs_once(self, node: Node) -> bool:
        """Whether a run of the graph comes to a node once, or never: it is in no loop."""
        level = self._level_of(node)
        while level is not None and level.outside is not None:
            level, operator = level.outside
            if name_of(operator) != "cond":
                return False
        return level is not None

    def finish(self) -> None:
        """Let the graphs run with the flags that they have been given."""
        for module in self._levels:
            module.graph.lint()
            module.recompile()


@dataclass
class Level:
    """One graph: the outermost, or a body, with the graph and the operator that it is one of."""

    finder: Finder
    module: GraphModule
    outside: tuple[Level, Node] | None = None
    known: dict[Node, tuple[Origin, ...]] = field(default_factory=dict)
    flags: dict[tuple[Node, Origin], Flag] = field(default_factory=dict)
    made: dict[tuple[Any, ...], Node] = field(default_factory=dict)  # flags, by what they are made of
    loops: dict[Node, Loop] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        return self.module.graph

    @property
    def inputs(self) -> list[Node]:
        return list(self.graph.find_nodes(op="placeholder"))

    @property
    def output(self) -> Node:
        return next(iter(self.graph.find_nodes(op="output")))

    @cached_property
    def targets(self) -> dict[Node, list[Node]]:
        """By the nodes that write to something: the tensors that they write to."""
        found = {node: [*written(node), *written_in(node, self.module)] for node in self.graph.nodes}
        return {node: targets for node, targets in found.items() if targets}

    def body(self, node: Any, operator: Node) -> Level:
        """A body of an operator of this graph."""
        found = self.module.get_submodule(str(node.target))
        assert isinstance(found, GraphModule)
        return self.finder.level(found, (self, operator))

    def origins(self, node: Node) -> tuple[Origin, ...]:
        """All that a tensor may be."""
        if node not in self.known:
            self.known[node] = tuple(dict.fromkeys(self._origins(node)))
        return self.known[node]

    def _origins(self, node: Node) -> Iterator[Origin]:
        result, before = result_of(node), before_view(node)
        if result is not None:
            yield Origin(node)
            yield from self._operator(result[0]).origins(result[1])
        elif has_note(node, EITHER_OF):
            yield Origin(node)
            yield from itertools.chain.from_iterable(self.origins(one) for one in arguments_of(node)[1:])
        elif before is not None:
            yield from (origin.through(before) for origin in self.origins(before.root))
        elif (original := self._stands_for(node)) is not None:  # in the bodies of a loop
            yield from self.origins(original)
        else:
            yield Origin(node)

    def holds(self, node: Node, origin: Origin) -> Flag:
        """Whether a tensor is one of those that it may be."""
        key = node, origin
        if key not in self.flags:
            self.flags[key] = self._holds(node, origin)
        return self.flags[key]

    def _holds(self, node: Node, origin: Origin) -> Flag:
        result, before = result_of(node), before_view(node)
        if origin not in self.origins(node):
            return False
        if origin == Origin(node):
            return True
        if result is not None:
            return self._operator(result[0]).holds(result[1], origin)
        if has_note(node, EITHER_OF):
            flag, one, other = arguments_of(node)
            is_first = self.both([flag, self.holds(one, origin)])
            return self.either([is_first, self.both([self.opposite(flag), self.holds(other, origin)])])
        if before is None:
            original = self._stands_for(node)
            return original is not None and self.holds(original, origin)
        earlier = origin.before(before)
        return False if earlier is None else self.holds(before.root, earlier)

    def _operator(self, node: Node) -> Branches | Loop:
        if name_of(node) == "cond":
            return Branches(self, node)
        return self.loop(node)

    def loop(self, node: Node) -> Loop:
        return self.loops.setdefault(node, Loop(self, node))

    def given(self, position: int) -> Node | None:
        """For a body: the tensor that one of its results is a copy of, also as rows in a buffer."""
        leaf = arguments_of(self.output)[0][position]
        return copied(arguments_of(leaf)[3] if calls(leaf, "index_copy") else leaf)  # runtime/shrinking.py

    def around(self, body: Level, inputs: dict[Node, Node], position: int) -> dict[Origin, Origin]:
        """What a result of a body may be; its inputs are what is given.

        Raises:
            CaptureError: AG314, it may be a tensor that only a stand-in has come from.
        """
        result = body.given(position)
        found = {}
        for origin in () if result is None else body.origins(result):
            outer = inputs.get(origin.root, self._stands_for(origin.root))
            if outer is None and STAND_IN_OF in origin.root.meta:
                message = "this may give a tensor from before, which the graph has not"
                raise capture_error_at(result, "AG314", message, "give back a copy of it (`.clone()`)")
            if outer is not None:
                found[origin] = replace(origin, root=outer)
        return found

    def _stands_for(self, node: Node) -> Node | None:
        """The tensor of this graph that a copy, made here or in a body, stands for inside of a body."""
        original = node.meta.get(STAND_IN_OF)
        same = (one for one in self.graph.nodes if one.meta.get("example_value") is original)
        return None if original is None else next(same, None)

    # -- flags in the graph -------------------------------------------------------------------------------------------

    def either(self, flags: list[Flag]) -> Flag:
        return self._joined(flags, torch.logical_or, decisive=True)

    def both(self, flags: list[Flag]) -> Flag:
        return self._joined(flags, torch.logical_and, decisive=False)

    def opposite(self, flag: Flag) -> Flag:
        return not flag if isinstance(flag, bool) else self.call(torch.logical_not, flag)

    def _joined(self, flags: list[Flag], function: Any, decisive: bool) -> Flag:
        if any(flag is decisive for flag in flags):
            return decisive
        nodes = [flag for flag in flags if isinstance(flag, Node)]
        if not nodes:
            return not decisive
        if any(self.made.get((torch.logical_not, one)) in nodes for one in nodes):
            return decisive
        found = nodes[0]
        for other in nodes[1:]:
            found = self.call(function, found, other)
        return found

    def call(self, function: Any, *args: Any) -> Node:
        """What a function makes of flags, as early as they are there; made once."""
        parts = function, *args
        if parts not in self.made:
            flags = [argument for argument in args if isinstance(argument, Node)]
            last = max(flags)
            with self.graph.inserting_after(self.inputs[-1] if last.op == "placeholder" else last):
                self.made[parts] = _noted(self.graph.call_function(function, args), _device(*flags))
        return self.made[parts]

    def leaf(self, flag: Flag, device: torch.device, before: Node) -> Node:
        """A flag as a tensor of its own, for an operator."""
        with self.graph.inserting_before(before):
            if isinstance(flag, bool):
                made = self.graph.call_function(torch.full, ((), flag), {"dtype": torch.bool, "device": device})
            else:
                made = self.graph.call_method("to", (flag, device), {"copy": True})
        return _noted(made, device)

    def number(self, number: Node | int, device: torch.device) -> Node:
        """For a body: a number as a tensor of its own, which may come from a body already."""
        with self.graph.inserting_before(self.output):
            if isinstance(number, Node) and isinstance(number.meta["example_value"], torch.Tensor):
                return _noted(self.graph.call_method("clone", (number,)), device, torch.float64)
            options: dict[str, Any] = {"dtype": torch.int64, "device": device}
            return _noted(self.graph.call_function(torch.scalar_tensor, (number,), options), device, torch.int64)

    def out_of_block(self, operator: Node, flag: Flag) -> Flag:
        """What a flag of the block of a checkpoint is in this graph."""
        if isinstance(flag, bool):
            return flag
        parts = operator, flag
        if parts not in self.made:
            body, device = self.body(arguments_of(operator)[0], operator), _device(flag)
            self.made[parts] = _getitem(operator, body.give(body.leaf(flag, device, body.output)), device)
        return self.made[parts]

    def give(self, leaf: Node) -> int:
        """For a body: let it give one more tensor; its position."""
        (leaves,) = arguments_of(self.output)
        self.output.args = ((*leaves, leaf),)
        return len(leaves)


@dataclass(frozen=True)
class Branches:
    """What the results of a torch.cond may be."""

    level: Level
    node: Node

    def origins(self, position: int) -> Iterator[Origin]:
        for side in self._sides(position):
            for outer in side.values():
                yield from (one.through(outer) for one in self._origins(outer.root))
        yield from (Origin(result) for result, *_ in self._beside(position))

    def holds(self, position: int, origin: Origin) -> Flag:
        sides = self._sides(position)
        flags = []
        for outer in dict.fromkeys(one for side in sides for one in side.values()):
            earlier = origin.before(outer)
            if earlier in self._origins(outer.root):
                given = self.level.holds(outer.root, earlier)
                flags.append(self.level.both([self._gives(position, outer, sides), given]))
        for result, place, own, other in self._beside(position):
            earlier = other.before(own)
            if origin == Origin(result) and earlier is not None:
                gives = [self._gives(position, own, sides), self._gives(place, other, self._sides(place))]
                flags.append(self.level.both([*gives, self.level.holds(own.root, earlier)]))
        return self.level.either(flags)

    def _origins(self, node: Node) -> tuple[Origin, ...]:
        """All that a tensor of the graph around may be; of another result, that is for the path that has made it."""
        result = result_of(node)
        return (Origin(node),) if result is not None and result[0] is self.node else self.level.origins(node)

    def _beside(self, position: int) -> Iterator[tuple[Node, int, Origin, Origin]]:
        """Other results that one may be, as both are copies of one tensor from around: with their places, and of what
        they are copies.
        """
        for place in range(position):
            result = _result(self.node, place)
            for side, beside in zip(self._sides(position), self._sides(place), strict=True):
                for own, other in itertools.product(*(dict.fromkeys(one.values()) for one in (side, beside))):
                    may_be = own == other or other.before(own) in self._origins(own.root)
                    if result is not None and may_be:
                        yield result, place, own, other

    def bodies(self) -> list[Level]:
        return [self.level.body(body, self.node) for body in arguments_of(self.node)[1:3]]

    def _sides(self, position: int) -> list[dict[Origin, Origin]]:
        """What either body gives."""
        operands = arguments_of(self.node)[3]
        sides = []
        for body in self.bodies():
            inputs = dict(zip(body.inputs, operands, strict=True))
            made = {one: result for one, (_, result) in _made(body, self.node, position).items()}
            sides.append(self.level.around(body, {**made, **inputs}, position))
        return sides

    def _gives(self, position: int, outer: Origin, sides: list[dict[Origin, Origin]]) -> Flag:
        """Whether the body that runs gives this one."""
        bodies = zip(self.bodies(), sides, strict=True)
        return self.tells([_tells(body, position, outer, side) for body, side in bodies])

    def tells(self, told: list[Flag]) -> Flag:
        """What the body that runs tells, of what each of the two does."""
        if told[0] is told[1] and isinstance(told[0], bool):
            return told[0]
        if told == [False, True]:
            return self.level.opposite(self.tells([True, False]))
        parts = self.node, *told
        if parts not in self.level.made:
            self.level.made[parts] = self._told(told)
        return self.level.made[parts]

    def _told(self, told: list[Flag]) -> Node:
        predicate = arguments_of(self.node)[0]
        device = predicate.meta["example_value"].device
        if told == [True, False]:
            with self.level.graph.inserting_before(self.node):  # it may be written to afterwards
                return _noted(self.level.graph.call_function(torch.clone, (predicate,)), device)
        leaves = [body.leaf(flag, device, body.output) for body, flag in zip(self.bodies(), told, strict=True)]
        return self.level.call(torch.gt, self._given(leaves), 0)

    def hand_out(self, body: Level, number: Node) -> Node:
        """A number that a body computes, behind the operator; 0 where the other body runs."""
        device = arguments_of(self.node)[0].meta["example_value"].device
        return self._given([one.number(number if one is body else 0, device) for one in self.bodies()])

    def hand_out_tensor(self, body: Level, tensor: Node) -> None:
        """A tensor that a body makes, behind the operator, too; zeros where the other body runs."""
        order, places = order_of(tensor.meta["example_value"]), []
        travelling = reordered_node(tensor, order)
        value = travelling.meta["example_value"]
        options = {"dtype": value.dtype, "device": value.device}
        for one in self.bodies():
            with one.graph.inserting_before(one.output):
                if one is body:
                    leaf = one.graph.call_method("clone", (travelling,), {"memory_format": torch.contiguous_format})
                else:
                    leaf = one.graph.call_function(torch.zeros, (tuple(map(int, value.shape)),), options)
            leaf.meta["example_value"] = value.clone() if one is body else value.detach().clone()
            places.append(one.give(leaf))
        with self.level.graph.inserting_after(self.node):
            result = self.level.graph.call_function(operator.getitem, (self.node, places[0]))
        result.meta["example_value"] = value.clone(memory_format=torch.contiguous_format)
        reordered_node(result, None if order is None else inverse(order))

    def _given(self, leaves: list[Node]) -> Node:
        """One more result, of a leaf of each body. As a float: torch.cond has none without a gradient beside others."""
        places = []
        for body, leaf in zip(self.bodies(), leaves, strict=True):
            with body.graph.inserting_before(body.output):
                made = body.graph.call_method("to", (leaf, torch.float64))
            places.append(body.give(_noted(made, leaf.meta["example_value"].device, torch.float64)))
        result = _getitem(self.node, places[0], leaves[0].meta["example_value"].device, torch.float64)
        with self.level.graph.inserting_after(result):
            return _noted(self.level.graph.call_function(torch.detach, (result,)), _device(result), torch.float64)


def _made(body: Level, operator: Node, position: int) -> dict[Node, tuple[int, Node]]:
    """The tensors that a body has made, and that it gives in other places, too: these, and the results there.

    Of two places of one tensor the first has it. What stands for a tensor from around is none of them.
    """
    own = body.given(position)
    found: dict[Node, tuple[int, Node]] = {}
    for place in range(len(arguments_of(body.output)[0])):
        made = body.given(place)
        if made is None or STAND_IN_OF in made.meta or (made is own and place >= position):
            continue
        result = _result(operator, place)
        if result is not None:
            found.setdefault(made, (place, result))
    return found


def _result(operator: Node, position: int) -> Node | None:
    """A result of an operator as the graph goes on with it; None where it does not."""
    found = None
    following = [user for user in operator.users if arguments_of(user)[1] == position]
    while following:
        found = max(following)
        following = [user for user in found.users if result_of(user) == (operator, position)]
    return found


def _tells(body: Level, position: int, outer: Origin, side: dict[Origin, Origin]) -> Flag:
    """Whether the result of a body is one that it may be."""
    result = body.given(position)
    origins = [origin for origin, found in side.items() if found == outer]
    return False if result is None else body.either([body.holds(result, origin) for origin in origins])


@dataclass
class Loop:
    """What the results of a torch.while_loop may be.

    state: for every tensor of the carry, all that it may be in some trip.
    carried: the places in the carry of the flags that tell whether it is, and of others.
    told: the flags behind the loop.
    closed_over: the flags of the graph around that come in, as the body has them.
    """

    level: Level
    node: Node
    state: list[tuple[Origin, ...]] = field(default_factory=list)
    carried: dict[Key, int] = field(default_factory=dict)
    told: dict[Key, Node] = field(default_factory=dict)
    closed_over: dict[Node, Node] = field(default_factory=dict)

    def origins(self, position: int) -> tuple[Origin, ...]:
        if not self.state:
            self.state = self._all_trips()
        return (*self.state[position], *self._made_in_trip(position))

    def _made_in_trip(self, position: int) -> dict[Origin, tuple[Origin, int]]:
        """The other results that one may be, or a view of, as the last trip has made both: what this is in it, and the
        place of the other.
        """
        result, made = self.body().given(position), _made(self.body(), self.node, position)
        found = self.body().origins(result) if result is not None else ()
        return {replace(one, root=made[one.root][1]): (one, made[one.root][0]) for one in found if one.root in made}

    def _all_trips(self) -> list[tuple[Origin, ...]]:
        begin = [self._begin(position) for position in range(len(self._carry()))]
        state = [() if one is None else self.level.origins(one) for one in begin]
        while True:
            after = [tuple(dict.fromkeys((*one, *self._handed_on(k, state)))) for k, one in enumerate(state)]
            if after == state:
                return state
            state = after

    def _begin(self, position: int) -> Node | None:
        """The tensor that the loop begins with a copy of."""
        leaf = before_anchor(arguments_of(self.node)[2][position])
        return copied(arguments_of(leaf)[1] if hides_value(leaf) else leaf)

    def _handed_on(self, position: int, state: list[tuple[Origin, ...]]) -> Iterator[Origin]:
        """What a trip hands on: from the trip before, or from around the loop."""
        carry = self._carry()
        for origin, outer in self._trip(position).items():
            if origin.root not in carry:
                yield from (one.through(outer) for one in self.level.origins(outer.root))
            else:
                before = state[carry.index(origin.root)]
                same = origin == Origin(origin.root)
                yield from before if same else (Origin(one.root, told=False) for one in before)

    def _trip(self, position: int) -> dict[Origin, Origin]:
        """What a trip may give: in the body; and around the loop, where that is what it is."""
        carry, (_, _, _, additional) = self._carry(), arguments_of(self.node)
        closed_over = dict(zip(self.body().inputs[len(carry) :], additional, strict=True))
        return self.level.around(self.body(), {**closed_over, **{one: one for one in carry}}, position)

    def _carry(self) -> list[Node]:
        return self.body().inputs[: len(arguments_of(self.node)[2])]

    def body(self) -> Level:
        return self.level.body(arguments_of(self.node)[1], self.node)

    def holds(self, position: int, origin: Origin) -> Flag:
        concerned = {}
        for place, one in self._concerned(position, origin):
            begin = self._begin(place)
            concerned[place, one] = False if begin is None else self.level.holds(begin, one)
        self.carry(concerned, lambda one: list(self._after_trip(*one)))
        return self.behind((position, origin))

    def carry(self, flags: Mapping[Key, Flag], after_trip: Callable[[Key], list[Flag]]) -> None:
        """Let the loop carry flags, each with what it begins with.

        after_trip: in the body, the reasons for which one is set after a trip; called when all are carried.
        """
        new = [key for key in flags if key not in self.carried]
        for key in new:
            self.carried[key] = self._carry_flag(flags[key])
        for key in new:
            body = self.body()
            body.give(body.leaf(body.either(after_trip(key)), self._device(), body.output))

    def before(self, key: Key) -> Node:
        """In the body: a flag as the trip before has left it."""
        return self.body().inputs[self.carried[key]]

    def behind(self, key: Key) -> Node:
        """A flag behind the loop."""
        if key not in self.told:
            self.told[key] = _getitem(self.node, self.carried[key], self._device())
        return self.told[key]

    def _concerned(self, position: int, origin: Origin) -> dict[tuple[int, Origin], None]:
        """The places in the carry whose tensors come to this one, trip by trip, while they may be what is asked for."""
        found: dict[tuple[int, Origin], None] = {}
        waiting = [(position, origin)]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found[one] = None
                waiting += [(place, origin) for place in self._from_trip_before(*one).values()]
        return found

    def _from_trip_before(self, position: int, origin: Origin) -> dict[Origin, int]:
        """What of the carry a trip may hand on to a place, with the place where it was."""
        carry = self._carry()
        places = {
            one: carry.index(one.root) for one in self._trip(position) if one == Origin(one.root) and one.root in carry
        }
        return {one: place for one, place in places.items() if origin in self.state[place]}

    def _after_trip(self, position: int, origin: Origin) -> Iterator[Flag]:
        """The reasons for which a tensor of the carry may be this one after a trip."""
        body, carry = self.body(), self._carry()
        result = body.given(position)
        if result is None:
            return
        for one, place in self._from_trip_before(position, origin).items():
            yield body.both([body.holds(result, one), self.before((place, origin))])
        for made, place in filter(None, [self._made_in_trip(position).get(origin)]):
            yield body.holds(result, made)
            yield body.both([self._keeps(position), self._keeps(place), self.before((position, origin))])
        for one, outer in self._trip(position).items():
            earlier = None if one.root in carry else origin.before(outer)
            if earlier is not None:
                yield body.both([body.holds(result, one), self._inside(self.level.holds(outer.root, earlier))])

    def _keeps(self, position: int) -> Flag:
        """Whether a trip hands on what it has been given."""
        body, result = self.body(), self.body().given(position)
        return False if result is None else body.holds(result, Origin(self._carry()[position]))

    def _inside(self, flag: Flag) -> Flag:
        """In the body: a flag of the graph around, which the loop closes over."""
        if isinstance(flag, bool):
            return flag
        if flag not in self.closed_over:
            test, body, carried, additional = arguments_of(self.node)
            for one in (self.level.body(test, self.node), self.body()):
                with one.graph.inserting_after(one.inputs[-1]):
                    inside = _noted(one.graph.placeholder(f"told_{len(carried) + len(additional)}"), _device(flag))
            self.closed_over[flag] = inside  # of the body, which comes last
            self.node.args = (test, body, carried, (*additional, flag))
        return self.closed_over[flag]

    def _carry_flag(self, before: Flag) -> int:
        """Let the loop carry one more flag; its place."""
        leaf = self.level.leaf(before, self._device(), self.node)
        test, body, carried, additional = arguments_of(self.node)
        for one in (self.level.body(test, self.node), self.body()):
            with one.graph.inserting_after(one.inputs[len(carried) - 1]):
                _noted(one.graph.placeholder(f"given_back_{len(carried)}"), self._device())
        self.node.args = (test, body, (*carried, leaf), additional)
        return len(carried)

    def _device(self) -> torch.device:
        test = self.level.body(arguments_of(self.node)[0], self.node)
        return arguments_of(test.output)[0].meta["example_value"].device  # type: ignore[no-any-return]


def _noted(node: Node, device: torch.device, dtype: torch.dtype = torch.bool) -> Node:
    node.meta["example_value"] = torch.empty((), dtype=dtype, device=device)
    return node


def _getitem(node: Node, position: int, device: torch.device, dtype: torch.dtype = torch.bool) -> Node:
    with node.graph.inserting_after(node):
        return _noted(node.graph.call_function(operator.getitem, (node, position)), device, dtype)


def _device(*flags: Node) -> torch.device:
    """The device of what is made of these: not the CPU, where one of them is elsewhere."""
    found = [flag.meta["example_value"].device for flag in flags]
    return next((device for device in found if device.type != "cpu"), found[0])


def before_view(node: Node) -> Origin | None:
    """What a node has written to and hands on, or makes a view of: with the views that do so."""
    storage = storage_at(node)
    if storage is None or node.op not in ("call_function", "call_method") or STAND_IN_OF in node.meta:
        return None
    if is_reordered(node):  # what travels, as the program has it
        return Origin(arguments_of(node)[0])
    if written(node):
        target = written(node)[0]
        hands_on = writes_in_place(node) or node.kwargs.get("out") is target
        return Origin(target) if hands_on and storage_at(target) == storage else None
    tensors = [one for one in node.all_input_nodes if not is_number(one)]
    if len(tensors) != 1:
        return None
    (source,) = tensors
    if storage_at(source) == storage:
        return Origin(source, (node,))
    whole, *others = [one for one in source.all_input_nodes if not is_number(one)] or [source]
    if calls(node, "getitem") and not others:
        return Origin(whole, (source, node)) if storage_at(whole) == storage and not written(source) else None
    return None


def is_number(node: Node) -> bool:
    return isinstance(node.meta.get("example_value"), (torch.SymInt, int))
