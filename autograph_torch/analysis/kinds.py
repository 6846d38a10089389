"""What may be a tensor: a forward analysis that gives every expression one of a few kinds.

    PYTHON     a Python value known while tracing (numbers, strings, None, shapes, dtypes, flags)
    CONTAINER  a Python list, tuple, dict, set or range: its truth value is Python's, its elements are anything
    SYMBOL     a Python number that depends on data: x.sum().item(), len(x.nonzero())
    TENSOR     a tensor whose size is known while tracing
    DYNAMIC    a tensor whose size depends on data: x[mask], x.nonzero()
    UNKNOWN    nothing is known (a parameter without annotation, the result of an unknown call)

The analysis is flow-insensitive inside a function: a name has the join of what is ever assigned to it. It decides
what is
rewritten, never what a rewritten construct does: that is decided when the program runs, so a wrong guess costs a
readable line or a clear refusal, never a wrong result.
"""

from __future__ import annotations

import ast
import builtins
import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import gast

from autograph_torch.analysis import vocabulary as words
from autograph_torch.analysis.positions import counts_only, is_short
from autograph_torch.analysis.scopes import (
    COMPREHENSIONS,
    FUNCTIONS,
    binds,
    exits,
    names_of,
    parameters,
    rebound_by_functions,
    walk_scope,
)
from autograph_torch.source.nodes import statements, walk
from autograph_torch.source.templates import runtime_function


class Kind(enum.IntEnum):
    """Ordered so that the join of two kinds is nearly always their maximum."""

    PYTHON = 0
    CONTAINER = 1
    UNKNOWN = 2
    SYMBOL = 3
    TENSOR = 4
    DYNAMIC = 5


P, C, U, S, T, D = Kind

# Nodes that bind a name, or hold parts that do.
_BINDING = (
    gast.Assign,
    gast.AnnAssign,
    gast.AugAssign,
    gast.NamedExpr,
    gast.For,
    gast.AsyncFor,
    *COMPREHENSIONS,
    gast.With,
    gast.AsyncWith,
    *FUNCTIONS,
    gast.ClassDef,
)
_NO_EVIDENCE = words.PYTHON_TORCH_CALLS | words.SEQUENCE_FUNCTIONS


def join(kinds: Iterable[Kind]) -> Kind:
    return max(kinds, default=P)


BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True)
class Imports:
    """Names that a module binds to torch, to parts of it, and to other modules."""

    torch: Mapping[str, str] = field(default_factory=dict)  # name -> dotted path below torch, "" for torch itself
    modules: frozenset[str] = frozenset()
    origins: Mapping[str, str] = field(default_factory=dict)  # name -> dotted path of what it was imported from
    hidden: frozenset[str] = frozenset()  # names of built-in functions that stand for something else

    def without(self, names: Iterable[str]) -> Imports:
        """The same for code that sees other variables of these names."""
        hidden = set(names)
        torch = {name: path for name, path in self.torch.items() if name not in hidden}
        origins = {name: path for name, path in self.origins.items() if name not in hidden}
        return Imports(torch, self.modules - hidden, origins, self.hidden | (hidden & BUILTINS))


def imports_of(body: Iterable[ast.AST]) -> Imports:
    """What the import statements of a module (or function) bind, wherever they stand; of trees from gast or ast."""
    torch: dict[str, str] = {}
    modules: set[str] = set()
    origins: dict[str, str] = {}
    for node in body:
        for statement in statements(node):
            if isinstance(statement, (gast.Import, ast.Import)):
                for alias in statement.names:
                    path = alias.name if alias.asname else alias.name.split(".")[0]
                    _bind(alias.asname or path, path, torch, modules)
                    origins[alias.asname or path] = path
            elif isinstance(statement, (gast.ImportFrom, ast.ImportFrom)) and statement.module and not statement.level:
                for alias in statement.names:
                    origins[alias.asname or alias.name] = f"{statement.module}.{alias.name}"
                    if statement.module.split(".")[0] in words.TORCH_MODULES:
                        _bind(alias.asname or alias.name, f"{statement.module}.{alias.name}", torch, modules)
            elif isinstance(statement, gast.Assign) and isinstance(statement.value, gast.Call):
                if dotted(statement.value.func, origins) == "logging.getLogger":
                    origins.update((n.id, "logging.Logger") for n in statement.targets if isinstance(n, gast.Name))
    return Imports(torch, frozenset(modules), origins, BUILTINS.intersection(_bound_by(body)))


def _bound_by(body: Iterable[ast.AST]) -> Iterator[str]:
    """Names that a module binds, but for those of loops; of trees from gast or ast."""
    for node in body:
        if isinstance(node, (*FUNCTIONS, gast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
            continue
        if isinstance(node, (gast.Import, gast.ImportFrom, ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name for alias in node.names)
        for target in [*getattr(node, "targets", []), getattr(node, "target", None)]:
            yield from (inner.id for inner in ast.walk(target) if hasattr(inner, "id")) if target is not None else ()
        for block in ("body", "orelse", "finalbody", "handlers"):
            inside = getattr(node, block, None)
            yield from _bound_by(inside) if isinstance(inside, list) else ()


def dotted(node: gast.expr, names: Mapping[str, str]) -> str | None:
    """The dotted path of an expression such as `a.b.c` whose first name is known."""
    if isinstance(node, gast.Name):
        return names.get(node.id)
    if isinstance(node, gast.Attribute):
        base = dotted(node.value, names)
        return None if base is None else f"{base}.{node.attr}"
    return None


def _bind(name: str, path: str, torch: dict[str, str], modules: set[str]) -> None:
    root, _, rest = path.partition(".")
    if root in words.TORCH_MODULES:
        torch[name] = rest
    else:
        modules.add(name)


class Kinds:
    """The kinds of all names of one function, and through `of` those of its expressions."""

    def __init__(
        self,
        imports: Imports,
        seeds: Mapping[str, Kind],
        outer: Mapping[str, Kind] | None = None,
        assume_unknown: bool = False,
        picks: bool = False,
    ) -> None:
        self._picks = picks  # whether data may pick strings and other constants
        self._assume_unknown = assume_unknown
        self._local = set(seeds) - {"self"}
        self._not_integer = {name for name, kind in seeds.items() if kind != P}
        self._imports = imports
        self._seeds = dict(seeds)
        self._env: dict[str, Kind] = {**(outer or {}), **seeds}
        self._evidence: set[str] = set()
        self._guessed: set[str] = set()
        self._unsure_size: set[str] = set()  # tensors that some unknown function has had a hand in
        self._bound: set[str] = set()
        self._imported: dict[str, str] = {}  # by the function itself

    def infer(self, body: list[gast.stmt]) -> None:
        """Join what every assignment of the body says, until nothing changes (the lattice has height 6)."""
        self._bound = {name for node in body for name in binds(node)}
        nodes = list(walk_scope(body))
        self._imported = self._own_imports(nodes)
        self._collect_evidence(nodes)
        self._forget_what_others_rebind(body)
        binding = [node for node in nodes if isinstance(node, _BINDING)]
        asking = [node for node in nodes if isinstance(node, (gast.If, gast.While, gast.For))]
        for _ in range(8):
            before = dict(self._env), len(self._not_integer)
            self._round(binding)
            self._numbers_under_data(asking)
            if before == (self._env, len(self._not_integer)):
                return

    def add(self, identifier: str) -> None:
        """A variable that a pass has made, of which nothing is known."""
        self._learn(identifier, U)

    def name(self, identifier: str) -> Kind:
        return self._env.get(identifier, U)

    def is_guess(self, node: gast.expr) -> bool:
        """Whether nothing but the name of a method tells that this is a tensor: `log.sum()`."""
        return isinstance(node, gast.Name) and node.id in self._guessed

    def names(self) -> dict[str, Kind]:
        return dict(self._env)

    def local_names(self) -> set[str]:
        """Names that are variables of this function."""
        return self._bound | set(self._seeds)

    def origin(self, node: gast.expr) -> str | None:
        """The dotted path of what was imported (`warnings.warn`, `builtins.print`); "logging.Logger" for a logger."""
        local = self.local_names()
        known = {name: path for name, path in self._imports.origins.items() if name not in local} | self._imported
        if isinstance(node, gast.Name) and node.id == "print" and node.id not in local - set(self._imported):
            return known.get("print", "builtins.print")
        return dotted(node, known)

    def is_builtin(self, node: gast.expr, names: Iterable[str]) -> bool:
        """Whether an expression is one of these built-in functions, and no other of that name."""
        if not isinstance(node, gast.Name) or node.id not in names:
            return False
        return node.id not in self.local_names() and node.id not in self._imports.hidden

    def imports_inside(self) -> Imports:
        """What functions inside of this one see of imports."""
        around = self._imports.without(self.local_names())
        return Imports(around.torch, around.modules, {**around.origins, **self._imported}, around.hidden)

    def _own_imports(self, nodes: list[gast.AST]) -> dict[str, str]:
        """The paths of names that the function imports and binds in no other way."""
        imports = [node for node in nodes if isinstance(node, (gast.Import, gast.ImportFrom))]
        stored = {node.id for node in nodes if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load)}
        stored |= {node.name for node in nodes if isinstance(node, (*FUNCTIONS, gast.ClassDef))}
        origins = imports_of(imports).origins
        return {name: path for name, path in origins.items() if name not in stored and name not in self._seeds}

    # -- statements -----------------------------------------------------------------------------------------------

    def _round(self, nodes: list[gast.AST]) -> None:
        for node in nodes:
            if isinstance(node, gast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
                    self._note_number(target, node.value)
            elif isinstance(node, gast.AnnAssign) and node.value is not None:
                self._assign(node.target, node.value)
            elif (
                isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and node.target.id in self._env
            ):
                self._learn(node.target.id, join((self.name(node.target.id), self.of(node.value))))
                if isinstance(node.op, gast.Div):
                    self._not_integer.add(node.target.id)
                self._note_number(node.target, node.value)
            elif isinstance(node, gast.NamedExpr):
                self._assign(node.target, node.value)
                self._note_number(node.target, node.value)
            elif isinstance(node, (gast.For, gast.AsyncFor)):
                self._iterate(node.target, node.iter)
            elif isinstance(node, COMPREHENSIONS):
                for generator in node.generators:
                    self._iterate(generator.target, generator.iter)
            elif isinstance(node, (gast.With, gast.AsyncWith)):
                for item in node.items:
                    if isinstance(item.optional_vars, gast.Name):
                        self._learn(item.optional_vars.id, U)
            elif isinstance(node, (*FUNCTIONS, gast.ClassDef)):
                self._learn(node.name, P)

    def _forget_what_others_rebind(self, body: list[gast.stmt]) -> None:
        """What a call may put into a variable of this function is not known from its own assignments."""
        for name in rebound_by_functions(body) | set(names_of(body).outer):
            self._learn(name, U)

    def _learn(self, name: str, kind: Kind) -> None:
        self._local.add(name)
        if name in self._seeds and self._seeds[name] in (T, D):
            kind = max(kind, self._seeds[name])
        self._env[name] = max(self._env[name], kind) if name in self._env else kind

    def _assign(self, target: gast.expr, value: gast.expr) -> None:
        if isinstance(target, (gast.Tuple, gast.List)):
            if isinstance(value, (gast.Tuple, gast.List)) and len(value.elts) == len(target.elts):
                for one, part in zip(target.elts, value.elts, strict=True):
                    self._assign(one, part)
            else:
                whole = self.of(value)
                self._note_size(target, value)
                part = whole if whole == D and isinstance(value, gast.Call) else element(whole)
                for one in target.elts:
                    self._store(one, part)  # of a call: `values, counts = x.unique(return_counts=True)`
        else:
            self._note_size(target, value)
            self._store(target, self.of(value))

    def _note_size(self, target: gast.expr, value: gast.expr) -> None:
        if not self._assume_unknown:  # then `_size` does not ask
            return
        unsure = self.of(value) == U or any(
            isinstance(node, gast.Name) and node.id in self._unsure_size for node in walk(value)
        )
        if unsure:
            self._unsure_size.update(node.id for node in walk(target) if isinstance(node, gast.Name))

    def _store(self, target: gast.expr, kind: Kind) -> None:
        if isinstance(target, gast.Starred):
            self._store(target.value, C)
        elif isinstance(target, gast.Name):
            self._learn(target.id, kind)
        elif isinstance(target, (gast.Tuple, gast.List)):
            for one in target.elts:
                self._store(one, element(kind))

    def _iterate(self, target: gast.expr, iterable: gast.expr) -> None:
        """`for target in iterable`."""
        called = _called_name(iterable)
        if called not in ("range", "enumerate"):
            self._not_integer.update(n.id for n in walk(target) if isinstance(n, gast.Name))
        arguments = iterable.args if isinstance(iterable, gast.Call) else []
        if called == "range":
            known = U if self._assume_unknown else S
            self._store(target, S if any(self.of(a) >= known for a in arguments) else P)
        elif called == "enumerate" and isinstance(target, gast.Tuple) and len(target.elts) == 2 and arguments:
            self._store(target.elts[0], S if self.of(arguments[0]) in (D, S) else P)
            self._iterate(target.elts[1], arguments[0])
        elif called == "zip" and isinstance(target, gast.Tuple) and len(target.elts) == len(arguments):
            for one, part in zip(target.elts, arguments, strict=True):
                self._iterate(one, part)
        else:
            self._store(target, element(self.of(iterable)))

    def _numbers_under_data(self, nodes: list[gast.If | gast.While | gast.For]) -> None:
        """A Python number that is bound under a tensor test, or in a loop with one, depends on data afterwards."""
        for node in nodes:
            if isinstance(node, (gast.If, gast.While)) and self._asks_data(node.test):
                self._make_symbols([*node.body, *node.orelse])
            elif isinstance(node, (gast.For, gast.While)) and self._asks_data_in(node):
                self._make_symbols(node.body)
            if isinstance(node, gast.For) and self._counts_in_the_graph(node):
                self._learn(node.target.id, S)

    def _asks_data(self, test: gast.expr) -> bool:
        kind = self.of(test)
        return kind >= S or (kind == U and self._assume_unknown)

    def _asks_data_in(self, loop: gast.For | gast.While) -> bool:
        """Whether data decides on the trips of a loop, or on what happens in one."""
        known = U if self._assume_unknown else S
        calls = isinstance(loop, gast.For) and isinstance(loop.iter, gast.Call)
        if calls and any(self.of(argument) >= known for argument in loop.iter.args):
            return True
        return any(isinstance(node, gast.If) and self._asks_data(node.test) for node in walk_scope(loop.body))

    def _counts_in_the_graph(self, loop: gast.For) -> bool:
        """Whether data may leave a loop over a `range` early whose position may be a number of the graph."""
        if not counts_only(loop, lambda node: self.of(node) >= T) or is_short(loop.iter):
            return False
        tests = (node for node in walk_scope(loop.body) if isinstance(node, gast.If) and self._asks_data(node.test))
        leaves = exits(one for test in tests for one in (*test.body, *test.orelse))
        return leaves.breaks or leaves.returns

    def _make_symbols(self, block: list[gast.stmt]) -> None:
        for node in walk_scope(block):
            if not isinstance(node, (gast.Assign, gast.AugAssign)):
                continue
            targets = node.targets if isinstance(node, gast.Assign) else [node.target]
            for target, value in (pair for whole in targets for pair in _matched(whole, node.value)):
                number = not _is_word(value) and self.of(value) in (P, S)
                if isinstance(target, gast.Name) and self._env.get(target.id) == P and number:
                    self._env[target.id] = S

    def may_be_fraction(self, name: str) -> bool:
        """Whether a number that depends on data may be a float or a truth value (and not surely an int)."""
        if self._assume_unknown and name in self._local and self.name(name) == U:
            return True  # a Python float that Dynamo has made dynamic
        return self.name(name) == S and name in self._not_integer

    def _note_number(self, target: gast.expr, value: gast.expr) -> None:
        if isinstance(target, gast.Name) and not self._is_integer(value):
            self._not_integer.add(target.id)
        elif isinstance(target, (gast.Tuple, gast.List)):
            same = isinstance(value, (gast.Tuple, gast.List)) and len(value.elts) == len(target.elts)
            for index, one in enumerate(target.elts):
                self._note_number(one, value.elts[index] if same else value)

    def _is_integer(self, node: gast.expr) -> bool:
        if isinstance(node, gast.Constant):
            return type(node.value) is int
        if isinstance(node, gast.Name):
            return node.id not in self._not_integer and node.id in self._env
        if isinstance(node, gast.BinOp):
            whole = isinstance(node.op, (gast.Add, gast.Sub, gast.Mult, gast.FloorDiv, gast.Mod))
            return whole and self._is_integer(node.left) and self._is_integer(node.right)
        if isinstance(node, gast.UnaryOp):
            return not isinstance(node.op, gast.Not) and self._is_integer(node.operand)
        if isinstance(node, gast.Call):
            return _called_name(node) in ("len", "int") or getattr(node.func, "attr", "") in ("size", "numel", "dim")
        return isinstance(node, gast.Subscript) and getattr(node.value, "attr", "") == "shape"

    # -- evidence -------------------------------------------------------------------------------------------------

    def _collect_evidence(self, nodes: list[gast.AST]) -> None:
        """Unknown parameters that are used as only tensors are become tensors."""
        shown: set[str] = set()  # to a function of torch
        for node in nodes:
            if not isinstance(node, gast.Call):
                continue
            function = node.func
            if isinstance(function, gast.Attribute) and isinstance(function.value, gast.Name):
                is_module = function.value.id in self._imports.torch or function.value.id in self._imports.modules
                if function.attr in words.TENSOR_METHODS and not is_module:
                    self._evidence.add(function.value.id)
            if runtime_function(node) == "tolist" and isinstance(node.args[0], gast.Name):
                self._evidence.add(node.args[0].id)  # as the method that it was
            path = self.torch_path(function)
            if path is not None and node.args and isinstance(node.args[0], gast.Name):
                last = path.split(".")[-1]
                if last not in _NO_EVIDENCE and not last[:1].isupper() and path.split(".")[0] not in words.OTHER_PARTS:
                    self._evidence.add(node.args[0].id)
                    shown.add(node.args[0].id)
        for name in self._evidence - set(self._imports.torch) - self._imports.modules:
            if self._env.get(name, U) == U and (name in self._seeds or name not in self._bound):
                if name not in self._seeds:
                    self._unsure_size.add(name)  # the variable of a comprehension, or a name from around
                self._seeds[name] = self._env[name] = T
                self._guessed |= {name} - shown

    # -- expressions ----------------------------------------------------------------------------------------------

    def of(self, node: gast.expr | None) -> Kind:
        """The kind of an expression."""
        if node is None:
            return P
        method = getattr(self, "_of_" + type(node).__name__.lower(), None)
        return method(node) if method is not None else U

    def torch_path(self, node: gast.expr) -> str | None:
        """The dotted path below torch that an expression names (`F.relu` -> "nn.functional.relu"), or None."""
        if isinstance(node, gast.Name):
            return self._imports.torch.get(node.id) if node.id not in self._env else None
        if isinstance(node, gast.Attribute):
            base = self.torch_path(node.value)
            return None if base is None else f"{base}.{node.attr}".lstrip(".")
        return None

    def _of_constant(self, node: gast.Constant) -> Kind:
        return U if self._picks and _is_word(node) else P

    def _of_joinedstr(self, node: gast.JoinedStr) -> Kind:
        return U if self._picks else P

    def _of_lambda(self, node: gast.Lambda) -> Kind:
        return P

    def _of_list(self, node: gast.expr) -> Kind:
        return C

    _of_tuple = _of_set = _of_dict = _of_listcomp = _of_setcomp = _of_dictcomp = _of_generatorexp = _of_list

    def _of_name(self, node: gast.Name) -> Kind:
        if node.id in self._env:
            return self._env[node.id]
        if node.id in self._bound:
            return P  # bound further on: the bottom of the lattice until then
        if node.id in words.PYTHON_BUILTINS or node.id in self._imports.torch or node.id in self._imports.modules:
            return P
        return U

    def _of_attribute(self, node: gast.Attribute) -> Kind:
        if self.torch_path(node) is not None:
            return P
        base = self.of(node.value)
        if node.attr in words.PYTHON_ATTRIBUTES:
            return self._size(node.value, base) if node.attr in words.SIZE_ATTRIBUTES else P
        if isinstance(node.value, gast.Name) and node.value.id in self._imports.modules:
            return P
        return base if base in (T, D) and node.attr in words.TENSOR_ATTRIBUTES else U

    def _size(self, node: gast.expr, base: Kind) -> Kind:
        """The kind of a size of something."""
        if base == D:
            return S
        unsure = base == U or (isinstance(node, gast.Name) and node.id in self._unsure_size)
        return U if unsure and self._assume_unknown else P

    def _of_subscript(self, node: gast.Subscript) -> Kind:
        base = self.of(node.value)
        if base in (T, D):
            return D if self._may_be_mask(node.slice) else base
        if base == C:
            return U
        return base

    def _may_be_mask(self, index: gast.expr) -> bool:
        if isinstance(index, gast.Tuple):
            return any(self._may_be_mask(part) for part in index.elts)
        if isinstance(index, (gast.Compare, gast.UnaryOp, gast.BinOp)):
            return self.of(index) >= T
        return self.of(index) == D or (isinstance(index, gast.Name) and self.of(index) == T)

    def _of_compare(self, node: gast.Compare) -> Kind:
        operands = [node.left, *node.comparators]
        kind = self._of_comparison(node, operands)
        return U if kind == P and self._picks and any(self.of(operand) == U for operand in operands) else kind

    def _of_comparison(self, node: gast.Compare, operands: list[gast.expr]) -> Kind:
        kinds = [self._of_compared(operand) for operand in operands]
        if all(isinstance(op, (gast.Is, gast.IsNot)) for op in node.ops):
            kind = join(kinds)
            return (U if kind == U else S) if any(map(_is_flag, operands)) and kind not in (P, C) else P
        if any(isinstance(op, (gast.In, gast.NotIn)) for op in node.ops):
            known = U if self._assume_unknown else S
            return S if any(kind >= known for kind in kinds) and not any(_is_word(o) for o in operands) else P
        if any(_is_word(operand) for operand in operands):
            return P
        kind = join(kinds)
        return P if kind == C else kind

    def _of_compared(self, node: gast.expr) -> Kind:
        """The kind of an operand of a comparison: lists and tuples are compared element by element."""
        if isinstance(node, (gast.List, gast.Tuple)):
            return S if any(self._of_compared(element) >= S for element in node.elts) else C
        return self.of(node)

    def _of_binop(self, node: gast.BinOp) -> Kind:
        return join((self.of(node.left), self.of(node.right)))

    def _of_unaryop(self, node: gast.UnaryOp) -> Kind:
        kind = self.of(node.operand)
        if isinstance(node.op, gast.Not):
            return P if kind in (P, C) else U if kind == U else S
        return kind

    def _of_boolop(self, node: gast.BoolOp) -> Kind:
        return join(self.of(value) for value in node.values)

    def _of_ifexp(self, node: gast.IfExp) -> Kind:
        kind = join((self.of(node.body), self.of(node.orelse)))
        words_only = _is_word(node.body) or _is_word(node.orelse)
        return S if kind == P and not words_only and self._asks_data(node.test) else kind

    def _of_namedexpr(self, node: gast.NamedExpr) -> Kind:
        return self.of(node.value)

    def _of_starred(self, node: gast.Starred) -> Kind:
        return C

    def _of_call(self, node: gast.Call) -> Kind:
        path = self.torch_path(node.func)
        if path is not None:
            return self._torch_call(path, node)
        if runtime_function(node) in words.RUNTIME_QUESTIONS:
            return T
        if runtime_function(node) in ("tolist", "sum_"):
            return S
        if runtime_function(node) in ("elements_of", "rolled"):
            return D
        if isinstance(node.func, gast.Attribute):
            return self._method_call(node.func, node)
        if isinstance(node.func, gast.Name) and node.func.id not in self._env:
            return self._builtin_call(node.func.id, node)
        return U

    def _torch_call(self, path: str, node: gast.Call) -> Kind:
        last = path.split(".")[-1]
        if last in words.SYMBOL_FUNCTIONS:
            return S
        if last in words.PYTHON_TORCH_CALLS:
            return P
        if last[:1].isupper() or path.split(".")[0] in words.OTHER_PARTS:
            return U
        if last in words.DYNAMIC_FUNCTIONS or (last == "where" and len(node.args) == 1):
            return D
        if last in words.FULL_REDUCTIONS and len(node.args) == 1 and not node.keywords:
            return T
        if last in words.PIECES and any(self.of(argument) in (C, S) for argument in node.args[1:]):
            return C
        made = last in words.SIZED_BY_ARGUMENTS and any(self._has_symbol(argument) for argument in node.args)
        return D if made or any(self.of(argument) == D for argument in node.args) else T

    def _has_symbol(self, node: gast.expr) -> bool:
        """Whether a size, or one of several, depends on data."""
        parts = node.elts if isinstance(node, (gast.Tuple, gast.List)) else [node]
        return any(self.of(part) == S for part in parts)

    def _method_call(self, function: gast.Attribute, node: gast.Call) -> Kind:
        base = self.of(function.value)
        name = function.attr
        if isinstance(function.value, gast.Name) and function.value.id in self._imports.modules:
            return join(min(self.of(a), S) for a in node.args) if function.value.id == "math" else U
        if name in words.PIECES and base == U and self._assume_unknown:
            return U  # of a tensor, or of a string
        if name in words.PIECES and base in (T, D):
            return C if any(self.of(a) in (C, S) for a in (*node.args, *(k.value for k in node.keywords))) else base
        if name in words.PYTHON_METHODS:
            return self._size(function.value, base) if name in words.SIZE_METHODS else P
        if base == P and name not in words.SYMBOL_METHODS:
            return U
        if name in words.SYMBOL_METHODS:
            return S
        if name in words.DYNAMIC_FUNCTIONS:
            return D
        if name in words.FULL_REDUCTIONS and not node.args and not node.keywords:
            return T
        if name in words.SIZED_BY_ARGUMENTS and any(self._has_symbol(argument) for argument in node.args):
            return D
        if base in (T, D):
            return base
        return T if name in words.TENSOR_METHODS else U

    def _is_filtered(self, node: gast.expr) -> bool:
        """Whether a test on tensors lets elements of a comprehension through."""
        if not isinstance(node, (gast.GeneratorExp, gast.ListComp)):
            return False
        return any(self.of(test) >= S for generator in node.generators for test in generator.ifs)

    def _builtin_call(self, name: str, node: gast.Call) -> Kind:
        kinds = [self.of(argument) for argument in node.args]
        if name in ("len", "sum") and any(self._is_filtered(argument) for argument in node.args):
            return S
        if name == "len":
            unsure = any(self._size(argument, kind) == U for argument, kind in zip(node.args, kinds, strict=True))
            return S if any(kind in (D, S) for kind in kinds) else U if unsure or U in kinds else P
        if name in words.NUMBER_BUILTINS:
            known = U if self._assume_unknown else S
            return S if any(kind >= known for kind in kinds) else U if U in kinds else P
        if name in ("any", "all"):
            asked = [argument.elt for argument in node.args if isinstance(argument, (gast.GeneratorExp, gast.ListComp))]
            return S if any(self.of(one) >= S for one in asked) else U
        if name in words.REDUCING_BUILTINS:
            return U if C in kinds else join(kinds)
        if name in words.CONTAINER_BUILTINS:
            return S if name in ("list", "sorted", "tuple") and S in kinds else C
        if name in words.PYTHON_BUILTINS:
            return P
        return U


def element(kind: Kind) -> Kind:
    """The kind of an element of something of this kind."""
    if kind == C:
        return U
    return T if kind == D else kind


def _matched(target: gast.expr, value: gast.expr) -> list[tuple[gast.expr, gast.expr]]:
    """`a, b = c, d` as (a, c), (b, d)."""
    if isinstance(target, (gast.Tuple, gast.List)) and isinstance(value, (gast.Tuple, gast.List)):
        if len(target.elts) == len(value.elts):
            return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _is_flag(node: gast.expr) -> bool:
    """True or False: `done is True` asks for a truth value that data may decide."""
    return isinstance(node, gast.Constant) and isinstance(node.value, bool)


def _is_word(node: gast.expr) -> bool:
    """A string, None or a type: comparing anything with it is Python's business."""
    return isinstance(node, gast.Constant) and (isinstance(node.value, (str, bytes)) or node.value is None)


def _called_name(node: gast.expr) -> str:
    return node.func.id if isinstance(node, gast.Call) and isinstance(node.func, gast.Name) else ""


def parameter_kinds(function: gast.FunctionDef, is_method: bool) -> dict[str, Kind]:
    """What the signature says: annotations, defaults, and that unannotated arguments of `forward` are tensors."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, gast.expr] = {}
    for argument, default in zip(reversed(plain), reversed(arguments.defaults), strict=False):
        defaults[argument.id] = default
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[argument.id] = default
    kinds = {}
    for argument in [*plain, *arguments.kwonlyargs]:
        kinds[argument.id] = _parameter(argument, defaults.get(argument.id), function.name == "forward")
    if is_method and plain:
        kinds[plain[0].id] = U
    for star in (arguments.vararg, arguments.kwarg):
        if star is not None:
            kinds[star.id] = C
    return {name: kinds[name] for name in parameters(arguments)}


def _parameter(argument: gast.Name, default: gast.expr | None, in_forward: bool) -> Kind:
    if argument.annotation is not None:
        kinds = {_annotated(text) for text in _alternatives(_annotation(argument.annotation))}
        return T if T in kinds else kinds.pop() if len(kinds) == 1 else U
    if isinstance(default, gast.Constant) and isinstance(default.value, (bool, str)):
        return P
    return T if in_forward and not (isinstance(default, gast.Constant) and default.value is not None) else U


def _annotated(text: str) -> Kind:
    if text.startswith(words.CONTAINER_ANNOTATIONS):
        return C
    if words.TENSOR_ANNOTATIONS.search(text):
        return T
    return P if text in words.PYTHON_ANNOTATIONS else U


def _alternatives(node: ast.expr) -> list[str]:
    """The types of which an annotation allows one, as text; None only where it stands alone."""
    if isinstance(node, ast.Subscript):
        base = ast.unparse(node.value).rpartition(".")[2]
        if base in ("Optional", "Union"):
            inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return _without_none([text for part in inside for text in _alternatives(part)])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _without_none([*_alternatives(node.left), *_alternatives(node.right)])
    return [ast.unparse(node)]


def _without_none(texts: list[str]) -> list[str]:
    return [text for text in texts if text != "None"] or ["None"]


def _annotation(node: gast.expr) -> ast.expr:
    """An annotation as Python's own tree; one that is a string is read."""
    if isinstance(node, gast.Constant) and isinstance(node.value, str):
        try:
            return ast.parse(node.value, mode="eval").body
        except (SyntaxError, ValueError):
            return ast.Constant(node.value)
    return gast.gast_to_ast(node)  # type: ignore[no-any-return]
