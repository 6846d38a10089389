"""`if` on a tensor becomes ag.cond: two functions of what they read, whose results are the names used later.

    if b.sum() < 0:                        b = ag.cond(b.sum() < 0, lambda: b * -1, lambda: b)
        b = b * -1

    if x.sum() > 0:                        def then(x):
        x = x + 1                              x = x + 1
        y = x * 2                              y = x * 2
    else:                                      return (x, y)
        y = x                              def otherwise(x):
    return x - y                               y = x
                                               return (x, y)
                                           (x, y) = ag.cond(x.sum() > 0, then, otherwise, (x,))

    if p.any(): return a                   return ag.cond(p.any(), lambda: a, lambda: b)
    else: return b

State rule: bound in a branch and live after the `if`; scratch names stay inside. A name that a branch both reads and
binds is a parameter (Python's scoping demands it). Objects written in place travel as `mutated`.
Refused: `yield` and `await` in a branch, jumps that could not be structured, `del` of a name that is used later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import gast

from autograph_torch.analysis.facts import Facts, is_runtime_call
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
from autograph_torch.analysis.scopes import (
    FUNCTIONS,
    LOOPS,
    SCOPES,
    SUSPENDS,
    always_live,
    binds,
    completes,
    exits,
    names_around,
    names_of,
    parameters,
    sub_statements,
)
from autograph_torch.analysis.writes import rebound_before_write, written_in_place
from autograph_torch.passes.effects import failure_of, is_missed_by_handlers, raise_as_return
from autograph_torch.passes.undefined import declare_undefined
from autograph_torch.source.nodes import derive, name, origin, place, rebuild, replace, walk
from autograph_torch.source.templates import (
    assign,
    constant,
    function,
    is_generated,
    packed,
    returns,
    runtime_call,
    runtime_function,
    thunk,
    tuple_of,
)


def lower_branches(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Turn every `if` whose test may be a tensor into ag.cond."""
    lowering = _Branches(facts, always_live(function.body), function)
    bound = bound_at_start(function)
    body = lowering.block(function.body, EMPTY, Targets(), bound)
    if body is function.body:
        return function
    return derive(function, body=declare_undefined(function, body, lowering.maybe_undefined, facts))


class _Branches:
    def __init__(self, facts: Facts, always_live: Live, function: gast.FunctionDef) -> None:
        self._facts = facts
        self._around = names_around(function)
        names = names_of(function.body)
        self._declared = frozenset(names.outer)
        self._local = frozenset(names.binds) - self._declared
        self._shared_around: Live = EMPTY  # what the functions made of blocks around share with what they call
        self._always_live = always_live
        self._uses = _uses([function])
        again = [node for node in walk(function) if _runs_again(node, function)]
        self._repeated = {id(inner) for node in again for inner in walk(node) if isinstance(inner, gast.If)}
        self.maybe_undefined: dict[str, None] = {}

    def block(self, block: list[gast.stmt], after: Live, targets: Targets, bound: frozenset[str]) -> list[gast.stmt]:
        done: list[gast.stmt] = []
        for statement, live in zip(block, live_after_each(block, after, targets), strict=True):
            live |= self._always_live
            if (
                isinstance(statement, gast.If)
                and self._facts.is_site(statement)
                and self._movable(statement, live, targets)
            ):
                done.extend(self._branch(statement, live, targets, bound))
            else:
                done.append(self._inside(statement, live, targets, bound))
            bound = bound_after([statement], bound)
        changed = len(done) != len(block) or any(a is not b for a, b in zip(done, block, strict=True))
        return done if changed else block

    def _movable(self, node: gast.If, after: Live, targets: Targets) -> bool:
        arms = [*node.body, *node.orelse]
        if any(is_missed_by_handlers(node, arm, targets.on_raise, self._facts) for arm in (node.body, node.orelse)):
            return False
        if any(isinstance(inner, SUSPENDS) for inner in walk(node)):
            self._facts.report("AG201", node, "a branch that yields or waits cannot move into a function")
            return False
        if any(binds(operand) for test in walk(node.test) for operand in getattr(test, "values", [])[1:]):
            self._facts.report("AG201", node, "a later operand of the test binds a name", "bind it before the `if`")
            return False
        leaves = exits(arms)
        open_ended = completes(node.body) or completes(node.orelse)
        if leaves.breaks or leaves.continues or (leaves.returns and open_ended):
            self._facts.report("AG202", node, "a jump under a tensor test could not be structured")
            return False
        raised = [inner for arm in (node.body, node.orelse) for inner in _raises(arm)]
        if any(failure_of(inner) is None for inner in raised):
            self._facts.report(
                "AG207",
                node,
                "a branch raises in a way that the graph cannot",
                "raise a class called with plain arguments",
            )
            return False
        deleted = [n for n in names_of(arms).deletes if n in after and n in self._declared]
        if deleted:
            self._facts.report("AG204", node, f"a branch deletes `{deleted[0]}`, which other functions see")
        return not deleted

    def _inside(self, node: gast.stmt, after: Live, targets: Targets, bound: frozenset[str]) -> gast.stmt:
        """A statement that stays: look into its blocks, and into functions that earlier passes made of them."""
        if (isinstance(node, SCOPES) and not is_generated(node)) or not sub_statements(node):
            return node
        if is_generated(node):
            return self._inside_function(node, bound)
        flows: dict[str, tuple[Live, Targets]] = {}
        if isinstance(node, (gast.For, gast.While)):
            head = loop_head(node, after, targets) | self._always_live
            flows["body"] = (head, Targets(on_break=after, on_continue=head, on_raise=targets.on_raise))
        else:
            flows = flows_of(node, after, targets)
        changes = {}
        for field in ("body", "orelse", "finalbody"):
            old = getattr(node, field, None)
            if isinstance(old, list) and old:
                new = self.block(old, *flows.get(field, (after, targets)), bound_inside(node, field, bound))
                changes.update({field: new} if new is not old else {})
        for field in ("handlers", "cases"):
            arms = getattr(node, field, None) or []
            new_arms = [self._inside(arm, *flows.get(field, (after, targets)), bound) for arm in arms]
            changes.update({field: new_arms} if any(a is not b for a, b in zip(arms, new_arms, strict=True)) else {})
        return derive(node, **changes) if changes else node

    def _inside_function(self, node: gast.FunctionDef, bound: frozenset[str]) -> gast.stmt:
        """A function that a pass has made of a trip: its parameters are its own, what it declares is that around it."""
        kept = self._declared, self._shared_around, self._around
        own, declared = frozenset(parameters(node.args)), frozenset(names_of(node.body).outer)
        self._declared -= own
        self._shared_around = (self._shared_around - own) | declared
        self._around = (self._around | names_around(node)) - own - declared
        body = self.block(node.body, EMPTY, Targets(), bound | own)
        self._declared, self._shared_around, self._around = kept
        return node if body is node.body else derive(node, body=body)

    def _own_names(self, node: gast.If) -> set[str]:
        """Names that occur in the arms alone, so that functions made there are the only ones to read them later."""
        if id(node) in self._repeated:
            return set()
        inside = _uses([*node.body, *node.orelse])
        return {n for n, count in inside.items() if count == self._uses[n]} - self._declared

    # -- one `if` -----------------------------------------------------------------------------------------------------

    def _branch(self, node: gast.If, after: Live, targets: Targets, bound: frozenset[str]) -> list[gast.stmt]:
        jumps = bool(exits([*node.body, *node.orelse])) or not (completes(node.body) or completes(node.orelse))
        arms = (node.body, node.orelse)
        shared = self._facts.shared.within([*node.body, *node.orelse])
        if jumps:  # to where what is shared around is not handed over
            shared |= self._shared_around & frozenset(binds([*node.body, *node.orelse]))
        mutated = [n for n in self._mutated(node) if n not in shared]
        scratch = self._scratch(arms) if jumps else []
        mutated = [n for n in mutated if n not in scratch]
        own = self._own_names(node)
        bound_anywhere = binds([*node.body, *node.orelse])
        bound_here = [n for n in bound_anywhere if n not in own and n not in shared]
        outputs = [] if jumps else [n for n in bound_here if n in after or n in mutated]
        outputs += [n for n in mutated if n not in outputs and n not in self._around and not jumps]
        inside = bound | frozenset(binds(node.test))
        self._note_undefined(node, outputs, inside)
        bodies = [self._body(arm, outputs, shared, targets, inside | frozenset(mutated)) for arm in arms]
        beside = [n for n in bound_anywhere if n in self._declared - shared] if jumps else []
        bodies = [[_returning_beside(statement, beside) for statement in body] for body in bodies]
        # A statement that a comment keeps as it is stays a statement.
        expressions = [
            None if any(map(self._facts.is_skipped, body)) else _as_expression(body, outputs, jumps) for body in bodies
        ]
        wanted: Live = frozenset(beside if jumps else outputs)
        as_functions = [body for body, expression in zip(bodies, expressions, strict=True) if expression is None]
        operands = self._operands(bodies if beside else as_functions, wanted, mutated, beside)
        needed = sorted(live_before(bodies[0], wanted) | live_before(bodies[1], wanted), key=_first_read(node))
        operands = [n for n in operands if n not in scratch and n not in shared]
        kept = {*operands, *mutated, *scratch, *shared}
        handed = [n for n in self._facts.handed_over([*needed, *mutated]) if n not in kept]
        closed_over = [n for n in needed if n in self._local]
        own_shared = [n for n in bound_anywhere if n in shared and n in self._local]
        unsure = [n for n in (*operands, *mutated, *scratch, *handed, *closed_over, *own_shared) if n not in inside]
        self.maybe_undefined.update(dict.fromkeys(unsure))
        statements: list[gast.stmt] = []
        callables: list[gast.expr] = []
        for role, body, expression in zip(("then", "otherwise"), bodies, expressions, strict=True):
            if expression is not None:
                callables.append(thunk(expression, [*operands, *mutated, *scratch, *handed]))
                continue
            ended = _giving(body, outputs) if outputs and not jumps and completes(body) else body
            ended = self._facts.shared.declared(shared, ended)
            identifier = self._facts.fresh(role)
            statements.append(place(function(identifier, [*operands, *mutated, *scratch, *handed], ended), node))
            callables.append(name(identifier))
        groups = {"operands": operands, "mutated": mutated, "scratch": scratch, "reads": handed}
        keywords = {key: tuple_of(names) for key, names in groups.items() if names}
        if not bodies[1] and not outputs and not jumps:
            del callables[1]  # nothing happens there
        elif operands:
            callables.append(keywords.pop("operands"))
        result = runtime_call("cond", node.test, *callables, **keywords)
        if beside:
            value = self._facts.fresh("result")
            statements += [assign([value, *beside], result), returns(name(value))]
        else:
            statements.append(returns(result) if jumps else assign(outputs, result))
        self._facts.report("AG101", node, "`if` on a tensor becomes ag.cond")
        return [replace(node, statement) for statement in statements]

    def _body(
        self, arm: list[gast.stmt], outputs: list[str], shared: Live, targets: Targets, bound: frozenset[str]
    ) -> list[gast.stmt]:
        """The statements of an arm; what an inner branch may leave unbound is declared where it is a local variable."""
        around, self.maybe_undefined = self.maybe_undefined, {}
        shared_around, self._shared_around = self._shared_around, self._shared_around | shared
        body = self.block(arm, frozenset(outputs), targets, bound)
        self._shared_around = shared_around
        given = live_before(arm, frozenset(outputs), targets) | self._declared | shared
        own = [n for n in self.maybe_undefined if n in binds(body) and n not in given]
        self.maybe_undefined = {**around, **self.maybe_undefined}
        body = [statement for statement in body if not isinstance(statement, gast.Pass)]
        body = [*(place(assign([n], runtime_call("undefined", constant(n))), arm[0]) for n in own), *body]
        return [raise_as_return(statement) for statement in body]

    def _mutated(self, node: gast.If) -> list[str]:
        found = []
        for arm in (node.body, node.orelse):
            scratch = set(binds(arm))
            for n in written_in_place(arm, self._facts.kinds):
                incoming = n not in scratch or n in live_before(arm, EMPTY)
                if incoming and n not in found and not rebound_before_write(arm, n, self._facts.kinds):
                    found.append(n)
        return found

    def _scratch(self, arms: tuple[list[gast.stmt], ...]) -> list[str]:
        """Lists and dicts of which each branch has its own: nothing follows that would use them."""
        needed = live_before(arms[0], EMPTY) | live_before(arms[1], EMPTY)
        return sorted(self._facts.owned & needed)

    def _note_undefined(self, node: gast.If, outputs: list[str], bound: frozenset[str]) -> None:
        for n in outputs:
            ends = [bound_after(arm, bound) for arm in (node.body, node.orelse) if completes(arm)]
            if n not in bound and not all(n in end for end in ends):
                self.maybe_undefined[n] = None

    def _operands(
        self, bodies: list[list[gast.stmt]], outputs: Live, mutated: list[str], beside: list[str]
    ) -> list[str]:
        """Names that a branch which becomes a function both binds and needs from before."""
        found: dict[str, None] = dict.fromkeys(n for n in beside if n not in mutated)
        for body in bodies:
            needed = live_before(body, outputs)
            found.update(dict.fromkeys(n for n in binds(body) if n in needed and n not in mutated))
        return list(found)


def _raises(block: list[gast.stmt]) -> list[gast.Raise]:
    """Exceptions raised in the block under data alone, outside of `try` and of inner functions."""
    found: list[gast.Raise] = []
    for node in block:
        if isinstance(node, gast.Raise):
            found.append(node)
        elif isinstance(node, gast.If):
            found.extend(_raises([*node.body, *node.orelse]))
    return found


def _returning_beside(node: gast.stmt, names: list[str]) -> gast.stmt:
    """`return value` as `return (value, *names)`: what `nonlocal` and `global` names become leaves the branch, too."""
    if not names or isinstance(node, SCOPES):
        return node
    if isinstance(node, gast.Return):
        value = node.value if node.value is not None else constant(None)
        return replace(node, returns(gast.Tuple(elts=[value, *(name(n) for n in names)], ctx=gast.Load())))
    return rebuild(node, lambda child: _returning_beside(child, names) if isinstance(child, gast.stmt) else child)


def _first_read(node: gast.AST) -> Callable[[str], tuple[int, int, str]]:
    """Order names as the text first reads them; what it does not read comes first, by name."""
    places: dict[str, tuple[int, int]] = {}
    for inner in walk(node):
        if isinstance(inner, gast.Name) and getattr(inner, "lineno", None) is not None:
            place_ = (inner.lineno, inner.col_offset)
            places[inner.id] = min(places.get(inner.id, place_), place_)
    return lambda n: (*places.get(n, (0, 0)), n)


def _giving(body: list[gast.stmt], outputs: list[str]) -> list[gast.stmt]:
    """The body with its results returned: by the branch at its end itself if they are what it gives."""
    last = body[-1]
    if _is_branch(last) and _binds_exactly(last.targets[0], outputs):
        return [*body[:-1], replace(last, returns(last.value))]
    return [*body, returns(packed(outputs))]


def _is_branch(node: gast.stmt) -> bool:
    """`a, b = ag.cond(...)` in place of an `if`: its branches give tuples, those of `u if p else v` anything."""
    return (
        isinstance(node, gast.Assign) and runtime_function(node.value) == "cond" and isinstance(origin(node), gast.If)
    )


def _uses(block: Sequence[gast.AST]) -> Counter[str]:
    return Counter(n.id for statement in block for n in walk(statement) if isinstance(n, gast.Name))


def _runs_again(node: gast.AST, function: gast.FunctionDef) -> bool:
    """Whether what is inside may run more than once in a call, with variables of before."""
    return isinstance(node, (*LOOPS, *FUNCTIONS)) and node is not function


def _as_expression(body: list[gast.stmt], outputs: list[str], jumps: bool) -> gast.expr | None:
    """The single expression that a branch amounts to, if it does."""
    if not body:
        return packed(outputs) if outputs else constant(None)
    if len(body) > 1:
        return None
    only = body[0]
    if isinstance(only, gast.Return) and not jumps:
        return only.value  # a failure
    if jumps:
        if isinstance(only, gast.Return):
            return only.value if only.value is not None else constant(None)
        return None
    if not outputs:  # only calls of the runtime surely give nothing
        return only.value if isinstance(only, gast.Expr) and is_runtime_call(only.value) else None
    if isinstance(only, gast.Assign) and len(only.targets) == 1 and _binds_exactly(only.targets[0], outputs):
        whole = isinstance(only.targets[0], gast.Name) or isinstance(only.value, gast.Tuple) or _is_branch(only)
        return only.value if whole else None
    return None


def _binds_exactly(target: gast.expr, outputs: list[str]) -> bool:
    if isinstance(target, gast.Name):
        return [target.id] == outputs
    if isinstance(target, gast.Tuple):
        return [part.id if isinstance(part, gast.Name) else None for part in target.elts] == outputs
    return False
