"""One function through the compiler: analyses, then the passes in their order. Both ends of the compiler start here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

import gast

from autograph_torch.analysis.class_code import ClassCode
from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Imports, Kind, Kinds, parameter_kinds
from autograph_torch.analysis.nesting import nesting
from autograph_torch.analysis.scopes import FUNCTIONS, SCOPES, walk_scope
from autograph_torch.analysis.told import UNTOLD, Told
from autograph_torch.diagnostics import NOTES, Diagnostic
from autograph_torch.passes import PASSES, Pass, has_work
from autograph_torch.passes.bounded import bound_lists
from autograph_torch.passes.effects import lower_effects
from autograph_torch.passes.exits import move_exits
from autograph_torch.passes.handlers import jump_to_handlers
from autograph_torch.passes.names import number_in_reading_order
from autograph_torch.passes.numbers import lower_numbers
from autograph_torch.passes.open_calls import open_calls
from autograph_torch.passes.queries import lower_queries
from autograph_torch.passes.supers import spell_out_super
from autograph_torch.passes.undefined import declare_handed, spell_out_unbound
from autograph_torch.source.nodes import rebuild, statements, walk
from autograph_torch.source.templates import RUNTIME, runtime_function

_ON_ONE_PATH: tuple[Pass, ...] = (lower_effects, lower_numbers, lower_queries)  # what is not about paths
RUNTIME_IMPORT = f"import autograph_torch.runtime as {RUNTIME}"
_MOVED = "AG102"
_SHOWS_NAMES = ("locals", "vars", "dir")  # without arguments
_EVALUATES = ("eval", "exec")
_LEFT = ("AG202", "AG203", "AG207")  # a jump or an exception that the passes have found no form for


@dataclass(frozen=True)
class Surroundings:
    """What is known around a function: its file, the names in reach, and what may not be rewritten."""

    filename: str
    lines: tuple[str, ...]
    imports: Imports
    outer: Mapping[str, Kind] = field(default_factory=dict)
    assume_unknown: bool = False
    skipped_lines: frozenset[int] = frozenset()
    passes: tuple[Pass, ...] = PASSES
    told: Told = UNTOLD
    effects: frozenset[str] = frozenset()
    deepest: int | None = None
    class_code: ClassCode | None = None  # for a file; elsewhere a trace knows the classes
    for_trace: bool = False  # whether what is made is never run by Python


@dataclass(frozen=True)
class Rewritten:
    """A function before and after; the same object twice when there was nothing to do."""

    original: gast.FunctionDef
    tree: gast.FunctionDef
    diagnostics: tuple[Diagnostic, ...]

    @property
    def changed(self) -> bool:
        return self.tree is not self.original


def rewrite_function(
    function: gast.FunctionDef, around: Surroundings, seeds: Mapping[str, Kind] | None = None, is_method: bool = False
) -> Rewritten:
    """Run every pass over one function, nested functions first.

    Args:
        function: the tree, positions kept; never changed.
        around: what is known about its surroundings.
        seeds: kinds of parameters, where the caller knows more than the signature says.
        is_method: whether the first parameter is the object.

    Raises:
        ValueError: more branches stand inside each other than `around` allows.
    """
    known = {**parameter_kinds(function, is_method), **(seeds or {})}
    kinds = Kinds(around.imports, known, around.outer, around.assume_unknown, around.told.picks)
    bounded = bound_lists(function, _facts(function, around, kinds))  # while nothing but the text holds a list
    moved = move_exits(bounded, around.told.splits | around.told.growing, around.skipped_lines)
    opened = open_calls(moved, around.told.splits)
    kinds.infer(opened.body)
    # Before the passes: behind it other names may be unbound where they are read.
    handled = jump_to_handlers(opened, _facts(opened, around, kinds))
    tree, diagnostics = _lowered(handled, around, kinds)
    if handled is not opened and (tree is handled or any(found.code in _LEFT for found in diagnostics)):
        tree, diagnostics = _lowered(opened, around, kinds)  # jumps alone are no gain
    if tree is function:
        diagnostics = [found for found in diagnostics if found.code not in NOTES]
    elif (kept := _must_stay(function, kinds)) is not None:
        facts, tree = _facts(function, around, kinds), function
        facts.report("AG201", *kept)
        diagnostics = facts.diagnostics
    return Rewritten(function, tree, tuple(sorted(diagnostics, key=lambda d: (d.line, d.column, d.code))))


def _must_stay(function: gast.FunctionDef, kinds: Kinds) -> tuple[gast.AST, str, str] | None:
    """What keeps a function as it is, with the message and advice."""
    if (shown := _shown_names(function, kinds)) is not None:
        advice = "keep what you want to ask for in a dict of your own"
        return shown, "a function whose names are looked at stays as it is", advice
    group = next((node for node in walk(function) if isinstance(node, gast.TryStar)), None)
    if group is not None:
        return group, "a function with `except*` stays as it is", "move it into a function of its own"
    return None


def _shown_names(function: gast.FunctionDef, kinds: Kinds) -> gast.Call | None:
    """A call that sees which names the function has, and in which frame: others would be there behind the passes."""
    for node in walk(function):
        if isinstance(node, gast.Call) and kinds.is_builtin(node.func, _EVALUATES if node.args else _SHOWS_NAMES):
            return node
    return None


def _lowered(
    function: gast.FunctionDef, around: Surroundings, kinds: Kinds
) -> tuple[gast.FunctionDef, list[Diagnostic]]:
    """The function after the passes, and what they say; the functions inside of it first."""
    diagnostics: list[Diagnostic] = []
    tree = _rewrite_nested(function, around, kinds, diagnostics)
    done, facts = _run_passes(tree, function, around, kinds)
    if done is not tree:
        checked = spell_out_unbound(tree, frozenset(facts.undefined))
        if checked is not tree:
            done, facts = _run_passes(checked, function, around, kinds)
    return done, [*diagnostics, *facts.diagnostics]


def _facts(function: gast.FunctionDef, around: Surroundings, kinds: Kinds) -> Facts:
    return Facts(
        function=function,
        kinds=kinds,
        filename=around.filename,
        lines=around.lines,
        assume_unknown=around.assume_unknown,
        for_trace=around.for_trace,
        skipped_lines=around.skipped_lines,
        told=around.told,
        effects=around.effects,
        class_code=around.class_code,
    )


def _run_passes(
    tree: gast.FunctionDef, function: gast.FunctionDef, around: Surroundings, kinds: Kinds
) -> tuple[gast.FunctionDef, Facts]:
    facts = _facts(function, around, kinds)
    asked = bool(facts.told.growing or facts.told.positions)
    if not facts.told and not has_work(tree, facts):
        return tree, facts
    if around.deepest is not None and nesting(tree.body, facts) > around.deepest:
        raise ValueError(f"more than {around.deepest} tests on tensors stand inside each other")
    done = tree
    for lower in _ON_ONE_PATH if around.told.one_path else around.passes:
        done = lower(done, facts)
    if not asked and all(
        code == _MOVED or not code.startswith("AG1") for code in (found.code for found in facts.diagnostics)
    ):
        kept = [found for found in facts.diagnostics if found.code != _MOVED]
        return tree, replace(facts, diagnostics=kept, undefined={})  # moved statements alone are no gain
    done = declare_handed(tree, done, facts)
    return number_in_reading_order(spell_out_super(done), facts.fresh), facts


def _rewrite_nested(
    function: gast.FunctionDef, around: Surroundings, kinds: Kinds, diagnostics: list[Diagnostic]
) -> gast.FunctionDef:
    """The function with the functions inside it rewritten, each with what is known about its surroundings."""
    if not any(isinstance(node, SCOPES) for node in islice(statements(function), 1, None)):
        return function
    inner = replace(around, imports=kinds.imports_inside(), outer=kinds.names())
    # What a file hands to the runtime has been converted, with all that was known around it.
    handed = frozenset(() if around.assume_unknown else _handed_to_runtime(function))

    def visit(node: gast.AST) -> gast.AST:
        if isinstance(node, FUNCTIONS) and node.name in handed:
            return node
        if isinstance(node, FUNCTIONS) and node.lineno not in around.skipped_lines:
            rewritten = rewrite_function(node, inner)
            diagnostics.extend(rewritten.diagnostics)
            return rewritten.tree
        return rebuild(node, visit)

    return rebuild(function, visit)


def _handed_to_runtime(function: gast.FunctionDef) -> Iterator[str]:
    """Names that are arguments of `ag.cond(...)` and the like."""
    for node in walk_scope(function.body):
        if runtime_function(node):
            yield from (argument.id for argument in node.args if isinstance(argument, gast.Name))
            yield from (keyword.value.id for keyword in node.keywords if isinstance(keyword.value, gast.Name))
