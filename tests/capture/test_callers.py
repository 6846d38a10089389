"""A function whose value has one type on some paths and another on others: what follows its call is made for each."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert

ONES = torch.ones(2)
INPUTS = [ONES, -ONES, 7 * ONES, torch.tensor([-1.0, 7.0])]


def masked(x: torch.Tensor) -> torch.Tensor | None:
    if not (x > 0).any():
        return None
    return x * 2


def tensor_or_none(x: torch.Tensor) -> torch.Tensor:
    mask = masked(x)
    y = x + 1
    if mask is not None:
        y = y + mask
    return y


def losses(x: torch.Tensor) -> dict[str, Any]:
    a, b = 0, 0
    if x.min() > 0:
        a = x.sum()
    if x.max() > 5:
        b = x.mean()
    return {"a": a, "b": b}


def types_that_are_asked_for(x: torch.Tensor) -> torch.Tensor:
    found = losses(x)
    total = x.new_zeros(())
    for value in found.values():
        total = total + (value * 2 if torch.is_tensor(value) else value + 1)
    return total


def pair_losses(x: torch.Tensor) -> dict[str, Any]:
    kept: Any = []
    if x.max() > 5:
        kept = x[x > 0]
    return losses_of_kept(kept, x)


def losses_of_kept(kept: Any, x: torch.Tensor) -> dict[str, Any]:
    a, b = 0, 0
    if len(kept) > 0:
        a = kept * 2
    if x.min() > 0:
        b = x.sum()
    return {"a": a, "b": b}


def where_python_knows_some_tests(x: torch.Tensor) -> torch.Tensor:
    found = pair_losses(x)
    total = x.new_zeros(())
    for value in found.values():
        total = total + (value.sum() * 2 if torch.is_tensor(value) else value + 1)
    return total


def above(x: torch.Tensor, checked: bool) -> Any:
    if checked:
        if x.max() > 5:
            return None
        return x + 1
    return x


def where_python_knows_the_first_test(x: torch.Tensor) -> torch.Tensor:
    found = above(x, checked=x.ndim > 0)
    y = x * 3
    return y if found is None else found * y


def through(x: torch.Tensor) -> Any:
    return masked(x)


def named(x: torch.Tensor) -> Any:
    result = through(x)
    if result is None:
        return "none"
    return result


def several_levels(x: torch.Tensor) -> torch.Tensor:
    result = named(x)
    return x if isinstance(result, str) else result * 9


def function_of(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        return torch.sin
    return lambda z: z * 3


def functions(x: torch.Tensor) -> torch.Tensor:
    chosen = function_of(x)
    return chosen(x) + 1


class Inner(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return masked(x)


class Outer(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result = self.inner(x)
        return x if result is None else result


class Counter:
    def __init__(self, x: torch.Tensor) -> None:
        self.x, self.count = x, 0

    def step(self) -> Any:
        self.count += 1
        if self.x.sum() > 0:
            self.x = self.x * 2
            self.count = 5
            return self.x
        self.x = self.x + 3
        return None


def objects_that_change(x: torch.Tensor) -> torch.Tensor:
    counter = Counter(x)
    first = counter.step()
    second = counter.step()
    total = counter.x + counter.count
    if first is not None:
        total = total + first
    if second is not None:
        total = total * second
    return total


def written(x: torch.Tensor, y: torch.Tensor) -> str | None:
    if x.sum() > 0:
        y.add_(1)
        return "a"
    return None


def tensors_that_are_written_to(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    view = y.view(-1)
    word = written(x, y)
    return y + 1 + view if word is None else y * len(word) - view


def inside_of_an_if(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    if y.sum() > 1:
        mask = masked(x)
        y = y * 3 if mask is None else y + mask
    z = y + 2
    y = z * y
    return y


def names_that_are_rebound(x: torch.Tensor) -> torch.Tensor:
    count = (x > 0).sum().item()
    mean = x.mean().item()
    y = x + 1
    mask = masked(x)
    y = y + count
    mean = mean + 1
    count += 1
    return y * count * mean if mask is None else y + mask * count + mean


def inside_of_another_call(x: torch.Tensor) -> torch.Tensor:
    found = isinstance(masked(x), torch.Tensor)
    return x + found


PROGRAMS = [
    tensor_or_none,
    types_that_are_asked_for,
    where_python_knows_some_tests,
    where_python_knows_the_first_test,
    several_levels,
    functions,
    Outer(),
    objects_that_change,
    tensors_that_are_written_to,
    inside_of_an_if,
    names_that_are_rebound,
    inside_of_another_call,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: getattr(p, "__name__", type(p).__name__))
def test_every_value_goes_its_own_way(program: Any) -> None:
    compiled = torch.compile(convert(program), fullgraph=True, backend="eager")
    for x in INPUTS:
        torch.testing.assert_close(compiled(x), program(x))


def test_gradients() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        mask = masked(x)
        return x.sum() * 2 if mask is None else (mask * x).sum()

    compiled = torch.compile(convert(program), fullgraph=True, backend="aot_eager")
    for x in INPUTS:
        expected, actual = x.clone().requires_grad_(), x.clone().requires_grad_()
        program(expected).backward()
        compiled(actual).backward()
        torch.testing.assert_close(actual.grad, expected.grad)


def test_a_value_that_goes_elsewhere_first() -> None:
    """`ag.opened` gets the value of the function in it; no call is made before what stands left of it."""

    def program(x: torch.Tensor) -> torch.Tensor:
        _, found = x + 1, isinstance(masked(x), torch.Tensor)
        return x + found

    with pytest.raises(CaptureError, match="AG310"):
        autograph(program, backend="eager")(ONES)


def test_a_function_that_is_compiled_by_others() -> None:
    inner = convert(tensor_or_none)

    def outer(x: torch.Tensor) -> torch.Tensor:
        return inner(x.clamp(min=-1)) * 2

    def plain(x: torch.Tensor) -> torch.Tensor:
        return tensor_or_none(x.clamp(min=-1)) * 2

    compiled = torch.compile(outer, fullgraph=True, backend="eager")  # traced as a converted function would be
    for x in (ONES, -ONES):
        torch.testing.assert_close(compiled(x), plain(x))
