"""Lists that data make longer and shorter become rows of tensors with a count (runtime/bounded.py).

    stack = [(a, b)]                       stack = ag.bounded("stack", [(a, b)])
    while stack:                           while ag.height(stack) > 0:
        lo, hi = stack.pop()                   stack, popped = ag.popped("stack", stack)
        if hi - lo < tol:                      lo, hi = popped
            total += hi - lo                   if hi - lo < tol:
        else:                                      total += hi - lo
            stack.append((lo, mid))            else:
    return total, len(stack)                       stack = ag.pushed("stack", stack, (lo, mid))
                                           return total, ag.height(stack)

A trace has shown in which loops or statements these are (capture/attempts.py). Such a list must be a local variable
that is bound to displays (or deques) only, and everything that is done with it one of these:

    xs.append(y), xs.extend([y, z])        xs.pop(), xs.pop(0), xs.popleft()        len(xs), if xs, while not xs
    xs += [y, z], xs = xs + [y]            xs[i], xs[i] = y, del xs[-1]             what passes/growing.py knows of
    xs.insert(0, y), xs.appendleft(y)      xs.clear(), y in xs                      lists that only grow

and for sets: `seen = set()`, `seen.add(y)`, `seen.discard(y)`, `seen.clear()`, `y in seen`, `len(seen)`, `if seen`.

A `pop` inside of a statement is done before it, where nothing in front of it could tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import (
    LOOPS,
    SCOPES,
    binds,
    captured,
    completes,
    names_of,
    parameters,
    reads,
    sub_statements,
    walk_scope,
)
from autograph_torch.passes.growing import bound_to_displays, is_given, is_longer, uses_of_lists, whole
from autograph_torch.source.nodes import children, derive, name, place, rebuild, replace, substitute, walk
from autograph_torch.source.templates import assign, constant, is_runtime_call, runtime_call

_POPS = {"pop": -1, "popleft": 0}
_ONE_ITEM = {"insert": "inserted", "appendleft": "inserted", "add": "added", "discard": "discarded"}
_SIMPLE = (gast.Expr, gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Return, gast.Assert, gast.If, gast.For)
# What may stand in front of a `pop` in a statement: it can neither see the list nor be seen.
_QUIET = (gast.Name, gast.Constant, gast.Attribute, gast.Subscript, gast.BinOp, gast.UnaryOp, gast.Tuple, gast.List)
_LATER = (gast.BoolOp, gast.IfExp, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp, *SCOPES)


def bound_lists(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite all that is done with the lists that change on these lines."""
    if not facts.told.bounded:
        return function
    names = _eligible(function, facts)
    return derive(function, body=_Bounding(names, facts).block(function.body)) if names else function


def _eligible(function: gast.FunctionDef, facts: Facts) -> frozenset[str]:
    nodes = list(walk_scope(function.body))
    changed = {n for node in _told(function, facts) for n in _changed_in(node)}
    hidden = {*parameters(function.args), *names_of(function.body).outer, *captured(function.body)}
    hidden |= {n for node in nodes if isinstance(node, gast.For) for n in _resized_while_iterated(node)}
    known = {id(one) for node in nodes for one in _known_names(node, facts)}
    unknown = {node.id for node in nodes if isinstance(node, gast.Name) and id(node) not in known}
    misplaced = {n for node in nodes if isinstance(node, gast.stmt) for n in _misplaced_pops(node)}
    return frozenset(changed - hidden - unknown - misplaced)


def _told(function: gast.FunctionDef, facts: Facts) -> Iterator[gast.AST]:
    """The statements that a trace has failed at, each with all of the loop that it is in."""
    for node in walk_scope(function.body):
        parts = walk(node) if isinstance(node, LOOPS) else [node] if isinstance(node, gast.stmt) else []
        if any(getattr(one, "lineno", None) in facts.told.bounded for one in parts):
            yield node


def _changed_in(node: gast.AST) -> Iterator[str]:
    for inner in walk(node):
        yield from (one.id for one in _changes(inner))


def _resized_while_iterated(loop: gast.For) -> Iterator[str]:
    """Lists that a loop runs over, and makes longer or shorter, or whose elements it replaces in a way unknown here.

    (Behind `xs = []` the elements that it replaces are no longer those that it runs over.)
    """
    changes = [node for statement in loop.body for node in walk(statement) if _changes(node)]
    own = [one for one, _ in _numbered(loop) if one not in binds(loop.body)]
    for node in changes:
        replaces = isinstance(node, gast.Assign) and not is_longer(node)
        for one in _changes(node):
            if one.id in reads([loop.iter]) and not (replaces and own == [one.id]):
                yield one.id


def _numbered(loop: gast.For) -> list[tuple[str, tuple[gast.expr | None, gast.expr]]]:
    """The list in `for y in xs` and `for i, y in enumerate(xs)`, with what is bound in a trip: position and element."""
    iterable, target = loop.iter, loop.target
    if isinstance(iterable, gast.Name):
        return [(iterable.id, (None, target))]
    called = (
        isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name) and iterable.func.id == "enumerate"
    )
    if not called or len(iterable.args) != 1 or iterable.keywords or not isinstance(iterable.args[0], gast.Name):
        return []
    if not isinstance(target, gast.Tuple) or len(target.elts) != 2 or not isinstance(target.elts[0], gast.Name):
        return []
    return [(iterable.args[0].id, (target.elts[0], target.elts[1]))]


# -- what is known of a node ------------------------------------------------------------------------------------------


def _changes(node: gast.AST) -> list[gast.Name]:
    """The names of lists that a node itself changes."""
    if isinstance(node, gast.Call):
        return _named(node.func.value) if _change_of(node) else []
    if isinstance(node, gast.AugAssign):
        return _named(node.target) if isinstance(node.op, gast.Add) and is_given(node.value) else []
    if isinstance(node, gast.Assign):
        put = [one for target in node.targets for one in _element_of(target)] if len(node.targets) == 1 else []
        return [*put, *([node.targets[0], node.value.left] if is_longer(node) else [])]
    if isinstance(node, gast.Delete) and len(node.targets) == 1:
        return [one for one in _element_of(node.targets[0]) if whole(node.targets[0].slice) in (0, -1)]
    return []


def _change_of(node: gast.AST) -> str:
    """`append` for `xs.append(y)`; empty for what is no call of a method that changes a list."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute) or node.keywords:
        return ""
    if not isinstance(node.func.value, gast.Name) or any(isinstance(one, gast.Starred) for one in node.args):
        return ""
    method, given = node.func.attr, len(node.args)
    if method == "insert":
        return method if given == 2 and whole(node.args[0]) == 0 else ""
    if method == "extend":
        return method if given == 1 and is_given(node.args[0]) else ""
    if method == "pop":
        return method if given == 0 or (given == 1 and whole(node.args[0]) is not None) else ""
    counts = {"append": 1, "appendleft": 1, "popleft": 0, "clear": 0, "add": 1, "discard": 1}
    return method if counts.get(method) == given else ""


def _is_pop(node: gast.AST) -> bool:
    return _change_of(node) in _POPS


def _element_of(node: gast.AST) -> list[gast.Name]:
    """The name of the list in `xs[i]`."""
    if isinstance(node, gast.Subscript) and not isinstance(node.slice, (gast.Slice, gast.Tuple)):
        return _named(node.value)
    return []


def _named(node: gast.AST) -> list[gast.Name]:
    return [node] if isinstance(node, gast.Name) else []


def _known_names(node: gast.AST, facts: Facts) -> list[gast.Name]:
    """The names in a node, but not in its parts, with which it does what we know."""
    if isinstance(node, (gast.Assign, gast.AnnAssign)):
        return [*(one for one, _ in _begun(node, facts)), *_changes(node)]
    if isinstance(node, gast.Expr):
        return _named(node.value.func.value) if _change_of(node.value) else []
    if isinstance(node, (gast.AugAssign, gast.Delete)):
        return _changes(node)
    if isinstance(node, gast.Call) and _is_pop(node):
        return _changes(node)
    if isinstance(node, gast.Subscript):
        return _element_of(node) if isinstance(node.ctx, gast.Load) else []
    if isinstance(node, gast.Compare):
        return _searched(node)
    return [*_truths(node), *(one for one, *_ in uses_of_lists(node, facts))]


def _searched(node: gast.AST) -> list[gast.Name]:
    """The name of the list in `y in xs`, `y not in xs`."""
    is_search = isinstance(node, gast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (gast.In, gast.NotIn))
    return _named(node.comparators[0]) if is_search else []


def _truths(node: gast.AST) -> list[gast.Name]:
    """The names of which a node asks whether they are true."""
    if isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
        return _in_test(node.test)
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        return _in_test(node.operand)
    return [one for test in node.ifs for one in _in_test(test)] if isinstance(node, gast.comprehension) else []


def _in_test(test: gast.expr) -> list[gast.Name]:
    return [one for value in test.values for one in _in_test(value)] if isinstance(test, gast.BoolOp) else _named(test)


def _begun(node: gast.Assign | gast.AnnAssign, facts: Facts) -> list[tuple[gast.Name, gast.expr]]:
    """The names that an assignment binds to new lists, or deques, each with the value."""
    return bound_to_displays(node, lambda value: _is_new(value, facts))


def _is_new(value: gast.expr | None, facts: Facts) -> bool:
    if isinstance(value, (gast.List, gast.Set)):
        return not any(isinstance(one, gast.Starred) for one in value.elts)
    if not isinstance(value, gast.Call) or value.keywords:
        return False
    if facts.kinds.is_builtin(value.func, ("list", "set")):
        return not value.args
    if facts.kinds.origin(value.func) != "collections.deque":
        return False
    return not value.args or (len(value.args) == 1 and isinstance(value.args[0], gast.List))


def _misplaced_pops(node: gast.stmt) -> Iterator[str]:
    """Lists with a `pop` that cannot be done before its statement."""
    pops = [one for part in _own_parts(node) for one in walk(part) if _is_pop(one)]
    movable = _movable(node)
    return (one.func.value.id for one in pops if all(one is not other for other in movable))


def _own_parts(node: gast.stmt) -> list[gast.AST]:
    """The expressions of a statement, without the statements in it."""
    if isinstance(node, SCOPES):
        return []
    return [part for part in children(node) if not isinstance(part, gast.stmt)]


def _movable(node: gast.stmt) -> list[gast.Call]:
    """The calls of `pop` in a statement that may be done before it, in their order."""
    if isinstance(node, gast.Expr) and _is_pop(node.value):
        return [node.value]
    value = getattr(node, "value", None)
    if isinstance(value, gast.IfExp) and _opens(node):
        arms = [derive(node, value=value.body), derive(node, value=value.orelse)]
        return [*_movable(gast.Expr(value=value.test)), *_movable(arms[0]), *_movable(arms[1])]
    if not isinstance(node, _SIMPLE):
        return []
    found: list[gast.Call] = []
    read: set[str] = set()
    for part in _in_order(node):
        if not _collect(part, found, read):
            break
    return found


def _opens(node: gast.stmt) -> bool:
    """Whether `x = a if t else b` may be written as an `if` statement."""
    return isinstance(node, (gast.Expr, gast.Return, gast.Assign)) and any(_is_pop(one) for one in walk(node.value))


def _in_order(node: gast.stmt) -> list[gast.AST]:
    """What a statement evaluates at first, in order."""
    if isinstance(node, (gast.If, gast.Assert)):
        return [node.test]
    if isinstance(node, gast.For):
        return [node.iter]
    if isinstance(node, gast.AugAssign):
        return [node.target, node.value] if isinstance(node.target, gast.Name) else []
    targets = node.targets if isinstance(node, gast.Assign) else []  # `res[stack.pop()] = i`: `i` comes first
    return [node.value, *targets] if node.value is not None else []


def _collect(node: gast.AST, found: list[gast.Call], read: set[str]) -> bool:
    """Add the `pop`s in an expression; whether what follows it may be done before it, too.

    read: lists that what stands before has looked into, of which no `pop` may come first.
    """
    if _is_pop(node):
        if not read.isdisjoint(one.id for one in _changes(node)):
            return False
        found.append(node)
        return True
    if isinstance(node, gast.Compare) and len(node.ops) > 1:
        return _collect(node.left, found, read) and False
    if isinstance(node, _LATER):
        return False
    if not all(_collect(part, found, read) for part in children(node)):
        return False
    if isinstance(node, (gast.Subscript, gast.Compare, gast.UnaryOp)):
        read.update(one.id for one in children(node) if isinstance(one, gast.Name))
    return isinstance(node, (*_QUIET, gast.Compare, gast.expr_context, gast.operator, gast.unaryop, gast.cmpop))


# -- what is written --------------------------------------------------------------------------------------------------


@dataclass
class _Bounding:
    """`known`: parts of the node that is being written anew, by their identity -> what stands in their place.

    `filled`: lists that have an element where the text has come to, so that one may be taken without asking.
    `counters`: variables of loops that run over the positions of a list, with the list.
    """

    names: frozenset[str]
    facts: Facts
    known: dict[int, gast.AST] = field(default_factory=dict)
    filled: frozenset[str] = frozenset()
    counters: frozenset[tuple[str, str]] = frozenset()

    def block(self, block: list[gast.stmt], filled: frozenset[str] = frozenset()) -> list[gast.stmt]:
        around, self.filled = self.filled, filled
        done: list[gast.stmt] = []
        for node in block:
            done += self._statement(node)
            if isinstance(node, gast.If) and not completes(node.body):
                self.filled |= self._found(node.test, False) - self._shortened(node)
        self.filled = around
        return done

    def _statement(self, node: gast.stmt) -> list[gast.stmt]:
        if isinstance(node, SCOPES):
            return [node]
        if isinstance(node, (*LOOPS, gast.If, gast.With, gast.Try)):
            return self._compound(node)
        value = getattr(node, "value", None)
        if isinstance(value, gast.IfExp) and _opens(node) and self._takes(value):
            arms = [[derive(node, value=part)] for part in (value.body, value.orelse)]
            return self._statement(place(gast.If(test=value.test, body=arms[0], orelse=arms[1]), node))
        if sub_statements(node):  # `match` and the like
            self.filled -= self._shortened(node)
            kept, new = self.filled, self._parts(node)
            self.filled = kept
            return [new]
        before, rest = self._taken_before(node)
        done = [*before, *(place(one, node) for one in self._changed(rest) or [self._parts(rest)])]
        for identifier, value in self._begun(node):
            self.filled = self.filled | {identifier} if _has_elements(value) else self.filled - {identifier}
        return done

    def _compound(self, node: gast.stmt) -> list[gast.stmt]:
        before: list[gast.stmt] = []
        counters = self.counters
        if isinstance(node, gast.For):
            node = self._by_position(node)
        if isinstance(node, (gast.For, gast.If)):
            before, node = self._taken_before(node)
        kept = self.filled - self._shortened(node)
        self.filled = kept if isinstance(node, LOOPS) else self.filled  # its test is asked again behind every trip
        self.known |= self._asked(node)
        new = rebuild(node, lambda part: part if isinstance(part, gast.stmt) else self._new(part))
        inside = self.filled if isinstance(node, gast.If) else kept
        test = getattr(node, "test", None)
        blocks = {"body": self.block(node.body, inside | self._found(test, True))}
        if hasattr(node, "orelse"):
            blocks["orelse"] = self.block(
                node.orelse, (kept if isinstance(node, LOOPS) else inside) | self._found(test, False)
            )
        if isinstance(node, gast.Try):
            blocks["finalbody"] = self.block(node.finalbody, kept)
            handlers = [derive(one, body=self.block(one.body, kept)) for one in node.handlers]
            blocks["handlers"] = handlers  # type: ignore[assignment]
        self.filled, self.counters = kept, counters
        return [*before, derive(new, **blocks)]

    def _shortened(self, node: gast.AST) -> frozenset[str]:
        """Lists that a statement takes elements from, or begins anew without any."""
        found: set[str] = set()
        shorter = (*_POPS, "clear", "discard")
        for inner in walk(node):
            if isinstance(inner, gast.Delete) or _change_of(inner) in shorter:
                found.update(one.id for one in _changes(inner))
            found.update(identifier for identifier, value in self._begun(inner) if not _has_elements(value))
        return self.names & found

    def _begun(self, node: gast.AST) -> list[tuple[str, gast.expr]]:
        """The lists that a node begins, each with its display."""
        begun = _begun(node, self.facts) if isinstance(node, (gast.Assign, gast.AnnAssign)) else []
        return [(one.id, value) for one, value in begun if one.id in self.names]

    def _found(self, test: gast.expr | None, holds: bool) -> frozenset[str]:
        """The lists that have an element where a test holds, or where it does not."""
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            return self._found(test.operand, not holds)
        if isinstance(test, gast.BoolOp) and isinstance(test.op, gast.And) == holds:
            return frozenset().union(*(self._found(value, holds) for value in test.values))
        if isinstance(test, gast.Name) and holds:
            return self.names & {test.id}
        if isinstance(test, gast.Compare) and holds and len(test.ops) == 1 and _is_length(test.left, self.facts):
            least = whole(test.comparators[0])
            if least is not None and least >= (0 if isinstance(test.ops[0], gast.Gt) else 1):
                asks = isinstance(test.ops[0], (gast.Gt, gast.GtE, gast.Eq))
                return self.names & {test.left.args[0].id} if asks else frozenset()
        return frozenset()

    def _by_position(self, node: gast.For) -> gast.For:
        """A loop over a list whose elements it replaces: it meets what is there by then."""
        written = {one.id for statement in node.body for part in walk(statement) for one in _changes(part)}
        for identifier, (position, element) in _numbered(node):
            if identifier in self.names & written:
                counter = position or name(self.facts.fresh("position"), store=True)
                value = gast.Subscript(value=name(identifier), slice=name(counter.id), ctx=gast.Load())
                first = gast.Assign(targets=[element], value=value, type_comment=None)
                trips = runtime_call("range", runtime_call("height", name(identifier)))
                if counter.id not in binds(node.body):
                    self.counters |= {(counter.id, identifier)}
                return derive(node, target=counter, iter=trips, body=[place(first, node), *node.body])
        return node

    def _takes(self, value: gast.AST) -> bool:
        return any(_is_pop(one) and one.func.value.id in self.names for one in walk(value))

    def _taken_before(self, node: gast.stmt) -> tuple[list[gast.stmt], gast.stmt]:
        """What a statement takes from lists, as statements in front of it, and the rest."""
        if isinstance(node, gast.Expr) and _is_pop(node.value):
            return [], node
        before: list[gast.stmt] = []
        known: dict[int, gast.AST] = {}
        for one in _movable(node):
            if one.func.value.id in self.names:
                found = self.facts.fresh("popped")
                before.append(place(self._popped(one, found), node))
                known[id(one)] = name(found)
        return before, substitute(node, known) if known else node

    def _changed(self, node: gast.stmt) -> list[gast.stmt]:
        """What a statement becomes that changes a list."""
        if isinstance(node, gast.Expr) and _change_of(node.value) and node.value.func.value.id in self.names:
            return [self._method(node.value)]
        found = [one.id for one in _changes(node) if one.id in self.names] if not _is_expression(node) else []
        if not found:
            return []
        if isinstance(node, gast.Delete):
            index = whole(node.targets[0].slice)
            return [self._popped_from(found[0], -1 if index is None else index, self.facts.fresh("popped"))]
        if isinstance(node, gast.Assign) and not is_longer(node):
            index = node.targets[0].slice
            return [self._bind(found[0], "put", self._new(index), self._new(node.value), *self._sure(found[0], index))]
        items = node.value.right if isinstance(node, gast.Assign) else node.value
        return [self._bind(found[0], "pushed", *map(self._new, items.elts))]

    def _method(self, node: gast.Call) -> gast.stmt:
        identifier, method = node.func.value.id, node.func.attr
        if method in _POPS:
            return self._popped(node, self.facts.fresh("popped"))
        if method == "clear":
            self.filled -= {identifier}
            return assign([identifier], runtime_call("emptied", name(identifier)))
        if method in _ONE_ITEM:
            return self._bind(identifier, _ONE_ITEM[method], self._new(node.args[-1]))
        return self._bind(identifier, "pushed", *map(self._new, node.args[0].elts if method == "extend" else node.args))

    def _popped(self, node: gast.Call, found: str) -> gast.stmt:
        index = whole(node.args[0]) if node.args else _POPS[node.func.attr]
        return self._popped_from(node.func.value.id, -1 if index is None else index, found)

    def _popped_from(self, identifier: str, index: int, found: str) -> gast.stmt:
        sure = [constant(True)] if identifier in self.filled and index in (0, -1) else []
        given = [constant(index), *sure] if sure or index != -1 else []
        self.filled -= {identifier}
        return assign([identifier, found], runtime_call("popped", self._name(identifier), name(identifier), *given))

    def _sure(self, identifier: str, index: gast.expr) -> list[gast.expr]:
        """An argument that says that an element is there."""
        known = identifier in self.filled and whole(index) in (0, -1)
        counted = isinstance(index, gast.Name) and (index.id, identifier) in self.counters
        return [constant(True)] if known or counted else []

    def _bind(self, identifier: str, function: str, *arguments: gast.expr) -> gast.stmt:
        if function in ("pushed", "inserted", "added"):
            self.filled |= {identifier}
        return assign([identifier], runtime_call(function, self._name(identifier), name(identifier), *arguments))

    def _name(self, identifier: str) -> gast.expr:
        """What the runtime knows the list's elements by."""
        return constant(f"{identifier} of {self.facts.function.name}, line {self.facts.function.lineno}")

    def _new(self, node: gast.AST) -> gast.AST | list[gast.stmt]:
        """A part of a statement, with what it asks of the lists."""
        if isinstance(node, gast.stmt):
            return self._statement(node)
        if id(node) in self.known:
            return replace(node, rebuild(self.known.pop(id(node)), self._new))
        if isinstance(node, SCOPES):
            return node
        if isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Load) and self._are_ours(_element_of(node)):
            given = self._name(node.value.id), name(node.value.id), self._new(node.slice)
            return replace(node, runtime_call("item_of", *given, *self._sure(node.value.id, node.slice)))
        if isinstance(node, gast.BoolOp):
            return derive(node, values=self._operands(node))
        if isinstance(node, gast.match_case):
            return self._case(node)
        return self._parts(node)

    def _case(self, node: gast.match_case) -> gast.AST:
        """One of the cases of a `match`: the others know nothing of what it appends."""
        around, new = self.filled, self._parts(node)
        self.filled = around
        return new

    def _operands(self, node: gast.BoolOp) -> list[gast.AST]:
        around, done = self.filled, []
        for value in node.values:
            done.append(self._new(value))
            self.filled |= self._found(value, isinstance(node.op, gast.And))
        self.filled = around
        return done

    def _parts(self, node: gast.AST) -> gast.AST:
        """A node whose parts are new."""
        self.known |= self._asked(node)
        new = self.known.pop(id(node), None)
        return rebuild(node, self._new) if new is None else replace(node, rebuild(new, self._new))

    def _asked(self, node: gast.AST) -> dict[int, gast.AST]:
        """What a node asks of the lists: the part that asks, and how."""
        known: dict[int, gast.AST] = {}
        if isinstance(node, (gast.Assign, gast.AnnAssign)):
            for identifier, value in self._begun(node):
                known[id(value)] = runtime_call("bounded", self._name(identifier), copy(value))
            return known
        if self._are_ours(_searched(node)):
            (one,) = _searched(node)
            found = runtime_call("holds", self._name(one.id), name(one.id), node.left)
            negated = isinstance(node.ops[0], gast.NotIn)
            known[id(node)] = gast.UnaryOp(op=gast.Not(), operand=found) if negated else found
        for one, old, new in uses_of_lists(node, self.facts):
            if one.id in self.names and old is not new:
                known[id(old)] = self._of_all(one, new)
        return known | {id(one): self._is_filled(one) for one in _truths(node) if one.id in self.names}

    def _of_all(self, one: gast.Name, new: gast.expr) -> gast.expr:
        if is_runtime_call(new, "length"):
            return runtime_call("height", name(one.id))
        return substitute(new, {id(one): runtime_call("as_grown", self._name(one.id), name(one.id))})

    def _is_filled(self, one: gast.Name) -> gast.expr:
        height = runtime_call("height", name(one.id))
        return gast.Compare(left=height, ops=[gast.Gt()], comparators=[constant(0)])

    def _are_ours(self, found: list[gast.Name]) -> bool:
        return any(one.id in self.names for one in found)


def _has_elements(value: gast.expr) -> bool:
    """Whether a new list or deque begins with one."""
    shown = value.args[0] if isinstance(value, gast.Call) and value.args else value
    return bool(getattr(shown, "elts", []))


def _is_length(node: gast.AST, facts: Facts) -> bool:
    """`len(xs)`."""
    called = isinstance(node, gast.Call) and facts.kinds.is_builtin(node.func, ("len",)) and len(node.args) == 1
    return called and isinstance(node.args[0], gast.Name)


def _is_expression(node: gast.stmt) -> bool:
    return isinstance(node, gast.Expr)
