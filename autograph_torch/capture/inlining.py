"""Functions that Dynamo inlines below a converted function are converted when they are reached.

This is the one file that hooks into Dynamo (private: `torch._dynamo.symbolic_convert.InliningInstructionTranslator`,
and `torch._dynamo.convert_frame._compile` to translate its errors).
Wrapping every call in the text instead (as TF AutoGraph does) would miss what has no call in the text: properties,
operators, hooks, iterators, context managers; it cannot convert local functions that close over tensors; and it puts a
wrapper around every call. Here each function is looked at once, and only those with control flow on data get new code.

The hook acts only below a frame whose code carries our mark, so other compilations of the process are untouched.
tests/capture/test_inlining.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import config as dynamo_config
from torch._dynamo import convert_frame, symbolic_convert
from torch._inductor import config as inductor_config

from autograph_torch.analysis.kinds import Kind
from autograph_torch.capture.errors import translated
from autograph_torch.capture.failures import keeping_inputs
from autograph_torch.capture.hosts import FILLED_IN, check_shown_objects
from autograph_torch.capture.numbers import postpone_reads
from autograph_torch.capture.policy import may_enter
from autograph_torch.capture.torch_fixes import repair_attribute_writes, unique_names
from autograph_torch.codeobject import follows_calls, is_marked
from autograph_torch.diagnostics import SourceError
from autograph_torch.live import Conversion, convert_code
from autograph_torch.runtime import performing

_Translator = symbolic_convert.InliningInstructionTranslator
_RECURSION_LIMIT = 20_000
_INSTALLED = "_autograph_torch_original_init"


def install(required: bool = True) -> None:
    """Put the hooks in place (once for the process).

    Args:
        required: whether calls are to be followed; without, an unknown torch is no error.

    Raises:
        RuntimeError: this version of torch does not have what the hook needs.
    """
    if hasattr(_Translator, _INSTALLED):
        return
    original = _Translator.__init__
    parameters = list(original.__code__.co_varnames[: original.__code__.co_argcount])
    if parameters[:4] != ["self", "parent", "code", "symbolic_locals"]:
        if not required:
            return
        raise RuntimeError(
            "autograph-torch does not know this version of torch: InliningInstructionTranslator.__init__ takes "
            f"{parameters}; use a torch from 2.11 to 2.13, or autograph(..., recursive=False)"
        )

    @functools.wraps(original)
    def init(
        self: Any, parent: Any, code: types.CodeType, symbolic_locals: dict[str, Any], *args: Any, **kw: Any
    ) -> None:
        if not is_marked(code) and may_enter(code) and _below_converted(parent):
            new = _converted(code, symbolic_locals, args[3] if len(args) > 3 else kw.get("funcvar"))
            _move_cells(parent.output.side_effects, code, new, symbolic_locals)
            code = new
        if code in FILLED_IN:
            symbolic_locals.update(FILLED_IN[code](parent, symbolic_locals))
        original(self, parent, code, symbolic_locals, *args, **kw)

    setattr(_Translator, _INSTALLED, original)
    _Translator.__init__ = init  # type: ignore[method-assign]
    _compile_with_care()
    repair_attribute_writes()


def _compile_with_care() -> None:
    """Whoever compiles a converted function, also with plain torch.compile, gets its errors and settings."""
    original = convert_frame._compile
    position = list(inspect.signature(original).parameters).index("compiler_fn") - 1

    @functools.wraps(original)
    def compile_frame(code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
        if not is_marked(code):
            return original(code, *args, **kwargs)
        if performing.settings() is not None:
            args = (*args[:position], _improved(args[position]), *args[position + 1 :])
        with _settings():
            return original(code, *args, **kwargs)

    convert_frame._compile = compile_frame


def _improved(backend: Callable[..., Any]) -> Callable[..., Any]:
    """A backend of torch.compile that is given our graphs, and what `@autograph` adds around them."""

    @functools.wraps(backend)
    def compile_graph(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        check_shown_objects()
        postpone_reads(graph)
        return keeping_inputs(graph, backend(graph, inputs))

    return compile_graph


@contextlib.contextmanager
def _settings() -> Iterator[None]:
    """What holds while a converted function is compiled.

    Nested branches are nested calls of the tracer. Hooks that are added to a module later count, as they do in eager:
    torch.compile leaves that guard out by default. A branch may turn Inductor's choice of layouts off (see
    runtime/gradients.py); it is back afterwards.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    layouts = inductor_config.patch(layout_optimization=inductor_config.layout_optimization)
    try:
        with translated(), unique_names(), dynamo_config.patch(skip_nnmodule_hook_guards=False), layouts:
            yield
    finally:
        sys.setrecursionlimit(limit)


def _below_converted(parent: Any) -> bool:
    """Whether some frame around is one that the user chose to convert, with calls included."""
    while parent is not None:
        if follows_calls(parent.f_code):
            return True
        parent = getattr(parent, "parent", None)
    return False


@functools.lru_cache(maxsize=4096)
def _conversion(
    code: types.CodeType, tensors: frozenset[str], pythons: frozenset[str], globals_: Any, effects: frozenset[str]
) -> Conversion:
    seeds = {**dict.fromkeys(tensors, Kind.TENSOR), **dict.fromkeys(pythons, Kind.PYTHON)}
    try:
        return convert_code(code, globals_.names, seeds, effects)
    except SourceError:
        return Conversion(code, ())  # no source: traced as it is


class _Globals:
    """Globals of a module as a key that hashes by identity."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def __hash__(self) -> int:
        return id(self.names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Globals) and other.names is self.names


def _converted(code: types.CodeType, symbolic_locals: dict[str, Any], function: Any) -> types.CodeType:
    if not code.co_names and not code.co_cellvars and len(code.co_code) < 16:
        return code
    tensors, pythons = set(), set()
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        variable = symbolic_locals.get(name)
        if variable is None:
            continue
        if variable.is_tensor():
            tensors.add(name)
        elif variable.is_python_constant() and not _is_lazy(variable):
            pythons.add(name)
    key = _Globals(function.get_globals())
    chosen = performing.settings()
    effects = chosen.names if chosen is not None else frozenset()
    return _conversion(code, frozenset(tensors), frozenset(pythons), key, effects).code


def _is_lazy(variable: Any) -> bool:
    """A value that Dynamo has not looked at yet: looking would add guards."""
    return type(variable).__name__ == "LazyVariableTracker" and not variable.is_realized()


def _move_cells(side_effects: Any, old: types.CodeType, new: types.CodeType, symbolic_locals: dict[str, Any]) -> None:
    """Dynamo has put captured parameters into cells after the old code; the new code captures others."""
    for name in set(old.co_cellvars) - set(new.co_cellvars):
        if name in symbolic_locals:
            cell = symbolic_locals.pop(name)
            if name in old.co_varnames:
                symbolic_locals[name] = side_effects.load_cell(cell)
    for name in set(new.co_cellvars) - set(old.co_cellvars):
        cell = side_effects.track_cell_new()
        if name in symbolic_locals:
            side_effects.store_cell(cell, symbolic_locals.pop(name))
        symbolic_locals[name] = cell
