"""A number that is read of a tensor twice is not the same one when something has written to the tensor in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode, SymNumberMemoDescriptor

from autograph_torch.capture.read_again import read_again
from tests.harness import compiled, leave_out, scalar, vec


def written_with_others(x: Tensor) -> Any:
    before = x.item()
    torch._foreach_add_([x], 1)
    return before, x.item()


def written_as_data(x: Tensor) -> Any:
    before = x.item()
    x.data.add_(1)
    return before, x.item()


def given_other_data(x: Tensor) -> Any:
    before = int(x)
    x.data = torch.tensor(7.0)
    return before, int(x)


def written_under_a_view(x: Tensor) -> Any:
    y = x[:1]
    before = x[0].item(), y.item()
    torch._foreach_mul_([y], 3)
    return before, x[0].item(), y.item()


PROGRAMS = [written_with_others, written_as_data, given_other_data]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_it_is_read_anew(program: Callable[..., Any], backend: str) -> None:
    found = compiled(program, backend)
    for value in (0.0, 4.0, -4.0):
        assert found(scalar(value)) == program(scalar(value))


def test_it_is_read_anew_under_a_view() -> None:
    found = compiled(written_under_a_view)
    for value in (1.0, 4.0, -4.0):
        assert found(vec(value, 0)) == written_under_a_view(vec(value, 0))


class Trained(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(vec(1, -1))
        self.optimizer = torch.optim.Adam([self.weight], lr=0.1, foreach=True)

    def step_twice(self, x: Tensor) -> Tensor:
        for _ in range(2):
            self.weight.grad = x.clone()
            self.optimizer.step()
        return self.weight.detach().clone()


def test_steps_of_an_optimizer_are_counted() -> None:
    eager, other = Trained(), Trained()
    found = compiled(other.step_twice)
    for x in (vec(1, 2), vec(-1, -2), vec(3, 2)):
        torch.testing.assert_close(found(x), eager.step_twice(x))


def test_without_it_they_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, read_again)
    assert compiled(written_with_others)(scalar(4)) == (4.0, 4.0)


def test_torch_has_these_names() -> None:
    assert hasattr(FakeTensorMode, "__torch_dispatch__")
    assert hasattr(SymNumberMemoDescriptor, "__set__")
