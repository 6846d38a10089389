"""Whether two values of a trace are one object for the program."""

from __future__ import annotations

from typing import Any

from torch._dynamo.variables import TensorVariable

from autograph_torch.runtime import tracing


def is_same(value: Any, other: Any, tracer: Any) -> bool:
    """Whether two variables are one object for the program; tensors by what they are inside of the body.

    And a list or dict from around it by whichever name: bodies around may work on a copy.
    """
    if not (isinstance(value, TensorVariable) and isinstance(other, TensorVariable)):
        return value is other or tracing.hold_the_same(value, other, tracer)
    fakes = [tracing.resolved(one.proxy, tracer).node.meta["example_value"] for one in (value, other)]
    return fakes[0] is fakes[1]
