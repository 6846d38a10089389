"""What a trace is told of a tensor from outside, beside its type and layout, later calls have to agree on.

    if w.is_leaf: ...                  Dynamo takes the answer of the first call, and asks later ones nothing
    w.mul_(2)                          nor here, where a leaf that requires a gradient is an error
    if w.output_nr or w.retains_grad: ...
    isinstance(w, nn.Buffer)           a flag of the tensor: its class is torch.Tensor, with and without
    type(w) is torch.Tensor            and Dynamo takes nn.Buffer for the class

Whether it is a leaf is always asked of one that requires a gradient: what may be written to it, and the answers of what
stands for it (`w.contiguous().is_leaf`), follow from that. A parameter is a leaf. Everything else is asked where the
program does; what the stand-in that is traced does not know (`_base`, `output_nr`, hooks) is told of the tensor itself.
Private attributes of what the trace makes are refused, and so are answers from before a change. In plain
torch.compile, too (torch 2.13).

Private: GuardBuilder.TENSOR_MATCH and CONSTANT_MATCH, how TensorVariable gets attributes (`method_attr_...`) and keeps
its `class_type`, UntypedStorageVariable.call_method, the `grapharg` of inputs.
tests/capture/test_tensors_given.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Iterator
from typing import Any, get_args

from torch import Tensor
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.source import AttrSource
from torch._dynamo.variables import BuiltinVariable, ConstantVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.tensor import TensorVariable, UntypedStorageVariable
from torch.nn import Buffer, Parameter
from torch.utils.weak import TensorWeakRef

from autograph_torch.capture.asked_properties import counts
from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE, expression_of, value_at
from autograph_torch.capture.later_calls import agree
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal

_ADVICE = "ask outside of the function, and hand the answer to it"


@contextlib.contextmanager
def tensors_given() -> Iterator[None]:
    """While this is in force, they do."""
    match, get = GuardBuilder.TENSOR_MATCH, getattr(TensorVariable, GET_ATTRIBUTE)
    call, of_storage = BuiltinVariable.call_function, UntypedStorageVariable.call_method

    @functools.wraps(match)  # torch asks for its name
    def tensor_match(self: Any, guard: Any, value: Any = None) -> None:
        match(self, guard, value)
        given = value() if isinstance(value, TensorWeakRef) else value
        if given is not None and given.requires_grad and type(given) is not Parameter:
            self.CONSTANT_MATCH(AttrSource(guard.originating_source, "is_leaf").make_guard(GuardBuilder.CONSTANT_MATCH))

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if name == "__class__" and self.class_type is Buffer:
            return VariableTracker.build(tx, Tensor)
        found = get(self, tx, name)
        return _agreed(tx, self, name, found) if _is_told(name) else found

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        asked = args[0].realize() if self.fn in (isinstance, type) and args else None
        if not isinstance(asked, TensorVariable):
            return call(self, tx, args, kwargs)
        if self.fn is type and len(args) == 1 and asked.class_type is Buffer:
            return VariableTracker.build(tx, Tensor)
        found = call(self, tx, args, kwargs)
        if self.fn is isinstance:
            _agree_on_kind(tx, asked, args[1])
        return found

    def call_method(self: Any, tx: Any, name: str, *args: Any) -> Any:
        found = of_storage(self, tx, name, *args)
        if name == "size" and isinstance(found, ConstantVariable):
            _agree_on_size(tx, self.from_tensor, found.value)
        return found

    with (
        patched(GuardBuilder, TENSOR_MATCH=tensor_match),
        patched(TensorVariable, **{GET_ATTRIBUTE: get_attribute}),
        patched(BuiltinVariable, call_function=call_builtin),
        patched(UntypedStorageVariable, call_method=call_method),
    ):
        yield


def _is_told(name: str) -> bool:
    """Whether this is an attribute that Dynamo gets from the tensor that stands in, and that no guard asks for."""
    of_c = type(getattr(Tensor, name, None)) is types.GetSetDescriptorType
    return of_c and not hasattr(TensorVariable, f"method_attr_{name}")


def _agreed(tx: Any, tensor: Any, name: str, found: Any) -> Any:
    """The variable of the answer, on which later calls have to agree; what was found where it depends on nothing."""
    known, private = isinstance(found, ConstantVariable), name.startswith("_")
    source = _source_of(tx, tensor)
    if source is None and private and counts(tx):
        raise_refusal("AG320", f"`{name}` of a tensor that is made in a graph", _ADVICE)
    if source is None or not (known or private):
        return found
    given = value_at(source, tx)
    answer = getattr(given, name)
    same = known and type(answer) is type(found.value) and answer == found.value
    if (private or not same) and _is_changed(tx, tensor, given):
        if counts(tx):
            raise_refusal("AG320", f"`{name}` of a tensor that has been changed since", _ADVICE)
        return found
    if same:
        install_guard(AttrSource(source, name).make_guard(GuardBuilder.CONSTANT_MATCH))
        return found
    return VariableTracker.build(tx, answer, AttrSource(source, name))


def _is_changed(tx: Any, tensor: Any, given: Tensor) -> bool:
    """Whether the trace has made it record a gradient, or has given it a hook."""
    value = _stand_in(tx, tensor)
    hooks = tx.output.side_effects.tensor_hooks
    return bool(hooks) or (value.is_leaf, value.requires_grad) != (given.is_leaf, given.requires_grad)


def _agree_on_kind(tx: Any, tensor: Any, kinds: Any) -> None:
    """Have later calls agree whether the tensor says of itself that it is of a kind, where its class does not tell."""
    source, told = _source_of(tx, tensor), tuple(_told_by_flags(kinds.as_python_constant()))
    if source is None or not told:
        return
    given = value_at(source, tx)
    answer = isinstance(given, told)
    if answer != issubclass(tensor.class_type, told):
        raise_refusal("AG320", "a tensor is of another kind in a graph", _ADVICE)
    if not issubclass(type(given), told):
        agree(source, f"isinstance({expression_of(source)}, ___told) is {answer}", ___told=told)


def _told_by_flags(kinds: Any) -> list[type]:
    """Those of the kinds that `isinstance` asks for which ask a tensor for a flag."""
    if isinstance(kinds, (tuple, types.UnionType)):
        parts = kinds if isinstance(kinds, tuple) else get_args(kinds)
        return [one for part in parts for one in _told_by_flags(part)]
    return [kinds] if kinds in (Parameter, Buffer) else []


def _agree_on_size(tx: Any, tensor: Any, size: int) -> None:
    """Have later calls agree on the size of a storage."""
    source = _source_of(tx, tensor)
    if source is not None and value_at(source, tx).untyped_storage().size() == size:
        agree(source, f"{expression_of(source)}.untyped_storage().size() == {size}")
    elif counts(tx):
        raise_refusal("AG320", "the size of a storage, which is another one in a graph", _ADVICE)


def _source_of(tx: Any, tensor: Any) -> Any:
    """What leads to the tensor around the trace; None for one that the trace has made."""
    source = tensor.source or _source_of_the_same(tx, tensor)
    return source if source is not None and expression_of(source) is not None else None


def _source_of_the_same(tx: Any, tensor: Any) -> Any:
    """That of the input which the tensor is (`w.contiguous()`), if it is one."""
    value = _stand_in(tx, tensor)
    inputs = (node for node in tx.output.root_tracer.graph.nodes if node.op == "placeholder")
    same = next((node for node in inputs if node.meta.get("example_value") is value), None)
    return None if same is None or "grapharg" not in same.meta else same.meta["grapharg"].source


def _stand_in(tx: Any, tensor: Any) -> Any:
    return tracing.resolved(tensor.as_proxy(), tx.output.current_tracer).node.meta.get("example_value")
