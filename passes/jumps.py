"""Jumps under a tensor test become structured: what follows moves into the branch that does not jump.

    if x.sum() > 0:                        if x.sum() > 0:
        return x                               return x
    y = x + 1                              else:
    return y                                   y = x + 1
                                               return y

Afterwards an `if` on a tensor either contains no jump, or it is the last statement of its block and every path through
both of its branches ends in one. `continue` in a loop whose number of trips is Python's disappears this way. The same
move resolves a name that has no single type after the `if` (None, a string or a function on one side): what follows is
told apart by moving into both branches.

Loops that data leaves early get explicit ends too; passes/loops.py turns their trips into steps:

    while (r := f(x)) > tol:               while True:
        x = x - r                              r = f(x)
                                               if not r > tol: break
                                               x = x - r

So does a test that writes to something, where a trace has shown it.

Refused: a `return` out of `with` or `try` beside another jump, when something follows in it, and moves that would copy
too much.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kinds
from autograph_torch.analysis.liveness import EMPTY, Live, bound_after, live_before
from autograph_torch.analysis.scopes import (
    SCOPES,
    SUSPENDS,
    Exits,
    binds,
    completes,
    exits,
    names_of,
    parameters,
    reads,
    sub_statements,
    walk_scope,
)
from autograph_torch.analysis.writes import written_in_place
from autograph_torch.source.nodes import as_list, derive, name, place, rebuild, replace, substitute, walk
from autograph_torch.source.templates import assign, constant, is_runtime_call, one_trip, returns, runtime_call

COPIES_AT_EASE = 8  # statements written twice in one function that read better than a join of the paths
COPY_LIMIT = 60  # where paths cannot be joined

# The part of an expression that is evaluated first.
_BEGINS_WITH = {
    gast.Compare: "left",
    gast.BinOp: "left",
    gast.BoolOp: "values",
    gast.UnaryOp: "operand",
    gast.Attribute: "value",
    gast.Subscript: "value",
    gast.Call: "func",
}


@dataclass(frozen=True)
class _End:
    """What happens when control reaches the end of a block.

    jump: the statement that says so (`return None`, `continue`), or None where control simply falls through.
    movable: whether what follows an `if` may move into it, because nothing follows the block itself.
    controlled: whether data decides if the block runs, and hence on every jump in it.
    """

    jump: gast.stmt | None = None
    movable: bool = False
    drops_continue: bool = False
    controlled: bool = False
    live: Live = EMPTY


def structure_jumps(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Make every jump that only some data takes end its block."""
    bound = frozenset(parameters(function.args)) | frozenset(names_of(function.body).outer)
    end = _End(returns(None), movable=True)
    body = _Structurer(facts, frozenset(names_of(function.body).outer)).block(function.body, end, bound, explicit=False)
    return function if body is function.body else derive(function, body=body)


class _Structurer:
    def __init__(self, facts: Facts, declared: frozenset[str]) -> None:
        self._facts = facts
        self._declared = declared  # nonlocal and global: a loop that returns cannot write to them (passes/loops.py)
        self._copied = 0

    def block(self, block: list[gast.stmt], end: _End, bound: frozenset[str], explicit: bool) -> list[gast.stmt]:
        """The block with its jumps structured; `explicit`: its end must be a jump."""
        done: list[gast.stmt] = []
        original, block = block, [part for statement in block for part in self._finish_behind(statement)]
        block = [part for statement in block for part in self._else_behind(statement)]
        block = [part for k, one in enumerate(block) for part in self._jump_behind(one, k == len(block) - 1, end)]
        for index, statement in enumerate(block):
            rest = block[index + 1 :]
            if not completes(block[max(index - 1, 0) : index]):  # never reached: nothing there is data's to decide
                for dead in block[index:]:
                    self._facts.leave(dead)
                done += block[index:]
                break
            statement = self._as_one_trip(statement, rest, end)
            if isinstance(statement, gast.If) and self._must_move(statement, done, rest, end, bound, explicit):
                if self._joins(statement, done, rest, end, bound):
                    statement = self._one_trip(statement)
                elif self._may_copy(statement, rest, COPY_LIMIT):
                    dead = [] if completes([statement]) or self._is_idle(rest, bound) else rest
                    return [*done, self._move_into(statement, [] if dead else rest, end, bound), *dead]
                else:
                    self._report_copies(statement)
            if isinstance(statement, (gast.For, gast.While)) and self._takes_rest(statement, end):
                after = self._loop_bound(statement, bound)
                loop = self._statement(statement, rest, end, bound)
                its_else = loop[-1:] if isinstance(loop[-1], gast.If) else []
                before = loop[: len(loop) - len(its_else)]
                return [*done, *before, *self.block([*its_else, *rest], end, after, explicit=True)]
            new = self._statement(statement, rest, end, bound)
            if isinstance(statement, (gast.For, gast.While)) and isinstance(new[-1], gast.If):  # its `else`
                bound = bound_after(new[:-1], bound)
                return [*done, *new[:-1], *self.block([new[-1], *rest], end, bound, explicit)]
            done.extend(new)
            bound = bound_after([statement], bound)
        if explicit and completes(done) and end.jump is not None:
            done.append(place(_copy(end.jump), block[-1]) if block else _copy(end.jump))
        if end.drops_continue and done and isinstance(done[-1], gast.Continue):
            done[-1:] = [] if len(done) > 1 else [replace(done[-1], gast.Pass())]
        return original if _same(done, original) else done

    def _else_behind(self, node: gast.stmt) -> list[gast.stmt]:
        """`else` of a loop that nothing breaks stands behind the loop, where data decide on a jump in it, or the loop
        becomes steps.
        """
        if isinstance(node, gast.Try) and node.orelse and self._facts.exits_under_data([node]):
            return self._without_else(node)
        if not isinstance(node, (gast.For, gast.While)) or exits(node.body).breaks:
            return [node]
        steps = self._facts.needs_steps(node) or self._is_tested_inside(node)
        if not steps and not self._facts.exits_under_data(node.orelse):
            return [node]
        return [derive(node, orelse=[]), *(part for statement in node.orelse for part in self._else_behind(statement))]

    def _without_else(self, node: gast.Try) -> list[gast.stmt]:
        """`else` of a `try` that data decide on a jump in stands behind it: a variable tells whether it was handled.

        (What `else` raises is not handled, and a jump in the block skips it: so it is behind the `try`, too.)
        """
        flag = self._facts.fresh("handled")
        flagged = [handler for handler in node.handlers if completes(handler.body)]
        handlers = [
            derive(one, body=[place(assign([flag], constant(True)), one), *one.body]) if one in flagged else one
            for one in node.handlers
        ]
        behind = list(node.orelse)
        if flagged:
            behind = [place(gast.If(test=runtime_call("not_", name(flag)), body=behind, orelse=[]), behind[0])]
        done = [derive(node, handlers=handlers, orelse=[], finalbody=[]), *behind]
        if flagged:
            done = [place(assign([flag], constant(False)), node), *done]
        if not node.finalbody:
            return done
        return [replace(node, gast.Try(body=done, handlers=[], orelse=[], finalbody=node.finalbody))]

    def _jump_behind(self, node: gast.stmt, is_last: bool, end: _End) -> list[gast.stmt]:
        """`break` and `continue` that data decide on, in a `with` or `try` of a loop, stand behind it.

        with torch.no_grad():              stays = True
            y = f(x)                       with torch.no_grad():
            if y < 0:                          for _ in ag.once():
                break                              y = f(x)
            total += y                             if y < 0:
                                                       stays = False
                                                       break
                                                   total += y
                                           if ag.not_(stays):
                                               break
        """
        leaves = self._leaves(node)
        in_a_loop = isinstance(end.jump, gast.Continue)
        if not leaves or not (in_a_loop or leaves.breaks or leaves.continues) or self._ends_a_step(node, is_last, end):
            return [node]
        if exits([node]).returns and ends_in_view_of_the_rest(node, self._facts.kinds):
            return [node]
        flags = {kind: self._facts.fresh("stays") for kind in _JUMPS if _has_jump(node, kind)}
        result = self._facts.fresh("result")
        changes: dict[str, object] = {"body": self._staying(node.body, flags, result)}
        if isinstance(node, gast.Try):
            changes["handlers"] = [derive(one, body=self._staying(one.body, flags, result)) for one in node.handlers]
        begin = [assign([flag], constant(True)) for flag in flags.values()]
        if gast.Return in flags:
            begin.append(assign([result], runtime_call("unread")))
        jumps = {gast.Break: gast.Break(), gast.Continue: gast.Continue(), gast.Return: gast.Return(name(result))}
        behind = [gast.If(runtime_call("not_", name(flag)), [jumps[kind]], []) for kind, flag in flags.items()]
        return [*(place(one, node) for one in begin), derive(node, **changes), *(place(one, node) for one in behind)]

    def _leaves(self, node: gast.stmt) -> Exits:
        """The jumps out of a `with` or `try` that data decide on."""
        return self._facts.exits_under_data([node]) if isinstance(node, (gast.With, gast.Try)) else Exits()

    def _staying(self, block: list[gast.stmt], flags: dict[type[gast.stmt], str], result: str) -> list[gast.stmt]:
        """A block whose jumps lead to its end, and clear the flag of their kind."""
        if not exits(block):
            return block

        def leave(jump: gast.stmt) -> list[gast.stmt]:
            cleared = assign([flags[type(jump)]], constant(False))
            returned = [assign([result], jump.value or constant(None))] if isinstance(jump, gast.Return) else []
            return [place(one, jump) for one in (*returned, cleared, gast.Break())]

        returned = flags.get(gast.Return, "")
        marked = [new for one in block for new in as_list(_with_jumps(one, leave, tuple(flags), returned))]
        return [self._one_trip_of(marked)]

    def _is_tested_inside(self, node: gast.For | gast.While) -> bool:
        """Whether the test of a loop binds a name or has an effect, and becomes a part of the trips."""
        if not isinstance(node, gast.While) or isinstance(node.test, gast.Constant):
            return False
        if not (self._facts.is_site(node) or self._facts.needs_steps(node)):
            return False
        return bool(binds(node.test)) or node.lineno in self._facts.told.tests

    def _finish_behind(self, node: gast.stmt) -> list[gast.stmt]:
        """What the last trip of `while True` does before it returns stands behind the loop."""
        endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
        if not endless or node.orelse or exits(node.body).breaks or not self._facts.needs_steps(node):
            return [node]
        goes_on = [k for k, one in enumerate(node.body) if isinstance(one, gast.If) and _only_continues(one)]
        if not goes_on:
            return [node]
        guard, tail = node.body[goes_on[-1]], node.body[goes_on[-1] + 1 :]
        if not tail or completes(tail) or exits(tail).continues:
            return [node]
        stop = gast.If(test=runtime_call("not_", guard.test), body=[place(gast.Break(), guard)], orelse=[])
        return [derive(node, body=[*node.body[: goes_on[-1]], replace(guard, stop)]), *tail]

    def _takes_rest(self, node: gast.For | gast.While, end: _End) -> bool:
        """Whether what follows a loop becomes part of its last step, up to a `return`."""
        returns_early = self._facts.needs_steps(node) and exits(node.body).returns
        to_the_end = self._facts.takes_rest(node) and isinstance(end.jump, gast.Return)
        return end.movable and (returns_early or to_the_end)

    def _as_one_trip(self, node: gast.stmt, rest: list[gast.stmt], end: _End) -> gast.stmt:
        """A `with` or `try` that data may return from: a loop of one trip, whose step tells how it ended."""
        if not isinstance(node, (gast.With, gast.Try)) or not end.movable or isinstance(end.jump, gast.Continue):
            return node
        if self._declared.intersection(binds([node, *rest])) or ends_in_view_of_the_rest(node, self._facts.kinds):
            return node
        leaves = self._facts.exits_under_data([node])
        if not leaves.returns or leaves.breaks or leaves.continues or (isinstance(node, gast.Try) and node.orelse):
            return node
        return self._one_trip(node)

    def _one_trip(self, node: gast.stmt) -> gast.For:
        return self._one_trip_of([node])

    def _one_trip_of(self, block: list[gast.stmt]) -> gast.For:
        return place(one_trip(self._facts.fresh("_"), block), block[0])

    # -- branches ---------------------------------------------------------------------------------------------------

    def _must_move(
        self,
        node: gast.If,
        before: list[gast.stmt],
        rest: list[gast.stmt],
        end: _End,
        bound: frozenset[str],
        explicit: bool,
    ) -> bool:
        goes_on = explicit and isinstance(end.jump, gast.Continue)  # the trips that are left follow in each branch
        if (rest or goes_on) and self._facts.is_split(node):
            return True
        if not end.movable:
            return False
        if self._facts.exits_under_data([node], end.controlled):
            return True
        movable = end.jump is not None and bool(rest) and self._facts.is_site(node)
        return movable and self._splits(node, before, rest, end, bound)

    def _joins(
        self, node: gast.If, before: list[gast.stmt], rest: list[gast.stmt], end: _End, bound: frozenset[str]
    ) -> bool:
        """Whether what follows is too long to stand in both branches, and needs not tell them apart.

        Then the `if` becomes a loop of one trip, whose step says how it ended: with a value to return, or not.
        """
        if self._facts.is_split(node) or isinstance(end.jump, gast.Continue):
            return False
        if self._declared.intersection(binds([node, *rest])):
            return False
        if not self._facts.exits_under_data([node]).returns:
            return False
        return not self._may_copy(node, rest, COPIES_AT_EASE) and not self._splits(node, before, rest, end, bound)

    def _may_copy(self, node: gast.If, rest: list[gast.stmt], limit: int) -> bool:
        return self._copied + _copies(node, rest) <= limit

    def _report_copies(self, node: gast.If) -> None:
        self._facts.report("AG203", node, "too many paths lead past this `if`", "move a part into a function")

    def _move_into(self, node: gast.If, rest: list[gast.stmt], end: _End, bound: frozenset[str]) -> gast.If:
        self._copied += _copies(node, rest)
        end = dataclasses.replace(end, controlled=end.controlled or self._facts.is_site(node))
        arms = []
        for arm in (node.body, node.orelse):
            moved = [*arm, *rest] if completes(arm) else arm
            moved = moved if completes(moved) else self._reached(moved, bound)
            moved = [s for s in moved if not isinstance(s, gast.Pass)] or moved
            arms.append(self.block(moved, end, bound | frozenset(binds(node.test)), explicit=True))
        body, orelse = arms
        if rest and self._facts.is_site(node) and exits([*node.body, *node.orelse]):
            self._facts.report("AG102", node, "what follows the jump moves into the other branch")
        return derive(node, body=body or [place(gast.Pass(), node)], orelse=orelse)

    def _reached(self, arm: list[gast.stmt], bound: frozenset[str]) -> list[gast.stmt]:
        """The arm up to its jump: a jump that is not the last of its block could not be structured."""
        index = next(index for index, statement in enumerate(arm) if not completes([statement]))
        return arm[: index + 1] if self._is_idle(arm[index + 1 :], bound) else list(arm)

    def _is_idle(self, dead: list[gast.stmt], bound: frozenset[str]) -> bool:
        """Whether statements that never run may go: a `yield` or a binding among them says what the function is."""
        names, inside = names_of(dead), {id(node) for statement in dead for node in walk(statement)}
        if names.outer or any(isinstance(node, SUSPENDS) or self._facts.is_skipped(node) for node in walk_scope(dead)):
            return False
        made = set(names.binds) - bound
        others = (node for node in walk(self._facts.function) if isinstance(node, gast.Name))
        return not any(node.id in made and id(node) not in inside for node in others)

    def _splits(
        self, node: gast.If, before: list[gast.stmt], rest: list[gast.stmt], end: _End, bound: frozenset[str]
    ) -> bool:
        """Whether a name has no single static type after the `if`, as far as the text shows."""
        live = live_before(rest, end.live)
        for variable in binds([*node.body, *node.orelse]):
            if variable not in live:
                continue
            sides = [_last_value(arm, variable) or _last_value(before, variable) for arm in (node.body, node.orelse)]
            ends = [bound_after(arm, bound) for arm in (node.body, node.orelse)]
            if (variable in ends[0]) != (variable in ends[1]):
                return True
            types = [self._static_type(side) for side in sides]
            if types[0] != types[1] or types[0] == "function":
                return True
        return False

    def _static_type(self, node: gast.AST | None) -> str:
        """A type that no tensor can stand for; "" when it may be an ordinary value."""
        if isinstance(node, (gast.Attribute, gast.Name)) and self._facts.kinds.torch_path(node):
            return "function"
        return _literal_type(node)

    # -- other statements -------------------------------------------------------------------------------------------

    def _statement(self, node: gast.stmt, rest: list[gast.stmt], end: _End, bound: frozenset[str]) -> list[gast.stmt]:
        if isinstance(node, SCOPES) or not sub_statements(node):
            return [node]
        if isinstance(node, (gast.For, gast.While)):
            return self._loop(node, live_before(rest, end.live), bound)
        if isinstance(node, gast.If):
            return [self._inside(node, bound)]
        under_data = self._facts.exits_under_data([node])
        if under_data and isinstance(node, gast.With) and not completes(node.body):
            inner = _End(movable=True)
            return [derive(node, body=self.block(node.body, inner, bound, explicit=False))]
        if under_data and self._ends_a_step(node, not rest, end):
            return [self._ending(node, end, bound)]
        if under_data:
            self._leave_block(node)
            return [node]
        return [self._inside(node, bound)]

    def _ends_a_step(self, node: gast.stmt, is_last: bool, end: _End) -> TypeGuard[gast.With | gast.Try]:
        """Whether each way out of a `with` or `try` may say how the step of a loop ends."""
        if not is_last or not isinstance(end.jump, gast.Continue) or not isinstance(node, (gast.With, gast.Try)):
            return False
        has_else = isinstance(node, gast.Try) and bool(node.orelse)  # which a jump at the end of the block would skip
        return not has_else and not ends_in_view_of_the_rest(node, self._facts.kinds)

    def _leave_block(self, node: gast.stmt) -> None:
        """With its jumps as they are, nothing in a block can become a branch or loop of the graph."""
        for inner in walk(node):
            if inner is node or (isinstance(inner, gast.stmt) and self._facts.is_site(inner)):
                message = f"a jump under a tensor test leaves {'this' if inner is node else 'the'} block"
                self._facts.report("AG202", inner, message, "set a variable inside the block and jump after it")
        self._facts.leave(node)

    def _ending(self, node: gast.With | gast.Try, end: _End, bound: frozenset[str]) -> gast.stmt:
        """A `with` or `try` at the end of a step: each of its blocks says how the step ends."""
        changes: dict[str, object] = {"body": self.block(node.body, end, bound, explicit=True)}
        if isinstance(node, gast.Try):
            changes["handlers"] = [
                derive(handler, body=self.block(handler.body, end, bound, explicit=True)) for handler in node.handlers
            ]
        return derive(node, **changes)

    def _inside(self, node: gast.stmt, bound: frozenset[str]) -> gast.stmt:
        """A compound statement without jumps under data of its own: look into its blocks."""
        end = _End()
        changes = {}
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and block:
                new = self.block(block, end, bound, explicit=False)
                if new is not block:
                    changes[field] = new
        for field in ("handlers", "cases"):
            arms = getattr(node, field, None) or []
            new_arms = [self._inside(arm, bound) for arm in arms]
            if any(a is not b for a, b in zip(arms, new_arms, strict=True)):
                changes[field] = new_arms
        return derive(node, **changes) if changes else node

    def _loop(self, node: gast.For | gast.While, after: Live, bound: frozenset[str]) -> list[gast.stmt]:
        steps = self._facts.needs_steps(node)
        inside = self._loop_bound(node, bound)
        if node.orelse and steps and exits(node.body).breaks:
            return self._with_flag(node, after, bound)
        if self._is_tested_inside(node):  # without an `else` by now: what stops it here is no `break` of the user's
            inside_out = _test_into_body(node)
            if inside_out is not None:
                return self._loop(inside_out, after, bound)
            self._facts.report("AG201", node, "a later operand of the test binds a name", "bind it before the loop")
            self._facts.leave(node)
        own = exits(node.body)
        moves = steps or (own.continues and bool(self._facts.exits_under_data(node.body)))
        if self._facts.is_site(node) and own.continues:
            moves = True
        if not moves:
            return [self._inside(node, inside)]
        if steps:
            end = _End(place(gast.Continue(), node), movable=True)
            return [derive(node, body=self.block(node.body, end, inside, explicit=True))]
        end = _End(movable=True, drops_continue=True)
        body = self.block(node.body, end, inside, explicit=False)
        orelse = self.block(node.orelse, _End(), bound, explicit=False) if node.orelse else []
        return [derive(node, body=body, orelse=orelse)]

    def _loop_bound(self, node: gast.For | gast.While, bound: frozenset[str]) -> frozenset[str]:
        return bound | frozenset(binds(node.target if isinstance(node, gast.For) else node.test))

    def _with_flag(self, node: gast.For | gast.While, after: Live, bound: frozenset[str]) -> list[gast.stmt]:
        """`else` of a loop that data breaks: a variable remembers whether it did."""
        flag = self._facts.fresh("broke")
        begin = place(assign([flag], constant(False)), node)

        def mark(jump: gast.stmt) -> list[gast.stmt]:
            return [place(assign([flag], constant(True)), jump), jump]

        body = [new for s in node.body for new in as_list(_with_jumps(s, mark, (gast.Break,)))]
        loop = derive(node, body=body, orelse=[])
        test = runtime_call("not_", name(flag))
        orelse = place(gast.If(test=test, body=node.orelse, orelse=[]), node)
        return [begin, *self._loop(loop, after | {flag}, bound | {flag}), orelse]


def ends_in_view_of_the_rest(node: gast.With | gast.Try, kinds: Kinds) -> bool:
    """Whether `finally` would tell that what follows a jump is in a branch, or a function, which has been left by then.

    It reads a name that is bound there, or changes what has been handed out.
    """
    if not isinstance(node, gast.Try) or not node.finalbody:
        return False
    last = node.finalbody
    covered = [*node.body, *node.handlers, *node.orelse]
    if binds(last) or written_in_place(last, kinds) or reads(last) & set(binds(covered)):
        return True
    handed = reads([one for part in covered for one in walk(part) if isinstance(one, gast.Return)])
    return any(reads([part]) & handed for part in last if not _is_effect(part))


_JUMPS: tuple[type[gast.stmt], ...] = (gast.Break, gast.Continue, gast.Return)


def _has_jump(node: gast.stmt, kind: type[gast.stmt]) -> bool:
    """Whether a statement may be left by this kind of jump."""
    leaves = exits([node])
    return leaves.returns if kind is gast.Return else leaves.breaks if kind is gast.Break else leaves.continues


def _with_jumps(
    node: gast.AST,
    leave: Callable[[gast.stmt], list[gast.stmt]],
    kinds: tuple[type[gast.stmt], ...],
    returned: str = "",
) -> gast.AST | list[gast.AST]:
    """A statement whose jumps out of it, of some kinds, are replaced; `returned` is cleared where a loop returns."""
    if isinstance(node, kinds):
        return [*leave(node)]
    if isinstance(node, (*SCOPES, gast.expr)):
        return node
    if not isinstance(node, (gast.For, gast.While)):
        return rebuild(node, lambda part: _with_jumps(part, leave, kinds, returned))
    returns = tuple(kind for kind in kinds if kind is gast.Return)  # what breaks out of its `else` leaves more than it
    body = [new for s in node.body for new in as_list(_with_jumps(s, leave, returns, returned))]
    orelse = [new for s in node.orelse for new in as_list(_with_jumps(s, leave, kinds, returned))]
    if _same(body, node.body) and _same(orelse, node.orelse):
        return node
    loop = derive(node, body=body, orelse=orelse)
    if not returns or not exits(node.body).returns:
        return loop
    return [loop, place(gast.If(test=runtime_call("not_", name(returned)), body=[gast.Break()], orelse=[]), node)]


def _only_continues(node: gast.If) -> bool:
    return len(node.body) == 1 and isinstance(node.body[0], gast.Continue) and not node.orelse


def _test_into_body(node: gast.While) -> gast.While | None:
    """A test that binds a name, or has an effect, runs as the first statements of the body; None where it cannot."""
    stops = _stops(node.test)
    if stops is None:
        return None
    return derive(node, test=constant(True), body=[*(place(s, node.test) for s in stops), *node.body])


def _stops(test: gast.expr) -> list[gast.stmt] | None:
    """Statements that end a loop when its test is false. What `and` and `or` leave out is left out here."""
    if isinstance(test, gast.BoolOp) and binds(test.values[1:]):
        first, rest = test.values[0], test.values[1:]
        others = _stops(rest[0] if len(rest) == 1 else gast.BoolOp(op=test.op, values=rest))
        if others is None or _binds_late(first):
            return None
        if isinstance(test.op, gast.And):
            return [*_stop(first, [gast.Break()]), *others]
        return _stop(first, others)
    return None if _binds_late(test) else _stop(test, [gast.Break()])


def _stop(test: gast.expr, otherwise: list[gast.stmt]) -> list[gast.stmt]:
    """What is done when a test is false; what the test evaluates first, and binds, stands before it."""
    first = _first_evaluated(test)
    lead: list[gast.stmt] = []
    if first is not None and len(binds(test)) == len(binds(first)):
        lead = [gast.Assign(targets=[first.target], value=first.value, type_comment=None)]
        test = substitute(test, {id(first): name(first.target.id)})
    return [*lead, gast.If(test=runtime_call("not_", test), body=otherwise, orelse=[])]


def _binds_late(test: gast.AST) -> bool:
    """Whether a part that may be left out, or is evaluated more than once, binds a name."""
    for node in walk(test):
        late: list[gast.AST] = []
        if isinstance(node, gast.BoolOp):
            late = node.values[1:]
        elif isinstance(node, gast.IfExp):
            late = [node.body, node.orelse]
        elif isinstance(node, gast.Compare):
            late = node.comparators[1:]
        elif isinstance(node, (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, gast.Lambda)):
            late = [node]
        if any(isinstance(inner, gast.NamedExpr) for part in late for inner in walk(part)):
            return True
    return False


def _first_evaluated(node: gast.AST) -> gast.NamedExpr | None:
    """The binding that an expression begins with, if it does."""
    while type(node) in _BEGINS_WITH:
        part = getattr(node, _BEGINS_WITH[type(node)])
        node = part[0] if isinstance(part, list) else part
    return node if isinstance(node, gast.NamedExpr) else None


def _last_value(block: list[gast.stmt], variable: str) -> gast.AST | None:
    """What the block last assigns to a name, when the text shows it."""
    for statement in reversed(block):
        if isinstance(statement, gast.Assign) and any(
            isinstance(target, gast.Name) and target.id == variable for target in statement.targets
        ):
            return statement.value
        if isinstance(statement, SCOPES) and statement.name == variable:
            return statement
        if variable in binds(statement):
            return None
    return None


def _literal_type(node: gast.AST | None) -> str:
    if isinstance(node, gast.Constant) and (node.value is None or isinstance(node.value, (str, bytes))):
        return f"constant {node.value!r}"
    if isinstance(node, (gast.Lambda, *SCOPES)):
        return "function"
    if isinstance(node, (gast.List, gast.Dict)):
        return f"{type(node).__name__} of {len(node.elts if isinstance(node, gast.List) else node.keys)}"
    return ""


def _copies(node: gast.If, rest: list[gast.stmt]) -> int:
    """How many statements are written once more when `rest` moves into both branches."""
    return len(_statements(rest)) if completes(node.body) and completes(node.orelse) else 0


def _statements(block: list[gast.stmt]) -> list[gast.stmt]:
    return [node for statement in block for node in walk(statement) if isinstance(node, gast.stmt)]


def _copy(jump: gast.stmt) -> gast.stmt:
    return type(jump)(**{field: getattr(jump, field) for field in jump._fields})


def _same(new: list[gast.stmt], old: list[gast.stmt]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))


def _is_effect(node: gast.stmt) -> bool:
    return isinstance(node, gast.Expr) and is_runtime_call(node.value, "effect")
