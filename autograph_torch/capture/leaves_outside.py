"""`backward()` of what depends on tensors from outside that are no leaves, and on no leaf: refused.

    w = leaf * 2                    outside
    (w * x).sum().backward()        inside: the gradient goes to `leaf`, of which the trace knows nothing

Dynamo (torch 2.13) takes such a call for one that has nothing to do. Where there is a leaf as well, it says so.

Private: TensorVariable._collect_backward_inputs. tests/capture/test_leaves_outside.py shows what torch does without
this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from torch._dynamo.variables import TensorVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def leaves_outside() -> Iterator[None]:
    """While this is in force, it is."""
    collect = TensorVariable._collect_backward_inputs

    def collect_inputs(self: Any, variables: Iterable[Any], error_on_non_leaf: bool = False) -> Any:
        known = list(variables)
        found = collect(self, known, error_on_non_leaf)
        if not found and any(isinstance(one, TensorVariable) and one.source and one.has_grad_fn for one in known):
            message = "`backward` leads to leaves that the compiled function is not given"
            raise_refusal("AG320", message, "call it outside of the function, or give the function the leaves")
        return found

    with patched(TensorVariable, _collect_backward_inputs=collect_inputs):
        yield
