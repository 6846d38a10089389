"""The truth of objects, as torch 2.11 does not have it: dicts and lists of the program's own classes, and `Counter`.

    counts = Counter()
    if counts:                       Dynamo of torch 2.11: true, for it asks a `__len__` in Python only
    if line:                         an object with `__len__` or `__bool__`, under `bool(...)`: no answer at all

From torch 2.12 on Dynamo asks the objects.

Private: BuiltinVariable.call_function, the table of instructions. tests/capture/test_objects_truth.py fails without it
with torch 2.11.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import ConstantVariable, UserDefinedObjectVariable
from torch._dynamo.variables.builtin import BuiltinVariable

from autograph_torch.capture.dynamo_names import TRUTH
from autograph_torch.capture.operators_of_objects import defines
from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import JUMPS, Instruction, jump, replaced

_ASKING = (bool, operator.truth, operator.not_)


@contextlib.contextmanager
def truth_of_objects() -> Iterator[None]:
    """While this is in force, `if d:` and `bool(d)` ask `__bool__` or `__len__` of an object."""
    if TRUTH is not None:
        yield
        return
    call = BuiltinVariable.call_function

    def called(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        answer = _answer(tx, args[0].realize()) if self.fn in _ASKING and len(args) == 1 else None
        return call(self, tx, args if answer is None else [answer], kwargs)

    with patched(BuiltinVariable, call_function=called), replaced(**dict.fromkeys(JUMPS, _asking)):
        yield


def _asking(original: Instruction) -> Instruction:
    def ask(translator: Any, instruction: Any) -> None:
        value = translator.stack[-1].realize()
        answer = None if defines(value, "__bool__") else _answer(translator, value)
        if answer is None or not answer.is_python_constant():
            original(translator, instruction)
        else:
            jump(translator, instruction, bool(answer.as_python_constant()))

    return ask


def _answer(tx: Any, value: Any) -> Any:
    """What `__bool__` or `__len__` of an object gives, True where it has neither; None for what is no object."""
    if not isinstance(value, UserDefinedObjectVariable) or value.is_tensor():
        return None
    names = [name for name in ("__bool__", "__len__") if hasattr(value.python_type(), name)]
    return value.call_method(tx, names[0], [], {}) if names else ConstantVariable.create(True)
