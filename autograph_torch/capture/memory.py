"""What bodies of torch's operators take in from outside: tensors of memory of their own, numbers as tensors.

Dynamo refuses a body that closes over `x` and `x[0]`. While a converted function is compiled, the second one is cloned
in front of the operator. Under no_grad Dynamo lets a body write to what it closes over; where that is a clone (made
here, or by the runtime), the write would be lost, and is refused.

torch's operators take no truth values and fractions that depend on data. They go in as tensors and are numbers again
inside.

Private names of Dynamo: SubgraphTracer.lift_tracked_freevar_to_input, which makes a tensor from outside an input of a
body; higher_order_ops.check_aliasing_and_input_mutation, which is called when a body has been traced.
tests/capture/test_memory.py fails clearly when torch changes one of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.output_graph import SubgraphTracer
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import higher_order_ops
from torch._dynamo.variables.builder import wrap_fx_proxy

from autograph_torch.runtime.refusal import raise_refusal


class _Apart:
    """The tensors that the bodies of one operator read, by storage, and the copies made in front of the operator."""

    def __init__(self, mark: Any) -> None:
        self.mark = mark  # the last node of the graph around when the first body was begun
        self.first: dict[Any, Any] = {}
        self.copies: dict[Any, Any] = {}
        self.shared: set[Any] = set()


@contextlib.contextmanager
def apart_in_memory() -> Iterator[None]:
    """The bodies of operators read no two tensors of one storage."""
    lift, check = SubgraphTracer.lift_tracked_freevar_to_input, higher_order_ops.check_aliasing_and_input_mutation

    def lift_apart(self: Any, proxy: Any) -> Any:
        value = proxy.node.meta.get("example_value")
        if isinstance(value, (torch.SymBool, torch.SymFloat)) and self.parent is not None:
            return _number_as_tensor(self, proxy, value)
        if not isinstance(value, torch.Tensor) or proxy in self.lifted_freevars or self.parent is None:
            return lift(self, proxy)
        state = _state(self.parent)
        storages = higher_order_ops.get_tensor_storages(value)
        if all(state.first.setdefault(storage, proxy) is proxy for storage in storages):
            return lift(self, proxy)
        state.shared.update(storages)
        if proxy not in state.copies:
            copied = self.parent.create_proxy("call_method", "clone", (proxy,), {})
            wrap_fx_proxy(InstructionTranslator.current_tx(), copied)
            state.copies[proxy] = copied
        self.__dict__.setdefault("_autograph_lifted", {})[proxy] = inside = lift(self, state.copies[proxy])
        return inside

    def lift_once(self: Any, proxy: Any) -> Any:
        known = self.__dict__.get("_autograph_lifted", {})
        return known[proxy] if proxy in known else lift_apart(self, proxy)

    def check_writes(subtracer: Any, *args: Any, **kwargs: Any) -> Any:
        if subtracer.has_input_mutation().has_mutation and _writes_to_a_copy(subtracer):
            raise_refusal(
                "AG206",
                "a function that is called in a branch or loop on a tensor writes in place to a tensor from outside",
                "write in the branch itself, or let the function return a new tensor",
            )
        return check(subtracer, *args, **kwargs)

    SubgraphTracer.lift_tracked_freevar_to_input = lift_once  # type: ignore[method-assign]
    higher_order_ops.check_aliasing_and_input_mutation = check_writes
    try:
        yield
    finally:
        SubgraphTracer.lift_tracked_freevar_to_input = lift  # type: ignore[method-assign]
        higher_order_ops.check_aliasing_and_input_mutation = check


def _number_as_tensor(tracer: Any, proxy: Any, value: torch.SymBool | torch.SymFloat) -> Any:
    """The number inside of a body, read from a tensor that is made of it outside."""
    known = tracer.__dict__.setdefault("_autograph_lifted", {})
    dtype = torch.bool if isinstance(value, torch.SymBool) else torch.float64
    outer = tracer.parent.create_proxy("call_function", torch.scalar_tensor, (proxy,), {"dtype": dtype})
    wrap_fx_proxy(InstructionTranslator.current_tx(), outer)
    copied = tracer.create_proxy("call_method", "clone", (outer,), {})
    known[proxy] = inside = tracer.create_proxy("call_method", "item", (copied,), {})
    copied.node.meta["example_value"] = outer.node.meta["example_value"].clone()
    inside.node.meta["example_value"] = value
    return inside


def _state(parent: Any) -> _Apart:
    """What is known of the operator whose bodies are traced: between them only our copies enter the graph around."""
    state: _Apart | None = parent.__dict__.get("_autograph_apart")
    made = {copied.node for copied in state.copies.values()} if state is not None else set()
    mark = next((node for node in reversed(parent.graph.nodes) if node not in made), None)
    if state is None or state.mark is not mark:
        state = parent._autograph_apart = _Apart(mark)
    return state


def _writes_to_a_copy(subtracer: Any) -> bool:
    """Whether a body writes to an input that stands for another tensor: the write would be lost."""
    placeholders = [node for node in subtracer.graph.nodes if node.op == "placeholder"]
    written = {placeholders[index] for index in subtracer.has_input_mutation().mutated_input_indices}
    shared = _state(subtracer.parent).shared if subtracer.parent is not None else set()
    for outer, inner in subtracer.lifted_freevars.items():
        if inner.node in written:
            storages = higher_order_ops.get_tensor_storages(inner.node.meta["example_value"])
            if outer.node.target == "clone" or any(storage in shared for storage in storages):
                return True
    return False
