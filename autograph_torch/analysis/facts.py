"""What the passes are told about one function: kinds of values, what is in reach, and where to put messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import gast

from autograph_torch.analysis.aliases import Aliases
from autograph_torch.analysis.kinds import Kind, Kinds
from autograph_torch.analysis.scopes import LOOPS, Exits, exits, sub_statements
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.source.nodes import origin
from autograph_torch.source.templates import RUNTIME


class Fresh:
    """Names that clash with nothing in the function: `then`, `then_2`, ..."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def __call__(self, base: str) -> str:
        name, number = base, 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name


@dataclass(frozen=True)
class Facts:
    """Everything the passes may ask. The tree itself is not in here: passes hand it on."""

    kinds: Kinds
    aliases: Aliases
    fresh: Fresh
    filename: str
    lines: tuple[str, ...]
    assume_unknown: bool  # rewrite where nothing is known (the decorator), or only with evidence (files)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    skipped_lines: frozenset[int] = frozenset()
    effects: frozenset[str] = frozenset()  # last names of functions that the user wants called for their effect
    undefined: dict[str, None] = field(default_factory=dict)  # names that were declared because they may be unbound

    def may_be_tensor(self, node: gast.expr) -> bool:
        """Whether Python would ask a tensor, or a number that depends on data, for its truth value."""
        if _is_runtime_call(node):
            return True
        kind = self.kinds.of(node)
        return kind >= Kind.SYMBOL or (kind == Kind.UNKNOWN and self.assume_unknown)

    def is_site(self, node: gast.AST) -> bool:
        """Whether an `if`, `while`, `for` or conditional expression is controlled by data."""
        if getattr(node, "lineno", None) in self.skipped_lines:
            return False
        if isinstance(node, (gast.If, gast.While, gast.IfExp)):
            return self.may_be_tensor(node.test)
        if isinstance(node, gast.For):
            return self.dynamic_iterable(node.iter)
        return False

    def handles_tensors(self) -> bool:
        """Whether the function has to do with tensors at all; a function that was asked for always counts."""
        return self.assume_unknown or any(kind >= Kind.TENSOR for kind in self.kinds.names().values())

    def handed_over(self, names: Iterable[str]) -> list[str]:
        """Names that the functions of a branch may read but not close over: data-dependent numbers, and views."""
        names = list(names)
        shared = self.aliases.groups(names)
        return [name for name in names if self.kinds.may_be_fraction(name) or name in shared]

    def dynamic_iterable(self, node: gast.expr) -> bool:
        """Whether the number of trips of `for ... in node` depends on data."""
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
            return self.kinds.of(node) in (Kind.DYNAMIC, Kind.SYMBOL)
        if node.func.id == "range":
            known = Kind.UNKNOWN if self.assume_unknown else Kind.SYMBOL
            return any(self.kinds.of(argument) >= known for argument in node.args)
        if node.func.id in ("enumerate", "zip", "reversed", "list", "tuple"):
            return any(self.dynamic_iterable(argument) for argument in node.args)
        return self.kinds.of(node) == Kind.DYNAMIC

    def exits_under_data(self, block: Iterable[gast.AST], controlled: bool = False) -> Exits:
        """Jumps out of the block that only some data takes."""
        found = Exits()
        for node in block:
            if isinstance(node, (gast.Return, gast.Break, gast.Continue)):
                found |= exits([node]) if controlled else Exits()
            elif isinstance(node, gast.If):
                inside = controlled or self.is_site(node)
                found |= self.exits_under_data([*node.body, *node.orelse], inside)
            elif isinstance(node, LOOPS):
                inside = controlled or self.needs_steps(node) or self.is_site(node)
                found |= Exits(returns=self.exits_under_data(node.body, inside).returns)
                found |= self.exits_under_data(node.orelse, controlled)
            elif not isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
                found |= self.exits_under_data(sub_statements(node), controlled)
        return found

    def needs_steps(self, loop: gast.AST) -> bool:
        """Whether data decides when a loop is left early: its trips then become steps that say how they end."""
        if not isinstance(loop, (gast.For, gast.While)):
            return False
        if self.is_site(loop):
            own = exits(loop.body)
            return own.breaks or own.returns
        under_data = self.exits_under_data(loop.body)
        return under_data.breaks or under_data.returns

    def report(self, code: str, node: gast.AST, message: str, advice: str = "") -> None:
        """Tell the user about a place in the source (once for the same place and code)."""
        at = origin(node) or node
        line = at.lineno
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        column = len(text.encode()[: at.col_offset].decode(errors="ignore")) + 1
        end = getattr(at, "end_lineno", None) or line
        found = Diagnostic(code, self.filename, line, column, end, message, advice, text)
        if all((d.code, d.line, d.column) != (found.code, found.line, found.column) for d in self.diagnostics):
            self.diagnostics.append(found)


def _is_runtime_call(node: gast.expr) -> bool:
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and isinstance(node.func.value, gast.Name)
        and node.func.value.id == RUNTIME
    )
