"""Variables that a call may read or rebind while a branch or loop runs: its body must not have a copy of its own.

    def bump():                            def bump():
        nonlocal n                             nonlocal n
        n += 1                                 n += 1
    if x.sum() > 0:                        def then():
        bump()                                 nonlocal n
        n = n * 2                              bump()
                                               n = n * 2
                                           ag.cond(x.sum() > 0, then)

Such are variables that a function or lambda of this function captures, where a body uses that function; and those that
this function declares `global` or `nonlocal`, where a body calls what may be another function that does, or raises: who
catches that sees what was written before it. So are variables that the elements of a loop are made of while it runs:

    for v in (x * factor for _ in range(3)):
        factor += 1

A generator reads them when somebody asks for an element: `next(moved)`, `list(moved)`, a loop over it.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

import gast

from autograph_torch.analysis import vocabulary as words
from autograph_torch.analysis.consumption import used_up
from autograph_torch.analysis.kinds import Kind, Kinds
from autograph_torch.analysis.scopes import (
    FUNCTIONS,
    SUSPENDS,
    binds,
    free_reads,
    names_of,
    read_later,
    reads,
    rebound_around,
    walk_scope,
)
from autograph_torch.analysis.writes import CONTAINER_WRITES
from autograph_torch.source.nodes import place, walk
from autograph_torch.source.templates import is_generated, is_runtime_call, runtime_function

_UNTOLD = (Kind.UNKNOWN, Kind.CONTAINER)
_METHODS = CONTAINER_WRITES | frozenset("copy get values items index count _replace".split())


class Shared:
    """Answers for one function, as the user wrote it."""

    def __init__(self, function: gast.FunctionDef, kinds: Kinds) -> None:
        self._kinds = kinds
        self._names = {node.id for node in walk(function) if isinstance(node, gast.Name)}
        self._read: dict[str, set[str]] = {}  # by the name of a function: the variables around it that it reads
        self._rebound: dict[str, set[str]] = {}
        self._loose_reads: set[str] = set()  # of functions that others may hold
        self._declared = set(names_of(function.body).outer)
        self._loose_rebinds: set[str] = set()
        self._globals = {n for node in walk_scope(function.body) if isinstance(node, gast.Global) for n in node.names}
        self._look(function)
        self._lazy: dict[str, set[str]] = {}  # by name: the variables that a generator or iterator reads
        self._keep_for_later(function)

    def _look(self, function: gast.FunctionDef) -> None:
        named: set[int] = set()
        for node in walk_scope(function.body):
            if isinstance(node, FUNCTIONS) and not is_generated(node):
                self._add(node.name, node)
                named.add(id(node))
            elif isinstance(node, gast.Assign) and isinstance(node.value, gast.Lambda):
                for target in binds(node.targets):
                    self._add(target, node.value)
                named.add(id(node.value))
        named |= {id(one) for node in walk_scope(function.body) for one in self._called_at_once(node)}
        called = {id(node.func) for node in walk_scope(function.body) if isinstance(node, gast.Call)}
        at_once = {id(one) for node in walk_scope(function.body) for one in used_up(node)}
        for node in walk_scope(function.body):
            if isinstance(node, gast.Name) and node.id in self._read and id(node) not in called:
                if isinstance(node.ctx, gast.Load):
                    self._loosen(node.id)
            elif isinstance(node, FUNCTIONS) and node.name in self._read and _outlives_call(node):
                self._loosen(node.name)
            elif isinstance(node, gast.GeneratorExp) and id(node) not in at_once:
                self._loose_reads |= read_later(node)
            elif isinstance(node, (gast.Lambda, gast.ClassDef)) and id(node) not in named and not is_generated(node):
                self._loose_reads |= set(free_reads(node))
                self._loose_rebinds |= rebound_around(node)

    def _called_at_once(self, node: gast.AST) -> list[gast.expr]:
        """Lambdas that nobody has afterwards: the `key` of a sort or a minimum, and `(lambda: n)()`."""
        if not isinstance(node, gast.Call):
            return []
        method = node.func if isinstance(node.func, gast.Attribute) and node.func.attr == "sort" else None
        is_list = method is not None and self._kinds.of(method.value) is Kind.CONTAINER
        if is_list or self._kinds.is_builtin(node.func, ("sorted", "min", "max")):
            return [keyword.value for keyword in node.keywords if keyword.arg == "key"]
        return [node.func] if isinstance(node.func, gast.Lambda) else []

    def _loosen(self, name: str) -> None:
        self._loose_reads |= self._read[name]
        self._loose_rebinds |= self._rebound[name]

    def _add(self, name: str, node: gast.AST) -> None:
        free, rebound = set(free_reads(node)), rebound_around(node)
        self._read.setdefault(name, set()).update(free)
        self._rebound.setdefault(name, set()).update(rebound)

    def within(self, block: Iterable[gast.AST]) -> frozenset[str]:
        """The variables that the bodies made of these statements have to share with what they call."""
        block = list(block)
        bound = set(binds(block))
        used = self._reached((reads(block) & set(self._read)) - bound)
        seen = {variable for name in used for variable in self._read[name]}
        rebound = {variable for name in used for variable in self._rebound[name]}
        touched = bound | reads(block)
        if (self._loose_reads & bound or self._loose_rebinds & touched) and self._runs_code(block):
            seen |= self._loose_reads
            rebound |= self._loose_rebinds
        if self._declared & touched and self._runs_code(block):
            rebound |= self._declared
        if self._declared & bound and _raises(block):
            rebound |= self._declared & bound
        return frozenset((seen & bound) | rebound)

    def read_between(self, iterable: gast.expr, block: Iterable[gast.AST]) -> frozenset[str]:
        """Of the variables that a loop binds, those that its iterable may read before each trip."""
        return frozenset(self._read_later(iterable) & set(binds(block)))

    def _keep_for_later(self, function: gast.FunctionDef) -> None:
        for node in walk_scope(function.body):
            if isinstance(node, gast.Assign):
                for target in binds(node.targets):
                    self._lazy.setdefault(target, set()).update(self._read_later(node.value))

    def _read_later(self, value: gast.expr) -> set[str]:
        """What the generators in a value read, and the functions and lambdas that it may call."""
        names = reads([value])
        later = {name for node in walk(value) if isinstance(node, gast.GeneratorExp) for name in reads([node])}
        lambdas = [node for node in walk(value) if isinstance(node, gast.Lambda) and not is_generated(node)]
        later |= {name for node in lambdas for name in free_reads(node)}
        later |= {variable for name in self._reached(names & set(self._read)) for variable in self._read[name]}
        return later.union(*(self._lazy.get(name, ()) for name in names))

    def declared(self, shared: Iterable[str], body: list[gast.stmt]) -> list[gast.stmt]:
        """The body of a function of ours; what it binds of the shared variables is that of the function around it."""
        names = sorted(set(shared) & set(binds(body)))
        groups = {gast.Global: [n for n in names if n in self._globals]}
        groups[gast.Nonlocal] = [n for n in names if n not in self._globals]
        return [*(place(kind(names=found), body[0]) for kind, found in groups.items() if found), *body]

    def _reached(self, names: set[str]) -> set[str]:
        """The functions of these names, and those that they may call."""
        while True:
            more = {called for name in names for called in self._read[name] if called in self._read} - names
            if not more:
                return names
            names = names | more

    def _runs_code(self, block: Iterable[gast.AST]) -> bool:
        """Whether the block does anything that may run a function of the user's: a property, `+`, `with`, `key=`."""
        return any(self._is_foreign(node) or self._asks_unknown(node) for one in block for node in walk(one))

    def _asks_unknown(self, node: gast.AST) -> bool:
        """Whether this does more with a value of an unknown class than to hold it."""
        if runtime_function(node) or (isinstance(node, gast.Call) and self._kinds.torch_path(node.func) is not None):
            return False
        if isinstance(node, FUNCTIONS):
            return bool(node.decorator_list) and not is_generated(node)
        if any(self._kinds.of(value) is Kind.CONTAINER for value in _asked_for_elements(node)):
            return True
        return any(self._is_unknown(value) for value in _asked(node))

    def _is_unknown(self, value: gast.expr) -> bool:
        if self._is_ours(value) or self._kinds.torch_path(value) is not None:
            return False
        if isinstance(value, gast.Name) and value.id in self._declared:  # a counter, or the like
            return False
        return self._kinds.of(value) is Kind.UNKNOWN or self._kinds.is_guess(value)

    def _is_ours(self, value: gast.AST) -> bool:
        """Whether this is a name that a pass has put there (`loop`)."""
        return isinstance(value, gast.Name) and value.id not in self._names

    def _is_foreign(self, node: gast.AST) -> bool:
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and self._is_ours(node.func.value):
            return False
        walked = [node.iter] if isinstance(node, (gast.For, gast.comprehension)) else list(used_up(node))
        if any(self._may_be_iterator(one) for one in walked):
            return True
        if not isinstance(node, gast.Call) or runtime_function(node):
            return False
        func = node.func
        path = self._kinds.torch_path(func)
        if path is not None:
            return path.startswith(words.CALL_WHAT_THEY_ARE_GIVEN)
        if isinstance(func, gast.Name):
            return not self._kinds.is_builtin(func, vars(builtins)) or self._hands_on(node)
        if not isinstance(func, gast.Attribute):
            return True
        known = func.attr in words.TENSOR_METHODS | words.PYTHON_METHODS | _METHODS
        return not known and self._kinds.of(func.value) in _UNTOLD

    def _hands_on(self, node: gast.Call) -> bool:
        """Whether a function of Python's calls one that has a name here: `map(scale, xs)`."""
        given = node.args[0] if node.args and node.func.id in ("map", "filter") else None
        return isinstance(given, gast.Name) and not self._kinds.is_builtin(given, vars(builtins))

    def _may_be_iterator(self, value: gast.expr) -> bool:
        return isinstance(value, (gast.Name, gast.Attribute, gast.Subscript)) and self._kinds.of(value) in _UNTOLD


def _asked(node: gast.AST) -> list[gast.expr]:
    """The values that a node does something with: it takes a part, computes, compares, enters, or calls with them."""
    if isinstance(node, (gast.Attribute, gast.FormattedValue, gast.Starred, gast.YieldFrom)):
        return [node.value]
    if isinstance(node, gast.Subscript):
        return [node.value, node.slice]
    if isinstance(node, gast.Slice):
        return [one for one in (node.lower, node.upper, node.step) if one is not None]
    if isinstance(node, gast.Assign):
        return [node.value] if any(isinstance(target, (gast.Tuple, gast.List)) for target in node.targets) else []
    if isinstance(node, gast.Match):
        return [node.subject]
    if isinstance(node, gast.Dict):
        return [value if key is None else key for key, value in zip(node.keys, node.values, strict=True)]
    if isinstance(node, gast.Set):
        return list(node.elts)
    if isinstance(node, gast.DictComp):
        return [node.key]
    if isinstance(node, gast.SetComp):
        return [node.elt]
    if isinstance(node, gast.BinOp):
        return [node.left, node.right]
    if isinstance(node, gast.Compare):
        is_same = all(isinstance(operator, (gast.Is, gast.IsNot)) for operator in node.ops)
        return [] if is_same else [node.left, *node.comparators]
    if isinstance(node, gast.BoolOp):
        return list(node.values)
    if isinstance(node, gast.UnaryOp):
        return [node.operand]
    if isinstance(node, gast.AugAssign):
        return [node.target, node.value]
    if isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
        return [node.test]
    if isinstance(node, gast.With):
        return [item.context_expr for item in node.items]
    if isinstance(node, gast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    return []


def _asked_for_elements(node: gast.AST) -> list[gast.expr]:
    """The values that, where they hold others, a node does something with each of these: it compares or shows them."""
    if isinstance(node, gast.Compare):
        return _asked(node)
    if isinstance(node, gast.FormattedValue):
        return [node.value]
    if isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mod):  # a text
        return [node.right]
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in _COMPARING:
        return [node.func.value]
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id in _OF_ELEMENTS:
        return node.args
    return []


_COMPARING = ("sort", "index", "count", "remove")
_OF_ELEMENTS = frozenset("all any dict frozenset hash max min print repr set sorted str sum".split())


def _outlives_call(function: gast.AST) -> bool:
    """Whether what a call of a function gives may run later: it is a generator, or makes functions itself."""
    inside = (gast.Lambda, gast.GeneratorExp, *FUNCTIONS, *SUSPENDS)
    return any(isinstance(node, inside) for node in walk(function) if node is not function)


def _raises(block: list[gast.AST]) -> bool:
    nodes = [node for statement in block for node in walk(statement)]
    return any(isinstance(node, (gast.Raise, gast.Assert)) or is_runtime_call(node, "fail") for node in nodes)
