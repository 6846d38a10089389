"""A call that is given one keyword by two dicts, or by name and by a dict, raises a TypeError, as in Python.

    step(x, lr=0.1, **options)         step() got multiple values for keyword argument 'lr'
    dict(**defaults, **options)
    step(x, **None)                    step() argument after ** must be a mapping, not NoneType

Dynamo (torch 2.13) updates one dict with the other: the last value wins.

Private: the instruction DICT_MERGE, the stack below it, ConstDictVariable.items.
tests/capture/test_keywords_given_twice.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables import ConstDictVariable, NestedUserFunctionVariable, UserFunctionVariable
from torch._dynamo.variables.base import ValueMutationNew
from torch._dynamo.variables.misc import NullVariable

from autograph_torch.capture.open_contents import Open
from autograph_torch.capture.replaced_instructions import Instruction, replaced


@contextlib.contextmanager
def keywords_given_twice() -> Iterator[None]:
    """While this is in force, such calls raise."""
    with replaced(DICT_MERGE=_merging):
        yield


def _merging(original: Instruction) -> Instruction:
    def merge(translator: Any, instruction: Any) -> None:
        place = -1 - instruction.argval
        message = _reason(translator, translator.stack[place].realize())
        if message is not None:
            shown = _shown(_called(translator.stack[:place]))
            raise_observed_exception(TypeError, translator, args=[f"{shown} {message}"])
        original(translator, instruction)

    return merge


def _reason(translator: Any, known: Any) -> str | None:
    """Why what is behind `**` cannot be among the keywords that are known so far."""
    given = translator.stack[-1].realize()
    if not isinstance(given, ConstDictVariable):
        kind = given.python_type()
        if not hasattr(kind, "keys") and not hasattr(kind, "__getattr__"):
            return f"argument after ** must be a mapping, not {kind.__name__}"
        made = ConstDictVariable({}, mutation_type=ValueMutationNew())
        made.call_method(translator, "update", [given], {})  # which asks for its keys, once
        translator.stack[-1] = given = made
    if any(isinstance(one.items, Open) for one in (known, given)):
        return None
    twice = next((key.vt.as_python_constant() for key in given.items if key in known.items), None)
    return None if twice is None else f"got multiple values for keyword argument {twice!r}"


def _called(below: Any) -> Any:
    """What is called, below its arguments on the stack; from Python 3.13 on there is nothing in between."""
    return below[-3 if isinstance(below[-2], NullVariable) else -2].realize()


def _shown(variable: Any) -> str:
    """As Python names what is called."""
    if isinstance(variable, NestedUserFunctionVariable):
        return f"{variable.f_globals['__name__']}.{variable.fn_name.as_python_constant()}()"
    value: Any = variable.fn if isinstance(variable, UserFunctionVariable) else variable.as_python_constant()
    module = getattr(value, "__module__", None)
    place = "" if module in (None, "builtins") else f"{module}."
    return f"{place}{value.__qualname__}()"
