"""Writing down the types that branches and loops have while an example runs.

The functions of a file run in the form that the shared passes give them, with `ag.cond`, `ag.while_loop` and
`ag.for_loop` handed over to an `Observer`, which does what the runtime does and takes notes.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import torch
from torch.overrides import TorchFunctionMode

from autograph_torch import runtime
from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import imports_of
from autograph_torch.analysis.seen import NumberType, OtherType, Site, TensorType, TupleType, Type, joined
from autograph_torch.codeobject import compile_tree
from autograph_torch.diagnostics import ConversionError, Diagnostic
from autograph_torch.knowledge import site_key
from autograph_torch.passes.torch_branches import RANDOM
from autograph_torch.pipeline import outermost_functions
from autograph_torch.rewriting import RUNTIME_IMPORT, Surroundings, rewrite_function
from autograph_torch.source.directives import Directives
from autograph_torch.source.file import SourceFile
from autograph_torch.source.lookup import Located, as_function
from autograph_torch.source.nodes import derive, name, rebuild
from autograph_torch.source.templates import call, constant, runtime_function
from autograph_torch.torch_target import SHARED
from autograph_torch.trial.loading import module_code

_OBSERVED = ("cond", "while_loop", "for_loop")
OBSERVER = "autograph_torch_observer"  # the global name that observed code reports to
_CHANGES_BUFFERS = frozenset(("batch_norm", "instance_norm"))


class Observer:
    """What an example has shown of the branches and loops of one file."""

    def __init__(self) -> None:
        self.sites: dict[str, Site] = {}

    def cond(self, key: str, pred: Any, then: Any, *rest: Any, **groups: Any) -> Any:
        self._note(key, sys._getframe(1), pred)
        others: list[Any] = [*(self._arm(key, "otherwise", arm) for arm in rest[:1]), *rest[1:]]
        return runtime.cond(pred, self._arm(key, "then", then), *others, **groups)

    def while_loop(self, key: str, test: Any, body: Any, carry: tuple[Any, ...], **groups: Any) -> Any:
        frame = sys._getframe(1)
        self._note(key, frame, None)

        def noted(*state: Any) -> Any:
            flag = test(*state)
            self._note(key, frame, flag)
            return flag

        return runtime.while_loop(noted, self._arm(key, "body", body), carry, **groups)

    def for_loop(self, key: str, iterable: Any, body: Any, carry: tuple[Any, ...], **groups: Any) -> Any:
        self._note(key, sys._getframe(1), None)
        return runtime.for_loop(iterable, self._arm(key, "body", body), carry, **groups)

    def _note(self, key: str, frame: types.FrameType, test: Any) -> None:
        site = self.sites.get(key, Site())
        names = {n: joined(site.names.get(n), type_of(value)) for n, value in frame.f_locals.items()}
        kind = site.test if test is None else joined(site.test, type_of(test))
        self.sites[key] = Site({**site.names, **names}, kind, site.results, site.calls)

    def _arm(self, key: str, role: str, arm: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*values: Any) -> Any:
            with _Calls() as called:
                result = arm(*values)
            site = self.sites[key]
            kind = joined(site.results.get(role), type_of(result))
            calls = tuple(sorted({*site.calls, *called.found}))
            self.sites[key] = Site(site.names, site.test, {**site.results, role: kind}, calls)
            return result

        return noted


class _Calls(TorchFunctionMode):
    """Functions called while it lasts that draw random numbers or may change a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        called = getattr(func, "__name__", "")
        if called in RANDOM or called in _CHANGES_BUFFERS or (kwargs or {}).get("dropout_p"):
            self.found.add(called)
        return func(*args, **(kwargs or {}))


def type_of(value: Any) -> Type:
    """The type of a value, as far as torch's operators ask for it."""
    if isinstance(value, torch.Tensor):
        return TensorType(str(value.dtype).removeprefix("torch."), value.ndim, str(value.device))
    if type(value) in (bool, int, float):
        return NumberType(type(value).__name__)
    if type(value) is tuple:
        return TupleType(tuple(type_of(part) for part in value))
    return OtherType("None" if value is None else f"a value of type {type(value).__name__}")


def observed_code(source: SourceFile) -> types.CodeType:
    """The code of a module whose branches and loops report to the global name `OBSERVER`."""
    directives = Directives.read(source.text, source.filename, source.tree)
    around = Surroundings(
        filename=source.filename,
        lines=source.lines,
        imports=imports_of([gast.ast_to_gast(source.tree)]),
        assume_unknown=True,
        skipped_lines=directives.skipped_lines,
        passes=OBSERVED,
    )
    rewritten = [
        rewrite_function(gast.ast_to_gast(node), around, is_method=own is not None)
        for node, own in outermost_functions(source.tree)
        if not directives.skip_file and node.lineno not in directives.skipped_lines
    ]
    return module_code(source, rewritten, [RUNTIME_IMPORT])


def _report_to_observer(tree: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    def visit(node: gast.AST) -> gast.AST:
        if runtime_function(node) in _OBSERVED:
            callee = gast.Attribute(value=name(OBSERVER), attr=node.func.attr, ctx=gast.Load())
            arguments = [visit(argument) for argument in node.args]
            new = call(callee, constant(site_key(node)), *arguments)
            new.keywords = node.keywords
            return derive(node, func=new.func, args=new.args, keywords=new.keywords)
        return rebuild(node, visit)

    return rebuild(tree, visit)


OBSERVED = (*SHARED, _report_to_observer)


def seen_in(
    function: types.FunctionType, located: Located, around: Surroundings, example: Callable[[], object]
) -> dict[str, Site]:
    """What a live function shows of its branches and loops while `example` runs, which calls it.

    Raises:
        ConversionError: AG330, its code cannot be exchanged for the observed one.
    """
    observer = Observer()
    watched = replace(around, assume_unknown=True, passes=OBSERVED)
    rewritten = rewrite_function(as_function(located.node), watched, is_method=located.owner is not None)
    before = function.__code__
    code = compile_tree(rewritten.tree, before, located.filename, located.owner)
    if code.co_freevars != before.co_freevars:
        reason = f"the code of `{function.__name__}` cannot be exchanged for the observed one"
        raise ConversionError(
            Diagnostic("AG330", located.filename, located.node.lineno, 1, located.node.lineno, reason)
        )
    function.__globals__[OBSERVER] = observer
    function.__code__ = code
    try:
        example()
    finally:
        function.__code__ = before
        del function.__globals__[OBSERVER]
    return observer.sites
