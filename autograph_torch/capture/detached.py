"""What stands in the graph for a tensor without its gradient."""

from __future__ import annotations

from typing import Any


def detached(output: Any, tensor: Any) -> Any:
    """The proxy of `tensor.detach()`, in the memory of the tensor.

    output: Dynamo's OutputGraph. tensor: a TensorVariable.
    """
    proxy = output.create_proxy("call_method", "detach", (tensor.as_proxy(),), {})
    proxy.node.meta["example_value"] = tensor.as_proxy().node.meta["example_value"].detach()
    return proxy
