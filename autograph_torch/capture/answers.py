"""Questions of the runtime that the tracer has answered: there is nothing to enter for them.

    spec_of((x, 3))             filled in by plain_values.py: that is what the call gives
    hand_out(site, tensors)     noted by standing_in.py: the function itself is empty
    is_open(xs)                 `return found`: as filled in, or its default

A third of the calls that Dynamo would interpret in a trace are such ones. And what its notes give (runtime/notes.py) is
constant; Dynamo would put it among the globals of the user's module, one for each question of each trace.

Private: InliningInstructionTranslator.inline_call, `bind_args` of functions under trace, and
torch._dynamo.variables.functions.invoke_and_store_as_constant.
tests/capture/test_answers.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import dis
import functools
import types
from collections.abc import Callable
from typing import Any

from torch._dynamo import symbolic_convert
from torch._dynamo.source import ConstantSource
from torch._dynamo.variables import ConstantVariable, UserFunctionVariable, functions
from torch._dynamo.variables.base import VariableTracker

from autograph_torch.runtime import grown, predicate, structure
from autograph_torch.runtime.places import is_runtime

_Translator = symbolic_convert.InliningInstructionTranslator
FillIn = Callable[[types.CodeType, Any, dict[str, Any]], None]

# Their parameter `found` is the answer where the tracer knows it, and None where they have to look themselves.
_ASKING = frozenset(
    one.__code__
    for one in (
        structure.spec_of,
        structure.tensors_in,
        structure.is_in,
        structure.containers_in,
        structure.copies_of,
        structure.has_numbers,
        structure.same_object,
        structure.is_dataclass,
        predicate.truth,
        grown.behind,
    )
)
_FOUND = "found"


def answer_at_once(fill_in: FillIn) -> None:
    """Give the answers that `fill_in` puts among the arguments (once for the process)."""
    original: Any = vars(_Translator)["inline_call"].__func__

    @functools.wraps(original)
    def inline_call(cls: Any, parent: Any, func: Any, args: Any, kwargs: Any, **options: Any) -> Any:
        found = _answer(parent, func, args, kwargs, fill_in)
        return original(cls, parent, func, args, kwargs, **options) if found is None else found

    _Translator.inline_call = classmethod(inline_call)  # type: ignore[assignment]


def give_constants() -> None:
    """Let what the notes of the runtime give stay out of the globals of the user's module (once for the process)."""
    original: Any = functions.invoke_and_store_as_constant

    @functools.wraps(original)
    def invoke(tx: Any, fn: Callable[..., Any], name: str, args: Any, kwargs: Any) -> Any:
        if kwargs or not is_runtime(fn.__code__.co_filename):
            return original(tx, fn, name, args, kwargs)
        try:
            values = [one.as_python_constant() for one in args]
        except NotImplementedError:
            return original(tx, fn, name, args, kwargs)
        found = fn(*values)
        if not _has_classes(found):
            return VariableTracker.build(tx, found)
        hidden = tx.output.install_global("__found", found)  # a class comes from somewhere, else it makes no objects
        return VariableTracker.build(tx, found, ConstantSource(hidden))

    functions.invoke_and_store_as_constant = invoke


def _has_classes(value: Any) -> bool:
    """Whether there are classes of the program in what notes give."""
    if isinstance(value, tuple):
        return any(map(_has_classes, value))
    return isinstance(value, type) and value.__module__.partition(".")[0] not in ("builtins", "torch")


def _answer(parent: Any, func: Any, args: Any, kwargs: Any, fill_in: FillIn) -> Any:
    """What a call gives, if there is nothing to interpret."""
    if type(func) is not UserFunctionVariable:
        return None
    code = func.get_code()
    returned = _returned(code)
    if returned is None:
        return None
    given = func.bind_args(parent, args, kwargs)
    fill_in(code, parent, given)
    if not returned:
        return ConstantVariable.create(None)
    found = given[returned].realize() if code in _ASKING else given[returned]
    unknown = code in _ASKING and type(found) is ConstantVariable and found.as_python_constant() is None
    return None if unknown else found


@functools.cache
def _returned(code: types.CodeType) -> str | None:
    """The parameter that a function of the runtime gives, "" for an empty one; None for what has to be interpreted."""
    if code in _ASKING:
        return _FOUND
    if not is_runtime(code.co_filename) or code.co_kwonlyargcount or code.co_flags & _VARIADIC:
        return None
    steps = [(one.opname, one.argval) for one in dis.get_instructions(code) if one.opname not in ("RESUME", "NOP")]
    if steps in ([("RETURN_CONST", None)], [("LOAD_CONST", None), ("RETURN_VALUE", None)]):
        return ""
    if len(steps) == 2 and steps[0][0].startswith("LOAD_FAST") and steps[1][0] == "RETURN_VALUE":
        name: str = steps[0][1]
        return name
    return None


_VARIADIC = 0x04 | 0x08  # CO_VARARGS, CO_VARKEYWORDS
