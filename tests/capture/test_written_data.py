"""`w.data -= step`: of tensors that the function makes, and of parameters."""

from __future__ import annotations

import contextlib

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import autograph, convert
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


def other_data(x: Tensor, z: Tensor) -> tuple[Tensor, ...]:
    y, u = (x, x + 1) if x.sum() > 0 else (x * 2, x + 3)
    x.data = u
    return y * 1, x * 1


def other_data_behind_a_loop(x: Tensor, z: Tensor) -> tuple[Tensor, ...]:
    y, n = x, z.sum()
    while n > 0:
        y, n = y + 1, n - 1
    z = z + (y if y.sum() > 5 else y * 2)
    x.data = z
    return y * 1, x * 1


def data_of_another(x: Tensor, z: Tensor) -> tuple[Tensor, ...]:
    w = z * 1
    if x.sum() > 0:
        x.data = w
    w.add_(1)
    return x * 1, w


def data_made_in_the_branch(x: Tensor, z: Tensor) -> tuple[Tensor, ...]:
    if x.sum() > 0:
        w = z * 2
        x.data = w
    else:
        w = z * 3
    w.add_(1)
    return x * 1, w


def data_of_an_expression(x: Tensor, z: Tensor) -> tuple[Tensor, ...]:
    if x.sum() > 0:
        x.data = z * 2
    n = x.sum()
    while n > 4:
        x.data = x - 1
        n = n - 3
    return x * 1, n


OTHER_DATA = [
    other_data,
    other_data_behind_a_loop,
    data_of_another,
    data_made_in_the_branch,
    data_of_an_expression,
]


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("function", OTHER_DATA)
def test_other_data_for_what_a_branch_or_loop_may_give(function) -> None:  # noqa: ANN001
    torch._dynamo.reset()
    compiled = autograph(function, backend="eager")
    for value, start in ((1.0, 0.0), (-9.0, 2.0), (5.0, 1.0)):
        found, expected = (one(torch.tensor([value, 1.0]), torch.tensor([start, 0.0])) for one in (compiled, function))
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_data_of_an_expression_become_part_of_the_graph() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(data_of_an_expression), backend="eager", fullgraph=True)
    for value in (1.0, -9.0, 5.0):
        found, expected = (one(vec(value, 1.0), vec(2.0, 3.0)) for one in (compiled, data_of_an_expression))
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


def test_other_data_for_what_a_branch_has_only_read() -> None:
    def function(x: Tensor) -> Tensor:
        y = x + 1 if x.sum() > 0 else x * 2
        x.data = y.clamp(max=3)
        return y + x

    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    for value in (1.0, -9.0, 5.0):
        torch.testing.assert_close(compiled(vec(value, 1.0)), function(vec(value, 1.0)), rtol=0, atol=0)
