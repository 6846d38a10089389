"""Assertions that ask no data raise what Python raises, for the handlers of the program, too.

    assert k == 1, (k, x)                  raise AssertionError((k, x)): Dynamo takes strings alone
    raise AssertionError(k, loss)

    try: assert len(xs) == 2, "two"        with a constant message it is an assertion of the graph to Dynamo, which
    except AssertionError: ...             stops where it does not hold; here it is an `if` with a `raise`

Assertions on tensors are for passes/effects.py; those on numbers that data tell Dynamo checks.

Private: the setting rewrite_assert_with_torch_assert, BuiltinVariable.call_function, ExceptionVariable, and the
instructions of an assertion. tests/capture/test_assertions.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo import config as dynamo_config
from torch._dynamo.variables import BuiltinVariable
from torch._dynamo.variables.misc import ExceptionVariable

from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import JUMPS, Instruction, is_from_data, replaced

_LOADING = ("LOAD_ASSERTION_ERROR", "LOAD_COMMON_CONSTANT")  # the second from Python 3.14 on


@contextlib.contextmanager
def assertions() -> Iterator[None]:
    """While this is in force, such assertions are as in Python."""
    call = BuiltinVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is AssertionError and not kwargs:
            return ExceptionVariable(AssertionError, list(args), {})
        return call(self, tx, args, kwargs)

    with patched(BuiltinVariable, call_function=call_function), replaced(**dict.fromkeys(JUMPS, _jumping)):
        yield


def _jumping(original: Instruction) -> Instruction:
    def jump(translator: Any, instruction: Any) -> None:
        following = translator.instructions[translator.instruction_pointer].opname
        if following not in _LOADING or _asks_data(translator.stack[-1]):
            original(translator, instruction)
            return
        with dynamo_config.patch(rewrite_assert_with_torch_assert=False):
            original(translator, instruction)

    return jump


def _asks_data(variable: Any) -> bool:
    value = variable.realize()
    return value.is_tensor() or is_from_data(value)
