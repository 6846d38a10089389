"""Two floats of which the trace does not know whether they are one object: that matters where both are NaN.

best = max(best, (x[i].item(), i))     a tuple asks of each element whether it is the other tuple's, before it
                                       compares them: NaN is not equal to itself, and yet the same
"""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import fail_with
from autograph_torch.runtime.math import tensor_of

_MESSAGE = "two tuples or lists are compared that have NaN in the same place, which may be the same object"
_ADVICE = "test for NaN before; under @autograph such a call runs in Python"


def refuse_two_nan(one: Any, other: Any) -> None:
    """Let the graph refuse what the data have led to, when both are NaN. (While tracing.)"""
    number = notes.refused_when_run("AG314", _MESSAGE, _ADVICE)
    cond(torch.logical_and(tensor_of(one).isnan(), tensor_of(other).isnan()), lambda: fail_with(number))
