"""What the passes are told about one function: kinds of values, what is in reach, and where to put messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import gast

from autograph_torch.analysis.aliases import Aliases
from autograph_torch.analysis.class_code import ClassCode
from autograph_torch.analysis.kinds import Kind, Kinds
from autograph_torch.analysis.owned import owned_containers
from autograph_torch.analysis.scopes import (
    LOOPS,
    SCOPES,
    Exits,
    exits,
    reached,
    rebound_by_calls,
    rebound_by_functions,
    sub_statements,
    walk_scope,
)
from autograph_torch.analysis.shared import Shared
from autograph_torch.analysis.told import UNTOLD, Told
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.source.nodes import origin, walk
from autograph_torch.source.templates import RUNTIME, runtime_function


class Fresh:
    """Names that clash with nothing in the function: `then`, `then_2`, ..."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self.bases: dict[str, str] = {}
        """What each name was asked for with, in the order of asking."""

    def __call__(self, base: str) -> str:
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base.rstrip('_')}_{number}"
        self._taken.add(name)
        self.bases[name] = base
        return name


@dataclass(frozen=True)
class Facts:
    """Everything the passes may ask. The tree itself is not in here: passes hand it on."""

    function: gast.FunctionDef  # as the user wrote it
    kinds: Kinds
    filename: str
    lines: tuple[str, ...]
    assume_unknown: bool  # rewrite where nothing is known (the decorator), or only with evidence (files)
    for_trace: bool = False  # Python never runs what is made
    diagnostics: list[Diagnostic] = field(default_factory=list)
    skipped_lines: frozenset[int] = frozenset()
    left: set[int] = field(default_factory=set)  # lines of statements that a pass has found must stay
    told: Told = UNTOLD
    effects: frozenset[str] = frozenset()  # last names of functions that the user wants called for their effect
    class_code: ClassCode | None = None  # in files
    undefined: dict[str, None] = field(default_factory=dict)  # names that were declared because they may be unbound
    handed: dict[str, None] = field(default_factory=dict)  # names that functions made of expressions are given

    @cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.function.body, self.kinds)

    @cached_property
    def owned(self) -> frozenset[str]:
        """Names of containers that nobody else can reach; asked for where paths are told apart to the end."""
        return owned_containers(self.function, self.kinds) if self.told.splits else frozenset()

    @cached_property
    def shared(self) -> Shared:
        """Which variables the bodies of branches and loops have to share with what they call."""
        return Shared(self.function, self.kinds)

    @cached_property
    def fresh(self) -> Fresh:
        return Fresh(_identifiers(self.function))

    def may_be_tensor(self, node: gast.expr) -> bool:
        """Whether Python would ask a tensor, or a number that depends on data, for its truth value."""
        if is_runtime_call(node) or self._is_told(node):
            return True
        kind = self.kinds.of(node)
        return kind >= Kind.SYMBOL or (kind == Kind.UNKNOWN and self.assume_unknown)

    def is_skipped(self, node: gast.AST) -> bool:
        """Whether a comment asks to leave the node alone."""
        return bool(self.skipped_lines) and getattr(node, "lineno", None) in self.skipped_lines

    def is_site(self, node: gast.AST) -> bool:
        """Whether an `if`, `while`, `for` or conditional expression is controlled by data."""
        if self.is_skipped(node) or getattr(node, "lineno", None) in self.left:
            return False
        if isinstance(node, (gast.If, gast.While, gast.IfExp)):
            return self.may_be_tensor(node.test)
        if isinstance(node, gast.For):
            return self.dynamic_iterable(node.iter, told=not self._was_filter(node))
        return False

    def _was_filter(self, loop: gast.For) -> bool:
        """Whether a loop and the test in it have been a comprehension on one line: a trace has shown the test."""
        return any(isinstance(inner, gast.If) and inner.lineno == loop.lineno for inner in loop.body)

    def handles_tensors(self) -> bool:
        """Whether the function has to do with tensors at all; a function that was asked for always counts."""
        return self.assume_unknown or self._has_tensors

    @cached_property
    def _has_tensors(self) -> bool:
        if any(kind >= Kind.TENSOR for kind in self.kinds.names().values()):
            return True
        return any(self.is_site(node) for node in walk_scope(self.function.body))

    def handed_over(self, names: Iterable[str]) -> list[str]:
        """Names that the functions of a branch may read but not close over: data-dependent numbers, and views."""
        names = list(names)
        shared = self.aliases.groups(names)
        names = [name for name in names if name not in self._rebound_inside]
        handed = [name for name in names if self.kinds.may_be_fraction(name) or name in shared]
        self.handed.update(dict.fromkeys(handed))
        return handed

    @cached_property
    def rebound_by_calls(self) -> frozenset[str]:
        """Names that may stand for something else once a part of an expression has been evaluated."""
        return rebound_by_calls(self.function)

    @cached_property
    def _rebound_inside(self) -> frozenset[str]:
        """Names that functions inside of this one write to as `nonlocal`: a parameter in between would be written."""
        return rebound_by_functions(self.function.body)

    def dynamic_iterable(self, node: gast.expr, told: bool = True) -> bool:
        """Whether the number of trips of `for ... in node` depends on data; `told`: or a trace has shown it."""
        listed = _listed(node) if self.assume_unknown else None
        if listed is not None:  # a list of numbers is as long as the tensor
            return self.dynamic_iterable(listed, told)
        shown = told and self._is_told(node)
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
            kind = self.kinds.of(node)
            return kind in (Kind.DYNAMIC, Kind.SYMBOL) or (kind in (Kind.UNKNOWN, Kind.TENSOR) and shown)
        if node.func.id == "range":
            known = Kind.UNKNOWN if self.assume_unknown else Kind.SYMBOL
            return any(self.kinds.of(argument) >= known for argument in node.args)
        if node.func.id in ("enumerate", "zip", "reversed", "list", "tuple"):
            return any(self.dynamic_iterable(argument, told) for argument in node.args)
        return self.kinds.of(node) == Kind.DYNAMIC or shown

    def _is_told(self, node: gast.expr) -> bool:
        """Whether a trace has shown that a test, or the length of what a loop runs over, depends on data."""
        return self.assume_unknown and getattr(node, "lineno", None) in self.told.splits

    def exits_under_data(self, block: Iterable[gast.AST], controlled: bool = False) -> Exits:
        """Jumps out of the block that only some data takes."""
        found = Exits()
        for node in block:
            if isinstance(node, (gast.Return, gast.Break, gast.Continue)):
                found |= exits([node]) if controlled else Exits()
            elif isinstance(node, gast.If):
                inside = controlled or self.is_site(node)
                found |= self.exits_under_data([*reached(node.body), *reached(node.orelse)], inside)
            elif isinstance(node, LOOPS):
                inside = controlled or self.needs_steps(node) or self.is_site(node)
                found |= Exits(returns=self.exits_under_data(reached(node.body), inside).returns)
                found |= self.exits_under_data(node.orelse, controlled)
            elif not isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
                found |= self.exits_under_data(sub_statements(node), controlled)
            controlled = controlled or bool(found)  # what follows a jump that some data takes
        return found

    def is_split(self, node: gast.stmt) -> bool:
        """Whether what follows a statement is needed in both branches of an `if` in it."""
        if not self.told.splits or isinstance(node, (*LOOPS, *SCOPES)):
            return False
        own = isinstance(node, gast.If) and node.lineno in self.told.splits
        return own or any(self.is_split(inner) for inner in sub_statements(node))

    def needs_steps(self, loop: gast.AST) -> bool:
        """Whether data decides when a loop is left early: its trips then become steps that say how they end."""
        if not isinstance(loop, (gast.For, gast.While)):
            return False
        if self.is_site(loop):
            own = exits(loop.body)
            return own.breaks or own.returns
        under_data = self.exits_under_data(reached(loop.body))
        return under_data.breaks or under_data.returns or (isinstance(loop, gast.For) and self._is_split(loop))

    def takes_rest(self, loop: gast.AST) -> bool:
        """Whether what follows a loop belongs to its steps: they may return, or need to be told apart to the end."""
        if not self.needs_steps(loop):
            return False
        return exits(loop.body).returns or self._is_split(loop)

    def _is_split(self, loop: gast.For | gast.While) -> bool:
        """Whether paths that part in a loop are to be told apart to the end of the function."""
        if not self.told.splits:
            return False
        return any(isinstance(node, gast.stmt) and node.lineno in self.told.splits for node in walk(loop))

    def leave(self, node: gast.AST) -> None:
        """From here on, nothing in this statement is controlled by data."""
        self.left.update(inner.lineno for inner in walk(node) if hasattr(inner, "lineno"))

    def report(self, code: str, node: gast.AST, message: str, advice: str = "") -> None:
        """Tell the user about a place in the source (once for the same place and code)."""
        found = self.diagnostic(code, node, message, advice)
        if all((d.code, d.line, d.column) != (found.code, found.line, found.column) for d in self.diagnostics):
            self.diagnostics.append(found)

    def diagnostic(self, code: str, node: gast.AST, message: str, advice: str = "") -> Diagnostic:
        """A message about a place in the source."""
        at = origin(node) or node
        line = at.lineno
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        column = len(text.encode()[: at.col_offset].decode(errors="ignore")) + 1
        end = getattr(at, "end_lineno", None) or line
        return Diagnostic(code, self.filename, line, column, end, message, advice, text)


def is_runtime_call(node: gast.expr) -> bool:
    """Whether an earlier pass has made the expression: `ag.cond(...)`."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and isinstance(node.func.value, gast.Name)
        and node.func.value.id == RUNTIME
    )


def makes_a_list(node: gast.AST) -> bool:
    """Whether an expression is `x.tolist()`."""
    named = isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr == "tolist"
    return named and not node.args and not node.keywords


def _listed(node: gast.expr) -> gast.expr | None:
    """What `x.tolist()` makes a list of, also where a pass has rewritten it."""
    if makes_a_list(node):
        return node.func.value
    return node.args[0] if runtime_function(node) == "tolist" else None


def _identifiers(function: gast.FunctionDef) -> set[str]:
    found = {RUNTIME}
    for node in walk(function):
        if isinstance(node, gast.Name):
            found.add(node.id)
        elif isinstance(node, SCOPES):
            found.add(node.name)
        elif isinstance(node, gast.Attribute):
            found.add(node.attr)
    return found
