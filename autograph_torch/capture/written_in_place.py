"""What an operator that writes in place gives is the tensor itself: with its attributes, and its gradient.

    p -= lr * p.grad                       From here on Dynamo has another variable for `p`. What it has for the first
    p.grad = None                          (`p.grad`, `p.tag`) it does not have for this one, and what is set on it is
                                           lost: the gradient stayed. So it is behind a branch or loop that writes to p
    loss.backward()                        And here it asks for `p.grad`, is given the None that all constants share,
                                           and notes there that it is to be found at `p.grad`: this function, and all
                                           that are compiled afterwards, return a gradient where they return None

Private: SideEffects.store_attr and id_to_variable; the attributes of TensorVariable.
tests/capture/test_written_in_place.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import TensorVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.graph_writes import writes_in_place
from autograph_torch.capture.patching import method_of, patched

_GRADIENT = ("grad", "_grad")


@contextlib.contextmanager
def tensors_written_in_place() -> Iterator[None]:
    """While this is in force, their attributes are those of the tensor."""
    store, get = SideEffects.store_attr, method_of(TensorVariable, GET_ATTRIBUTE)

    def store_attribute(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
        return store(self, itself(item), *args, **kwargs)

    def attribute(self: Any, tx: Any, name: str) -> Any:
        if name not in _GRADIENT and hasattr(torch.Tensor, name):
            return get(self, tx, name)
        first, name = itself(self), "grad" if name in _GRADIENT else name
        if tx.output.side_effects.has_pending_mutation_of_attr(first, name):  # which has no place of its own yet
            return tx.output.side_effects.load_attr(first, name)
        return get(first, tx, name)

    with patched(SideEffects, store_attr=store_attribute), patched(TensorVariable, **{GET_ATTRIBUTE: attribute}):
        yield


def itself(variable: Any) -> Any:
    """The first variable of a tensor: for what an operator has given that writes to it, and behind a branch or loop."""
    if not isinstance(variable, TensorVariable):
        return variable
    node = variable.as_proxy().node
    while writes_in_place(node):
        node = node.args[0]  # type: ignore[assignment]
    known = InstructionTranslator.current_tx().output.side_effects.id_to_variable.values()
    found = [one for one in known if isinstance(one, TensorVariable) and one.as_proxy().node is node]
    return variable if not found or any(one is variable for one in found) else found[0]
