"""Gradients through branches and loops of the graph are those of eager Python, and each guard is needed for it.

The facts (torch 2.13): S1, a loop without a trip applies the gradient of its body once all the same; S2, a loop whose
initial value needs no gradient keeps only the gradient of its last trip; torch.cond cannot have integer results beside
differentiable ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import autograph
from autograph_torch.runtime import branch, staged, structure

BACKENDS = ["eager", "aot_eager"]
COMPILING = ["aot_eager"]  # torch's operators make the gradient; with "eager" Python runs their bodies
Function = Callable[..., Any]


def gradients(function: Function, *inputs: Tensor, parameters: tuple[Tensor, ...] = ()) -> list[Tensor]:
    """Results and gradients of a weighted sum of all differentiable results; no gradient reads as zeros."""
    leaves = [one.clone().requires_grad_() if one.is_floating_point() else one.clone() for one in inputs]
    for parameter in parameters:
        parameter.grad = None
    result = function(*leaves)
    results = list(result) if isinstance(result, tuple) else [result]
    outputs = [one for one in results if isinstance(one, Tensor) and one.requires_grad]
    torch.autograd.backward([(out * torch.cos(torch.arange(out.numel()).reshape(out.shape))).sum() for out in outputs])
    wanted = [*(leaf for leaf in leaves if leaf.requires_grad), *parameters]
    found = [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in wanted]
    return [torch.as_tensor(one).detach() for one in results] + [one.clone() for one in found]


def same(one: list[Tensor], other: list[Tensor]) -> bool:
    return all(torch.allclose(a.double(), b.double()) for a, b in zip(one, other, strict=True))


def agree(function: Function, backend: str, *inputs: Any, parameters: tuple[Tensor, ...] = ()) -> None:
    """Each input (a tensor, or a tuple of arguments) has eager's results and gradients."""
    compiled = autograph(function, backend=backend)
    for given in inputs:
        args = given if isinstance(given, tuple) else (given,)
        expected = gradients(function, *args, parameters=parameters)
        actual = gradients(compiled, *args, parameters=parameters)
        for wanted, got in zip(expected, actual, strict=True):
            torch.testing.assert_close(got, wanted)


def t(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)


def halve(x: Tensor) -> Tensor:
    while x.norm() > 1:
        x = x * x.cos() / 2
    return x * 3


def times(x: Tensor, n: Tensor) -> Tensor:
    for _ in range(n.sum()):
        x = x * x
    return x


def accumulate(x: Tensor, n: Tensor) -> Tensor:
    total = torch.zeros(2)
    while n > 0:
        total = total + x * n
        n = n - 1
    return total


def start_from_a_number(x: Tensor, n: Tensor) -> Tensor:
    total = 0.0
    for i in range(n.sum()):
        total = total + (x * i).sum()
    return total * x


def break_out(x: Tensor) -> Tensor:
    total = torch.zeros(())
    for i in range(20):
        x = x * 0.7
        total = total + x.pow(2).sum() * i
        if x.norm() < 1:
            break
    return total


def branch_values(x: Tensor) -> Tensor:
    if x.sum() > 0:
        y = x * x
    else:
        y = x.exp()
    return y + x


def nested(x: Tensor) -> Tensor:
    while x.norm() > 1:
        if x.max() > 2:
            x = x / 3
        else:
            x = x.sin() * 0.5
    return x.pow(2)


def detached_side(x: Tensor) -> Tensor:
    if x.sum() > 0:
        y = x.detach() * 2
    else:
        y = x * 2
    return y + x


def loop_in_a_loop(x: Tensor) -> Tensor:
    y = x * 3
    while y.norm() > 1:
        z = y * 2
        while z.norm() > 1:
            z = z * z.sin() / 3
        y = y * 0.5 + z * 0.1
    return y


def loop_in_a_branch(x: Tensor) -> Tensor:
    y = x * 3
    if x.sum() > 0:
        while y.norm() > 1:
            y = y * y.sin() * 0.7
    return y


def integer_beside(x: Tensor) -> tuple[Tensor, Tensor, int]:
    count = 3
    index = x.argmax()
    if x.sum() > 0:
        x = x * 2
        index = index + 1
        count = 4
    return x, index, count


def truth_beside(x: Tensor) -> tuple[Tensor, Tensor]:
    if x.sum() > 0:
        y, mask = x * x, x > 1
    else:
        y, mask = -x, x < -1
    return y, mask


def large_integer_beside(x: Tensor, key: Tensor) -> tuple[Tensor, Tensor]:
    """More bits than a float64 has for whole numbers."""
    if x.sum() > 0:
        x = x * 3
        key = key + 1
    return x, key


def count_beside(x: Tensor) -> tuple[Tensor, int]:
    n = 0
    while x.norm() > 1:
        x = x / 2
        n = n + 1
    return x, n


TRIPS = [t(0.1, 0.2), t(1.0, 0.5), t(5.0, 9.0)]
SIGNS = [t(1.0, 2.0), t(-1.0, -2.0)]
COUNTS = [(t(0.5, 2.0), torch.tensor(n)) for n in (0, 1, 3)]
KEYS = [(x, torch.tensor(2**60 + 1)) for x in SIGNS]
PROGRAMS: dict[str, tuple[Function, list[Any]]] = {
    "while": (halve, TRIPS),
    "range": (times, COUNTS),
    "accumulator without a gradient": (accumulate, COUNTS),
    "accumulator that starts as a number": (start_from_a_number, COUNTS[1:]),
    "break": (break_out, TRIPS),
    "branch": (branch_values, SIGNS),
    "branch in a loop": (nested, TRIPS),
    "detached side": (detached_side, SIGNS),
    "loop in a loop": (loop_in_a_loop, TRIPS),
    "loop in a branch": (loop_in_a_branch, [*TRIPS, t(-1.0, -2.0)]),
    "integers beside": (integer_beside, SIGNS),
    "truth values beside": (truth_beside, SIGNS),
    "large integers beside": (large_integer_beside, KEYS),
    "counter beside": (count_beside, TRIPS),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_eager_python(name: str, backend: str) -> None:
    function, inputs = PROGRAMS[name]
    agree(function, backend, *inputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["detached side", "loop in a loop", "loop in a branch", "branch in a loop"])
def test_as_in_eager_python_with_inductor(name: str) -> None:
    """Inductor must not write over what the backward pass still needs (S3)."""
    function, inputs = PROGRAMS[name]
    agree(function, "inductor", *inputs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_parameters_reached_through_closures(backend: str) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(2, 2)
    scale = torch.tensor(1.5, requires_grad=True)

    def program(x: Tensor) -> Tensor:
        state = torch.zeros(2)
        while x.norm() > 1:
            state = torch.tanh(layer(x) + state)
            x = x / 2
        if state.sum() > 0:
            return state * scale
        return layer(state)

    agree(program, backend, *TRIPS, *SIGNS, parameters=(*layer.parameters(), scale))


@pytest.mark.parametrize("backend", BACKENDS)
def test_parameters_of_a_module(backend: str) -> None:
    class Early(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])

        def forward(self, x: Tensor) -> Tensor:
            for layer in self.layers:
                x = layer(x)
                if x.norm() > 1:
                    return x
            return -x

    plain, converted = Early(), autograph(Early(), backend=backend)
    for x in [*TRIPS, *SIGNS]:
        expected = gradients(plain, x, parameters=tuple(plain.parameters()))
        actual = gradients(converted, x, parameters=tuple(converted.parameters()))
        for wanted, got in zip(expected, actual, strict=True):
            torch.testing.assert_close(got, wanted)


@pytest.mark.parametrize("backend", BACKENDS)
def test_infinite_values_keep_their_gradients(backend: str) -> None:
    """The guard of S2 is the identity for every value, infinity and NaN included."""

    def program(x: Tensor, n: Tensor) -> Tensor:
        total = torch.full((2,), float("inf"))
        while n > 0:
            total = torch.minimum(total, x * n)
            n = n - 1
        return total

    agree(program, backend, *COUNTS)


@pytest.mark.parametrize("backend", BACKENDS)
def test_without_gradients(backend: str) -> None:
    compiled = autograph(accumulate, backend=backend)
    with torch.no_grad():
        for x, n in COUNTS:
            torch.testing.assert_close(compiled(x, n), accumulate(x, n))


# -- every guard matters ----------------------------------------------------------------------------------------------
# When one of these fails, torch has become right, or the guard has moved: remove it, or move the test.


@pytest.mark.parametrize("backend", COMPILING)
def test_anchor_is_needed(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S2: without it, only the last trip counts."""
    x, n = COUNTS[2]
    expected = gradients(accumulate, x, n)
    assert same(gradients(autograph(accumulate, backend=backend), x, n), expected)
    torch._dynamo.reset()
    monkeypatch.setattr(staged, "anchored", lambda tensor: tensor)
    assert not same(gradients(autograph(accumulate, backend=backend), x, n), expected)


@pytest.mark.parametrize("backend", COMPILING)
def test_initial_values_are_needed(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1: without them, a loop that makes no trip has the gradient of one."""
    expected = gradients(halve, TRIPS[0])
    assert same(gradients(autograph(halve, backend=backend), TRIPS[0]), expected)
    torch._dynamo.reset()
    monkeypatch.setattr(staged, "_for_no_trip", lambda leaves, init, entered: leaves)
    assert not same(gradients(autograph(halve, backend=backend), TRIPS[0]), expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_must_travel_as_floats(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """torch.cond refuses, or loses, gradients beside results that have none."""
    expected = gradients(large_integer_beside, *KEYS[0])
    assert same(gradients(autograph(large_integer_beside, backend=backend), *KEYS[0]), expected)
    torch._dynamo.reset()
    monkeypatch.setattr(branch, "encode", lambda value, plan, for_branch=False: structure.encode(value, plan))
    try:
        found = gradients(autograph(large_integer_beside, backend=backend), *KEYS[0])
    except Exception:
        return
    assert not same(found, expected)


def left_out_when_nan(x: Tensor, weight: Tensor, other: Tensor) -> Tensor:
    loss = (x * weight).sum()
    if loss.isnan():
        return other.sum()
    return loss


@pytest.mark.parametrize("backend", COMPILING)
def test_what_is_left_out_when_nan_has_no_gradient(backend: str) -> None:
    weight, other = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    loss = autograph(left_out_when_nan, backend=backend)(torch.tensor([float("nan"), 1.0]), weight, other)
    loss.backward()
    assert weight.grad is None and other.grad is not None and other.grad.tolist() == [1, 1]


@pytest.mark.parametrize("backend", COMPILING)
def test_zeros_of_the_other_branch_meet_nan_before_it(backend: str) -> None:
    """docs/limits.md: the weight is used on this path, too. (When this fails, torch has learned it.)"""

    def program(x: Tensor, weight: Tensor) -> Tensor:
        loss = (x * weight).sum()
        if loss.isnan():
            return weight.sum()
        return loss

    weight = torch.ones(2, requires_grad=True)
    autograph(program, backend=backend)(torch.tensor([float("nan"), 1.0]), weight).backward()
    assert weight.grad is not None and weight.grad.isnan().tolist() == [True, False]


def test_what_no_branch_gives_a_gradient_has_none() -> None:
    def function(x: Tensor) -> tuple[Tensor, Tensor]:
        y = x * 2
        if x.sum() > 0:
            z = y.detach()
        else:
            z = y.detach() * 3
            y = y + 1
        return y, z

    x = torch.ones(3, requires_grad=True)
    y, z = autograph(function, backend="eager")(x)
    assert y.requires_grad and not z.requires_grad


def test_without_a_compiler_a_path_that_does_not_need_them_has_none() -> None:
    weight, other = torch.ones(2, requires_grad=True), torch.zeros(2)
    loss = autograph(left_out_when_nan, backend="eager")(torch.tensor([float("nan"), 1.0]), weight, other)
    assert not loss.requires_grad and weight.grad is None
    autograph(left_out_when_nan, backend="eager")(torch.tensor([3.0, 1.0]), weight, other).backward()
    assert weight.grad is not None and weight.grad.tolist() == [3, 1]
