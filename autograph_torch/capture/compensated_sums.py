"""`sum` of floats that data give keeps what is rounded off, as Python does from 3.12 on.

    sum(loss.item() for loss in losses)

Dynamo adds one by one, as Python did before; up to Python 3.11 nothing is changed.

Private: PolyfilledFunctionVariable. tests/capture/test_compensated_sums.py fails clearly when torch changes it.
"""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import BaseListVariable, UserFunctionVariable
from torch._dynamo.variables.functions import PolyfilledFunctionVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime.sums import KEEPS_ROUNDED_OFF, added_up


@contextlib.contextmanager
def compensated_sums() -> Iterator[None]:
    """While this is in force, it does."""
    original = PolyfilledFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is builtins.sum and args and _may_have_floats(args[0].realize()):
            add: Any = added_up
            return UserFunctionVariable(add).call_function(tx, args, kwargs)
        return original(self, tx, args, kwargs)

    with patched(PolyfilledFunctionVariable, **({"call_function": call_function} if KEEPS_ROUNDED_OFF else {})):
        yield


def _may_have_floats(values: Any) -> bool:
    """Whether some of what is added up may be floats that the trace does not know."""
    if values.is_tensor() or values.is_python_constant():
        return False
    if not isinstance(values, BaseListVariable):
        return True
    contents: Any = values.items  # those of an open list nobody knows
    return isinstance(contents, list) and any(_may_be_float(element.realize()) for element in contents)


def _may_be_float(variable: Any) -> bool:
    try:
        return bool(variable.python_type() is float)
    except NotImplementedError:  # of what Dynamo knows no type
        return True
