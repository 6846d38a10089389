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
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch._dynamo import config as dynamo_config
from torch._dynamo import convert_frame, external_utils, symbolic_convert
from torch._dynamo.variables import ConstantVariable
from torch._inductor import config as inductor_config
from torch.fx.experimental.symbolic_shapes import guard_scalar, has_free_unbacked_symbols

from autograph_torch.analysis.kinds import Kind
from autograph_torch.capture.arithmetic import ask_python
from autograph_torch.capture.assumptions import local_assumptions
from autograph_torch.capture.attempts import Attempt
from autograph_torch.capture.backend_flags import backend_flags
from autograph_torch.capture.body_gradients import gradients_of_their_own
from autograph_torch.capture.buffers import setter_of_buffers
from autograph_torch.capture.callers import fill_in_opened, following_values, watch_calls
from autograph_torch.capture.choices import CHOICES
from autograph_torch.capture.container_writes import fill_in_containers, watch_containers
from autograph_torch.capture.contents import contents_in_place, fill_in_contents
from autograph_torch.capture.ctc_losses import ctc_losses, know_sizes_of_losses
from autograph_torch.capture.deques import deques_with_lengths
from autograph_torch.capture.errors import translated, with_reason
from autograph_torch.capture.extremes import choosing_extremes
from autograph_torch.capture.failing_calls import failing_calls
from autograph_torch.capture.failures import keeping_inputs
from autograph_torch.capture.field_writes import allow_field_writes, fill_in_field, fill_in_kept, watch_twins
from autograph_torch.capture.flags import flags_as_integers
from autograph_torch.capture.flat_results import without_walking
from autograph_torch.capture.function_contexts import contexts_of_functions
from autograph_torch.capture.global_writes import allow_global_writes
from autograph_torch.capture.growing import LISTS
from autograph_torch.capture.grown import GROWN, ask_grown_lists
from autograph_torch.capture.guards import guards_once
from autograph_torch.capture.hosts import FILLED_IN, check_shown_objects, places_around
from autograph_torch.capture.indexing import indices_from_data
from autograph_torch.capture.instructions import keep_instructions
from autograph_torch.capture.lifting import numbers_as_tensors
from autograph_torch.capture.lists_of_tensors import lists_of_tensors
from autograph_torch.capture.log_sum_exp import sums_of_none
from autograph_torch.capture.merging import known_sizes
from autograph_torch.capture.mixed_types import check_types
from autograph_torch.capture.modes import leaving_modes
from autograph_torch.capture.natural_exponents import natural_exponents
from autograph_torch.capture.numbers import postpone_reads
from autograph_torch.capture.open_contents import OPEN_CONTENTS, write_open_containers
from autograph_torch.capture.out_arguments import write_behind
from autograph_torch.capture.plain_values import fill_in_plain
from autograph_torch.capture.policy import may_enter
from autograph_torch.capture.powers import exponents_as_tensors
from autograph_torch.capture.pure_branches import know_pure_branches
from autograph_torch.capture.python_calls import python_calls
from autograph_torch.capture.replacing import fill_in_replacing
from autograph_torch.capture.saved_operands import keep_operands
from autograph_torch.capture.second_gradients import refusing_second_gradients
from autograph_torch.capture.settling import OF_TWO_TYPES, fill_in_flags, settle
from autograph_torch.capture.size_arguments import size_arguments
from autograph_torch.capture.squeezes import squeezes
from autograph_torch.capture.standing_in import allow_stand_ins, fill_in
from autograph_torch.capture.symbols import pass_symbols
from autograph_torch.capture.torch_fixes import (
    allow_operators_in_checkpoints,
    floats_as_computed,
    floats_read_outside,
    groups_as_they_are,
    keep_checks_of_linalg,
    numbers_of_copies,
    places_of,
    places_of_results,
    places_of_views,
    remember_objects,
    repair_attribute_writes,
    repair_equality_of_flags,
    repair_lazy_properties,
    repair_names,
    repair_property_writes,
    types_of_parameters,
)
from autograph_torch.capture.views import views_in_bodies
from autograph_torch.capture.whole_numbers import EXPRESSION, whole_numbers
from autograph_torch.capture.written_modules import written_modules
from autograph_torch.codeobject import follows_calls, is_marked, marked, origin_of, unmarked, with_origin
from autograph_torch.diagnostics import CaptureError, SourceError
from autograph_torch.live import convert_code, is_filled
from autograph_torch.runtime import performing
from autograph_torch.runtime.codec import STANDS_FOR, code_of
from autograph_torch.runtime.structure import plain
from autograph_torch.runtime.tracing import growing, splitting

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
        setter = setter_of_buffers(code, parent, symbolic_locals)
        if setter is not None:
            _move_cells(parent.output.side_effects, code, setter, symbolic_locals)
            code = setter
        if STANDS_FOR(code):
            code = code_of(symbolic_locals["written"].as_python_constant()[0])
        code = without_walking(code, parent, symbolic_locals)
        if code is plain.__code__:
            symbolic_locals["number"] = _settled(symbolic_locals["number"])
        for filled_in in (FILLED_IN, CHOICES, OPEN_CONTENTS, LISTS, GROWN):
            if code in filled_in:
                symbolic_locals.update(filled_in[code](parent, symbolic_locals))
        fill_in(code, parent, symbolic_locals)
        fill_in_plain(code, parent, symbolic_locals)
        fill_in_contents(code, parent, symbolic_locals)
        fill_in_containers(code, parent, symbolic_locals)
        fill_in_replacing(code, parent, symbolic_locals)
        fill_in_field(code, parent, symbolic_locals)
        fill_in_kept(code, parent, symbolic_locals)
        fill_in_flags(code, parent, symbolic_locals)
        fill_in_opened(code, parent, symbolic_locals)
        original(self, parent, code, symbolic_locals, *args, **kw)

    setattr(_Translator, _INSTALLED, original)
    _Translator.__init__ = init  # type: ignore[method-assign]
    _compile_with_care()
    repair_attribute_writes()
    remember_objects()
    repair_names()
    repair_property_writes()
    repair_equality_of_flags()
    repair_lazy_properties()
    keep_checks_of_linalg()
    allow_operators_in_checkpoints()
    allow_stand_ins()
    allow_field_writes()
    allow_global_writes()
    watch_containers()
    write_open_containers()
    ask_grown_lists()
    watch_twins()
    watch_calls()
    know_pure_branches()
    know_sizes_of_losses()
    keep_instructions()


def _compile_with_care() -> None:
    """Whoever compiles a converted function, also with plain torch.compile, gets its errors and settings."""
    original = convert_frame._compile
    parameters = list(inspect.signature(original).parameters)[1:]
    position = parameters.index("compiler_fn")

    def one_graph(*args: Any, **kwargs: Any) -> bool:
        return bool({**dict(zip(parameters, args, strict=False)), **kwargs}["one_graph"])

    @functools.wraps(original)
    def compile_frame(code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
        plain = code
        if _alone and not is_marked(code) and may_enter(code):
            code = _frame_of_its_own(code, *args)
        if not is_marked(code) and not _wraps_converted(code, args[3]):
            return original(code, *args, **kwargs)
        args = (*args[:position], _improved(args[position]), *args[position + 1 :])

        def trace(attempt: Attempt) -> Any:
            new = _rewritten_for(attempt, code, *args)
            with places_of(plain, new):
                return original(new, *args, **kwargs)

        try:
            return _attempted(Attempt(), trace)
        except CaptureError:
            if not _alone or one_graph(*args, **kwargs):
                performing.cannot_restore()
                raise
        except Exception:
            performing.cannot_restore()
            raise
        return original(unmarked(plain), *args, **kwargs)  # what it calls gets a chance of its own

    convert_frame._compile = compile_frame


def _improved(backend: Callable[..., Any]) -> Callable[..., Any]:
    """A backend of torch.compile that is given our graphs; in a session with what `@autograph` adds around them."""
    chosen = performing.settings()

    @functools.wraps(backend)
    def compile_graph(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        if chosen is None or not chosen.asserts:
            settle(graph, refuse=bool(_attempts) and not _attempts[-1].settled)
        check_types(graph)
        keep_operands(graph)
        if not performing.is_looking():
            compiles = getattr(backend, "__name__", "") != "eager"
            exponents_as_tensors(graph, at_the_top=compiles)
            if compiles:
                write_behind(graph)
                ask_python(graph)
            postpone_reads(graph)
            if compiles:
                ask_python(graph, left_over=True)
                pass_symbols(graph)
        if chosen is not None:
            check_shown_objects()
        with places_of_results(backend), places_of_views(backend):
            compiled = backend(graph, inputs)
        run = refusing_second_gradients(graph, leaving_modes(graph, compiled))
        return run if chosen is None else keeping_inputs(graph, run)

    return compile_graph


def _wraps_converted(code: types.CodeType, closure: tuple[types.CellType, ...]) -> bool:
    """Whether it is the frame that torch.compile puts around functions of torch's own files (`torch.no_grad()(f)`),
    and what is wrapped there, however deep, is converted.
    """
    if code.co_filename != external_utils.__file__:
        return False
    inner = [inspect.unwrap(cell.cell_contents) for cell in closure]
    codes = [getattr(one, "__code__", getattr(type(one).__call__, "__code__", None)) for one in inner]
    return any(is_marked(found) for found in codes if found is not None)


_alone: list[bool] = []  # calls under way whose functions may become graphs of their own


@contextlib.contextmanager
def frames_of_their_own() -> Iterator[None]:
    """While this is in force, functions that Dynamo compiles by themselves, behind a break, are converted, too."""
    _alone.append(True)
    try:
        yield
    finally:
        _alone.pop()


def _frame_of_its_own(code: types.CodeType, globals_: Any, *args: Any) -> types.CodeType:
    try:
        new = marked(convert_code(code, _names(code, globals_, args[2]), {}, _named_effects()).code, follow=True)
    except SourceError:
        return code
    return new if new.co_freevars == code.co_freevars else code


def _names(code: types.CodeType, globals_: dict[str, Any], closure: Any) -> dict[str, Any]:
    cells = zip(code.co_freevars, closure or (), strict=True)
    return {**globals_, **{name: cell.cell_contents for name, cell in cells if is_filled(cell)}}


def _attempted(attempt: Attempt, trace: Callable[[Attempt], Any]) -> Any:
    """Trace until it succeeds, or until there is nothing more to be learned from the failures."""
    first: CaptureError | None = None
    settled: Attempt | None = None  # what succeeds where no attempt does without numbers that may be tensors
    while True:
        _attempts.append(attempt)
        try:
            with following_values() as callers, _settings(attempt):
                return trace(attempt)
        except CaptureError as error:
            diagnostic = error.diagnostic
            following = attempt.after(error, callers.get((diagnostic.filename, diagnostic.line)))
            if diagnostic.message == OF_TWO_TYPES:
                settled = settled or replace(attempt, settled=True)
            if following is None:
                following, settled = settled, None
            if following is None:
                explained = with_reason(error)
                if explained is error:
                    raise
                raise explained from error.__cause__
            attempt, first = following, first or error
        except AssertionError as error:
            if EXPRESSION in str(error) and not attempt.whole:
                attempt = replace(attempt, whole=True)
                continue
            if first is None or not attempt.enter_skipped:
                raise  # else torch's switch for skipped functions has not been up to it
            raise first from None
        finally:
            _attempts.pop()


_REPAIRS = (
    numbers_of_copies,
    views_in_bodies,
    python_calls,
    size_arguments,
    backend_flags,
    ctc_losses,
    floats_read_outside,
    guards_once,
    floats_as_computed,
    numbers_as_tensors,
    local_assumptions,
    known_sizes,
    gradients_of_their_own,
    indices_from_data,
    natural_exponents,
    flags_as_integers,
    choosing_extremes,
    deques_with_lengths,
    contexts_of_functions,
    written_modules,
    contents_in_place,
    groups_as_they_are,
    types_of_parameters,
    lists_of_tensors,
    sums_of_none,
)
_attempts: list[Attempt] = []  # the traces under way; the innermost last


def _rewritten_for(attempt: Attempt, code: types.CodeType, globals_: Any, *args: Any) -> types.CodeType:
    """The code of the function that is compiled, written anew when its own lines are concerned."""
    origin = origin_of(code)
    splits, growing = attempt.lines_in(code.co_filename)
    if origin is None or not (splits or growing):
        return code
    new = convert_code(origin, _names(code, globals_, args[2]), {}, _named_effects(), splits, growing).code
    new = with_origin(marked(new, follow=follows_calls(code)), origin)
    return new if new.co_freevars == code.co_freevars else code


_SET_BACK = ("layout_optimization", "joint_graph_constant_folding", "shape_padding")  # of Inductor's settings


@contextlib.contextmanager
def _settings(attempt: Attempt) -> Iterator[None]:
    """What holds while a converted function is compiled.

    Nested branches are nested calls of the tracer. Hooks that are added to a module later count, as they do in eager:
    torch.compile leaves that guard out by default. A branch may turn Inductor's choice of layouts and its folding of
    constants off (see runtime/gradients.py); they are back afterwards.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    chosen = {name: getattr(inductor_config, name) for name in _SET_BACK}
    try:
        with contextlib.ExitStack() as stack:
            for one in _REPAIRS:
                stack.enter_context(one())
            stack.enter_context(failing_calls(places_around))
            stack.enter_context(dynamo_config.patch(skip_nnmodule_hook_guards=False))
            stack.enter_context(dynamo_config.patch(dont_skip_tracing=attempt.enter_skipped))
            stack.enter_context(squeezes(attempt.checked_squeezes))
            if attempt.whole:
                stack.enter_context(whole_numbers())
            if attempt.trace_gradients:
                stack.enter_context(dynamo_config.patch(trace_autograd_ops=True))
            stack.enter_context(inductor_config.patch(chosen))
            stack.enter_context(splitting(attempt.splits))
            stack.enter_context(growing(bool(attempt.growing), attempt.first_trips))
            stack.enter_context(translated())
            yield
    finally:
        sys.setrecursionlimit(limit)


def _settled(variable: Any) -> Any:
    """A symbol whose value guards have settled, as a constant."""
    number = getattr(variable.realize(), "sym_num", None)
    return variable if number is None else ConstantVariable.create(guard_scalar(number))


def _below_converted(parent: Any) -> bool:
    """Whether some frame around is one that the user chose to convert, with calls included."""
    while parent is not None:
        if follows_calls(parent.f_code):
            return True
        parent = getattr(parent, "parent", None)
    return False


# Code objects that were reached -> what became of them, by what is known of their arguments. An entry lives as long as
# the function's code does; until then its globals are alive anyway.
_conversions: weakref.WeakKeyDictionary[types.CodeType, dict[Any, tuple[types.CodeType, Any]]] = (
    weakref.WeakKeyDictionary()
)


def _conversion(
    code: types.CodeType,
    seeds: frozenset[tuple[str, Kind]],
    globals_: dict[str, Any],
    splits: frozenset[int],
    growing: frozenset[int],
) -> types.CodeType:
    known = _conversions.setdefault(code, {})
    effects = _named_effects()
    key = (seeds, id(globals_), splits, growing, effects)
    if key not in known:
        try:
            new = convert_code(code, globals_, dict(seeds), effects, splits, growing).code
        except SourceError:
            new = marked(code)  # no source: traced as it is
        known[key] = new, globals_
    return known[key][0]


def _named_effects() -> frozenset[str]:
    """The last names of further functions that the user wants called for their effect."""
    chosen = performing.settings()
    return chosen.names if chosen is not None else frozenset()


def _converted(code: types.CodeType, symbolic_locals: dict[str, Any], function: Any) -> types.CodeType:
    seeds = []
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        kind = _kind(symbolic_locals.get(name))
        if kind is not None:
            seeds.append((name, kind))
    splits, growing = _attempts[-1].lines_in(code.co_filename) if _attempts else (frozenset(), frozenset())
    if splits or growing:
        own = {line for *_, line in code.co_lines() if line is not None}
        splits, growing = splits & own, growing & own
    return _conversion(code, frozenset(seeds), function.get_globals(), splits, growing)


def _kind(variable: Any) -> Kind | None:
    """What the tracer knows of an argument."""
    if variable is None:
        return None
    if variable.is_tensor():
        return Kind.DYNAMIC if not _is_lazy(variable) and _from_data(variable) else Kind.TENSOR
    if variable.is_python_constant() and not _is_lazy(variable):
        return Kind.PYTHON
    if type(variable).__name__ == "SymNodeVariable" and _from_data(variable):
        return Kind.SYMBOL
    return None


def _from_data(variable: Any) -> bool:
    """Whether a number, or a size of a tensor, is known only when the graph runs."""
    return has_free_unbacked_symbols(variable.as_proxy().node.meta["example_value"])


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
