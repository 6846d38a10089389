"""Numbers that depend on data, in the bodies of torch's operators.

torch's operators take no truth values and fractions that depend on data. They go into a body as tensors and are numbers
again inside. (Tensors that share memory: see standing_in.py.)

Private names: SubgraphTracer.lift_tracked_freevar_to_input of Dynamo, which makes a value from outside an input of a
body, and Node._erased. tests/capture/test_lifting.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.output_graph import SubgraphTracer
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables.builder import wrap_fx_proxy

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def numbers_as_tensors() -> Iterator[None]:
    """The bodies of operators take numbers from outside."""
    lift = SubgraphTracer.lift_tracked_freevar_to_input

    def lift_number(self: Any, proxy: Any) -> Any:
        value = proxy.node.meta.get("example_value")
        if not isinstance(value, (torch.SymBool, torch.SymFloat)) or self.parent is None:
            return lift(self, proxy)
        known = self.__dict__.setdefault("_autograph_numbers", {})
        if proxy not in known or known[proxy].node._erased:  # with an attempt that has been discarded
            known[proxy] = _number_as_tensor(self, proxy, value)
        return known[proxy]

    with patched(SubgraphTracer, lift_tracked_freevar_to_input=lift_number):
        yield


def _number_as_tensor(tracer: Any, proxy: Any, value: torch.SymBool | torch.SymFloat) -> Any:
    """The number inside of a body, read from a tensor that is made of it outside."""
    dtype = torch.bool if isinstance(value, torch.SymBool) else torch.float64
    outer = tracer.parent.create_proxy("call_function", torch.scalar_tensor, (proxy,), {"dtype": dtype})
    wrap_fx_proxy(InstructionTranslator.current_tx(), outer)
    copied = tracer.create_proxy("call_method", "clone", (outer,), {})
    inside = tracer.create_proxy("call_method", "item", (copied,), {})
    copied.node.meta["example_value"] = outer.node.meta["example_value"].clone()
    inside.node.meta["example_value"] = value
    return inside
