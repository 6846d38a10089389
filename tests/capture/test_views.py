"""Views and sizes of tensors in bodies of operators, and `squeeze` of sizes that depend on data."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest
import torch
from torch._dynamo.variables import builder
from torch._dynamo.variables.tensor import TensorVariable
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from autograph_torch import autograph, convert
from autograph_torch.diagnostics import CaptureError

SEVERAL, ONE = torch.tensor([1.0, 2.0, -1.0]), torch.tensor([3.0, -2.0, -0.5])


def method(x: torch.Tensor) -> torch.Tensor:
    return (x > 0).nonzero().squeeze() * 2


def function(x: torch.Tensor) -> torch.Tensor:
    return torch.squeeze(x[x > 0].unsqueeze(-1)) * 2


def in_a_branch(x: torch.Tensor) -> torch.Tensor:
    return x[x > 0].squeeze().sum() if x.sum() > 0 else x.sum()


@pytest.mark.parametrize("squeezing", [method, function, in_a_branch])
def test_a_size_of_one_is_told(squeezing: Callable[[torch.Tensor], torch.Tensor]) -> None:
    """Inductor would give `[4]` instead of `4` (torch 2.13)."""
    plain = torch.compile(convert(squeezing), backend="eager", fullgraph=True)
    assert torch.equal(plain(SEVERAL), squeezing(SEVERAL))
    with pytest.raises(CaptureError, match="`squeeze` drops the dimension"):
        plain(ONE)


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("squeezing", [method, function, in_a_branch])
def test_such_a_call_runs_in_python(squeezing: Callable[[torch.Tensor], torch.Tensor], backend: str) -> None:
    compiled = autograph(squeezing, backend=backend)
    for x in (SEVERAL, ONE):
        actual, expected = compiled(x), squeezing(x)
        assert actual.shape == expected.shape
        assert torch.equal(actual, expected)


def test_a_dimension_that_is_always_one() -> None:
    compiled = torch.compile(convert(lambda x: x[x > 0].unsqueeze(-1).squeeze(-1)), backend="eager", fullgraph=True)
    assert torch.equal(compiled(ONE), torch.tensor([3.0]))


def test_names_of_the_tracer() -> None:
    assert ShapeEnv().pending_fresh_unbacked_symbols == []
    assert list(inspect.signature(builder.get_fake_value).parameters)[:2] == ["node", "tx"]
    assert hasattr(TensorVariable, "method_resize_as_")
