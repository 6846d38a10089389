"""On which inputs the results of a graph depend by what records gradients, and when; and which results record one.

    if p:                       in eager the result requires a gradient where p;
        y = w * x               the operator's result requires one whatever p is, and `backward()` of it gives zeros
    else:
        y = x * 2
    return y + 1

This shows in the finished graph: a result depends on an input for all data, or where the body of a branch that has read
it is the one that runs, or where the trips of a loop have brought it there. (What every trip uses is taken to come in
the first one.) What comes into a memory counts from then on. Where no flag tells, more is said than is so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeGuard

import torch
from torch.fx import Node

from autograph_torch.capture.graph_writes import (
    Storage,
    arguments_of,
    before_anchor,
    has_gradient,
    name_of,
    storage_at,
)
from autograph_torch.capture.operator_results import hides_value, result_of, result_of_block
from autograph_torch.capture.origins import Branches, Flag, Key, Level, Loop
from autograph_torch.runtime.reordering import is_reordered

Cause = int | None  # an input, by its position; None: what requires a gradient for all data
Causes = dict[Cause, Flag]

_ALWAYS: Causes = {None: True}
_NUMBERS = (int, float, torch.SymInt, torch.SymFloat, torch.SymBool)


def records_gradient(level: Level, results: list[Node]) -> dict[Node, Flag]:
    """Whether results of the outermost graph record a gradient."""
    records = Records(level, {node: None for node in level.inputs if _may_record(node)})
    return {one: level.either(list(records.causes(one).values())) for one in results}


@dataclass
class Records:
    """One graph.

    inputs: those that may require a gradient, or other tensors in their place, and what each is in what is told.
    memory: on what the tensors in memory that the graph writes to depend.
    """

    level: Level
    inputs: dict[Node, Cause]
    known: dict[Node, Causes] = field(default_factory=dict)
    memory: dict[Storage | None, Causes] = field(default_factory=dict)
    bodies: dict[Node, list[Records | None]] = field(default_factory=dict)
    trips: dict[Node, tuple[Trips | None, list[Causes]]] = field(default_factory=dict)

    def causes(self, node: Node) -> Causes:
        """By what a tensor depends, as it is in the end: when it does."""
        for one in self._needed(node):
            self.known[one] = self._causes(one)
            for target in self.level.targets.get(one, ()):
                self.memory[storage_at(target)] = self._merged([self._of(target).items(), self._of_inputs(one).items()])
        return self._of(node)

    def is_written(self, node: Node) -> bool:
        """Whether the graph writes to the memory of a tensor."""
        return storage_at(node) in self._writers

    def _of(self, node: Node) -> Causes:
        """On what a tensor depends now."""
        if not self.is_written(node) or not _may_record(node):
            return self.known[node]
        return self._merged([self.known[node].items(), self.memory.get(storage_at(node), {}).items()])

    def _of_inputs(self, node: Node) -> Causes:
        return self._merged(self._of(one).items() for one in node.all_input_nodes)

    def _causes(self, node: Node) -> Causes:
        if not _may_record(node):
            return {}
        if node in self.inputs or node.op == "placeholder":
            return {self.inputs[node]: True} if node in self.inputs else {}
        if node.op == "call_module" or self._is_new(node):
            return _ALWAYS
        unanchored, result, of_block = before_anchor(node), result_of(node), result_of_block(node)
        if unanchored is not node or hides_value(node):
            return self._of(unanchored if unanchored is not node else arguments_of(node)[1])
        if of_block is not None:
            return self._of_block(*of_block)
        if result is None:
            return self._of_inputs(node)
        return self._of_branch(*result) if name_of(result[0]) == "cond" else self._of_loop(node, *result)

    def _is_new(self, node: Node) -> bool:
        """Whether it requires a gradient of itself, not because of what it is made of or written to it."""
        if not has_gradient(node) or any(map(_may_record, node.all_input_nodes)):
            return False
        return bool(node.meta["example_value"].is_leaf) or not self.is_written(node)

    def _of_block(self, operator: Node, position: int) -> Causes:
        """On what a result of the block of a checkpoint depends."""
        block, *operands = arguments_of(operator)
        around = [self._of(one) if isinstance(one, Node) else {} for one in operands]
        if operator not in self.bodies:
            self.bodies[operator] = [_of_body(self.level.body(block, operator), around)]
        (body,) = self.bodies[operator]
        told = _ALWAYS if body is None else body._given(position)
        return self._through({cause: self.level.out_of_block(operator, used) for cause, used in told.items()}, around)

    def _of_branch(self, operator: Node, position: int) -> Causes:
        around = [self._of(one) if isinstance(one, Node) else {} for one in arguments_of(operator)[3]]
        branches = Branches(self.level, operator)
        if operator not in self.bodies:
            self.bodies[operator] = [_of_body(body, around) for body in branches.bodies()]
        told = [_ALWAYS if body is None else body._given(position) for body in self.bodies[operator]]
        causes = dict.fromkeys((*told[0], *told[1]))
        return self._through(
            {cause: branches.tells([one.get(cause, False) for one in told]) for cause in causes}, around
        )

    def _given(self, position: int) -> Causes:
        """For a body: on what it depends what it gives."""
        return self.causes(arguments_of(self.level.output)[0][position])

    def _of_loop(self, node: Node, operator: Node, position: int) -> Causes:
        begin = before_anchor(arguments_of(operator)[2][position])
        node = arguments_of(node)[0] if is_reordered(node) else node
        entered: Flag = arguments_of(node)[0] if name_of(node) == "where" else True
        passed: Flag = True
        if isinstance(entered, Node):  # else nobody knows
            entered, passed = (True, True) if self.is_written(entered) else (entered, self.level.opposite(entered))
        parts = (entered, self._of_trips(operator, position)), (passed, self._of(begin))
        return self._where(parts)

    def _of_trips(self, operator: Node, position: int) -> Causes:
        """On what a tensor depends that the trips of a loop have left."""
        if operator not in self.trips:
            self.trips[operator] = self._trips(operator)
        trips, around = self.trips[operator]
        return self._through(_ALWAYS if trips is None else trips.causes(position), around)

    def _trips(self, operator: Node) -> tuple[Trips | None, list[Causes]]:
        """The trips of a loop, as it is before it carries our flags, and on what depends what it is given."""
        _, _, carried, additional = arguments_of(operator)
        around = [self._of(one) if isinstance(one, Node) else {} for one in (*carried, *additional)]
        loop = self.level.loop(operator)
        body = _of_body(loop.body(), around, len(carried))
        return None if body is None else Trips(loop, [body._given(place) for place in range(len(carried))]), around

    def _through(self, used: Causes, around: list[Causes]) -> Causes:
        """On what depends what a body gives.

        used: which of its operands it uses, and when. around: on what these depend.
        """
        return self._where((flag, _ALWAYS if cause is None else around[cause]) for cause, flag in used.items())

    def _where(self, parts: Iterable[tuple[Flag, Causes]]) -> Causes:
        """All of these, each where its flag is set."""
        return self._merged(
            [(one, self.level.both([set_, flag])) for one, flag in part.items()] for set_, part in parts
        )

    def _merged(self, parts: Iterable[Iterable[tuple[Cause, Flag]]]) -> Causes:
        flags: dict[Cause, dict[Flag, None]] = {}
        for cause, flag in (one for part in parts for one in part):
            flags.setdefault(cause, {})[flag] = None
        found = {cause: self.level.either(list(those)) for cause, those in flags.items()}
        return _ALWAYS if found.get(None) is True else {one: flag for one, flag in found.items() if flag is not False}

    def _needed(self, node: Node) -> list[Node]:
        """A node and all that it is computed from, with what writes to their memory, in the order of the graph."""
        needed, waiting = set(), [node]
        while waiting:
            one = waiting.pop()
            if one not in needed and one not in self.known:
                needed.add(one)
                waiting += (*one.all_input_nodes, *self._writers.get(storage_at(one), ()))
        return sorted(needed)

    @cached_property
    def _writers(self) -> dict[Storage | None, list[Node]]:
        found: dict[Storage | None, list[Node]] = {}
        for node, targets in self.level.targets.items():
            for storage in {storage_at(target) for target in targets} - {None}:
                found.setdefault(storage, []).append(node)
        return found


@dataclass(frozen=True, eq=False)
class Trips:
    """The trips of a loop.

    given: on which inputs of the body depends what a trip hands on, by its place in the carry.
    """

    loop: Loop
    given: list[Causes]

    def causes(self, position: int) -> Causes:
        """On which inputs of the first trip, or what the loop closes over, depends what the last one has handed on."""
        found: Causes = {}
        for cause in self._reached(position):
            if cause in self._reached(position, always=True):
                found[cause] = True
                continue
            begin = {self._key(place, cause): place == cause for place in self._concerned(position, cause)}
            self.loop.carry(begin, lambda key: self._after(key[0], key[1][1]))
            found[cause] = self.loop.behind(self._key(position, cause))
        return found

    def _reached(self, position: int, always: bool = False) -> dict[Cause, None]:
        """What comes there, trip by trip; always: in every trip."""
        found: dict[Cause, None] = {}
        waiting = [position]
        while waiting:
            for cause, flag in self.given[waiting.pop()].items():
                if cause not in found and (flag is True or not always):
                    found[cause] = None
                    waiting += filter(self._is_carried, [cause])
        return found

    def _concerned(self, position: int, cause: Cause) -> list[int]:
        """The places in the carry from which an input may come there, and this one."""
        places = (position, *filter(self._is_carried, self._reached(position)))
        return [place for place in dict.fromkeys(places) if place == cause or cause in self._reached(place)]

    def _after(self, place: int, cause: Cause) -> list[Flag]:
        """The reasons for which a tensor of the carry depends on an input after a trip."""
        both = self.loop.body().both
        carried = [(one, flag) for one, flag in self.given[place].items() if self._is_carried(one)]
        closed_over = [flag for one, flag in self.given[place].items() if one == cause and not self._is_carried(one)]
        return [*closed_over, *(both([flag, self._before(one, cause)]) for one, flag in carried)]

    def _before(self, place: int, cause: Cause) -> Flag:
        may_be = place == cause or cause in self._reached(place)
        return may_be and self.loop.before(self._key(place, cause))

    def _key(self, place: int, cause: Cause) -> Key:
        return place, (self, cause)

    def _is_carried(self, cause: Cause) -> TypeGuard[int]:
        return cause is not None and cause < len(self.given)


def _of_body(body: Level, operands: list[Causes], carried: int = 0) -> Records | None:
    """A body, whose causes are the operands; None where the body does not tell.

    carried: how many of them a loop carries; what they depend on, a later trip may be given.
    """
    inputs: dict[Node, Cause] = {}
    for place, (given, causes) in enumerate(zip(body.inputs, operands, strict=True)):
        if causes and not _may_record(given):
            return None
        if causes or place < carried:
            inputs[given] = place if place < carried or causes.get(None) is not True else None
    return Records(body, inputs)


def _may_record(node: Node) -> bool:
    """Whether a node is a tensor that requires a gradient, or nothing of which that is known."""
    value = node.meta.get("example_value")
    return value.requires_grad if isinstance(value, torch.Tensor) else not isinstance(value, _NUMBERS)
