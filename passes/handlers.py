"""An exception that data decide on, and that a handler of the same function may catch, becomes a jump to the handlers.

    try:                                   passed = True
        z = f(x)                           try:
        if bad.any():                          z = f(x)
            raise ValueError("bad")            if bad.any():
        y = z.sqrt()                               y = ag.unread()
    except ValueError:                             passed = False
        y = x.abs()                            else:
                                                   y = z.sqrt()
                                           except ValueError:
                                               y = x.abs()
                                           if ag.not_(passed):
                                               try:
                                                   raise ValueError("bad")
                                               except ValueError:
                                                   y = x.abs()

Where what follows the exception is no single place, the block becomes a loop of one trip, and the jump a `break`.

A graph raises when Python's handlers are behind it. In the branch above nothing is left to data: the tracer finds the
handler, as Python does. The exception may as well be made there, for nothing runs between its place and the handlers.
They stand behind the block, because it must not see what they raise; in its `else`, if it has one. Names that the block
would have bound, and that each handler binds before it reads them, need no check for whether they are bound.

In files this is done where the text shows that data decide, for functions where a trace has shown it (AG325). Left
alone: blocks that leave a loop around them, and what is raised inside of `with`, a further `try` or another function.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.liveness import Targets, live_before
from autograph_torch.analysis.scopes import (
    LOOPS,
    SCOPES,
    binds,
    captured,
    exits,
    names_of,
    parameters,
    reads,
    sub_statements,
    walk_scope,
)
from autograph_torch.source.nodes import derive, name, origin, place, rebuild, replace, walk
from autograph_torch.source.templates import assign, call, constant, one_trip, runtime_call


def jump_to_handlers(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Let nothing be raised in a branch on data that a handler around it may catch."""

    def visit(node: gast.AST, within: bool = False) -> gast.AST | list[gast.stmt]:
        if isinstance(node, SCOPES) or facts.is_skipped(node):
            return node
        inside = within or isinstance(node, gast.Try)
        inner = rebuild(node, lambda child: visit(child, inside))
        if not isinstance(inner, gast.Try) or not inner.handlers:
            return inner
        leaves = exits(inner.body)
        if leaves.breaks or leaves.continues:
            return inner
        jumps = _Jumps(facts, () if within else _bound_by_all_blocks(inner, facts.function))
        body = jumps.block(inner.body, under_data=False)
        return _with_handlers_behind(inner, body, jumps) if jumps.raised else inner

    return rebuild(function, visit)


def _bound_by_all_blocks(node: gast.Try, function: gast.FunctionDef) -> tuple[str, ...]:
    """Names that belong to a block and its handlers: wherever an exception of the block leads, they are bound anew."""
    own = names_of(function.body)
    elsewhere = {*own.outer, *captured(function.body), *parameters(function.args), *reads(node.finalbody)}
    elsewhere.update(name for part in _statements_beside(function, node) for name in binds(part))
    inner = [one for one in dict.fromkeys(binds(node.body)) if one not in elsewhere]
    read = frozenset(inner)
    ends = [live_before(handler.body, read, Targets(on_break=read, on_continue=read)) for handler in node.handlers]
    return tuple(one for one in inner if all(one not in live for live in ends))


def _statements_beside(function: gast.FunctionDef, node: gast.Try) -> Iterator[gast.AST]:
    """The simple statements, and the heads of others, that stand outside of a `try`."""
    own = {id(part) for part in walk(origin(node) or node)}
    for part in walk_scope(function.body):
        if id(part) not in own and not sub_statements(part):
            yield part


@dataclass
class _Jumps:
    """The raises of one block, each as a flag that is cleared and a jump to the end of the block.

    unread: names that are bound anew on every way from the jump.
    raised: what is to be raised behind it, by the name of the flag.
    """

    facts: Facts
    unread: tuple[str, ...]
    raised: dict[str, gast.Raise] = field(default_factory=dict)

    def block(self, block: list[gast.stmt], under_data: bool) -> list[gast.stmt]:
        return [new for statement in block for new in self._statement(statement, under_data)]

    def _statement(self, node: gast.stmt, under_data: bool) -> list[gast.stmt]:
        if isinstance(node, gast.Raise) and self._is_decided_by_data(node, under_data):
            return self._jump(node, node)
        if isinstance(node, gast.Assert) and self._is_decided_by_data(node, self.facts.may_be_tensor(node.test)):
            arguments = [] if node.msg is None else [node.msg]
            failed = gast.Raise(exc=call(name("AssertionError"), *arguments), cause=None)
            jump = self._jump(place(failed, node), node)
            return [replace(node, gast.If(test=runtime_call("not_", node.test), body=jump, orelse=[]))]
        if isinstance(node, gast.If):
            return [self._inside(node, under_data)]
        if isinstance(node, LOOPS):
            return self._loop(node, under_data)
        return [node]

    def _loop(self, node: gast.For | gast.While, under_data: bool) -> list[gast.stmt]:
        before = len(self.raised)
        loop = self._inside(node, under_data)
        flags = list(self.raised)[before:]
        leave = (gast.If(test=runtime_call("not_", name(flag)), body=[gast.Break()], orelse=[]) for flag in flags)
        return [loop, *(place(one, node) for one in leave)]

    def _inside(self, node: gast.stmt, under_data: bool) -> gast.stmt:
        inside = under_data or self.facts.is_site(node)
        return rebuild(node, lambda child: self._statement(child, inside) if isinstance(child, gast.stmt) else child)

    def _is_decided_by_data(self, node: gast.stmt, by_text: bool) -> bool:
        """A function that is traced anyway has nothing rewritten before the trace has shown that data decide."""
        return node.lineno in self.facts.told.raises if self.facts.assume_unknown else by_text

    def _jump(self, raised: gast.Raise, node: gast.stmt) -> list[gast.stmt]:
        flag = self.facts.fresh("passed")
        self.raised[flag] = raised
        used = reads(raised)
        unread = (assign([one], runtime_call("unread")) for one in self.unread if one not in used)
        return [place(one, node) for one in (*unread, assign([flag], constant(False)), gast.Break())]


def _with_handlers_behind(node: gast.Try, body: list[gast.stmt], jumps: _Jumps) -> list[gast.stmt]:
    straight = _without_jumps(body)
    if straight is None:
        straight = [place(one_trip(jumps.facts.fresh("_"), body), node.body[0])]
    flags = [place(assign([flag], constant(True)), node) for flag in jumps.raised]
    behind: list[gast.stmt] = [_handled(flag, raised, node) for flag, raised in jumps.raised.items()]
    otherwise = node.orelse
    if otherwise:
        for handled in reversed(behind):
            otherwise = [derive(handled, orelse=otherwise)]
        behind = []
    done = [*flags, derive(node, body=straight, orelse=otherwise, finalbody=[]), *behind]
    if not node.finalbody:
        return done
    return [replace(node, gast.Try(body=done, handlers=[], orelse=[], finalbody=node.finalbody))]


def _without_jumps(block: list[gast.stmt]) -> list[gast.stmt] | None:
    """The block with what follows an `if` that ends in a jump in its other arm; None where that is not enough."""
    for index, node in enumerate(block):
        if not exits([node]).breaks:
            continue
        rest = _without_jumps(block[index + 1 :])
        if not isinstance(node, gast.If) or rest is None:
            return None
        arms = [_arm(arm, rest) for arm in (node.body, node.orelse)]
        if None in arms:
            return None
        return [*block[:index], derive(node, body=arms[0], orelse=arms[1])]
    return block


def _arm(arm: list[gast.stmt], rest: list[gast.stmt]) -> list[gast.stmt] | None:
    if arm and isinstance(arm[-1], gast.Break):
        return arm[:-1]
    return None if exits(arm).breaks else [*arm, *rest]


def _handled(flag: str, raised: gast.Raise, node: gast.Try) -> gast.If:
    """The exception, and the handlers that it meets."""
    again = gast.Try(body=[raised], handlers=node.handlers, orelse=[], finalbody=[])
    return place(gast.If(test=runtime_call("not_", name(flag)), body=[place(again, raised)], orelse=[]), raised)
