"""Views and sizes of tensors in bodies of operators."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import pytest
import torch
from torch._dynamo.variables import builder
from torch._dynamo.variables.tensor import TensorVariable
from torch.fx.experimental.symbolic_shapes import ShapeEnv

from tests.harness import check_any_graph, program

ROWS = [lambda: (torch.ones(3, 2),), lambda: (-torch.ones(3, 2),)]


def test_names_of_the_tracer() -> None:
    assert ShapeEnv().pending_fresh_unbacked_symbols == []
    assert list(inspect.signature(builder.get_fake_value).parameters)[:2] == ["node", "tx"]
    assert hasattr(TensorVariable, "method_resize_as_")


def unpacked(x: torch.Tensor) -> torch.Tensor:
    z = x * 2
    _, second, _ = z
    if x.sum() > 0:
        second.add_(1)
    return z


def run_over(x: torch.Tensor) -> torch.Tensor:
    z = x * 2
    for row in z:
        if row.sum() > 0:
            row[0] = 1.0
    return z


def run_over_beside_another(x: torch.Tensor) -> torch.Tensor:
    z = x * 2
    for one, other in zip(z, x, strict=True):
        if other.sum() > 0:
            one += other
    return z


def in_every_trip(x: torch.Tensor) -> torch.Tensor:
    z = x * 2
    n = 0
    while n < x.sum():
        for row in z:
            row.mul_(2)
        n += 1
    return z


def with_a_gradient(x: torch.Tensor) -> torch.Tensor:
    z = torch.ones(3, 2)
    for row in z:
        if x.sum() > 0:
            row *= x.sum()
    return z


def as_many_as_data_tell(x: torch.Tensor) -> torch.Tensor:
    z = x[x[:, 0] > 0] * 2
    for row in z:
        row.mul_(2)
    return z


def complex_as_many_as_data_tell(x: torch.Tensor) -> torch.Tensor:
    z = torch.complex(x, x)[x[:, 0] > 0] * 2
    for row in z:
        row.mul_(2)
    return z.real


ROWS_WRITTEN = (
    unpacked,
    run_over,
    run_over_beside_another,
    in_every_trip,
    with_a_gradient,
    as_many_as_data_tell,
    complex_as_many_as_data_tell,
)


@pytest.mark.parametrize("subject", ROWS_WRITTEN)
def test_autograd_refuses_to_write_into_rows(subject: Callable[..., torch.Tensor]) -> None:
    check_any_graph(program(inputs=ROWS, grad=True)(subject))
