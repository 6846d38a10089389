"""What Dynamo asks of all that is in a list or tuple, where less would do.

    if pairs:                   whether everything in it is a constant; here, whether it is empty
    helper(x)                   to ask whether to follow a local function, it makes it, with all that it closes over
    return xs, y                whether it is a constant, which could be written as one; a list is none

Each would look into the lists of the caller (capture/appended_lists.py), and make a graph for each length.

Private: the table of instructions, trace_rules.check_verbose, PyCodegen.__call__.
tests/capture/test_appended_lists.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo import trace_rules
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.variables import ListVariable, TupleVariable
from torch._dynamo.variables.functions import NestedUserFunctionVariable

from autograph_torch.capture.held import held
from autograph_torch.capture.open_contents import Open, is_unread
from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import JUMPS, Instruction, jump, replaced


@contextlib.contextmanager
def unasked_contents() -> Iterator[None]:
    """While this is in force, it asks less."""
    generate, constant, check = PyCodegen.__call__, ListVariable.as_python_constant, trace_rules.check_verbose
    writing: list[bool] = []  # bytecode: calls under way

    def generate_value(self: Any, *args: Any, **kwargs: Any) -> None:
        writing.append(True)
        try:
            generate(self, *args, **kwargs)
        finally:
            writing.pop()

    def as_python_constant(self: Any) -> Any:
        if writing and is_unread(self):
            raise NotImplementedError
        return constant(self)

    def check_verbose(function: Any, *args: Any, **kwargs: Any) -> Any:
        is_local = isinstance(function, NestedUserFunctionVariable)
        return check(function.get_code() if is_local else function, *args, **kwargs)

    with (
        patched(PyCodegen, __call__=generate_value),
        patched(ListVariable, as_python_constant=as_python_constant),
        patched(trace_rules, check_verbose=check_verbose),
        replaced(**dict.fromkeys(JUMPS, _by_length)),
    ):
        yield


def _by_length(original: Instruction) -> Instruction:
    def ask(translator: Any, instruction: Any) -> None:
        value = translator.stack[-1]
        if type(value) in (ListVariable, TupleVariable) and not isinstance(held(value), Open):
            jump(translator, instruction, bool(value.items))
        else:
            original(translator, instruction)

    return ask
