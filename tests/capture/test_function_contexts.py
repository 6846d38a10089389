"""The context of an autograd.Function whose forward takes any number of arguments."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.exc import Unsupported

from autograph_torch import CaptureError, convert
from tests.harness import torch_before


class Product(torch.autograd.Function):
    """The product of matrices, from the left or from the right."""

    @staticmethod
    def forward(ctx: Any, from_left: bool, *matrices: torch.Tensor) -> torch.Tensor:
        ctx.from_left = from_left
        ctx.save_for_backward(*matrices)
        first, *rest = matrices if ctx.from_left else matrices[::-1]
        for matrix in rest:
            first = first @ matrix
        return first

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        first, second = ctx.saved_tensors
        if ctx.from_left:
            return None, gradient @ second.T, first.T @ gradient
        return None, second.T @ gradient, gradient @ first.T


def product(a: torch.Tensor, b: torch.Tensor, from_left: bool) -> torch.Tensor:
    if a.sum() > 0:
        a = a * 2
    return Product.apply(from_left, a, b)


@pytest.mark.parametrize("from_left", [True, False])
@pytest.mark.parametrize("requires_grad", [True, False])
def test_product(from_left: bool, requires_grad: bool) -> None:
    compiled = torch.compile(convert(product), backend="eager", fullgraph=True)
    for sign in (1.0, -1.0):
        torch.manual_seed(0)
        ours = [(torch.rand(3, 3) * sign).requires_grad_(requires_grad) for _ in range(2)]
        theirs = [one.detach().clone().requires_grad_(requires_grad) for one in ours]
        found, expected = compiled(*ours, from_left), product(*theirs, from_left)
        torch.testing.assert_close(found, expected)
        if requires_grad:
            found.square().sum().backward()
            expected.square().sum().backward()
            torch.testing.assert_close([one.grad for one in ours], [one.grad for one in theirs])


def with_itself(a: torch.Tensor, from_left: bool) -> torch.Tensor:
    if a.sum() > 0:
        a = a * 2
    return Product.apply(from_left, a, a)


def test_one_tensor_for_two_arguments() -> None:
    compiled = torch.compile(convert(with_itself), backend="eager", fullgraph=True)
    for sign in (1.0, -1.0):
        ours = (torch.arange(9.0).view(3, 3) * sign).requires_grad_()
        theirs = ours.detach().clone().requires_grad_()
        found, expected = compiled(ours, True), with_itself(theirs, True)
        found.square().sum().backward()
        expected.square().sum().backward()
        torch.testing.assert_close([found, ours.grad], [expected, theirs.grad])


class Asking(torch.autograd.Function):
    """Tells one tensor from two."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a * 3 if a is b else a * b

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return gradient, gradient


def test_a_function_that_asks_for_identity_is_left_alone() -> None:
    x = torch.ones(2, requires_grad=True)
    compiled = torch.compile(convert(lambda a: Asking.apply(a, a)), backend="eager", fullgraph=True)
    with pytest.raises((CaptureError, Unsupported), match="duplicate tensor input"):
        compiled(x)


class Distances(torch.autograd.Function):
    """Asks a question about its data."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        distances = (a[:, None] - b[None]).square().sum(-1)
        if torch.equal(a, b):
            distances = distances.clone()
            distances.diagonal().fill_(0)
        ctx.save_for_backward(distances)
        return distances * scale

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        return None, None, (gradient * ctx.saved_tensors[0]).sum()


def scaled_distances(a: torch.Tensor, b: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return Distances.apply(a, b, scale) + Distances.apply(a, a, scale)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_question_inside(backend: str) -> None:
    a, ours = torch.arange(6.0).view(3, 2), torch.tensor(2.0, requires_grad=True)
    theirs = ours.detach().clone().requires_grad_()
    compiled = torch.compile(convert(scaled_distances), backend=backend, fullgraph=True)
    for b in (a.clone(), a + 1):
        found, expected = compiled(a, b, ours), scaled_distances(a, b, theirs)
        found.sum().backward()
        expected.sum().backward()
        torch.testing.assert_close([found, ours.grad], [expected, theirs.grad])


class Doubled(torch.autograd.Function):
    """As many parameters as arguments, and rightly no context."""

    @staticmethod
    def forward(x: torch.Tensor, *rest: torch.Tensor) -> torch.Tensor:
        return x * 2 + len(rest)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None: ...


def test_without_a_context() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        y = Doubled.apply(x, x)
        return y if x.sum() > 0 else -y

    x = torch.ones(2)
    torch.testing.assert_close(torch.compile(convert(double), backend="eager", fullgraph=True)(x), double(x))


def test_torch_needs_it() -> None:
    def multiply(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return Product.apply(True, a, b)

    a = torch.rand(3, 3)
    with pytest.raises(Exception, match="setattr"):  # else remove autograph_torch/capture/function_contexts.py
        torch.compile(multiply, backend="eager", fullgraph=True)(a, a)


class Root(torch.autograd.Function):
    """Tries again where a factorisation fails, warns, and raises in the end."""

    @staticmethod
    def forward(ctx: Any, matrix: torch.Tensor) -> torch.Tensor:
        root, info = torch.linalg.cholesky_ex(matrix)
        count, jittered = 0, matrix.clone()
        if info.any():
            if matrix.isnan().any():
                raise ValueError(f"{matrix.isnan().sum().item()} elements are no numbers")
            jittered.diagonal().add_((info > 0) * 3.0)
            count += 1
            root, info = torch.linalg.cholesky_ex(jittered)
            if info.any():
                raise ValueError("not positive definite")
        ctx.save_for_backward(root)
        return root * (count + 1)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (root,) = ctx.saved_tensors
        return gradient * root


@torch_before("2.12", "an attempt in an autograd.Function ends in a graph that is none")
def test_attempts_and_exceptions_inside() -> None:
    def root_of(matrix: torch.Tensor) -> torch.Tensor:
        return Root.apply(matrix * 2)

    compiled = torch.compile(convert(root_of), backend="eager", fullgraph=True)
    for diagonal in (1.0, -1.0):
        ours, theirs = ((torch.eye(3) * diagonal).requires_grad_() for _ in range(2))
        found, expected = compiled(ours), root_of(theirs)
        torch.testing.assert_close(found, expected)
        found.sum().backward()
        expected.sum().backward()
        torch.testing.assert_close(ours.grad, theirs.grad)
    for diagonal, message in ((-9.0, "not positive definite"), (float("nan"), "9 elements are no numbers")):
        with pytest.raises(ValueError, match=message):
            compiled((torch.eye(3) * diagonal).requires_grad_())


class Fivefold(torch.autograd.Function):
    """With a gradient of its own, which no operator has."""

    @staticmethod
    def forward(ctx: Any, value: torch.Tensor) -> torch.Tensor:
        return value * value

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * 5


def test_of_a_view_of_what_has_been_written_to() -> None:
    def of_a_row(x: torch.Tensor) -> torch.Tensor:
        table = torch.zeros(2)
        row = table[0]
        table += x
        return Fivefold.apply(row)

    torch._dynamo.reset()
    compiled = torch.compile(convert(of_a_row), backend="eager", fullgraph=True)
    x = torch.ones(2, requires_grad=True)
    compiled(x).backward()
    assert x.grad is not None and x.grad.tolist() == [5, 0]


class FixedPoint(torch.autograd.Function):
    """A root by iteration, whose gradient depends on how many steps it took."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor) -> torch.Tensor:
        x, steps = torch.where(a > 0, a, torch.ones_like(a)), 0
        while (x * x - a).abs().max() > 1e-4 and steps < 20:
            x, steps = 0.5 * (x + a / x), steps + 1
        ctx.save_for_backward(x)
        ctx.steps = steps
        return x

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        scale = 1.0 if ctx.steps < 20 else 0.25
        return scale * gradient / (2 * x)


def gradient_of_the_iteration(a: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    a = a.detach().requires_grad_()
    root = FixedPoint.apply(a)
    loss = root.sum() if root.sum() > 4 else (root.detach() * a).sum()
    loss.backward()
    return root.detach(), a.grad


@torch_before("2.12", "requires_grad_() is not traced")
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_a_number_that_backward_reads(backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(gradient_of_the_iteration), backend=backend, fullgraph=True)
    for numbers in ((4.0, 9.0), (1.0, 1.0), (-1.0, 20.0)):
        expected = gradient_of_the_iteration(torch.tensor(numbers))
        for one, other in zip(compiled(torch.tensor(numbers)), expected, strict=True):
            torch.testing.assert_close(one, other)
