"""What the tracer tells the effects of a program (runtime/effects.py): values, places and handlers that Dynamo knows.

Private: the classes in `torch._dynamo.variables`, a translator's `parent`, `current_instruction`, `stack` and
`block_stack`.
tests/capture/test_hosts.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import builtins
import itertools
import logging
import string
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import symbolic_convert, variables
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.variables.ctx_manager import WithExitFunctionVariable
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true, has_free_unbacked_symbols

from autograph_torch.capture.again import frame_under_way
from autograph_torch.capture.attempts import attempt_under_way
from autograph_torch.capture.failing_calls import Again, failed_call
from autograph_torch.capture.log_states import note_log_call
from autograph_torch.capture.raised_places import raised_at
from autograph_torch.capture.shown import attributes_of_shown, is_shown_now, shown_now
from autograph_torch.runtime import effects, notes, performing, predicate
from autograph_torch.runtime.performing import HostCall
from autograph_torch.runtime.places import Frame, Place, is_runtime, places_of
from autograph_torch.runtime.refusal import raise_refusal
from autograph_torch.runtime.text_checks import TextCheck, may_fail
from autograph_torch.runtime.unshown import Unknown

Locals = dict[str, Any]
_CONTAINERS = ("list", "tuple", "derived tuple", "dict", "named", "error", "shown error", "object")
_HOST_MODULES = ("rich", "tqdm", "logging", "loguru")


class _Unknown(Exception):
    """A variable without a value that is known while tracing."""


# -- what the runtime asks for -----------------------------------------------------------------------------------------


def _effects_around(parent: Any, _: Locals) -> Locals:
    """The object that holds the token of the innermost operator body around a call: a local of the runtime's frame."""
    return _innermost(parent, "autograph_effects", "effects")


def _test_around(parent: Any, _: Locals) -> Locals:
    """The predicate of the innermost branch around a call."""
    return _innermost(parent, "autograph_test", "found")


def _innermost(parent: Any, local: str, parameter: str) -> Locals:
    """A local variable of the innermost frame of the runtime that has it."""
    for translator in _chain(parent):
        found = translator.symbolic_locals.get(local)
        if found is not None:
            is_cell = type(found).__name__ == "CellVariable"
            return {parameter: parent.output.side_effects.load_cell(found) if is_cell else found}
    return {}


def _is_host(_: Any, given: Locals) -> Locals:
    try:
        function = _function(given["function"])
    except _Unknown:
        return {"known": variables.ConstantVariable.create(False)}
    return {"known": variables.ConstantVariable.create(is_host_function(function))}


def is_host_function(function: Any) -> bool:
    """Whether a function is called for its effect on the world, not for its value."""
    chosen = performing.settings()
    named = chosen.functions if chosen is not None else ()
    if function in (builtins.print, warnings.warn) or any(function == one for one in named):
        return True
    if performing.is_log_method(function):
        return True
    return (getattr(function, "__module__", None) or "").split(".")[0] in _HOST_MODULES


def _register(parent: Any, given: Locals) -> Locals:
    raises = bool(_value(given["raises"])) if "raises" in given else False
    try:
        function = _function(given["function"])
        arguments = _value(given["arguments"], lenient=raises, shows=not raises and _makes_text(function))
    except _Unknown as unknown:
        raise_refusal(
            "AG324",
            f"{unknown} cannot be handed to a call that is made when the graph runs",
            "hand over tensors, numbers, strings, or containers of them",
        )
    if not raises:
        note_log_call(function)
        _check_gradients(function, arguments)
    return {"number": _new_effect(parent, function, arguments, _raised_at(parent) or places_around(parent), raises)}


def _raised_at(parent: Any) -> tuple[Place, ...]:
    """Where the exception that a branch ends in was raised; nothing for other effects."""
    caller = parent.parent
    return raised_at(caller.symbolic_locals["error"]) if caller.f_code is effects.fail_again.__code__ else ()


def _text_check(parent: Any, given: Locals) -> Locals:
    call = notes.effect_of(given["number"].as_python_constant())
    if not may_fail(TextCheck(call.function, call.arguments, call.places, raises=True)):
        return {}
    return {"found": _new_effect(parent, call.function, call.arguments, call.places, raises=True, kind=TextCheck)}


def _new_effect(
    parent: Any, function: Any, arguments: Any, places: tuple[Place, ...], raises: bool, kind: type[HostCall] = HostCall
) -> Any:
    handled = raises and _is_handled(parent)
    if handled and not _python_handles():
        raise_refusal(
            "AG325",
            "an exception that data decides on would be raised inside a `try` or `with` of the function",
            "use @autograph with its deferred effects, or compute the condition inside and raise behind the block",
        )
    call = kind(function, arguments, places, raises, handled)
    return variables.ConstantVariable.create(notes.new_effect(call))


def _python_handles() -> bool:
    """Whether a call that comes to an exception runs once more in Python, with all handlers.

    Without the decorator an exception first becomes a jump to the handlers, where they are of the same function.
    """
    attempt = attempt_under_way()
    waits = attempt is not None and not attempt.in_python
    return performing.runs_again() or (frame_under_way() is not None and not waits)


def places_around(translator: Any) -> tuple[Place, ...]:
    """The user's places on the stack that is being traced, innermost first."""
    return places_of(_frames(translator))


def _failed_call(parent: Any, given: Locals) -> Locals:
    """The effect of a call of torch that fails whatever the data, and its tensors."""
    found = failed_call(given["error"])
    if found is None:
        return {}
    again = Again(found.function, found.places[0])
    number = _new_effect(parent, again, found.arguments, found.places, raises=True)
    return {"found": variables.TupleVariable([number, found.tensors])}


def _decided(_: Any, given: Locals) -> Locals:
    flag = given["flag"]
    flag = flag.realize()
    if not isinstance(flag, variables.SymNodeVariable):
        return {}
    try:
        known = True if guard_or_false(flag.sym_num) else None if guard_or_true(flag.sym_num) else False
    except AssertionError:  # torch 2.13 cannot reason about comparisons with infinity
        known = None
    return {"answer": variables.ConstantVariable.create(known)}


def _handled_around(parent: Any, _: Locals) -> Locals:
    return {"known": variables.ConstantVariable.create(_is_handled(parent))}


def _depends(_: Any, given: Locals) -> Locals:
    number = given["number"]
    number = number.realize()
    if not isinstance(number, variables.SymNodeVariable):
        return {}
    return {"answer": variables.ConstantVariable.create(has_free_unbacked_symbols(number.sym_num))}


def _only_shows(_: Any, given: Locals) -> Locals:
    return {"known": variables.ConstantVariable.create(_makes_text(_function(given["function"])))}


def _only_prints(_: Any, given: Locals) -> Locals:
    return {"known": variables.ConstantVariable.create(_function(given["function"]) is builtins.print)}


def _makes_text(function: Any) -> bool:
    """Whether a host function makes text of its arguments, and keeps none of them."""
    return function in (builtins.print, warnings.warn) or performing.is_log_method(function)


FILLED_IN: dict[types.CodeType, Callable[[Any, Locals], Locals]] = {
    effects.surrounding_effects.__code__: _effects_around,
    effects.surrounding_test.__code__: _test_around,
    effects.is_host_function.__code__: _is_host,
    effects.is_handled.__code__: _handled_around,
    effects.register.__code__: _register,
    effects.failed_call.__code__: _failed_call,
    effects.text_check.__code__: _text_check,
    effects.only_shows.__code__: _only_shows,
    effects.only_prints.__code__: _only_prints,
    effects.is_shown_now.__code__: shown_now,
    effects.shown_attributes.__code__: attributes_of_shown,
    predicate.decided.__code__: _decided,
    predicate.depends.__code__: _depends,
}


# -- values ------------------------------------------------------------------------------------------------------------


def _value(variable: Any, lenient: bool = False, shows: bool = False) -> Any:
    """The Python value that a variable of the trace stands for; `lenient`: if it has one; `shows`: for its text."""
    variable = variable.realize()
    if variable.is_python_constant():
        return variable.as_python_constant()
    if isinstance(variable, variables.BaseListVariable):
        return variable.python_type()(_value(item, lenient, shows) for item in variable.items)
    if isinstance(variable, variables.ConstDictVariable):
        return {_value(key.vt): _value(value, lenient, shows) for key, value in variable.items.items()}
    try:
        if shows and is_shown_now(variable):
            raise _Unknown(f"a {variable.python_type().__name__}, whose text its own code makes,")
        if isinstance(variable, variables.ExceptionVariable):
            return variable.exc_type(*(_value(argument) for argument in variable.args))
        if isinstance(variable, (variables.functions.BaseUserFunctionVariable, variables.GetAttrVariable)):
            return _function(variable)
        return _object(variable)
    except _Unknown as unknown:
        if lenient:
            return Unknown(str(unknown))
        raise


def _function(variable: Any) -> Any:
    """A function, a method with its object, or an exception to raise."""
    variable = variable.realize()
    if isinstance(variable, variables.UserMethodVariable):
        return types.MethodType(variable.fn, _owner(variable.obj))
    if isinstance(variable, variables.GetAttrVariable):
        return getattr(_owner(variable.obj), variable.name)
    if isinstance(variable, variables.functions.BaseUserFunctionVariable):
        try:
            return variable.get_function()
        except Exception as error:
            raise _Unknown("a local function") from error
    return _value(variable)


def _owner(variable: Any) -> Any:
    """The object of a method that is called, whatever it holds."""
    variable = variable.realize()
    if not isinstance(variable, variables.UserDefinedObjectVariable) or variable.source is None:
        return _value(variable)
    install_guard(variable.source.make_guard(GuardBuilder.ID_MATCH))
    return variable.value


def _object(variable: Any) -> Any:
    """An object of the world around the graph. A guard sees to it that the next call has the same one."""
    value = getattr(variable, "value", None)
    if value is None:
        raise _Unknown(f"a {variable.python_type().__name__}")
    if value is sys.stdout or value is sys.stderr:
        return _Stream(value is sys.stderr)  # no guard: the next call may have another one
    if isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType)):
        return value
    if variable.source is None or not _shows_constants(value):
        raise _Unknown(f"a {type(value).__name__}")
    shown = notes.shown_objects()
    shown.append(variable)
    if _changed(variable):
        raise _Unknown(f"a {type(value).__name__} that has been written to")
    install_guard(variable.source.make_guard(GuardBuilder.ID_MATCH))
    return value


def _shows_constants(value: Any) -> bool:
    """Whether what an object shows of itself depends on nothing that a graph may change."""
    if isinstance(value, (torch.nn.Module, logging.Logger, logging.LoggerAdapter)):
        return True
    try:
        inner = vars(value).values()
    except TypeError:
        return True
    return all(one is None or isinstance(one, (bool, int, float, str, bytes, type)) for one in inner)


def _changed(variable: Any) -> bool:
    translator = symbolic_convert.InstructionTranslator.current_tx()
    return bool(translator.output.side_effects.is_modified(variable))


def check_shown_objects() -> None:
    """Stop when the program writes to an object that it has shown before: it would be shown as it is in the end."""
    for variable in notes.shown_objects():
        if _changed(variable):
            raise_refusal(
                "AG324",
                f"a {type(variable.value).__name__} is printed and then written to",
                "print its attributes instead",
            )


class _Stream:
    """sys.stdout or sys.stderr, whichever it is when it is written to."""

    def __init__(self, is_error: bool) -> None:
        self._is_error = is_error

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr if self._is_error else sys.stdout, name)


def _check_gradients(function: Any, arguments: Any) -> None:
    """Stop where eager Python would show a grad_fn."""
    lazy = performing.is_log_method(function)
    positional = arguments[2][0][2]
    shown = positional if not lazy else _lazily_shown(positional)
    for part in (*shown, *arguments[2][1][2]):
        if _shows_gradient(part):
            raise_refusal(
                "AG322",
                "a tensor with a gradient would be printed without its grad_fn",
                "pass tensor.detach(), or a number: tensor.item()",
            )
        if _has_parameter(part):
            raise_refusal("AG322", "a parameter would be printed as a tensor", "pass parameter.detach()")


def _lazily_shown(parts: tuple[Any, ...]) -> list[Any]:
    """The arguments of a log call that are shown as str() or repr() shows them."""
    template = parts[0][1] if parts and parts[0][0] == "const" else None
    if not isinstance(template, str):
        return list(parts)
    return _as_percent(template, list(parts[1:]))


def _as_percent(template: str, values: list[Any]) -> list[Any]:
    """The values that `%s` or `%r` shows."""
    letters = [piece.lstrip("0123456789.-+ #*")[:1] for piece in template.replace("%%", "").split("%")[1:]]
    if len(letters) != len(values):
        return values
    return [value for letter, value in zip(letters, values, strict=True) if letter in "sra"]


def _shows_gradient(part: Any) -> bool:
    if part[0] == "tensor":
        return bool(part[1])
    if part[0] == "text":
        return any(_shows_gradient(inner) for inner in _shown_in_text(part))
    return part[0] in _CONTAINERS and any(_shows_gradient(inner) for inner in part[2])


def _has_parameter(part: Any) -> bool:
    if part[0] == "tensor":
        return bool(part[2])
    return part[0] in (*_CONTAINERS, "text") and any(_has_parameter(inner) for inner in part[2])


def _shown_in_text(part: Any) -> list[Any]:
    """The values of a formatted text that are shown as str() or repr() shows them, not as numbers."""
    template, values, named = part[2]
    if part[1] == "percent" and template[0] == "const":
        return _as_percent(template[1], list(values[2]) if values[0] == "tuple" else [values])
    if part[1] != "format" or template[0] != "const":
        return [template, values, named]
    by_name = dict(zip(named[1], named[2], strict=True))
    numbers = itertools.count()
    shown = []
    for _, field, spec, conversion in string.Formatter().parse(template[1]):
        if field is None:
            continue
        key = field or str(next(numbers))
        value = values[2][int(key)] if key.isdigit() and int(key) < len(values[2]) else by_name.get(key)
        for _ in [inner for _, inner, _, _ in string.Formatter().parse(spec or "") if inner == ""]:
            next(numbers)
        if value is None:
            return [values, named]
        # A tensor of no dimension is formatted as its number.
        if conversion or not (value[0] == "tensor" and value[3] == 0):
            shown.append(value)
    return shown


# -- places ------------------------------------------------------------------------------------------------------------


def _chain(translator: Any) -> Iterator[Any]:
    """The frames that are being traced, innermost first."""
    while translator is not None:
        yield translator
        translator = getattr(translator, "parent", None)


def _frames(translator: Any) -> Iterator[Frame]:
    return (Frame(one.f_code, line_of(one), one.f_globals) for one in _chain(translator))


def line_of(translator: Any) -> int:
    """The line that a frame of the trace has come to."""
    positions = getattr(translator.current_instruction, "positions", None)
    line = positions.lineno if positions is not None else translator.lineno
    return line or translator.f_code.co_firstlineno


def _is_handled(translator: Any) -> bool:
    """Whether an exception of the graph would pass code that eager Python runs: `except`, `finally`, `__exit__`."""
    return any(
        _catches(frame)
        for frame in _chain(translator)
        if not is_runtime(frame.f_code.co_filename) and not frame.f_code.co_filename.startswith(_TORCH_FILES)
    )


_TORCH_FILES = (torch.__path__[0],)


def _catches(frame: Any) -> bool:
    # On the stack of a frame, for the time of its block; a frame that is called has no context in its entries.
    left = [one.ctx for one in frame.stack if isinstance(one, WithExitFunctionVariable)]
    if any(isinstance(context, variables.GenericContextWrappingVariable) for context in left):
        return True
    entries = [entry.with_context for entry in frame.block_stack]
    if sys.version_info < (3, 11):
        return any(context is None for context in entries)
    return any(_is_handler(target, frame.instructions) for target in _handlers(frame))


def _handlers(frame: Any) -> Iterator[int]:
    """Where an exception at the current instruction would go: the innermost handler, then those around it."""
    entry = frame.current_instruction.exn_tab_entry
    seen: set[int] = set()
    while entry is not None:
        index = frame.indexof[entry.target]
        if index in seen:
            return
        seen.add(index)
        yield index
        # What the handler itself runs under, once it has cleaned up behind itself.
        entry = _around(frame, index, seen)


def _around(frame: Any, index: int, seen: set[int]) -> Any:
    for instruction in itertools.islice(frame.instructions, index, None):
        entry = instruction.exn_tab_entry
        if entry is not None and frame.indexof[entry.target] not in seen:
            return entry
        if instruction.opname in _ENDS and entry is None:
            return None
    return None


_ENDS = ("RERAISE", "RETURN_VALUE", "RETURN_CONST")  # the last in Python 3.12 and 3.13


def _is_handler(index: int, instructions: list[Any]) -> bool:
    """Whether a handler is one of `try`; those of `with` are known from the stack, others clean up."""
    return instructions[index].opname == "PUSH_EXC_INFO" and instructions[index + 1].opname != "WITH_EXCEPT_START"
