"""`w.data -= step`: of tensors that the function makes, and of parameters."""

from __future__ import annotations

import contextlib

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import convert
from tests.harness import check_any_graph, following_one_path, program, torch_before, vec


def descent(x: Tensor) -> tuple[Tensor, Tensor | None, int]:
    w, steps = x.detach().clone().requires_grad_(), 0
    for _ in range(3):
        w.grad = None
        loss = (w**2).sum() if w.sum() > 1 else (w - 1).abs().sum()
        loss.backward()
        assert w.grad is not None
        w.data -= 0.25 * w.grad
        w.data[0] += 0.5
        steps += 1
    return w.detach(), w.grad, steps


@torch_before("2.12", "requires_grad_() is not traced")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_leaf_made_inside(backend: str) -> None:
    compiled = torch.compile(convert(descent), backend=backend, fullgraph=True)
    for value in (2.0, 0.1, -1.0):
        x = torch.tensor([value, 1.0])
        for one, other in zip(compiled(x), descent(x), strict=True):
            torch.testing.assert_close(one, other)


class Decayed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Tensor) -> Tensor:
        if x.sum() > 0:
            x = x * 2
        self.weight.data *= 0.5
        return x * self.weight


def test_a_parameter() -> None:
    expected, given = Decayed(), Decayed()
    compiled = torch.compile(convert(given), backend="eager", fullgraph=True)
    for value in (1.0, -1.0):
        x = torch.tensor([value, 1.5], requires_grad=True)
        torch.testing.assert_close(compiled(x), expected(x))
        torch.testing.assert_close(given.weight, expected.weight)
        assert given.weight.data_ptr() == given.weight.data.data_ptr()


class Averaged(nn.Module):
    """Its weight trades places with an average, in which an exception may come."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.kept, self.seen = [torch.full((2,), 3.0)], self.weight.detach()

    def swap(self) -> None:
        self.weight.data, self.kept[0] = self.kept[0], self.weight.data

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        self.seen = self.weight.real
        self.swap()
        with torch.no_grad():
            self.weight.mul_(0.5)  # which is what was kept
        try:
            y = x * self.weight
            if y.sum() > 3:
                raise ValueError("too large")
            y = y + 1
        except ValueError:
            self.weight.data += 1
        if x.sum() < 0:
            self.kept[0] = self.kept[0] * 2
        self.swap()
        return y.detach(), self.weight.detach(), self.seen


@pytest.mark.parametrize("on_one_path", [False, True])
def test_data_that_trade_places(on_one_path: bool) -> None:
    inputs = [lambda value=value: (vec(value, 1.5),) for value in (-2.0, -1.0, 1.0, 2.0, -2.0)]
    with following_one_path() if on_one_path else contextlib.nullcontext():
        check_any_graph(program(inputs=inputs)(Averaged))
