"""What eager would share with a result is not written to; and nothing else is refused."""

from __future__ import annotations

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from autograph_torch import CaptureError, convert


def compiled(function):  # noqa: ANN001, ANN201
    return torch.compile(convert(function), backend="eager", fullgraph=True)


def pick(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        return x
    return y


def test_refused_where_what_follows_cannot_move() -> None:
    def write(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = (pick(pick(x, y), y), x.abs().sum())[0]  # two ways lead from the result to `y`
        z.add_(1)
        return z

    with pytest.raises(CaptureError, match="AG314") as caught:
        compiled(write)(torch.ones(2), torch.zeros(2))
    found = caught.value.diagnostic
    assert found.snippet.strip() in ("if x.sum() > 0:", "z.add_(1)") and found.filename == __file__


@pytest.mark.parametrize(
    "write",
    [
        lambda z, x: torch.relu_(z),
        lambda z, x: torch.nn.functional.relu(z, inplace=True),
        lambda z, x: torch.add(z, 1, out=z),
        lambda z, x: torch.ops.aten.add_.Tensor(z, x),
        lambda z, x: z.__setitem__(0, 7.0),
        lambda z, x: torch.nn.functional.batch_norm(torch.ones(2, 2, 1) * x[0], torch.zeros(2), z, training=True),
        lambda z, x: z.view(-1)[1:].zero_(),
    ],
)
def test_every_form_of_a_write_counts(write) -> None:  # noqa: ANN001
    def use(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = pick(x, y)
        write(z, y)
        return z

    for value in (1.0, -1.0):
        given = [[torch.full((2,), value), torch.zeros(2)] for _ in range(2)]
        torch.testing.assert_close(compiled(use)(*given[0]), use(*given[1]), rtol=0, atol=0)
        torch.testing.assert_close(given[0], given[1], rtol=0, atol=0)


def test_gradients_that_only_one_side_records() -> None:
    def use(x: torch.Tensor, y: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        z = pick(x, y)
        z.mul_(w)
        return z

    for sign in (1.0, -1.0):
        found = []
        for function in (use, compiled(use)):
            w = torch.ones(2, requires_grad=True)
            x, y = torch.full((2,), sign), torch.full((2,), 3.0)
            z = function(x, y, w * 2)
            z.sum().backward()
            found.append((z.detach(), x.detach(), y.detach(), w.grad))
        torch.testing.assert_close(found[1], found[0], rtol=0, atol=0)


def test_reads_and_writes_to_others_are_free() -> None:
    def use(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        z = pick(x, y)
        w = z * 2
        w += z
        y = y + 1
        y.mul_(2)
        return w.relu_() + z + y

    for x in (torch.ones(2), -torch.ones(2)):
        torch.testing.assert_close(compiled(use)(x, torch.ones(2)), use(x, torch.ones(2)), rtol=0, atol=0)


def test_what_nobody_uses_afterwards_may_be_written_to() -> None:
    def use(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        a, b = x * 2, y * 2
        z = pick(a, b)
        z += 1
        return z

    for x in (torch.ones(2), -torch.ones(2)):
        torch.testing.assert_close(compiled(use)(x, torch.ones(2)), use(x, torch.ones(2)), rtol=0, atol=0)


def chosen_and_written(x: torch.Tensor) -> torch.Tensor:
    z = x
    if x.sum() > 3:
        z = x * 2
    z.add_(1)
    return x * z


class Writing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # noqa: ANN001, ANN205
        return chosen_and_written(x)

    @staticmethod
    def backward(ctx, gradient):  # noqa: ANN001, ANN205
        return gradient * 3


class WritingTo(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # noqa: ANN001, ANN205
        x.add_(1)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):  # noqa: ANN001, ANN205
        return gradient * 3


def writes_in_a_function(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x * 1
    return Writing.apply(y), y


def writes_in_a_checkpoint(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x * 1
    return checkpoint(chosen_and_written, y, use_reentrant=False), y


def writes_to_what_a_function_is_given(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x * 1
    z = pick(y, x * 3)
    return WritingTo.apply(z), y


@pytest.mark.parametrize("function", [writes_in_a_function, writes_in_a_checkpoint, writes_to_what_a_function_is_given])
def test_bodies_of_other_operators(function) -> None:  # noqa: ANN001
    graph = compiled(function)
    for value in (1.0, 3.0, -2.0):
        # With a gradient such a checkpoint is refused (capture/checkpoints.py), and without one a function is a call.
        x = torch.full((2,), value, requires_grad=function is not writes_in_a_checkpoint)
        torch.testing.assert_close(graph(x), function(x), rtol=0, atol=0)


class Clamping(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):  # noqa: ANN001, ANN205
        y = x.clamp(max=2) if x.max() > 2 else x * 1
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, gradient):  # noqa: ANN001, ANN205
        (x,) = ctx.saved_tensors
        return gradient * (x <= 2)


def test_a_function_that_chooses_its_result() -> None:
    found = []
    for function in (Clamping.apply, compiled(lambda x: Clamping.apply(x))):
        for value in (1.0, 3.0):
            x = torch.tensor([value, 0.5], requires_grad=True)
            y = function(x)
            y.sum().backward()
            found.append((y.detach().tolist(), x.grad.tolist()))  # type: ignore[union-attr]
    assert found[2:] == found[:2] == [([1.0, 0.5], [1.0, 1.0]), ([2.0, 0.5], [0.0, 1.0])]


def test_a_question_for_its_size_is_no_use_of_a_tensor() -> None:
    def raised(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        while y.sum() < 100:
            y.add_(3)
            y = y + 10
        return y

    graph = torch.compile(convert(raised), backend="eager", fullgraph=True, dynamic=True)
    for x in (torch.ones(2, 3), torch.ones(4, 2) * 30):
        torch.testing.assert_close(graph(x), raised(x), rtol=0, atol=0)


def copied_by_the_program(x: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y, u = (x, x + 1) if x.sum() > 0 else (x * 2, x + 3)
    x.copy_(u)
    return (y * 1,)


def copied_in_parts(x: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y, u = (x, x + 1) if x.sum() > 0 else (x * 2, x + 3)
    x.copy_(torch.where(z > 0, u, z))
    x[:2].copy_(u[1:3].detach())
    return (y * 1,)


def viewed_as_integers(x: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y, w = (z.double(), x * 2) if x.sum() > 0 else (z.double() * 2, x * 3)
    bits = y.detach().view(torch.int64)
    bits.add_(1)
    return bits, y * 1, w


@pytest.mark.parametrize("function", [copied_by_the_program, copied_in_parts, viewed_as_integers])
def test_what_the_program_makes_of_results_is_its_own(function) -> None:  # noqa: ANN001
    graph = compiled(function)
    for value in (1.0, -9.0, 5.0):
        calls = [(torch.tensor([value, 1.0, 2.0, 3.0]), torch.tensor([-1.0, 2.0, 3.0, -4.0])) for _ in range(2)]
        if function is viewed_as_integers:
            calls = [(x.requires_grad_(), z) for x, z in calls]
        results = [one(*call) for one, call in zip((function, graph), calls, strict=True)]
        for expected, found in zip((*results[0], *calls[0]), (*results[1], *calls[1]), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
