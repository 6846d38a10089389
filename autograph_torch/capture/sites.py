"""What became of every branch and loop of a traced program.

The outcomes come from the trace itself (runtime/tracing.py records what was staged). The sites, and the reasons why one
was left alone, come from running the passes once more over the source of every function that the trace entered.
"""

from __future__ import annotations

import ast
import linecache
import os
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import gast
import torch

from autograph_torch.analysis.kinds import Kind, Kinds, imports_of, parameter_kinds
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.rewriting import Surroundings, rewrite_function
from autograph_torch.source.lookup import as_function
from autograph_torch.source.nodes import walk

PYTHON = "Python (decided while tracing)"
UNROLLED = "unrolled"
LEFT = "left alone"
UNTRACED = "unknown: the trace failed"

_CONSTRUCTS = {gast.If: "if", gast.IfExp: "ternary", gast.While: "while", gast.For: "for"}
_RECORDED_AS = {"if": "if", "ternary": "if", "while": "while", "for": "for"}
_PREDICATES = {Kind.TENSOR: "tensor", Kind.DYNAMIC: "tensor", Kind.SYMBOL: "number from data"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Record = tuple[str, int, str, str]  # file, line, construct, outcome


@dataclass(frozen=True)
class Site:
    """One branch or loop of the user's, and what it became."""

    file: str
    line: int
    construct: str
    predicate: str
    outcome: str
    reason: str = ""


@dataclass(frozen=True)
class _Function:
    """A function that was traced, with what the passes say about it."""

    file: str
    tree: gast.FunctionDef
    kinds: Kinds
    notes: dict[tuple[int, int], Diagnostic]  # by line and column; what was left alone hides what was rewritten


def sites_of(codes: Iterable[types.CodeType], records: Iterable[Record], failed: bool) -> tuple[Site, ...]:
    """Every branch and loop of the functions that were traced, in the order of their lines.

    Args:
        codes: code objects that the trace entered.
        records: what the runtime has staged.
        failed: whether the trace ended with an error, so that a site without a record may not have been reached.
    """
    staged = dict.fromkeys(records)
    places = [(code.co_filename, code.co_firstlineno, code.co_name) for code in codes]
    places += [(file, line, "") for file, line, *_ in staged]
    found: dict[Site, None] = {}
    told: set[Record] = set()
    for function in _functions(places):
        for site, its_records in _function_sites(function, staged, failed):
            told.update(its_records)
            if its_records or site.outcome == LEFT or not function.file.startswith(_TORCH):
                found[site] = None
    for record in staged:
        if record not in told:
            file, line, construct, outcome = record
            found[Site(file, line, "and/or" if construct == "if" else construct, "tensor", outcome)] = None
    files = list(dict.fromkeys(file for file, *_ in places))
    return tuple(sorted(found, key=lambda site: (files.index(site.file), site.line)))


def left_alone_at(file: str, line: int) -> Diagnostic | None:
    """Why the passes have left the statement on a line as it was, if they have."""
    notes = [note for function in _functions([(file, line, "")]) for note in function.notes.values()]
    return next((note for note in notes if note.code.startswith("AG2") and note.line == line), None)


def _function_sites(function: _Function, staged: Iterable[Record], failed: bool) -> Iterator[tuple[Site, list[Record]]]:
    for node in walk(function.tree):
        construct = _CONSTRUCTS.get(type(node))
        if construct is None:
            continue
        place = (function.file, node.lineno, _RECORDED_AS[construct])
        records = [record for record in staged if record[:3] == place]
        note = function.notes.get((node.lineno, _column(function.file, node)))
        kind = function.kinds.of(node.iter if isinstance(node, gast.For) else node.test)
        if records:
            outcome = ", ".join(dict.fromkeys(record[3] for record in records))
        else:
            outcome = _unstaged(construct, note, failed)
        predicate, reason = _predicate(kind, outcome), _reason(note, outcome)
        yield Site(function.file, node.lineno, construct, predicate, outcome, reason), records


def _unstaged(construct: str, note: Diagnostic | None, failed: bool) -> str:
    """What a site without a record became."""
    if note is not None and note.code.startswith("AG2"):
        return LEFT
    if failed:
        return UNTRACED
    return UNROLLED if construct in ("for", "while") else PYTHON


def _predicate(kind: Kind, outcome: str) -> str:
    if outcome in (PYTHON, UNROLLED):
        return "Python value"
    if kind in _PREDICATES:
        return _PREDICATES[kind]
    if outcome in (LEFT, UNTRACED):
        return "unknown" if kind == Kind.UNKNOWN else "Python value"
    return "data"


def _reason(note: Diagnostic | None, outcome: str) -> str:
    if outcome == LEFT and note is not None:
        return f"{note.code}: {note.message}" + (f"; {note.advice}" if note.advice else "")
    if outcome in (PYTHON, UNROLLED):
        return "rewritten, but known while tracing" if note else "known while tracing"
    return ""


def _functions(places: list[tuple[str, int, str]]) -> Iterator[_Function]:
    """The functions in which the places (file, line, name of the code) lie; those inside another one come with it."""
    for file in dict.fromkeys(file for file, *_ in places):
        lines = tuple(linecache.getlines(file))
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError, RecursionError):
            continue
        nodes = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
        wanted = [_enclosing(nodes, line, name) for where, line, name in places if where == file]
        chosen = list(dict.fromkeys(node for node in wanted if node is not None))
        inner = {child for node in chosen for child in ast.walk(node) if child is not node}
        around = Surroundings(file, lines, imports_of(gast.ast_to_gast(tree).body), assume_unknown=True)
        yield from (_analysed(node, around) for node in chosen if node not in inner)


def _enclosing(nodes: list[Function], line: int, name: str) -> Function | None:
    """The innermost function around a line, one of that name if there is one."""
    around = [node for node in nodes if _first_line(node) <= line <= _last_line(node)]
    named = [node for node in around if getattr(node, "name", "<lambda>") == name]
    return min(named or around, key=lambda node: _last_line(node) - node.lineno, default=None)


def _first_line(node: Function) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def _last_line(node: Function) -> int:
    return node.end_lineno or node.lineno


def _analysed(node: Function, around: Surroundings) -> _Function:
    tree = as_function(node)
    kinds = Kinds(around.imports, parameter_kinds(tree, is_method=False))
    kinds.infer(tree.body)
    notes: dict[tuple[int, int], Diagnostic] = {}
    for diagnostic in sorted(rewrite_function(tree, around).diagnostics, key=lambda found: found.code):
        notes[diagnostic.line, diagnostic.column] = diagnostic
    return _Function(around.filename, tree, kinds, notes)


def _column(file: str, node: gast.AST) -> int:
    """Where a node starts, counted as diagnostics do: in characters, from 1."""
    return len(linecache.getline(file, node.lineno).encode()[: node.col_offset].decode(errors="ignore")) + 1
