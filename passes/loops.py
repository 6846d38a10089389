"""Loops that data controls become calls of the runtime; what changes from trip to trip is the carry.

    while x.norm() > 1:                    (x, n) = ag.while_loop(lambda x, n: x.norm() > 1, body, (x, n))
        x = x / 2                          with  def body(x, n):
        n = n + 1                                    x = x / 2
                                                     n = n + 1
                                                     return (x, n)

    for i in range(k):                     (x,) = ag.for_loop(ag.range(k), lambda i, x: (x * i,), (x,))
        x = x * i

A loop that data leaves early has steps instead of a body. A step says how it ends: `loop.next(carry)` goes on,
`loop.stop(carry)` is `break`, `loop.exit(value)` is `return`; `after` is what follows the loop up to the end.

    for layer in self.layers:              def step(layer, x, loop):
        x = layer(x)                           x = layer(x)
        if x.max() > 1:                        if x.max() > 1:
            return x                               return loop.exit(x)
    return -x                                  else:
                                                   return loop.next(x)
                                           return ag.for_steps(self.layers, step, (x,), lambda x: -x)

State rule (`reads` are handed through unchanged): bound in the loop, and live at its head. Objects written in place
(`x += 1`, `xs.append(y)`) travel as `mutated`, so that every alias sees the writes.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import gast

from autograph_torch.analysis.facts import Facts, makes_a_list
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.liveness import (
    EMPTY,
    Live,
    Targets,
    bound_after,
    bound_at_start,
    bound_inside,
    flows_of,
    live_after_each,
    live_before,
    loop_head,
)
from autograph_torch.analysis.positions import counts_only
from autograph_torch.analysis.scopes import (
    LOOPS,
    SCOPES,
    always_live,
    binds,
    completes,
    exits,
    names_around,
    names_of,
    reads,
    sub_statements,
    walk_scope,
)
from autograph_torch.analysis.writes import bound_anew, rebound_before_write, written_in_place
from autograph_torch.passes.effects import failure_of, is_missed_by_handlers, raise_as_return
from autograph_torch.passes.jumps import ends_in_view_of_the_rest
from autograph_torch.passes.undefined import declare_undefined
from autograph_torch.source.nodes import derive, name, place, rebuild, replace, walk
from autograph_torch.source.templates import (
    RUNTIME,
    assign,
    call,
    constant,
    function,
    is_runtime_call,
    returns,
    runtime_call,
    thunk,
    tuple_of,
)


def lower_loops(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Turn the loops that data controls into calls of ag.while_loop, ag.for_loop, ag.while_steps and ag.for_steps."""
    lowering = _Loops(facts, always_live(function.body), function)
    bound = bound_at_start(function)
    body = lowering.block(function.body, EMPTY, Targets(), bound)
    if body is function.body:
        return function
    return derive(function, body=declare_undefined(function, body, lowering.maybe_undefined, facts))


@dataclass(frozen=True)
class _Carry:
    """The state of one loop: rebound names, objects written in place, values handed through, the `loop` parameter.

    `shared` are variables that are no part of it: functions which are called in a trip see them, too.
    """

    rebound: tuple[str, ...]
    mutated: tuple[str, ...]
    reads: tuple[str, ...]
    loop: str
    shared: Live

    @property
    def names(self) -> tuple[str, ...]:
        return self.rebound + self.mutated + self.reads


class _Loops:
    def __init__(self, facts: Facts, always_live: Live, function: gast.FunctionDef) -> None:
        self._facts = facts
        self._always_live = always_live
        self._around = names_around(function)
        self._declared = frozenset(names_of(function.body).outer)
        self._closed_over: Live = EMPTY
        self._shared_around: Live = EMPTY  # what the trips around share with what they call
        self.maybe_undefined: dict[str, None] = {}

    def _closing_over(self, names: Live, shared: Live = EMPTY) -> _Loops:
        """The lowering of a function of ours that reads `names` from around and does not bind them."""
        inner = copy.copy(self)
        inner._closed_over = names
        inner._shared_around = self._shared_around | shared
        return inner

    def block(
        self, block: list[gast.stmt], after: Live, targets: Targets, bound: frozenset[str], ends: bool = True
    ) -> list[gast.stmt]:
        """The statements of a block; `ends`: whether the function ends where the block does."""
        done: list[gast.stmt] = []
        lives = live_after_each(block, after, targets)
        for index, statement in enumerate(block):
            live = lives[index] | self._always_live
            is_loop, last = isinstance(statement, (gast.For, gast.While)), index == len(block) - 1
            if is_loop and self._lowers(statement, block[index + 1 :], targets, ends):
                if self._returns(statement) or self._takes(statement, block[index + 1 :]):
                    bound_by_then = bound | frozenset(binds(statement))
                    rest = self._closing_over(EMPTY).block(block[index + 1 :], after, targets, bound_by_then)
                    return [*done, *self._steps(statement, live, targets, bound, rest)]
                done.extend(self._loop(statement, live, targets, bound))
                by_then = bound_after([derive(statement, orelse=[])], bound)
                done.extend(self.block(statement.orelse, live, targets, by_then, ends and last))
            else:
                done.append(self._inside(statement, live, targets, bound, ends and last and not is_loop))
            bound = bound_after([statement], bound)
        changed = len(done) != len(block) or any(a is not b for a, b in zip(done, block, strict=True))
        return done if changed else block

    def _inside(self, node: gast.stmt, after: Live, targets: Targets, bound: frozenset[str], ends: bool) -> gast.stmt:
        """A statement that stays: look into its blocks."""
        if isinstance(node, SCOPES) or not sub_statements(node):
            return node
        if isinstance(node, (gast.For, gast.While)):
            head = loop_head(node, after, targets) | self._always_live
            inner = Targets(on_break=after, on_continue=head, on_raise=targets.on_raise)
            return self._blocks(node, {"body": (head, inner), "orelse": (after, targets)}, bound, ends)
        others = dict.fromkeys(("body", "orelse", "handlers", "cases"), (after, targets))
        return self._blocks(node, flows_of(node, after, targets) or others, bound, ends)

    def _blocks(
        self, node: gast.AST, flows: dict[str, tuple[Live, Targets]], bound: frozenset[str], ends: bool
    ) -> gast.stmt:
        changes = {}
        for field, (after, targets) in flows.items():
            old = getattr(node, field, None)
            if not isinstance(old, list) or not old:
                continue
            start = bound_inside(node, field, bound)
            if field in ("handlers", "cases"):
                new = [self._blocks(arm, {"body": (after, targets)}, start, ends) for arm in old]
            else:
                new = self.block(old, after, targets, start, ends)
            if any(a is not b for a, b in zip(new, old, strict=False)) or len(new) != len(old):
                changes[field] = new
        return derive(node, **changes) if changes else node

    def _is_left_in_view(self, node: gast.AST) -> bool:
        """Whether a jump leaves a `try` whose `finally` changes the state that the jump has handed on."""
        if not isinstance(node, gast.Try) or not ends_in_view_of_the_rest(node, self._facts.kinds):
            return False
        return bool(exits([*node.body, *node.handlers, *node.orelse]))

    # -- one loop -----------------------------------------------------------------------------------------------------

    def _lowers(self, node: gast.For | gast.While, rest: list[gast.stmt], targets: Targets, ends: bool) -> bool:
        if not (self._facts.is_site(node) or self._facts.needs_steps(node)):
            return False
        repeats = not (isinstance(node, gast.For) and is_runtime_call(node.iter, "once"))
        if is_missed_by_handlers(node, node.body, targets.on_raise, self._facts, repeats):
            return False
        if any(self._is_left_in_view(part) for part in walk_scope(node.body)):
            self._facts.report(
                "AG202", node, "a jump leaves a `try` whose `finally` binds a name or writes", "jump after it"
            )
            return False
        written = [n for n in binds([node, *rest]) if n in self._declared]
        if written and self._returns(node):
            self._facts.report(
                "AG205",
                node,
                f"`{written[0]}` belongs to a scope outside, and data decides when the loop returns",
                "use a local variable in the loop, and write the outer one before the function returns",
            )
            return False
        leaves = exits(rest)
        if self._returns(node) and (leaves.breaks or leaves.continues):  # of a loop that has been left alone
            self._facts.report("AG202", node, "data decides when this loop returns; the one around it stays a loop")
            return False
        if self._returns(node) and completes(rest) and not ends and _may_end(node):  # what follows stands outside
            self._facts.report("AG202", node, "data decides when this loop returns; the block around it goes on")
            return False
        suspends = (gast.Yield, gast.YieldFrom, gast.Await)
        if any(isinstance(inner, suspends) for inner in walk(node)):
            self._facts.report("AG201", node, "a loop that yields or waits cannot move into a function")
            return False
        return True

    def _returns(self, node: gast.For | gast.While) -> bool:
        return exits(node.body).returns

    def _takes(self, node: gast.For | gast.While, rest: list[gast.stmt]) -> bool:
        """Whether what follows, which returns, is needed once for every way out of the loop.

        What the loop writes of scopes outside stays with it: in a function of its own, the rest has but its value.
        """
        if self._declared.intersection(binds([node, *rest])):
            return False
        leaves = exits(rest)
        return self._facts.takes_rest(node) and not (completes(rest) or leaves.breaks or leaves.continues)

    def _carry(
        self, node: gast.For | gast.While, after: Live, targets: Targets, rest: list[gast.stmt] | None = None
    ) -> _Carry:
        test = [node.test] if isinstance(node, gast.While) else [node.target]
        shared = self._facts.shared.within([*node.body, *test, *(rest or [])])
        if isinstance(node, gast.For):
            shared |= self._facts.shared.read_between(node.iter, node.body)
        if rest is not None:  # it goes on to where what is shared around is not handed over
            shared |= self._shared_around & frozenset(binds([node, *rest]))
        head = loop_head(node, after, targets) | self._always_live
        bound = dict.fromkeys([*binds(node.body), *(binds(node.target) if isinstance(node, gast.For) else [])])
        written = [
            n
            for n in written_in_place(node.body, self._facts.kinds)
            if n in head or n not in bound
            if not rebound_before_write(node.body, n, self._facts.kinds) and n not in bound_anew(node.body)
            if n not in shared
        ]
        rebound = [n for n in bound if n in head and n not in written and n not in shared]
        outside = sorted(reads([*node.body, *([node.test] if isinstance(node, gast.While) else [])]) - set(bound))
        handed = tuple(n for n in self._facts.handed_over([*outside, *written]) if n not in {*written, *shared})
        loop = self._facts.fresh("loop") if self._facts.needs_steps(node) else ""
        return _Carry(tuple(rebound), tuple(written), handed, loop, shared)

    def _loop(
        self, node: gast.For | gast.While, after: Live, targets: Targets, bound: frozenset[str]
    ) -> list[gast.stmt]:
        if self._facts.needs_steps(node):
            return self._steps(node, after, targets, bound, None)
        carry = self._carry(node, after, targets)
        self._note_undefined(carry, bound, [node])
        result = returns(tuple_of(carry.names))
        body = _with_jumps(node.body, None, result, None)
        body = self._trip(node, carry, [*body, result] if completes(body) else body, bound)
        code = "AG103" if isinstance(node, gast.While) else "AG104"
        kind = "while" if isinstance(node, gast.While) else "for"
        self._facts.report(code, node, f"`{kind}` on a tensor becomes ag.{kind}_loop")
        return self._emit(node, carry, body, f"{kind}_loop", "body", None, {})

    def _steps(
        self,
        node: gast.For | gast.While,
        after: Live,
        targets: Targets,
        bound: frozenset[str],
        rest: list[gast.stmt] | None,
    ) -> list[gast.stmt]:
        """A loop that data leaves early; with `rest`, what follows it, when it may also return."""
        carry = self._carry(node, after, targets, rest)
        if rest is not None:  # what follows becomes a function: names that it reads and then binds are its parameters
            needed = live_before(rest, EMPTY)
            # A branch in there binds what it writes to in place.
            bound_there = dict.fromkeys([*binds(rest), *written_in_place(rest, self._facts.kinds)])
            own = [n for n in bound_there if n not in self._around or n in binds(rest)]
            given = [n for n in own if n in needed and n not in carry.names and n not in carry.shared]
            carry = dataclasses.replace(carry, reads=(*carry.reads, *given))
            rest = [raise_as_return(statement) for statement in rest]
        self._note_undefined(carry, bound, [node, *(rest or [])])

        def end(how: str) -> gast.Return:
            return returns(call(_attribute(carry.loop, how), *(name(n) for n in carry.names)))

        def leave(value: gast.expr) -> gast.Return:
            return returns(call(_attribute(carry.loop, "exit"), value))

        body = _with_jumps(node.body, end("stop"), end("next"), leave, leave if rest is not None else None)
        body = self._trip(node, carry, [*body, end("next")] if completes(body) else body, bound)
        kind = "while" if isinstance(node, gast.While) else "for"
        self._facts.report("AG105", node, f"data decides when this `{kind}` ends: its trips become steps")
        return self._emit(node, carry, body, f"{kind}_steps", "step", rest, self._paths(node, carry, body, rest))

    def _paths(
        self, node: gast.For | gast.While, carry: _Carry, body: list[gast.stmt], rest: list[gast.stmt] | None
    ) -> dict[str, gast.expr]:
        """What to tell of the paths through a step of a loop whose trips may be run one by one."""
        if not isinstance(node, gast.For) or _is_once(node.iter):
            return {}
        if _ends_in_a_context(node.body):
            return {"joined": constant(True)}
        ways = _ways_on(body, carry.loop)
        apart = rest is not None and not self._returns(node)  # joined paths would have to agree on their types
        return {} if ways == 1 else {"ways": constant(ways)} if apart else {"joined": constant(True)}

    def _trip(
        self, node: gast.For | gast.While, carry: _Carry, body: list[gast.stmt], bound: frozenset[str]
    ) -> list[gast.stmt]:
        """The body of a loop as the body of a function: its jumps are returns by now, so nothing is live at its end."""
        parameters = {*carry.names, *(binds(node.target) if isinstance(node, gast.For) else ())}
        closed_over = frozenset(reads(body)) - parameters - frozenset(binds(body))
        return self._closing_over(closed_over, carry.shared).block(body, EMPTY, Targets(), bound | parameters)

    def _note_undefined(self, carry: _Carry, bound: frozenset[str], block: list[gast.stmt]) -> None:
        shared = [n for n in binds(block) if n in carry.shared and n not in self._declared]
        self.maybe_undefined.update(dict.fromkeys(n for n in (*carry.names, *shared) if n not in bound))

    # -- text ---------------------------------------------------------------------------------------------------------

    def _emit(
        self,
        node: gast.For | gast.While,
        carry: _Carry,
        body: list[gast.stmt],
        operator: str,
        role: str,
        rest: list[gast.stmt] | None,
        paths: dict[str, gast.expr],
    ) -> list[gast.stmt]:
        step_parameters = [*carry.names, *([carry.loop] if carry.loop else [])]
        if isinstance(node, gast.While):
            lead = thunk(node.test, carry.names)
        else:
            item, unpack = self._item(node, carry)
            step_parameters, body = [item, *step_parameters], [*unpack, *body]
            lead = _tensor_range(node.iter, self._facts)
            if (carry.loop and lead is node.iter and counts_only(node, self._is_tensor)) or (
                carry.loop and lead is node.iter and _over_tensors(node.iter, self._facts)
            ):
                lead = _runtime_iterable(node.iter)
        statements: list[gast.stmt] = []
        body = self._facts.shared.declared(carry.shared, body)
        callee = self._callable(node, role, step_parameters, body, statements)
        groups = {"mutated": carry.mutated, "reads": carry.reads}
        keywords: dict[str, gast.expr] = {key: tuple_of(names) for key, names in groups.items() if names}
        arguments: list[gast.expr] = [lead, callee, tuple_of(carry.rebound)]
        keywords.update(paths)
        if rest is None:
            result = runtime_call(operator, *arguments, **keywords)
            foreign = self._around | self._closed_over
            kept = [n if n not in foreign else self._facts.fresh("same") for n in carry.names]
            statements.append(assign(kept, result, always_tuple=True))
        else:
            never = _attribute(RUNTIME, "never") if _is_endless(node) else None
            rest = self._facts.shared.declared(carry.shared, rest)
            keywords["after"] = never or self._callable(node, "after", list(carry.names), rest, statements)
            statements.append(returns(runtime_call(operator, *arguments, **keywords)))
        return [replace(node, s) for s in statements]

    def _callable(
        self, node: gast.AST, role: str, names: list[str], body: list[gast.stmt], before: list[gast.stmt]
    ) -> gast.expr:
        """A lambda for one expression, else a local function put in `before`."""
        result = None if any(map(self._facts.is_skipped, body)) else _as_expression(body)
        if result is not None:
            return thunk(result, names)
        identifier = self._facts.fresh(role)
        before.append(place(function(identifier, names, body), node))
        return name(identifier)

    def _is_tensor(self, node: gast.expr) -> bool:
        return self._facts.kinds.of(node) >= Kind.TENSOR

    def _item(self, node: gast.For, carry: _Carry) -> tuple[str, list[gast.stmt]]:
        """The parameter that takes the loop's element, and how the target is bound from it."""
        if isinstance(node.target, gast.Name) and node.target.id not in {*carry.names, *carry.shared}:
            return node.target.id, []
        base = f"next_{node.target.id}" if isinstance(node.target, gast.Name) else "item"
        parameter = self._facts.fresh(base)
        unpack = gast.Assign(targets=[node.target], value=name(parameter), type_comment=None)
        return parameter, [place(unpack, node.target)]


def _may_end(node: gast.For | gast.While) -> bool:
    """Whether what follows a loop may be come to: not where its one trip leaves the function in any case."""
    if isinstance(node, gast.While):
        return not _is_endless(node)
    leaves = exits(node.body)
    return not _is_once(node.iter) or completes(node.body) or leaves.breaks or leaves.continues


def _is_endless(node: gast.For | gast.While) -> bool:
    """Whether a loop ends by `return` alone: `while True` without a `break` of its own."""
    endless = isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and bool(node.test.value)
    return endless and not exits(node.body).breaks


def _ends_in_a_context(block: Iterable[gast.AST]) -> bool:
    """Whether a trip may end inside of a `with`, or before a `finally`: neither covers the trips that are left."""
    for node in block:
        covered = isinstance(node, gast.With) or (isinstance(node, gast.Try) and node.finalbody)
        if covered and exits([node]):
            return True
        if not isinstance(node, (*LOOPS, *SCOPES)) and _ends_in_a_context(sub_statements(node)):
            return True
    return False


def _ways_on(body: list[gast.stmt], loop: str) -> int:
    """How many paths through a step end with the next trip, as far as calls of two values go (passes/open_calls.py)."""
    nodes = [node for statement in body for node in walk(statement)]
    paths = sum(isinstance(n, gast.Attribute) and n.attr == "next" and _is_name(n.value, loop) for n in nodes)
    return max(1, paths - sum(is_runtime_call(n, "others") for n in nodes))


def _is_name(node: gast.AST, identifier: str) -> bool:
    return isinstance(node, gast.Name) and node.id == identifier


def _is_once(node: gast.expr) -> bool:
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "once"


def _as_expression(body: list[gast.stmt]) -> gast.expr | None:
    """What a body returns, if one expression says it: `x = x / 2; return (x,)` is `(x / 2,)`."""
    if not body:  # every path before it returns
        return constant(None)
    *before, last = body
    if not isinstance(last, gast.Return) or len(before) > 1:
        return None
    result = last.value if last.value is not None else constant(None)
    if not before:
        return result
    (only,) = before
    if not isinstance(only, gast.Assign) or len(only.targets) != 1 or only.lineno != only.end_lineno:
        return None
    target, value = only.targets[0], only.value
    if isinstance(target, gast.Name):
        return _with_value(result, [target], [value])
    if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts):
        return _with_value(result, target.elts, value.elts)
    return None


def _with_value(result: gast.expr, targets: list[gast.expr], values: list[gast.expr]) -> gast.expr | None:
    """A tuple or call of names with values in the place of some; evaluated in the order in which they stood."""
    names = result.elts if isinstance(result, gast.Tuple) else result.args if isinstance(result, gast.Call) else []
    positions = [_positions(names, target) for target in targets]
    places = [found[0] for found in positions if len(found) == 1]
    if len(places) != len(targets) or places != sorted(places) or not all(isinstance(n, gast.Name) for n in names):
        return None
    values_at = dict(zip(places, values, strict=True))
    new = [values_at.get(position, old) for position, old in enumerate(names)]
    return derive(result, elts=new) if isinstance(result, gast.Tuple) else derive(result, args=new)


def _positions(names: list[gast.expr], target: gast.expr) -> list[int]:
    wanted = target.id if isinstance(target, gast.Name) else None
    return [index for index, n in enumerate(names) if isinstance(n, gast.Name) and n.id == wanted]


def _attribute(base: str, attr: str) -> gast.Attribute:
    return gast.Attribute(value=name(base), attr=attr, ctx=gast.Load())


def _tensor_range(node: gast.expr, facts: Facts) -> gast.expr:
    """`range(n)` refuses a bound that is known only when the program runs; ag.range takes it. So does `x.tolist()`."""
    if makes_a_list(node) and facts.dynamic_iterable(node):
        return replace(node, runtime_call("numbers", node.func.value))
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and facts.dynamic_iterable(node):
        arguments = [_tensor_range(argument, facts) for argument in node.args]
        if node.func.id in ("range", "enumerate", "zip", "reversed"):
            return _runtime_iterable(derive(node, args=arguments))
    return node


def _runtime_iterable(node: gast.Call) -> gast.expr:
    """`range(n)` -> `ag.range(n)`."""
    return replace(node, derive(node, func=_attribute(RUNTIME, node.func.id)))


def _over_tensors(node: gast.expr, facts: Facts) -> bool:
    """Whether `enumerate` or `zip` runs over rows of tensors, which the branches of a step must not share."""
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in ("enumerate", "zip")):
        return False
    return any(facts.may_be_tensor(argument) for argument in node.args)


def _with_jumps(
    body: list[gast.stmt],
    on_break: gast.Return | None,
    on_continue: gast.Return,
    on_return: Callable[[gast.expr], gast.Return] | None,
    on_raise: Callable[[gast.expr], gast.Return] | None = None,
) -> list[gast.stmt]:
    """A loop body whose jumps are returns of the function that it becomes; inner loops keep their own."""

    def visit(node: gast.AST, inner: bool, caught: bool) -> gast.AST:
        if isinstance(node, gast.Break) and on_break is not None and not inner:
            return replace(node, returns(on_break.value))
        if isinstance(node, gast.Continue) and not inner:
            return replace(node, returns(on_continue.value))
        if isinstance(node, gast.Return) and on_return is not None:
            return replace(node, on_return(node.value if node.value is not None else constant(None)))
        if isinstance(node, gast.Raise) and on_raise is not None and not caught:
            failure = failure_of(node)
            return node if failure is None else replace(node, on_raise(failure))
        if isinstance(node, (*SCOPES, gast.expr)):
            return node
        within = caught or isinstance(node, gast.Try)
        is_loop = isinstance(node, LOOPS)
        of_else = {id(child) for child in node.orelse} if is_loop else set()  # jumps in there are of the loop around

        def below(child: gast.AST) -> gast.AST:
            return visit(child, inner or (is_loop and id(child) not in of_else), within)

        return rebuild(node, below)

    return [visit(statement, False, False) for statement in body]
