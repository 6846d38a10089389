"""`torch.autograd.functional`: jacobian, hessian, vjp, jvp, hvp and vhp are followed as the Python functions they are.

    J = torch.autograd.functional.jacobian(residual, theta)     Dynamo takes the call for an operator, and `residual`
                                                                for an argument of it, which no graph can have

Private: trace_rules.lookup_inner. tests/capture/test_functional_gradients.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo import trace_rules
from torch._dynamo.variables import UserFunctionVariable
from torch.autograd import functional

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def functional_gradients() -> Iterator[None]:
    """While this is in force, such calls are followed."""
    looked_up = trace_rules.lookup_inner

    def look_up(obj: Any, *args: Any, **kwargs: Any) -> Any:
        found = looked_up(obj, *args, **kwargs)
        is_one = isinstance(obj, types.FunctionType) and obj.__globals__ is vars(functional)
        return UserFunctionVariable if is_one else found

    with patched(trace_rules, lookup_inner=look_up):
        yield
