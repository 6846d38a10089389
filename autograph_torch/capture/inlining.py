"""Functions that Dynamo inlines below a converted function are converted when they are reached.

Private: `torch._dynamo.symbolic_convert.InliningInstructionTranslator`. What else of Dynamo is replaced for good is put
in place from here; what is replaced while a converted function is compiled, in compiling.py.

Wrapping every call in the text instead (as TF AutoGraph does) would miss what has no call in the text: properties,
operators, hooks, iterators, context managers; it cannot convert local functions that close over tensors; and it puts a
wrapper around every call. Here each function is looked at once, and only those with control flow on data get new code.

The hook acts only below a frame whose code carries our mark, so other compilations of the process are untouched.
tests/capture/test_inlining.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import functools
import types
from typing import Any

from torch._dynamo import symbolic_convert
from torch._dynamo.variables import ConstantVariable
from torch.fx.experimental.symbolic_shapes import guard_scalar

from autograph_torch.capture.answers import answer_at_once, give_constants
from autograph_torch.capture.buffers import setter_of_buffers
from autograph_torch.capture.callers import fill_in_opened, watch_calls
from autograph_torch.capture.choices import CHOICES
from autograph_torch.capture.chosen_numbers import CHOSEN_NUMBERS
from autograph_torch.capture.compiling import compile_with_care
from autograph_torch.capture.container_writes import fill_in_containers, watch_containers
from autograph_torch.capture.contents import fill_in_contents
from autograph_torch.capture.conversions import converted, converted_again
from autograph_torch.capture.ctc_losses import know_sizes_of_losses
from autograph_torch.capture.eager_bodies import run_bodies_in_python
from autograph_torch.capture.errors import TOO_DEEP
from autograph_torch.capture.extremes import EITHER
from autograph_torch.capture.field_writes import allow_field_writes, fill_in_field, fill_in_kept, watch_twins
from autograph_torch.capture.flat_results import without_walking
from autograph_torch.capture.formatted import MADE_TEXTS
from autograph_torch.capture.global_writes import allow_global_writes
from autograph_torch.capture.growing import LISTS
from autograph_torch.capture.grown import GROWN, ask_grown_lists
from autograph_torch.capture.heaps import SORTS
from autograph_torch.capture.hosts import FILLED_IN
from autograph_torch.capture.instance_dicts import refuse_instance_dicts
from autograph_torch.capture.instructions import keep_instructions
from autograph_torch.capture.known_torch import SUPPORTED, known_torch
from autograph_torch.capture.later_operands import LATER_OPERANDS
from autograph_torch.capture.met import meet
from autograph_torch.capture.module_faces import see_one_module
from autograph_torch.capture.module_hooks import HANDLES, number_hooks
from autograph_torch.capture.module_lists import stop_at_indices
from autograph_torch.capture.open_contents import OPEN_CONTENTS, write_open_containers
from autograph_torch.capture.picked_attributes import pick_attributes
from autograph_torch.capture.picked_constants import PICKS
from autograph_torch.capture.plain_values import fill_in_plain
from autograph_torch.capture.policy import may_enter
from autograph_torch.capture.pure_branches import know_pure_branches
from autograph_torch.capture.reduced import REDUCED
from autograph_torch.capture.replacing import fill_in_replacing
from autograph_torch.capture.settling import fill_in_flags
from autograph_torch.capture.standing_in import allow_stand_ins, fill_in_stand_ins
from autograph_torch.capture.symbol_sums import repair_sums
from autograph_torch.capture.taken_elements import fill_in_taking
from autograph_torch.capture.torch_fixes import (
    allow_operators_in_checkpoints,
    keep_checks_of_linalg,
    know_types,
    remember_objects,
    repair_attribute_writes,
    repair_closures_without_values,
    repair_equality_of_flags,
    repair_lazy_properties,
    repair_names,
    repair_property_writes,
    repair_quotients_in_facts,
    repair_texts_of_powers,
    take_constants_without_source,
)
from autograph_torch.capture.triangular_systems import know_sizes_of_solutions
from autograph_torch.codeobject import follows_calls, is_marked
from autograph_torch.runtime.codec import STANDS_FOR, code_of
from autograph_torch.runtime.refusal import raise_refusal
from autograph_torch.runtime.structure import plain

_Translator = symbolic_convert.InliningInstructionTranslator
# Of calls in calls; at some 1150 the stack of a thread (8 MB) ends, and the process with it. (Python 3.12 has a limit
# of its own for calls by way of C: that is a RecursionError, see capture/errors.py.)
_DEEPEST = 900
_INSTALLED = "_autograph_torch_original_init"

# Once for the process, in this order: what torch gets wrong, what it refuses, and what it has to tell us.
_INSTALLS = (
    compile_with_care,
    repair_attribute_writes,
    remember_objects,
    repair_names,
    repair_property_writes,
    repair_equality_of_flags,
    repair_quotients_in_facts,
    repair_texts_of_powers,
    repair_sums,
    repair_lazy_properties,
    know_types,
    repair_closures_without_values,
    take_constants_without_source,
    keep_checks_of_linalg,
    allow_operators_in_checkpoints,
    allow_stand_ins,
    allow_field_writes,
    allow_global_writes,
    watch_containers,
    write_open_containers,
    ask_grown_lists,
    watch_twins,
    see_one_module,
    pick_attributes,
    watch_calls,
    know_pure_branches,
    run_bodies_in_python,
    know_sizes_of_losses,
    know_sizes_of_solutions,
    keep_instructions,
    give_constants,
)

# Functions of the runtime whose arguments the tracer fills in: by their code, and those that look at it themselves.
_ANSWERS = (FILLED_IN, CHOICES, CHOSEN_NUMBERS, PICKS, OPEN_CONTENTS, LISTS, GROWN, EITHER, MADE_TEXTS, LATER_OPERANDS)
_FILL_INS = (
    fill_in_stand_ins,
    fill_in_plain,
    fill_in_contents,
    fill_in_containers,
    fill_in_replacing,
    fill_in_field,
    fill_in_kept,
    fill_in_flags,
    fill_in_opened,
    fill_in_taking,
    refuse_instance_dicts,
    stop_at_indices,
    number_hooks,
)

_INSTEAD = {**SORTS, **HANDLES, **REDUCED}  # what the tracer runs in the place of functions


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
            f"{parameters}; {SUPPORTED}, or autograph(function, recursive=False)"
        )

    @functools.wraps(original)
    def init(
        self: Any, parent: Any, code: types.CodeType, symbolic_locals: dict[str, Any], *args: Any, **kw: Any
    ) -> None:
        meet(code)
        if parent.inline_depth > _DEEPEST and _below_converted(parent):
            raise_refusal("AG320", *TOO_DEEP)
        function = args[3] if len(args) > 3 else kw.get("funcvar")
        code = _code_in_place_of(code, parent, symbolic_locals, function)
        _fill_in(code, parent, symbolic_locals)
        original(self, parent, code, symbolic_locals, *args, **kw)

    setattr(_Translator, _INSTALLED, original)
    _Translator.__init__ = init  # type: ignore[method-assign]
    with known_torch():
        for put_in_place in _INSTALLS:
            put_in_place()
        answer_at_once(_fill_in)


def _code_in_place_of(
    code: types.CodeType, parent: Any, symbolic_locals: dict[str, Any], function: Any
) -> types.CodeType:
    """What the tracer runs where a function is called."""
    side_effects = parent.output.side_effects
    new = code
    if is_marked(code):
        new = converted_again(code, symbolic_locals, function)
    elif may_enter(code) and _below_converted(parent, code):
        new = converted(code, symbolic_locals, function)
    _move_cells(side_effects, code, new, symbolic_locals)
    code = new
    instead = setter_of_buffers(code, parent, symbolic_locals)
    if code in _INSTEAD and _below_converted(parent):
        instead = _INSTEAD[code]
    if instead is not None:
        _move_cells(side_effects, code, instead, symbolic_locals)
        code = instead
    if STANDS_FOR(code):
        code = code_of(symbolic_locals["written"].as_python_constant()[0])
    return without_walking(code, parent, symbolic_locals)


def _fill_in(code: types.CodeType, parent: Any, symbolic_locals: dict[str, Any]) -> None:
    """Answer what the functions of the runtime ask the tracer, in their arguments."""
    if code is plain.__code__:
        symbolic_locals["number"] = _settled(symbolic_locals["number"])
    for answers in _ANSWERS:
        if code in answers:
            symbolic_locals.update(answers[code](parent, symbolic_locals))
    for fill_in in _FILL_INS:
        fill_in(code, parent, symbolic_locals)


def _settled(variable: Any) -> Any:
    """A symbol whose value guards have settled, as a constant."""
    number = getattr(variable.realize(), "sym_num", None)
    return variable if number is None else ConstantVariable.create(guard_scalar(number))


def _below_converted(parent: Any, called: types.CodeType | None = None) -> bool:
    """Whether some frame around is one that the user chose to convert, with calls included, or this one."""
    while parent is not None:
        if follows_calls(parent.f_code, called):
            return True
        parent = getattr(parent, "parent", None)
    return False


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
