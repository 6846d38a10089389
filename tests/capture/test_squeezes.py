"""`squeeze` of sizes that depend on data: what takes a vector or a scalar is done, anything else is told."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch._dynamo.variables.tensor import TensorVariable

from autograph_torch import autograph, convert
from autograph_torch.diagnostics import CaptureError

Function = Callable[[torch.Tensor], torch.Tensor]
SEVERAL, ONE, NONE = torch.tensor([1.0, 2.0, -1.0]), torch.tensor([3.0, -2.0, -0.5]), torch.tensor([-1.0, -2.0, -0.5])


def rows(x: torch.Tensor) -> torch.Tensor:
    return (x > 0).nonzero().squeeze()


def method(x: torch.Tensor) -> torch.Tensor:
    return rows(x) * 2


def function(x: torch.Tensor) -> torch.Tensor:
    return torch.squeeze(x[x > 0].unsqueeze(-1)) * 2


def in_a_branch(x: torch.Tensor) -> torch.Tensor:
    return (x[x > 0].squeeze() * 2).sum() if x.sum() > -9 else x.sum()


def number_of_dimensions(x: torch.Tensor) -> torch.Tensor:
    return x + rows(x).dim()


def rank(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if rows(x).ndim == 0 else x


def shape(x: torch.Tensor) -> torch.Tensor:
    found = rows(x)
    return x if len(found.shape) > 0 else x + found


def returned_by_a_branch(x: torch.Tensor) -> torch.Tensor:
    found = x[x > 0].squeeze()
    if x.sum() > 0:
        found = found + 1
    return found


def as_an_index(x: torch.Tensor) -> torch.Tensor:
    return x[rows(x)]


def converted_and_returned(x: torch.Tensor) -> torch.Tensor:
    return rows(x).float()


TOLD = [
    method,
    function,
    in_a_branch,
    number_of_dimensions,
    rank,
    shape,
    returned_by_a_branch,
    as_an_index,
    converted_and_returned,
]


@pytest.mark.parametrize("squeezing", TOLD)
def test_a_size_of_one_is_told(squeezing: Function) -> None:
    """Inductor would give `[4]` instead of `4` (torch 2.13)."""
    compiled = autograph(squeezing, backend="eager", effects="drop")
    assert torch.equal(compiled(SEVERAL), squeezing(SEVERAL))
    with pytest.raises(CaptureError, match="`squeeze` drops the dimension"):
        compiled(ONE)


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("squeezing", [method, function, in_a_branch])
def test_such_a_call_runs_in_python(squeezing: Function, backend: str) -> None:
    plain = torch.compile(convert(squeezing), backend=backend, fullgraph=True)
    for compiled in (autograph(squeezing, backend=backend), plain):
        for x in (SEVERAL, ONE):
            assert torch.equal(compiled(x), squeezing(x))


def selected(x: torch.Tensor) -> torch.Tensor:
    return x.index_select(0, rows(x))


def copied_to(x: torch.Tensor) -> torch.Tensor:
    found = rows(x)
    if found.numel() == 0:
        return x
    y = torch.zeros_like(x)
    y.index_copy_(0, found, x[x > 0])
    return y.index_add(dim=0, index=found, source=x[x > 0])


def assigned(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros(3, dtype=torch.float64)
    y[x > 0] = (x[x > 0] * 2).sqrt().squeeze().to(y.dtype)
    return y


def summed(x: torch.Tensor) -> torch.Tensor:
    return x[x > 0].squeeze().exp().sum() + (x > 0).nonzero().squeeze().numel()


def selected_in_a_branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > -1:
        x = x.index_select(0, rows(x)).sum()
    else:
        x = x.sum()
    return x


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("squeezing", [selected, copied_to, assigned, summed, selected_in_a_branch])
def test_what_takes_either(squeezing: Function, backend: str) -> None:
    compiled = torch.compile(convert(squeezing), backend=backend, fullgraph=True)
    for x in (SEVERAL, ONE, NONE):
        assert torch.equal(compiled(x), squeezing(x))


def test_a_dimension_that_is_always_one() -> None:
    compiled = torch.compile(convert(lambda x: x[x > 0].unsqueeze(-1).squeeze(-1)), backend="eager", fullgraph=True)
    assert torch.equal(compiled(ONE), torch.tensor([3.0]))


def test_names_of_the_tracer() -> None:
    for name in ("var_getattr", "call_method", "unpack_var_sequence"):
        assert callable(getattr(TensorVariable, name, None)), name
