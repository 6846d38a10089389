"""Writes to what is around a body: the state that stays behind is eager's, and so are later calls and modes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from autograph_torch import CaptureError, autograph, convert
from autograph_torch.runtime import tracing
from tests.harness import from_text


class Average(nn.Module):
    """A buffer that a branch writes to, beside a parameter."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(2, 2)
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.layer(x)
        if x.sum() > 0:
            self.mean.mul_(0.5).add_(y.detach())
        return y - self.mean


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_buffers_require_no_gradient_afterwards(backend: str) -> None:
    plain, fast = Average(), autograph(Average(), backend=backend)
    for x in (torch.ones(2), -torch.ones(2), torch.ones(2) * 3):
        for module in (plain, fast):
            module(x).sum().backward()  # a second backward pass must not reach into the first
        assert not fast.mean.requires_grad
        assert torch.equal(plain.mean, fast.mean)


def test_a_function_that_torch_wraps() -> None:
    @torch.no_grad()
    def halve(x: torch.Tensor) -> torch.Tensor:
        y = x
        while y.sum() > 4:
            y -= 1
        return y

    given = torch.tensor([1.0, 2.0, 3.0])
    result = autograph(halve, backend="eager")(given)
    assert result is given
    assert given.tolist() == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("decorated_first", [True, False])
def test_errors_under_a_decorator_of_torch(decorated_first: bool) -> None:
    def negate(x: torch.Tensor) -> torch.Tensor:
        return x if x > 0 else -x

    decorate = torch.no_grad()
    function = convert(decorate(negate)) if decorated_first else decorate(convert(negate))
    with pytest.raises(CaptureError, match="AG313"):
        torch.compile(function, fullgraph=True, backend="eager")(torch.ones(3))


def test_a_view_that_records_a_gradient_beside_one_that_does_not() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        z = y.detach()
        if x.sum() > 0:
            z.add_(1)
            y = y * z
        return y

    with pytest.raises(CaptureError, match="AG206"):
        autograph(program, backend="eager")(torch.ones(2, requires_grad=True))


def until_large(x: torch.Tensor, trips: int) -> torch.Tensor:
    pair = (x[0], x[1])
    for _ in range(trips):
        both = torch.stack(pair) * 2
        pair = (both[0], both[1])
        if both.sum() > 100:
            break
    return pair[0] - pair[1]


def test_bodies_that_are_traced_again_do_not_multiply(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trip nests one deeper, and finds out in its first trace that it gives away views of one memory."""
    counts = []
    enter = tracing.enter_body
    for trips in (2, 3, 4, 5):
        entered = []
        monkeypatch.setattr(tracing, "enter_body", lambda body, e=entered: (e.append(1), enter(body))[1])
        torch._dynamo.reset()
        compiled = torch.compile(convert(until_large), backend="eager", fullgraph=True)
        torch.testing.assert_close(compiled(torch.ones(2), trips), until_large(torch.ones(2), trips))
        counts.append(len(entered))
    steps = [after - before for before, after in zip(counts, counts[1:], strict=False)]
    assert steps[2] < 2 * steps[0], counts  # it was three times as many with every trip


def nested_writes(depth: int) -> str:
    """A function with branches in branches, each of which has a helper write to a tensor of the caller's."""
    lines = ["def bump(y, k, x):", "    y[k] += x[0]", "", "def f(x, y):"]
    for level in range(depth):
        lines += ["    " * (level + 1) + f"if x.sum() > {level}:", "    " * (level + 2) + f"bump(y, {level}, x)"]
    return "\n".join([*lines, "    return y * 2\n"])


def test_branches_in_a_branch_that_is_traced_again_know_what_they_write_to(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    enter = tracing.enter_body
    for depth in (2, 4, 6):
        entered = []
        monkeypatch.setattr(tracing, "enter_body", lambda body, e=entered: (e.append(1), enter(body))[1])
        torch._dynamo.reset()
        function = from_text(nested_writes(depth), "f", f"<nested {depth}>")
        compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
        x, expected, actual = torch.full((2,), 1.2), torch.zeros(6), torch.zeros(6)
        torch.testing.assert_close(compiled(x, actual), function(x, expected))
        torch.testing.assert_close(actual, expected)
        counts.append(len(entered))
    assert counts[2] < 3 * counts[1], counts  # it was four times as many with every two levels


def test_a_tensor_that_an_earlier_trace_of_a_body_only_read_is_written_to() -> None:
    """The fourth trip's `y += x` is traced anew with a copy of `y` that an earlier trace has taken for unchanged."""

    def accumulate(x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(2)
        for _ in range(4):
            y += x
            if y.sum() > 10:
                break
            x *= 2
        return y

    compiled = torch.compile(convert(accumulate), backend="eager", fullgraph=True)
    for scale in (0.1, 1.0, 9.0):
        expected, actual = torch.tensor([scale, 2 * scale]), torch.tensor([scale, 2 * scale])
        torch.testing.assert_close(compiled(actual), accumulate(expected))
        torch.testing.assert_close(actual, expected)


def written_two_branches_deep(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        if x[0] > 0:
            if x[1] > 0:
                with torch.no_grad():
                    weight.mul_(2)
        y = weight * x
    else:
        y = x
    return y.sum() + weight.sum()


def written_in_a_loop_and_a_branch(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    n = 0
    while n < 3:
        if x.sum() > n:
            with torch.no_grad():
                weight.add_(x)
        n += 1
        if (weight * x).sum() > 10:
            break
    return (weight * x).sum()


@pytest.mark.parametrize("function", [written_two_branches_deep, written_in_a_loop_and_a_branch])
def test_a_leaf_is_written_to_under_no_grad_deep_inside(function: Callable[..., torch.Tensor]) -> None:
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    for values in ([1.0, 2.0], [-1.0, 5.0], [3.0, -1.0], [-1.0, -1.0]):
        found = []
        for called in (function, compiled):
            weight, x = torch.ones(2, requires_grad=True), torch.tensor(values)
            result = called(weight, x)
            (gradient,) = torch.autograd.grad(result, weight, allow_unused=True)
            found.append((result.item(), gradient.tolist(), weight.tolist()))
        assert found[0] == found[1], values


def test_a_leaf_is_not_written_to_with_a_gradient_deep_inside() -> None:
    def write(weight: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            if x[0] > 0:
                weight.add_(1)
        return weight.sum()

    with pytest.raises(CaptureError, match="writes to a parameter, or to another leaf"):
        torch.compile(convert(write), backend="eager", fullgraph=True)(torch.ones(2, requires_grad=True), torch.ones(2))
