"""Views and sizes of tensors in bodies of operators."""

from __future__ import annotations

import inspect

from torch._dynamo.variables import builder
from torch._dynamo.variables.tensor import TensorVariable
from torch.fx.experimental.symbolic_shapes import ShapeEnv


def test_names_of_the_tracer() -> None:
    assert ShapeEnv().pending_fresh_unbacked_symbols == []
    assert list(inspect.signature(builder.get_fake_value).parameters)[:2] == ["node", "tx"]
    assert hasattr(TensorVariable, "method_resize_as_")
