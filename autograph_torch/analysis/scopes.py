"""Which names a piece of code reads and binds, and which jumps leave it.

Names bound in nested functions, lambdas, comprehensions and classes belong to those scopes; what they read from outside
counts as read where the scope stands. A walrus in a comprehension binds in the function around it (PEP 572).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import gast

from autograph_torch.analysis.consumption import used_up
from autograph_torch.source.nodes import children, walk
from autograph_torch.source.templates import is_generated

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, gast.ClassDef)
_OWN_SCOPES = (*SCOPES, gast.Lambda)
LOOPS = (gast.While, gast.For, gast.AsyncFor)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
SUSPENDS = (gast.Yield, gast.YieldFrom, gast.Await)
JUMPS = (gast.Return, gast.Break, gast.Continue, gast.Raise)


@dataclass
class Names:
    """Names read and bound by a piece of code, in order of first appearance, and what it declares."""

    reads: dict[str, None] = field(default_factory=dict)
    binds: dict[str, None] = field(default_factory=dict)
    deletes: dict[str, None] = field(default_factory=dict)
    outer: dict[str, None] = field(default_factory=dict)  # global and nonlocal declarations


def names_of(nodes: gast.AST | Iterable[gast.AST]) -> Names:
    """Names read and bound by statements or expressions, nested scopes resolved."""
    found = Names()
    for node in [nodes] if isinstance(nodes, gast.AST) else nodes:
        _collect(node, found)
    return found


def reads(nodes: gast.AST | Iterable[gast.AST]) -> set[str]:
    return set(names_of(nodes).reads)


def binds(nodes: gast.AST | Iterable[gast.AST]) -> list[str]:
    """Names bound, in order of first appearance."""
    return list(names_of(nodes).binds)


def parameters(arguments: gast.arguments) -> list[str]:
    """All parameter names, in the order of the signature."""
    plain = [*arguments.posonlyargs, *arguments.args]
    stars = [a for a in (arguments.vararg,) if a is not None]
    double = [a for a in (arguments.kwarg,) if a is not None]
    return [a.id for a in [*plain, *stars, *arguments.kwonlyargs, *double]]


def free_reads(function: gast.AST) -> dict[str, None]:
    """Names that a function, lambda or class reads from around it, its defaults and decorators included."""
    inner = Names()
    outside = Names()
    if isinstance(function, gast.ClassDef):
        for node in [*function.decorator_list, *function.bases, *function.keywords]:
            _collect(node, outside)
        for node in function.body:
            _collect(node, inner)
            for scope in walk_scope(node):
                if isinstance(scope, (*FUNCTIONS, gast.Lambda)):
                    outside.reads.update(free_reads(scope))  # methods do not see the names of the class
        own = set(inner.binds)
    else:
        _signature(function, outside)
        body = function.body if isinstance(function.body, list) else [function.body]
        for node in body:
            _collect(node, inner)
        own = (set(inner.binds) | set(parameters(function.args))) - set(inner.outer)
    return {**outside.reads, **{name: None for name in inner.reads if name not in own}}


def rebound_around(function: gast.AST) -> set[str]:
    """Names that a function, or one inside of it, declares `nonlocal`: calling it may rebind them."""
    return {name for node in walk(function) if isinstance(node, gast.Nonlocal) for name in node.names}


def rebound_by_functions(block: Iterable[gast.AST]) -> frozenset[str]:
    """Variables that the user's functions and classes in a block rebind, whenever they are called."""
    inner = [node for node in walk_scope(block) if isinstance(node, SCOPES) and not is_generated(node)]
    return frozenset(name for node in inner for name in rebound_around(node))


def _signature(function: gast.AST, found: Names) -> None:
    for node in [*getattr(function, "decorator_list", []), *function.args.defaults, *function.args.kw_defaults]:
        if node is not None:
            _collect(node, found)


def _collect(node: gast.AST, found: Names) -> None:
    """Add the names of a node. Those of a statement are looked for once: trees are never changed in place."""
    if not isinstance(node, gast.stmt):
        _look(node, found)
        return
    known = getattr(node, "_names", None)
    if known is None:
        known = node._names = Names()
        _look(node, known)
    found.reads.update(known.reads)
    found.binds.update(known.binds)
    found.deletes.update(known.deletes)
    found.outer.update(known.outer)


def _look(node: gast.AST, found: Names) -> None:
    if isinstance(node, gast.Name):
        _name(node, found)
    elif isinstance(node, SCOPES):
        found.reads.update(free_reads(node))
        found.binds[node.name] = None
    elif isinstance(node, gast.Lambda):
        found.reads.update(free_reads(node))
    elif isinstance(node, COMPREHENSIONS):
        _comprehension(node, found)
    elif isinstance(node, gast.AugAssign):
        _collect(node.value, found)
        _augmented_target(node.target, found)
    elif isinstance(node, gast.AnnAssign):
        if node.value is not None:
            _collect(node.value, found)
            _collect(node.target, found)
        elif not isinstance(node.target, gast.Name):
            _collect(node.target, found)
    elif isinstance(node, (gast.Import, gast.ImportFrom)):
        found.binds.update({(alias.asname or alias.name).split(".")[0]: None for alias in node.names})
    elif isinstance(node, (gast.Global, gast.Nonlocal)):
        found.outer.update(dict.fromkeys(node.names))
    else:
        _in_evaluation_order(node, found)
        _other_bindings(node, found)


def _in_evaluation_order(node: gast.AST, found: Names) -> None:
    """Values before targets, so that `reads` lists a name that an assignment reads and then binds."""
    late = node.targets if isinstance(node, gast.Assign) else []
    for child in children(node):
        if child not in late:
            _collect(child, found)
    for child in late:
        _collect(child, found)


def _other_bindings(node: gast.AST, found: Names) -> None:
    if type(node).__name__ in ("MatchAs", "MatchStar") and node.name:
        found.binds[node.name] = None
    if type(node).__name__ == "MatchMapping" and node.rest:
        found.binds[node.rest] = None


def _name(node: gast.Name, found: Names) -> None:
    if isinstance(node.ctx, gast.Load):
        found.reads[node.id] = None
    elif isinstance(node.ctx, gast.Del):
        found.deletes[node.id] = None
        found.reads[node.id] = None  # only what is bound can be deleted
        found.binds[node.id] = None
    else:
        found.binds[node.id] = None


def _augmented_target(target: gast.AST, found: Names) -> None:
    if isinstance(target, gast.Name):
        found.reads[target.id] = None
        found.binds[target.id] = None
    else:
        _collect(target, found)


def _comprehension(node: gast.AST, found: Names) -> None:
    inner = Names()
    _collect(node.generators[0].iter, found)  # evaluated outside of the comprehension's own scope
    for child in children(node):
        if child is node.generators[0]:
            for part in (child.target, *child.ifs):
                _collect(part, inner)
        else:
            _collect(child, inner)
    own: set[str] = set()
    for generator in node.generators:
        own.update(binds(generator.target))
    found.reads.update({name: None for name in inner.reads if name not in own})
    found.binds.update({name: None for name in inner.binds if name not in own})


def walk_scope(nodes: gast.AST | Iterable[gast.AST]) -> Iterator[gast.AST]:
    """All nodes of the same function scope: nested functions and classes are given, not entered."""
    stack = [nodes] if isinstance(nodes, gast.AST) else list(nodes)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _OWN_SCOPES):
            stack.extend(children(node))


def captured(body: Iterable[gast.AST]) -> set[str]:
    """Names that functions and lambdas defined in this scope read or rebind, when a later call runs them.

    What a pass has made (`then`, `lambda: b`) runs where it stands, and never later; what is defined in there may. A
    generator expression runs later where nothing walks through it at once (`scaled = (v * n for v in xs)`).
    """
    found: set[str] = set()
    nodes = list(walk_scope(body))
    at_once = {id(one) for node in nodes for one in used_up(node)}
    for node in nodes:
        if isinstance(node, gast.GeneratorExp) and id(node) not in at_once:
            found |= read_later(node)
        elif is_generated(node):
            inner = node.body if isinstance(node.body, list) else [node.body]
            names = names_of(inner)
            found |= captured(inner) - ({*names.binds, *parameters(node.args)} - set(names.outer))
        elif isinstance(node, (*FUNCTIONS, gast.Lambda, gast.ClassDef)):
            found |= set(free_reads(node)) | rebound_around(node)
    return found


def read_later(generator: gast.GeneratorExp) -> set[str]:
    """What a generator expression reads when it runs; its first iterable it has from where it stands."""
    first, *others = generator.generators
    later = [generator.elt, *first.ifs, *(part for one in others for part in (one.iter, *one.ifs))]
    return reads(later) - {name for one in generator.generators for name in binds(one.target)}


def names_around(function: gast.FunctionDef) -> frozenset[str]:
    """Names that a function reads and never binds: they belong to scopes around it, or are built in."""
    found = names_of(function.body)
    return frozenset(found.reads) - frozenset(found.binds) - frozenset(parameters(function.args))


def rebound_by_calls(function: gast.FunctionDef) -> frozenset[str]:
    """Names that a call may bind anew: what functions share, and what is of scopes around and called by nobody here."""
    called = {
        node.id for call in walk_scope(function.body) if isinstance(call, gast.Call) for node in _bases(call.func)
    }
    shared = captured(function.body) | set(names_of(function.body).outer)
    return frozenset(shared) | (names_around(function) - called)


def _bases(node: gast.expr) -> list[gast.Name]:
    """The name that a function is reached by: `torch` of `torch.nn.functional.pad`."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return [node] if isinstance(node, gast.Name) else []


def leaves_out(node: gast.AST) -> bool:
    """Whether it is a comprehension with a test."""
    return isinstance(node, COMPREHENSIONS) and any(one.ifs for one in node.generators)


def always_live(body: Iterable[gast.AST]) -> frozenset[str]:
    """Names that may be read at any time: by functions defined here, or, as `global` or `nonlocal`, by others."""
    body = list(body)
    return frozenset(captured(body)) | frozenset(names_of(body).outer)


@dataclass(frozen=True)
class Exits:
    """How control can leave a list of statements other than by its end."""

    returns: bool = False
    breaks: bool = False
    continues: bool = False

    def __bool__(self) -> bool:
        return self.returns or self.breaks or self.continues

    def __or__(self, other: Exits) -> Exits:
        return Exits(self.returns or other.returns, self.breaks or other.breaks, self.continues or other.continues)


def exits(block: Iterable[gast.AST]) -> Exits:
    """Jumps that leave the block: `break` and `continue` of loops inside it do not count."""
    found = Exits()
    for node in block:
        if isinstance(node, gast.Return):
            found |= Exits(returns=True)
        elif isinstance(node, gast.Break):
            found |= Exits(breaks=True)
        elif isinstance(node, gast.Continue):
            found |= Exits(continues=True)
        elif isinstance(node, LOOPS):
            found |= Exits(returns=exits(node.body).returns) | exits(node.orelse)
        elif not isinstance(node, SCOPES):
            found |= exits(sub_statements(node))
    return found


def sub_statements(node: gast.AST) -> list[gast.AST]:
    """Statements directly inside a compound statement, handlers and match cases included."""
    found: list[gast.AST] = []
    for name in ("body", "orelse", "finalbody"):
        found.extend(block if isinstance(block := getattr(node, name, []), list) else [])
    for name in ("handlers", "cases"):
        for arm in getattr(node, name, []):
            found.extend(arm.body)
    return found


def completes(block: list[gast.stmt]) -> bool:
    """Whether control may reach the end of the block (conservative: True when unsure)."""
    return all(_completes(statement) for statement in block)


def reached(block: list[gast.stmt]) -> list[gast.stmt]:
    """The block up to its first jump: what is behind that never runs."""
    end = next((index for index, statement in enumerate(block) if not _completes(statement)), len(block))
    return block[: end + 1]


def _completes(node: gast.stmt) -> bool:
    if isinstance(node, JUMPS):
        return False
    if isinstance(node, gast.If):
        return completes(node.body) or completes(node.orelse)
    if isinstance(node, (gast.With, gast.AsyncWith)):
        return completes(node.body)
    if isinstance(node, gast.While) and isinstance(node.test, gast.Constant) and node.test.value:
        return exits(node.body).breaks
    if isinstance(node, gast.Try):
        if node.finalbody and not completes(node.finalbody):
            return False
        return completes([*node.body, *node.orelse]) or any(completes(handler.body) for handler in node.handlers)
    return True
