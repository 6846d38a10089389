"""The compilation of a converted function, by whoever asks for it: its settings, attempts, errors and graphs.

Private: `torch._dynamo.convert_frame._compile` and what it returns, and what the repairs say at their tops. It is put
around Dynamo's own once for the process, and acts on code that carries our mark only, so other compilations are
untouched.
tests/capture/test_inlining.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from torch._dynamo import config as dynamo_config
from torch._dynamo import convert_frame, external_utils
from torch._dynamo.types import ConvertFrameReturn
from torch._inductor import config as inductor_config

from autograph_torch import collector, runtime
from autograph_torch.capture.absent_gradients import check_gradients
from autograph_torch.capture.advanced_iterators import advanced_iterators
from autograph_torch.capture.again import (
    compiling_frame,
    frame_under_way,
    handles_exceptions,
    install_hook,
    run_in_python,
)
from autograph_torch.capture.aliases import aliases
from autograph_torch.capture.appended_lists import appended_lists
from autograph_torch.capture.applied_functions import applied_functions
from autograph_torch.capture.arithmetic import ask_python
from autograph_torch.capture.asked_properties import asked_properties
from autograph_torch.capture.assertions import assertions
from autograph_torch.capture.assumed_sizes import assumed_sizes
from autograph_torch.capture.assumptions import local_assumptions
from autograph_torch.capture.attempts import ONE_PATH, Attempt, attempt_under_way, under_way
from autograph_torch.capture.attribute_order import attribute_order
from autograph_torch.capture.attribute_uses import noted_uses
from autograph_torch.capture.attributes_of_numbers import attributes_of_numbers
from autograph_torch.capture.backend_flags import backend_flags
from autograph_torch.capture.body_gradients import gradients_of_their_own
from autograph_torch.capture.bound_methods import bound_methods
from autograph_torch.capture.caches import caches
from autograph_torch.capture.caches_given import RunsInPython, caches_given
from autograph_torch.capture.callers import following_values
from autograph_torch.capture.changing_integers import changing_integers
from autograph_torch.capture.checkpoints import checkpoints
from autograph_torch.capture.chosen_numbers import chosen_numbers, lines_of_numbers
from autograph_torch.capture.class_attributes import class_attributes
from autograph_torch.capture.compared_in_c import compared_in_c
from autograph_torch.capture.compensated_sums import compensated_sums
from autograph_torch.capture.consecutive_groups import groups_followed
from autograph_torch.capture.constant_tuples import constant_tuples
from autograph_torch.capture.contents import contents_in_place
from autograph_torch.capture.conversions import frame_of_its_own, rewritten_for
from autograph_torch.capture.ctc_losses import ctc_losses
from autograph_torch.capture.cut_at_hooks import cut_at_hooks
from autograph_torch.capture.cuts import gradients_through_cuts
from autograph_torch.capture.data_pointers import data_pointers
from autograph_torch.capture.deep_copies import deep_copies
from autograph_torch.capture.deletions import deletions
from autograph_torch.capture.deques import deques_with_lengths
from autograph_torch.capture.derived_constructors import derived_constructors
from autograph_torch.capture.derived_containers import derived_containers
from autograph_torch.capture.derived_deques import derived_deques
from autograph_torch.capture.derived_floats import derived_floats
from autograph_torch.capture.derived_sets import derived_sets
from autograph_torch.capture.dict_copies import dict_copies
from autograph_torch.capture.dict_keys import dict_keys
from autograph_torch.capture.dicts_written import dicts_written
from autograph_torch.capture.draws import noted_draws
from autograph_torch.capture.eager_bodies import leave_to_python
from autograph_torch.capture.empty_dicts import empty_dicts
from autograph_torch.capture.empty_tensors import empty_tensors
from autograph_torch.capture.ended_iterators import ended_iterators
from autograph_torch.capture.entered_objects import entered_objects
from autograph_torch.capture.entering import entering
from autograph_torch.capture.enum_members import enum_members
from autograph_torch.capture.equal_constants import equal_constants
from autograph_torch.capture.equal_keys import equal_keys
from autograph_torch.capture.error_objects import error_objects
from autograph_torch.capture.errors import (
    RaisedOnPath,
    is_of_operator,
    is_of_user_code,
    is_unbound,
    located,
    own_mistakes,
    raised_on_path,
    raises_whatever_the_data,
    translated,
    with_reason,
)
from autograph_torch.capture.errors_given import errors_given
from autograph_torch.capture.evaluated_statistics import check_statistics
from autograph_torch.capture.extremes import choosing_extremes
from autograph_torch.capture.facts_of_types import facts_of_types
from autograph_torch.capture.failing_calls import failing_calls
from autograph_torch.capture.failures import keeping_inputs, may_raise
from autograph_torch.capture.filled_tensors import filled_tensors
from autograph_torch.capture.fitted_frames import fitted
from autograph_torch.capture.flags import flags_as_integers
from autograph_torch.capture.formatted import texts_of_numbers
from autograph_torch.capture.frozen_tensors import frozen_tensors
from autograph_torch.capture.function_attributes import function_attributes
from autograph_torch.capture.function_contexts import contexts_of_functions
from autograph_torch.capture.functional_gradients import functional_gradients
from autograph_torch.capture.functions_as_constants import functions_as_constants
from autograph_torch.capture.functions_given import functions_given
from autograph_torch.capture.given_back import Substitutes, giving_back, tell_given_back
from autograph_torch.capture.given_numbers import given_numbers
from autograph_torch.capture.gradients_in_bodies import gradients_in_bodies
from autograph_torch.capture.graph_limit import refuse_beyond_limit
from autograph_torch.capture.guards import guards_once
from autograph_torch.capture.hooks_of_all_modules import hooks_of_all_modules
from autograph_torch.capture.hosts import check_shown_objects, places_around
from autograph_torch.capture.identities import identities
from autograph_torch.capture.indexing import indices_from_data
from autograph_torch.capture.instance_dicts import instance_dicts
from autograph_torch.capture.iterables_asked import iterables_asked
from autograph_torch.capture.kept_asserts import keep_asserts
from autograph_torch.capture.kept_inputs import without_kept
from autograph_torch.capture.kept_nothing import kept_nothing
from autograph_torch.capture.keywords_given_twice import keywords_given_twice
from autograph_torch.capture.known_torch import is_before, known_torch, refuse_newer_torch
from autograph_torch.capture.laid_out import laid_out
from autograph_torch.capture.leaf_hooks import leaf_hooks, minding_hooks
from autograph_torch.capture.leaves_made import given_leaves, giving_leaves, leaves_made
from autograph_torch.capture.leaves_outside import leaves_outside
from autograph_torch.capture.left_blocks import left_blocks
from autograph_torch.capture.left_generators import left_generators
from autograph_torch.capture.lifting import numbers_as_tensors
from autograph_torch.capture.lists_in_themselves import lists_in_themselves
from autograph_torch.capture.lists_of_tensors import lists_of_tensors
from autograph_torch.capture.locks import locks
from autograph_torch.capture.log_states import check_log_states
from autograph_torch.capture.long_numbers import long_numbers
from autograph_torch.capture.lookups import lookups
from autograph_torch.capture.math_functions import math_functions
from autograph_torch.capture.membership import membership
from autograph_torch.capture.memories_given import agree_on_memories
from autograph_torch.capture.merging import known_sizes
from autograph_torch.capture.met import meeting
from autograph_torch.capture.metaclass_calls import metaclass_calls
from autograph_torch.capture.mixed_types import check_types
from autograph_torch.capture.modes import leaving_modes
from autograph_torch.capture.module_hooks import hooks_of_modules
from autograph_torch.capture.namespaces import namespaces
from autograph_torch.capture.natural_exponents import natural_exponents
from autograph_torch.capture.not_numbers import not_numbers
from autograph_torch.capture.number_or_tensor import number_or_tensor
from autograph_torch.capture.numbers import postpone_reads
from autograph_torch.capture.numpy_scalars import numpy_scalars
from autograph_torch.capture.objects_truth import truth_of_objects
from autograph_torch.capture.observed_data import fails_before, observed_data
from autograph_torch.capture.one_path import can_follow, may_follow, one_path, warn_of_path
from autograph_torch.capture.open_classes import open_classes
from autograph_torch.capture.operators_of_objects import operators_of_objects
from autograph_torch.capture.optimizers import optimizers
from autograph_torch.capture.out_arguments import write_behind
from autograph_torch.capture.parameters_made import check_writes_beside, parameters_made
from autograph_torch.capture.picked_constants import picked_constants
from autograph_torch.capture.policy import may_enter
from autograph_torch.capture.powers import exponents_as_tensors
from autograph_torch.capture.presence import presence
from autograph_torch.capture.print_options import check_print_options
from autograph_torch.capture.process_settings import process_settings
from autograph_torch.capture.python_calls import python_calls
from autograph_torch.capture.python_errors import python_errors
from autograph_torch.capture.python_random import python_random
from autograph_torch.capture.raised_places import places_of_raises
from autograph_torch.capture.read_again import read_again
from autograph_torch.capture.recurrent import check_recurrent, recurrent_layers
from autograph_torch.capture.replaced_instructions import replaced_instructions
from autograph_torch.capture.reshaped import reshaped_tensors
from autograph_torch.capture.saved_operands import keep_operands
from autograph_torch.capture.searches import Search, search_of
from autograph_torch.capture.second_gradients import refusing_second_gradients
from autograph_torch.capture.self_dicts import self_dicts
from autograph_torch.capture.separate_memories import separate_memories
from autograph_torch.capture.sequence_order import sequences_in_order
from autograph_torch.capture.set_arguments import set_arguments
from autograph_torch.capture.sets import sets_in_order
from autograph_torch.capture.settling import OF_TWO_TYPES, settle
from autograph_torch.capture.signatures import signatures
from autograph_torch.capture.size_arguments import size_arguments
from autograph_torch.capture.spent import spent_results
from autograph_torch.capture.squeezes import squeezes
from autograph_torch.capture.stack_traces import stack_traces
from autograph_torch.capture.starred_targets import starred_targets
from autograph_torch.capture.symbols import pass_symbols
from autograph_torch.capture.targets_with_gaps import targets_with_gaps
from autograph_torch.capture.tensor_subclasses import tensor_subclasses
from autograph_torch.capture.tensors_given import tensors_given
from autograph_torch.capture.torch_fixes import (
    code_in_closures,
    floats_as_computed,
    floats_read_outside,
    functions_of_constants,
    integers_of_constants,
    inverted_integers,
    know_places,
    lengths_without_dimensions,
    numbers_of_copies,
    operators_of_old,
    places_of,
    powers_of_any_sign,
    reasons_for_new_traces,
    truth_of_lengths,
    types_of_parameters,
)
from autograph_torch.capture.torch_random import torch_random
from autograph_torch.capture.two_places import one_behind_the_graph
from autograph_torch.capture.unasked_contents import unasked_contents
from autograph_torch.capture.unbound_arguments import unbound_arguments
from autograph_torch.capture.unhooked_graphs import unhooked_graphs
from autograph_torch.capture.unused_numbers import unused_numbers
from autograph_torch.capture.views import views_in_bodies
from autograph_torch.capture.whole_bounds import whole_bounds
from autograph_torch.capture.whole_numbers import is_of_whole_number, whole_numbers
from autograph_torch.capture.written_data import written_data
from autograph_torch.capture.written_in_place import tensors_written_in_place
from autograph_torch.capture.written_modules import written_modules
from autograph_torch.codeobject import is_marked, unmarked
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime import performing
from autograph_torch.runtime.places import in_runtime_folder
from autograph_torch.runtime.tracing import Known, knowing

_RECURSION_LIMIT = 20_000
_SET_BACK = ("layout_optimization", "joint_graph_constant_folding", "shape_padding")  # of Inductor's settings


def compile_with_care() -> None:
    """Whoever compiles a converted function, also with plain torch.compile, gets its errors and settings."""
    original = convert_frame._compile
    parameters = list(inspect.signature(original).parameters)[1:]
    position = parameters.index("compiler_fn")

    @functools.wraps(original)
    def compile_frame(code: types.CodeType, *args: Any, **kwargs: Any) -> Any:
        given = {**dict(zip(parameters, args, strict=False)), **kwargs}
        plain = code
        in_runtime = in_runtime_folder(code.co_filename) and not given["one_graph"]
        if in_runtime:  # called by a converted function that Dynamo has given up: Python runs it
            return ConvertFrameReturn()
        if _alone and not is_marked(code) and may_enter(code):
            code = frame_of_its_own(code, *args)
        wrapped = _wrapped(code, given["closure"])
        if not is_marked(code) and wrapped is None and not _calls_runtime(code, given["globals"]):
            with meeting() as met:
                try:
                    return original(code, *args, **kwargs)
                except Exception:
                    if not met:
                        raise
        if given["one_graph"]:
            refuse_beyond_limit(plain, given)
        args = (*args[:position], _improved(args[position]), *args[position + 1 :])
        whole = given["one_graph"] and not given["export"] and given.get("package") is None

        def trace(attempt: Attempt) -> Any:
            new = rewritten_for(attempt, code, given["one_graph"], *args)
            with places_of(plain, new):
                return fitted(original(new, *args, **kwargs), plain, new)

        with compiling_frame(plain, whole) as frame:
            try:
                return _traced(wrapped or plain, trace)
            except CaptureError as error:
                refused = located(error, wrapped or plain)
            except Exception:
                performing.cannot_restore()
                raise
        if frame is not None and raises_whatever_the_data(refused):
            run_in_python(plain, given["globals"], given["locals"], given["closure"])
        if given["one_graph"]:
            performing.cannot_restore()
            raise refused
        if not _alone:
            warnings.warn(f"calls run in Python, because of\n{refused}", RuntimeWarning, stacklevel=1)
            return ConvertFrameReturn()  # what it calls gets a chance of its own
        return original(unmarked(plain), *args, **kwargs)  # what it calls gets a chance of its own

    convert_frame._compile = compile_frame
    install_hook()


def _improved(backend: Callable[..., Any]) -> Callable[..., Any]:
    """A backend of torch.compile that is given our graphs."""
    chosen = performing.settings()

    @functools.wraps(backend)
    def compile_graph(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        if chosen is None or not chosen.asserts:
            attempt = attempt_under_way()
            settle(graph, refuse=attempt is not None and not attempt.settled)
        compiles = _compiles(backend)
        agree_on_memories(graph, compiles)
        check_types(graph)
        check_gradients(graph)
        check_statistics(graph)
        if compiles:
            check_recurrent(graph)
            check_writes_beside(graph)
            keep_asserts(graph)
        keep_operands(graph)
        if not performing.is_looking():
            exponents_as_tensors(graph, at_the_top=compiles)
            if compiles:
                write_behind(graph)
                ask_python(graph)
            postpone_reads(graph)
            if compiles:
                ask_python(graph, left_over=True)
                pass_symbols(graph)
        if not compiles:
            leave_to_python(graph)
        know_places(backend)
        return refusing_second_gradients(graph, leaving_modes(graph, backend(graph, inputs)))

    return _in_session(compile_graph)


def _in_session(backend: Callable[..., Any]) -> Callable[..., Any]:
    """A backend of torch.compile whose graphs run in a session, the caller's or the frame's own (capture/again.py)."""
    chosen = performing.settings()

    @functools.wraps(backend)
    def compile_graph(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        check_log_states()
        check_print_options()
        with own_mistakes():
            leaves = given_leaves(graph)
            given_back = Substitutes(0) if performing.is_looking() else tell_given_back(graph)
            run = giving_back(given_back, without_kept(backend)(graph, inputs))  # which may put checks into the graph
            run = giving_leaves(leaves, run)
            run = minding_hooks(graph, run, compiles=_compiles(backend))
        frame = frame_under_way()
        raises = may_raise(graph) or handles_exceptions()
        if frame is not None:
            frame.may_raise = raises
        if chosen is None and (frame is None or not raises):
            return run
        check_shown_objects()
        return keeping_inputs(graph, run, raises)

    return compile_graph


def _compiles(backend: Callable[..., Any]) -> bool:
    """Whether a backend makes something else of a graph than torch's operators, one by one."""
    return getattr(backend, "__name__", "") != "eager"


def _calls_runtime(code: types.CodeType, globals_: dict[str, Any]) -> bool:
    """Whether a function is of a file that this package has written."""
    return any(globals_.get(name) is runtime for name in code.co_names)


def _wrapped(code: types.CodeType, closure: tuple[types.CellType, ...]) -> types.CodeType | None:
    """The code of the converted function, however deep, in the frame that torch.compile puts around functions of its
    own files (`torch.no_grad()(f)`, `functools.partial(f, y)`). This frame has one code for all of them.
    """
    if code.co_filename != external_utils.__file__:
        return None
    inner = [_innermost(cell.cell_contents) for cell in closure]
    codes = [getattr(one, "__code__", getattr(type(one).__call__, "__code__", None)) for one in inner]
    return next((found for found in codes if found is not None and is_marked(found)), None)


def _innermost(function: Any) -> Any:
    """What a callable calls: behind decorators, and behind what gives some of its arguments."""
    inner = inspect.unwrap(function)
    return _innermost(inner.func) if isinstance(inner, functools.partial) else inner


_alone: list[bool] = []  # calls under way whose functions may become graphs of their own


@contextlib.contextmanager
def frames_of_their_own() -> Iterator[None]:
    """While this is in force, functions that Dynamo compiles by themselves, behind a break, are converted, too."""
    _alone.append(True)
    try:
        yield
    finally:
        _alone.pop()


def _traced(code: types.CodeType, trace: Callable[[Attempt], Any]) -> Any:
    """Trace a graph for all data; where there is none, one for the path that the call under way takes.

    code: of the converted function.
    """
    try:
        return _for_all_data(search_of(code), trace)
    except CaptureError as error:
        refused = error
    except Exception as error:  # of an operator, which data may never come to
        if not is_of_user_code(error) or not can_follow():
            raise
        refused = raised_on_path(error)
    if not may_follow(refused):
        raise refused
    try:
        traced = _followed(trace)
    except RunsInPython:
        raise
    except CaptureError as error:
        if raises_whatever_the_data(error):
            raise
    else:
        warn_of_path(refused.diagnostic)
        return traced
    raise refused


def _for_all_data(search: Search, trace: Callable[[Attempt], Any]) -> Any:
    """Trace with what an earlier search for the function has ended with; where that is of no use, search anew."""
    before = search.refused
    if before is not None and search.takes_too_long:
        raise CaptureError(before)
    if search.has_learned:
        try:
            return _searched(search, trace)
        except CaptureError as error:
            if error.diagnostic == before or search.takes_too_long:
                raise
        except AssertionError:  # of torch, where a switch does harm (see _attempted)
            pass
        search.attempt = Attempt()
    return _searched(search, trace)


def _searched(search: Search, trace: Callable[[Attempt], Any]) -> Any:
    """Trace until an attempt succeeds, and remember which, or how the last one has failed."""
    begun = search.begin()
    refused = None
    try:
        return _attempted(search, trace)
    except CaptureError as error:
        refused = error.diagnostic
        raise
    finally:
        search.end(begun, refused)


def _followed(trace: Callable[[Attempt], Any]) -> Any:
    """Trace the path of the call under way; where that is of no use, for no more than the numbers that it reads."""
    refused: list[CaptureError] = []
    for path in (ONE_PATH, replace(ONE_PATH, known_numbers=True)):
        try:
            return _along(path, trace)
        except RunsInPython:
            raise
        except CaptureError as error:
            if raises_whatever_the_data(error):
                raise
            refused.append(error)
    raise refused[0]


def _along(path: Attempt, trace: Callable[[Attempt], Any]) -> Any:
    try:
        return _attempted(Search(replace(path, unread=set())), trace)
    except CaptureError as error:
        if not is_of_operator(error) and not is_unbound(error) and not fails_before(error):
            raise
        raise CaptureError(error.diagnostic) from RaisedOnPath(error.__cause__)
    except Exception as error:
        if not is_of_user_code(error):
            raise
        raise raised_on_path(error) from RaisedOnPath(error)  # torch has, of these data: so Python comes to it, too


def _attempted(search: Search, trace: Callable[[Attempt], Any]) -> Any:
    """Trace until it succeeds, or until there is nothing more to be learned from the failures."""
    first: CaptureError | None = None
    unbounded: CaptureError | None = None  # what has led to lists being rows of tensors, which may not be of use
    settled: Attempt | None = None  # what succeeds where no attempt does without numbers that may be tensors
    while True:
        attempt = search.attempt
        try:
            with following_values() as callers, chosen_numbers() as chosen, _settings(attempt):
                return trace(attempt)
        except CaptureError as error:
            diagnostic = error.diagnostic
            numbers = lines_of_numbers(diagnostic.message, chosen)
            following = attempt.after(error, callers, numbers)
            if diagnostic.message == OF_TWO_TYPES:
                settled = settled or replace(attempt, settled=True)
            if following is None:
                following, settled = settled, None
            if following is None:
                found = error if unbounded is None or attempt.forms else unbounded
                explained = with_reason(found)
                if explained is error:
                    raise
                raise explained from found.__cause__
            if following.bounded and unbounded is None:
                unbounded = error
            search.attempt, first = following, first or error
        except AssertionError as error:
            if is_of_whole_number(str(error)) and not attempt.whole:
                search.attempt = replace(attempt, whole=True)
                continue
            if _GUARD_FAILS in str(error) and not attempt.known_floats:
                search.attempt = replace(attempt, known_floats=True)
                continue
            if _GUARD_FAILS in str(error):  # such as an object that has changed while it was looked at
                raise raised_on_path(error) from error
            if first is None or not attempt.enter_skipped:
                raise  # else torch's switch for skipped functions has not been up to it
            raise first from None


_GUARDED = {
    "skip_nnmodule_hook_guards": False,
    "skip_no_tensor_aliasing_guards_on_parameters": False,
    "skip_guards_on_constant_func_defaults": False,
    **({"use_recursive_dict_tags_for_guards": False} if is_before(2, 12) else {}),
}
_GUARD_FAILS = "Guard failed on the same frame"  # what torch says of a graph that is not for the call it is made in
_REPAIRS = (
    leaf_hooks,
    left_blocks,
    left_generators,
    numbers_of_copies,
    views_in_bodies,
    number_or_tensor,
    filled_tensors,
    python_calls,
    whole_bounds,
    iterables_asked,
    attributes_of_numbers,
    set_arguments,
    dict_copies,
    ended_iterators,
    starred_targets,
    size_arguments,
    changing_integers,
    appended_lists,
    unasked_contents,
    one_behind_the_graph,
    process_settings,
    backend_flags,
    ctc_losses,
    deep_copies,
    floats_read_outside,
    guards_once,
    stack_traces,
    floats_as_computed,
    operators_of_old,
    truth_of_lengths,
    truth_of_objects,
    numbers_as_tensors,
    local_assumptions,
    known_sizes,
    gradients_in_bodies,
    gradients_of_their_own,
    indices_from_data,
    attribute_order,
    instance_dicts,
    self_dicts,
    deletions,
    namespaces,
    natural_exponents,
    not_numbers,
    numpy_scalars,
    powers_of_any_sign,
    math_functions,
    flags_as_integers,
    identities,
    bound_methods,
    asked_properties,
    tensors_given,
    laid_out,
    facts_of_types,
    given_numbers,
    choosing_extremes,
    deques_with_lengths,
    groups_followed,
    advanced_iterators,
    contexts_of_functions,
    constant_tuples,
    written_data,
    written_modules,
    tensors_written_in_place,
    contents_in_place,
    optimizers,
    types_of_parameters,
    functional_gradients,
    compared_in_c,
    aliases,
    dict_keys,
    dicts_written,
    empty_dicts,
    presence,
    lookups,
    functions_given,
    caches_given,
    class_attributes,
    derived_constructors,
    derived_containers,
    derived_deques,
    derived_floats,
    derived_sets,
    equal_keys,
    function_attributes,
    functions_as_constants,
    keywords_given_twice,
    lists_in_themselves,
    compensated_sums,
    kept_nothing,
    code_in_closures,
    unused_numbers,
    read_again,
    functions_of_constants,
    integers_of_constants,
    reasons_for_new_traces,
    inverted_integers,
    lengths_without_dimensions,
    lists_of_tensors,
    empty_tensors,
    reshaped_tensors,
    sets_in_order,
    recurrent_layers,
    signatures,
    caches,
    data_pointers,
    long_numbers,
    locks,
    entered_objects,
    hooks_of_modules,
    hooks_of_all_modules,
    unhooked_graphs,
    enum_members,
    equal_constants,
    leaves_made,
    leaves_outside,
    frozen_tensors,
    parameters_made,
    spent_results,
    replaced_instructions,
    assertions,
    membership,
    metaclass_calls,
    open_classes,
    texts_of_numbers,
    error_objects,
    errors_given,
    unbound_arguments,
    sequences_in_order,
    picked_constants,
    operators_of_objects,
    tensor_subclasses,
    targets_with_gaps,
    python_random,
    noted_draws,
    noted_uses,
    torch_random,
    python_errors,
)


@contextlib.contextmanager
def _settings(attempt: Attempt) -> Iterator[None]:
    """What holds while a converted function is compiled.

    Nested branches are nested calls of the tracer. Hooks that are added to a module later count, as they do in eager:
    torch.compile leaves that guard out by default, and the one that two parameters are two; torch 2.11 also the one on
    default arguments, which a function may get later, and it takes a dict in a module for unchanged that the first call
    has written to. A branch may turn Inductor's choice of layouts and its folding of constants off (see
    runtime/gradients.py); they are back afterwards.
    """
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    chosen = {name: getattr(inductor_config, name) for name in _SET_BACK}
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(collector.paused())
            stack.enter_context(under_way(attempt))
            refuse_newer_torch()
            with known_torch():
                for one in _REPAIRS:
                    stack.enter_context(one())
                stack.enter_context(failing_calls(places_around))
                stack.enter_context(places_of_raises(places_around))
            stack.enter_context(dynamo_config.patch(_GUARDED))
            stack.enter_context(entering(attempt.enter_skipped))
            stack.enter_context(squeezes(attempt.checked_squeezes))
            stack.enter_context(checkpoints(attempt.plain_checkpoints))
            stack.enter_context(gradients_through_cuts())
            stack.enter_context(cut_at_hooks(attempt.cut_hooks))
            stack.enter_context(applied_functions(attempt.plain_functions))
            if not attempt.shared_memories:
                stack.enter_context(separate_memories())
            if attempt.assumed_sizes:
                stack.enter_context(assumed_sizes())
            if attempt.one_path:
                stack.enter_context(one_path(attempt.known_numbers))
            if attempt.observed_data:
                stack.enter_context(observed_data())
            if attempt.whole:
                stack.enter_context(whole_numbers())
            if attempt.known_floats or attempt.known_numbers:
                stack.enter_context(dynamo_config.patch(specialize_float=True))
            if attempt.known_numbers:
                stack.enter_context(dynamo_config.patch(specialize_int=True))
            if attempt.trace_gradients:
                stack.enter_context(dynamo_config.patch(trace_autograd_ops=True))
            stack.enter_context(inductor_config.patch(chosen))
            known = Known(
                splits=attempt.splits,
                lists_grow=bool(attempt.growing),
                first_trips=attempt.first_trips,
                picks=attempt.picks,
                listed=attempt.listed,
                one_path=attempt.one_path,
                forms=attempt.forms,
                until=attempt.until,
                lists_read=attempt.lists_read,
                unread=attempt.unread,
            )
            stack.enter_context(knowing(known))
            stack.enter_context(translated())
            yield
    finally:
        sys.setrecursionlimit(limit)
