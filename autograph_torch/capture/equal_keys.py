"""Keys of dicts and members of sets are equal where the `__eq__` of their class says so.

    class Bucket:
        def __eq__(self, other): return self.low == other.low
        def __hash__(self): return hash(self.low)

    counts[Bucket(low)] += 1

Dynamo (torch 2.13) asks `__hash__`, and then whether it is the same object: two equal keys became two entries. Of NaN
it asks only whether it is equal: `{math.nan: 1} == {math.nan: 1}` was false.

Private: is_python_equal of UserDefinedObjectVariable and ConstantVariable. tests/capture/test_equal_keys.py shows what
torch does without this.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import ConstantVariable, UserFunctionVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.user_defined import UserDefinedObjectVariable

from autograph_torch.capture.compared_in_c import answers_in_c
from autograph_torch.capture.operators_of_objects import defines
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def equal_keys() -> Iterator[None]:
    """While this is in force, they are."""
    is_equal = UserDefinedObjectVariable.is_python_equal

    def is_python_equal(self: Any, other: Any) -> bool:
        if self is other or not isinstance(other, VariableTracker) or not says_what_is_equal(self):
            return is_equal(self, other)
        found = BuiltinVariable(operator.eq).call_function(tracing.current_translator(), [self, other], {})
        if not found.is_python_constant():  # data tell it; on one path it is known what they say
            found = UserFunctionVariable(_is_true).call_function(tracing.current_translator(), [found], {})  # type: ignore[arg-type]
        if not found.is_python_constant():
            message = f"data tell whether two keys of type `{self.python_type().__name__}` are equal"
            raise_refusal("AG320", message, "use numbers or texts as keys")
        return bool(found.as_python_constant())

    are_constants_equal = method_of(ConstantVariable, "is_python_equal")

    def is_constant_equal(self: Any, other: Any) -> bool:  # NaN is the key that it is itself
        if isinstance(other, VariableTracker) and says_what_is_equal(other):
            return is_python_equal(other, self)
        return (isinstance(other, ConstantVariable) and self.value is other.value) or are_constants_equal(self, other)

    with (
        patched(UserDefinedObjectVariable, is_python_equal=is_python_equal),
        patched(ConstantVariable, is_python_equal=is_constant_equal),
    ):
        yield


def says_what_is_equal(variable: Any) -> bool:
    """Whether it is an object whose class says that, in Python or in C."""
    return defines(variable, "__eq__") or answers_in_c(variable, "__eq__")


def _is_true(found: Any) -> bool:
    return True if found else False  # noqa: SIM210 (a jump, whose answer is asked for)
