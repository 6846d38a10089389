"""Parameters and arguments that the function tells to record no gradient, or to record one, and perhaps takes it back.

    for p in critic.parameters(): p.requires_grad_(False)      from here on `p.detach()` stands for `p` in the graph
    loss = -critic(fake).mean()
    loss.backward()
    for p in critic.parameters(): p.requires_grad_(True)       and from here on `p` itself

    x.requires_grad_()                                         from here on a leaf of the graph in the memory of `x`

Dynamo refuses both. What the tensor is told last, its caller sees: `requires_grad` is set behind the graph where it is
not what it was. What depends on a leaf of the graph is no result (capture/leaves_made.py). Left out: torch 2.11, whose
guards do not notice it; and branches and loops on data (a path has neither).

Private: TensorVariable.method_requires_grad_ and `proxy`, SideEffects.store_attr and store_attr_mutations,
SetAttrBuiltinVariable. tests/capture/test_frozen_tensors.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.source import SyntheticLocalSource
from torch._dynamo.variables import ConstantVariable, TensorVariable

from autograph_torch.capture.detached import detached
from autograph_torch.capture.dynamo_names import SETATTR, attribute_set
from autograph_torch.capture.known_torch import is_before
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing

_NAME = "requires_grad"
_GIVEN = "_autograph_given"  # on a variable that is told what it was not: what stands for it in the graph otherwise


@contextlib.contextmanager
def frozen_tensors() -> Iterator[None]:
    """While this is in force, such calls are followed."""
    record, set_attribute = TensorVariable.method_requires_grad_, SETATTR.call_function

    def tell(self: Any, tx: Any, requires_grad: Any = True) -> Any:
        wanted = requires_grad is True or requires_grad.as_python_constant()
        if wanted is self.requires_grad or not _can_be_told(tx, self):
            return record(self, tx, requires_grad)
        if is_told(self):
            self.proxy = self.__dict__.pop(_GIVEN)
            tx.output.side_effects.store_attr_mutations[self].pop(_NAME)
        else:
            self.__dict__[_GIVEN] = self.proxy
            self.proxy = detached(tx.output, self)
            if wanted:
                _record(record, self, tx)
            tx.output.side_effects.store_attr(self, _NAME, ConstantVariable.create(wanted))
        self.requires_grad = wanted
        return self

    def called(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        tensor, name, wanted = attribute_set(self, args)
        if name == _NAME and isinstance(tensor, TensorVariable) and wanted.is_python_constant():
            if _can_be_told(tx, tensor):
                tensor.call_method(tx, "requires_grad_", [wanted], {})
                return wanted
        return set_attribute(self, tx, args, kwargs)

    with patched(TensorVariable, method_requires_grad_=tell), patched(SETATTR, call_function=called):
        yield


def _record(record: Callable[..., Any], tensor: Any, tx: Any) -> None:
    """Make a leaf of the graph of what stands for a tensor; its `.grad` is that of the tensor."""
    source, tensor.source = tensor.source, None
    try:
        record(tensor, tx, True)
    finally:
        tensor.source = source
    tx.output.side_effects.store_attr_mutations[tensor].pop("grad", None)


def is_told(tensor: Any) -> bool:
    """Whether it is such a variable: at this point it records what it did not record around the function."""
    return _GIVEN in tensor.__dict__


def _can_be_told(tx: Any, tensor: Any) -> bool:
    """Whether it is a tensor from around the function, no result of an operator and no parameter made in it."""
    if is_before(2, 12) or not tensor.source or tensor.has_grad_fn or tracing.may_break():
        return False
    if isinstance(tensor.source, SyntheticLocalSource):  # capture/parameters_made.py
        return False
    return tx.output.current_tracer.parent is None and tracing.transform() is None
