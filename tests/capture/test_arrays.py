"""Arrays and scalars of NumPy, which torch.compile holds as tensors: under `if` and `assert`, and beside tensors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

from autograph_torch import CaptureError, convert

numpy: Any = pytest.importorskip("numpy")


def by_an_array(x: torch.Tensor) -> torch.Tensor:
    if (x.numpy() > 2).any():
        return x * 2
    return -x


def checked(x: torch.Tensor) -> torch.Tensor:
    assert (numpy.array(x.shape) > 0).all(), f"empty: {tuple(x.shape)}"
    return x * 2


@pytest.mark.parametrize("function", [by_an_array, checked])
@pytest.mark.parametrize("x", [torch.ones(3), torch.full((3,), 3.0)])
def test_truth_of_an_array(function: Any, x: torch.Tensor) -> None:
    compiled: Any = torch.compile(convert(function), fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), function(x))


def beside_scalars(x: torch.Tensor) -> Any:
    below, scaled = x <= numpy.deg2rad(180) - numpy.float64(0.5), x * -numpy.sin(2.0)
    return x.sum() * numpy.prod(()), x.sum() > x.numpy().max(), torch.tensor(3) * numpy.sqrt(x.shape[0]), below, scaled


def test_a_scalar_is_a_number_beside_a_tensor() -> None:
    compiled: Any = torch.compile(convert(beside_scalars), fullgraph=True, backend="eager")
    for given, expected in zip(compiled(torch.ones(3)), beside_scalars(torch.ones(3)), strict=True):
        assert given.dtype == expected.dtype and torch.equal(given, expected)


def test_what_may_be_an_array_without_dimensions_is_refused() -> None:
    compiled: Any = torch.compile(convert(lambda x: x + numpy.array(2.0)), fullgraph=True, backend="eager")
    with pytest.raises(CaptureError, match="array of NumPy without dimensions"):
        compiled(torch.ones(3))


def indexed(x: torch.Tensor) -> torch.Tensor:
    return x[numpy.arange(3)[1]] * 2


def test_an_array_may_be_an_index() -> None:
    compiled: Any = torch.compile(convert(indexed), fullgraph=True, backend="eager")
    assert torch.equal(compiled(torch.ones(3)), indexed(torch.ones(3)))


class Shifted(torch.nn.Module):
    def __init__(self, by: Any) -> None:
        super().__init__()
        self.by = by

    def forward(self, x: torch.Tensor) -> Any:
        return x - self.by, self.by * x, x > self.by


def test_a_scalar_from_around_the_trace_is_a_number_and_an_array_is_not() -> None:
    module = convert(Shifted(numpy.float64(0.1)))
    compiled: Any = torch.compile(module, fullgraph=True, backend="eager")
    for by in (numpy.float64(0.1), numpy.float32(0.3), numpy.int64(2)):
        module.by = by
        for given, expected in zip(compiled(torch.ones(3)), Shifted(by)(torch.ones(3)), strict=True):
            assert given.dtype == expected.dtype and torch.equal(given, expected)
    module.by = numpy.array(0.1)
    with pytest.raises(CaptureError, match="array of NumPy without dimensions"):
        compiled(torch.ones(3))


def leaving(x: torch.Tensor) -> Any:
    values = x.numpy()
    one = values[0] * 2 if x.ndim else values
    arrays = [x.sum().numpy(), numpy.array(2.0), values[0, ...], values]
    return [one, one, values.max(), numpy.sqrt(one), values[1] > 1, {"last": values[-1]}, values.argmax(), arrays]


def test_scalars_leave_the_function_as_scalars() -> None:
    compiled: Any = torch.compile(convert(leaving), fullgraph=True, backend="eager")
    for x in (torch.tensor([1.0, 2.0]), torch.tensor([3.0, 1.0])):
        for given, expected in zip(tree_leaves(compiled(x)), tree_leaves(leaving(x)), strict=True):
            assert type(given) is type(expected) and given.dtype == expected.dtype
            assert (given == expected).all()


@pytest.mark.parametrize("draw", [lambda: numpy.random.randn(3), lambda: numpy.random.uniform(size=3)])
def test_random_numbers_of_numpy_are_refused(draw: Any) -> None:
    compiled: Any = torch.compile(convert(lambda x: x + torch.from_numpy(draw())), fullgraph=True, backend="eager")
    with pytest.raises(CaptureError, match="would be drawn by torch"):
        compiled(torch.ones(3))
