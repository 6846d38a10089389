"""Instructions that Dynamo does not know, or stops at.

    z = ag.cond(..., lambda: y.abs(), ...)      `del y` of a name that an inner function reads: the text has none, but
    del y                                       what it becomes has; a read behind it is refused by Dynamo

    try: import cudf                            an import that fails raises in the trace, too, and is handled there;
    except ImportError: cudf = None             in a branch it raises when the branch is taken

    if k in names: ...                          a number from data and the keys of a dict, or the members of a set:
                                                Dynamo asks for its hash; here it is compared with each of them

    near = x in region                          Dynamo gives what `__contains__` gives, a tensor say; Python its truth

    kept = yield from rows(x)                   Dynamo (torch 2.13) takes None for what the generator returns, and
                                                sends nothing into it

Private: the table of instructions (dispatch_table), SideEffects.load_cell and store_cell, DeletedVariable, popn,
raise_observed_exception. tests/capture/test_replaced_instructions.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import operator
import sys
from collections.abc import Callable, Iterator, KeysView
from typing import Any

from torch._dynamo.exc import ObservedUserStopIteration, handle_observed_exception, raise_observed_exception
from torch._dynamo.symbolic_convert import (
    InliningGeneratorInstructionTranslator,
    InliningInstructionTranslator,
    InstructionTranslator,
)
from torch._dynamo.variables import BuiltinVariable, ConstantVariable, SymNodeVariable, UserFunctionVariable
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable
from torch._dynamo.variables.misc import DeletedVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.dynamo_names import raised_exception
from autograph_torch.runtime import queries
from autograph_torch.runtime.membership import negated, truth_of

Instruction = Callable[[Any, Any], None]  # of Dynamo's translator and the instruction
JUMPS = tuple(name for name in dis.opmap if "JUMP" in name and ("IF_TRUE" in name or "IF_FALSE" in name))
_HASHED: tuple[type, ...] = (dict, set, frozenset, KeysView)
_TRANSLATORS: tuple[Any, ...] = (
    InstructionTranslator,
    InliningInstructionTranslator,
    InliningGeneratorInstructionTranslator,
)


@contextlib.contextmanager
def replaced_instructions() -> Iterator[None]:
    """While this is in force, such instructions are followed."""
    makers = {"DELETE_DEREF": _deleting, "IMPORT_NAME": _importing, "CONTAINS_OP": _containing, **_DELEGATING}
    with replaced(**{name: make for name, make in makers.items() if name in dis.opmap}):
        yield


@contextlib.contextmanager
def replaced(**makers: Callable[[Instruction], Instruction]) -> Iterator[None]:
    """While this is in force, instructions (by name) are what is made of those that Dynamo has."""
    # From Python 3.12 on there are names of instructions that only the compiler of Python has, behind those of a byte.
    codes = {dis.opmap[name]: make for name, make in makers.items() if dis.opmap[name] < 256}
    before = [(owner, code, owner.dispatch_table[code]) for owner in _TRANSLATORS for code in codes]
    before = [entry for entry in before if entry[-1] is not None]
    for owner, code, instruction in before:
        owner.dispatch_table[code] = codes[code](instruction)
    try:
        yield
    finally:
        for owner, code, instruction in before:
            owner.dispatch_table[code] = instruction


def jump(translator: Any, instruction: Any, truth: bool) -> None:
    """Go on where a jump leads for the truth of what is on top of the stack."""
    jumps = truth == ("IF_TRUE" in instruction.opname)
    if not jumps or "OR_POP" not in instruction.opname:
        translator.popn(1)
    if jumps:
        translator.jump(instruction)


def _deleting(_: Instruction) -> Instruction:
    def delete(translator: Any, instruction: Any) -> None:
        cell, effects = translator.symbolic_locals[instruction.argval], translator.output.side_effects
        effects.load_cell(cell)  # which stops where it has no value
        effects.store_cell(cell, DeletedVariable())

    return delete


def _importing(original: Instruction) -> Instruction:
    def import_name(translator: Any, instruction: Any) -> None:
        level, names = (one.as_python_constant() for one in translator.stack[-2:])
        try:
            __import__(instruction.argval, translator.f_globals, None, names, level)
        except ImportError as error:
            translator.popn(2)
            raise_observed_exception(type(error), translator, args=[str(error)])
        original(translator, instruction)

    return import_name


def _containing(original: Instruction) -> Instruction:
    def contains(translator: Any, instruction: Any) -> None:
        element, container = (one.realize() for one in translator.stack[-2:])
        if not is_from_data(element) or not _is_hashed(container):
            _contains(original, translator, instruction)
            return
        translator.popn(2)
        one_of: Any = queries.is_one_of
        is_negated = ConstantVariable.create(instruction.argval == 1)  # `not in`
        given = [element, container, is_negated]
        translator.push(UserFunctionVariable(one_of).call_function(translator, given, {}))

    return contains


def _contains(original: Instruction, translator: Any, instruction: Any) -> None:
    """`in`, or `not in` of what data may tell (capture/membership.py)."""
    if instruction.argval == 0:
        original(translator, instruction)
        found = translator.stack[-1].realize()
        if found.is_tensor() or found.python_type() is not bool:
            as_truth: Any = truth_of
            translator.push(UserFunctionVariable(as_truth).call_function(translator, [translator.pop()], {}))
        return
    positive = copy.copy(instruction)
    positive.arg = positive.argval = 0
    original(translator, positive)
    found = translator.pop()
    by_data: Any = negated
    function = UserFunctionVariable(by_data) if is_from_data(found) else BuiltinVariable(operator.not_)
    translator.push(function.call_function(translator, [found], {}))


def _sending(original: Instruction) -> Instruction:
    def send(translator: Any, instruction: Any) -> None:
        found = _advanced(translator)
        if found is None:
            original(translator, instruction)
            return
        has_returned, value = found
        if has_returned and sys.version_info < (3, 12):  # from then on there is END_SEND
            translator.pop()
        translator.push(value)
        if has_returned:
            translator.jump(instruction)

    return send


def _yielding_from(original: Instruction) -> Instruction:
    """The same in Python 3.10, where the instruction comes again until the generator has returned."""

    def yield_from(translator: Any, instruction: Any) -> None:
        found = _advanced(translator)
        if found is None:
            original(translator, instruction)
            return
        has_returned, value = found
        if has_returned:
            translator.pop()
            translator.push(value)
            return
        translator.instruction_pointer -= 1
        translator.push(value)
        translator.YIELD_VALUE(instruction)

    return yield_from


_DELEGATING = {"SEND": _sending, "YIELD_FROM": _yielding_from}


def _advanced(translator: Any) -> tuple[bool, Any] | None:
    """Whether the generator below the top of the stack returns, and what it gives for what is sent into it.

    None where it is another iterator.
    """
    if translator.stack[-2].is_constant_none():  # torch 2.11 has left what the `yield` gave below what is sent
        del translator.stack[-2]
    value, generator = translator.stack[-1], translator.stack[-2].realize()
    if not isinstance(generator, LocalGeneratorObjectVariable):
        return None
    translator.pop()
    try:
        if value.is_constant_none():
            return False, generator.next_variable(translator)
        return False, generator.call_method(translator, "send", [value], {})
    except ObservedUserStopIteration:
        return True, _returned(translator)


def _returned(translator: Any) -> Any:
    """What a generator has returned, which its exception has with it."""
    arguments = raised_exception(translator).args
    handle_observed_exception(translator)
    return arguments[0] if arguments else ConstantVariable.create(None)


def is_from_data(variable: Any) -> bool:
    """Whether it is a number that data tell."""
    return isinstance(variable, SymNodeVariable) and has_free_unbacked_symbols(variable.sym_num)


def _is_hashed(variable: Any) -> bool:
    """Whether it is a dict, a set or the keys of a dict; a class of the user's may find members in its own way."""
    try:
        kind = variable.python_type()
    except NotImplementedError:  # of what Dynamo knows no type
        return False
    return issubclass(kind, _HASHED) and kind.__module__ in ("builtins", "collections")
