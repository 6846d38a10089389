"""`out=` with targets whose elements lie apart in memory: values, what else sees them, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert
from autograph_torch.capture.targets_with_gaps import targets_with_gaps
from tests.harness import leave_out, vec


def distances(x: Tensor) -> Tensor:
    n = len(x)
    table = torch.zeros(n + 1, n + 1)
    torch.arange(n + 1, out=table[:, 0])
    torch.arange(0, n + 1, out=table[0])
    if x.sum() > 0:
        table = table + x.sum()
    return table


def of_another_dtype(x: Tensor) -> tuple[Tensor, Tensor]:
    y = torch.zeros(6, dtype=torch.float64)
    torch.mul(x, 2, out=y[::2])
    torch.eq(x, x.max(), out=y[1::2])
    z = torch.zeros(6, dtype=torch.float64)
    torch.linspace(0, 1, 3, out=z[::2])
    return y, z


def argument(x: Tensor) -> Tensor:
    m = torch.ones(3, 2)
    column = torch.add(x, m[:, 0], out=m[:, 1])  # between the elements that are read
    column += 1
    torch.exp(column, out=m[:, 1])
    same = torch.mul(m[:, 1], 2, out=m[:, 1])
    return m * same.sum()


def is_the_target(x: Tensor) -> tuple[Tensor, bool]:
    target = torch.zeros(3, 2)[:, 0]
    return target, torch.cumsum(x, 0, out=target) is target


def of_the_caller(x: Tensor) -> None:
    torch.neg(torch.ones(2), out=x.view(1, -1).expand(1, 3)[0, ::2])


def in_a_branch(x: Tensor) -> Tensor:
    m = torch.zeros(3, 2)
    if x.sum() > 0:
        torch.add(x, 1, out=m[:, 1])
    else:
        torch.stack([x[0], x[1], x[0]], out=m[:, 0])
    return m


def in_a_loop(x: Tensor) -> Tensor:
    m = torch.zeros(3, 2)
    while m.sum() < x.abs().sum() * 3:
        torch.add(m[:, 0], x.abs() + 0.1, out=m[:, 0])
    return m


_ALL = (distances, of_another_dtype, argument, is_the_target, in_a_branch, in_a_loop)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", _ALL)
def test_as_in_eager(function: Callable[..., object], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for x in (vec(1, 2, 3), vec(-1, 0.5, 0)):
        torch.testing.assert_close(compiled(x), function(x), rtol=0, atol=0)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_tensor_of_the_caller(backend: str) -> None:
    torch._dynamo.reset()
    found, expected = vec(1, 2, 3), vec(1, 2, 3)
    torch.compile(convert(of_the_caller), backend=backend, fullgraph=True)(found)
    of_the_caller(expected)
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_where_gradients_are_not_recorded() -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        with torch.no_grad():
            torch.mul(x, 2, out=y[::2])
        return y

    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    x = vec(1, 2, 3).requires_grad_()
    torch.testing.assert_close(compiled(x, torch.zeros(6)), function(x, torch.zeros(6)), rtol=0, atol=0)


def shares_memory(x: Tensor) -> Tensor:
    y = torch.zeros(6)
    torch.mul(y[:3], x, out=y[::2])
    return y


def of_a_matrix(x: Tensor) -> Tensor:
    m = torch.ones(2, 4)
    torch.mm(m[:, ::2], m[:, ::2], out=m[:, ::2])
    return m


@pytest.mark.parametrize("function", [shares_memory, of_a_matrix])
def test_operands_in_the_memory_of_the_target_are_refused(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match=r"test_targets_with_gaps\.py:\d+.*shares memory with what is read"):
        torch.compile(convert(function), backend="eager", fullgraph=True)(vec(1, 2, 3))


def cast_to_integers(x: Tensor) -> Tensor:
    y = torch.zeros(6, dtype=torch.int64)
    return torch.mul(x, 2, out=y[::2])


def computed_otherwise(x: Tensor) -> Tensor:
    y = torch.zeros(4, dtype=torch.float64)
    return torch.sum(torch.stack([x, x]), 1, out=y[::2])


def resized(x: Tensor) -> Tensor:
    return torch.mul(x, 2, out=torch.zeros(4)[::2])


def with_gradients(x: Tensor) -> Tensor:
    return torch.mul(x.requires_grad_(), 2, out=torch.zeros(6)[::2])


def at_one_place(x: Tensor) -> Tensor:
    return torch.mul(x, 2, out=torch.zeros(1).expand(3))


def of_two_dtypes(x: Tensor) -> Tensor:
    return torch.arange(3, dtype=torch.int32, out=torch.zeros(6)[::2])


def random(x: Tensor) -> Tensor:
    return torch.randn(20, out=torch.zeros(40)[::2])


_REFUSED = (cast_to_integers, computed_otherwise, resized, with_gradients, at_one_place, of_two_dtypes, random)


@pytest.mark.parametrize("function", _REFUSED)
def test_what_eager_does_otherwise_is_refused(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    with pytest.raises((CaptureError, RuntimeError)):
        torch.compile(convert(function), backend="eager", fullgraph=True)(vec(1, 2, 3))


def test_torch_alone_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, targets_with_gaps)
    with pytest.raises(CaptureError, match="non-contiguous `out=`"):
        torch.compile(convert(of_another_dtype), backend="eager", fullgraph=True)(vec(1, 2, 3))
