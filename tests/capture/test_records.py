"""Results require a gradient on the paths on which they do in eager, and `backward()` of the others raises as there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from autograph_torch import autograph
from tests.harness import compiled, vec

Tensor = torch.Tensor
Function = Callable[[Tensor, Tensor, Tensor], Any]


def of_one_branch(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    if x.sum() > 0:
        y = w * x
    else:
        y = x * 2
    return y + 1


def of_either_branch(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    if x.sum() > 0:
        y = w * x
    else:
        y = v * x
    return y + 1


def of_an_inner_branch(x: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 3
    if x.sum() > 0:
        z = x * 2
        if x[0] > 1:
            y = y * w
            z = z + y.detach()
    else:
        z = x
    return y * 2, z.exp()


def of_two_in_a_row(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = x * 3
    if x.sum() > 0:
        y = y * w
    if x[0] < 1:
        y = y * y
    else:
        y = x * 2
    return y.sum()


def skipped_batch(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    loss = (x * w).sum() + v.sum()
    if loss > 3:
        return x.new_zeros(())
    return loss


def of_a_loop(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    while x.sum() > 1:
        x = x - w
    return torch.stack([x, x * 2]).mean(0)


def of_a_loop_in_a_branch(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = x * 1
    if x.sum() > 0:
        while y.sum() > 1:
            y = y - w
    return y * 2


def of_a_branch_in_a_loop(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    for _ in range(3):
        if x.sum() > 1:
            x = x - w
    return x * 2


def written_to_in_place(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = x * 2
    if x.sum() > 0:
        y.mul_(w)
    y[0] = 1.0
    return y + 1


def written_to_behind(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = x * 2
    if x.sum() > 0:
        y = y * 3
    y.mul_(w)
    return y + 1


def under_no_grad(x: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    with torch.no_grad():
        y = x * 2
        if x.sum() > 0:
            y = w * x
    return y, y * v


def beside_what_always_does(x: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    y = x * v
    if x.sum() > 0:
        y = y * w
    z = x
    if x.sum() > 1:
        z = y
    return y, z


def written_to_in_the_branch(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    if x.sum() > 0:
        y = x * 2
        y[0].mul_(w[0])
    else:
        y = x * 3
        y[1] = v[1]
    return y + 1


def set_in_a_view(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = torch.zeros(2)
    if x.sum() > 0:
        y = x * 2
    y[:1] += v[0]
    return y * 2


def written_to_behind_what_may_record(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = x * 2
    if x.sum() > 0:
        y = y * v
    y.mul_(w)
    return y + 1


def written_to_by_one_branch(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    """The other one goes on with another tensor."""
    y = x * 2
    if x.sum() > 0:
        y = y * 3
    else:
        y[0] = w[0]
    return y


def written_to_through_a_view(x: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    z = y[1:]
    if x.sum() > 0:
        y[:1].mul_(w[:1])
    else:
        y = y * 3
        z.copy_(v[:1])
    return y, z


@dataclass
class Held:
    value: Tensor
    number: float


def written_to_in_an_object(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    held = Held(x * 2, 3)
    if x.sum() > 0:
        held = Held(held.value * 3, 3)
    else:
        held.value[0] = w[0]
        held = Held(held.value, 4.0)
    return held.value


def asked_behind_the_write(x: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    y = x * 2
    if x.sum() > 0:
        z = y * 1
    else:
        y[0].mul_(w[0])
        z = y * 2 if y.requires_grad else y.clone()
    return y + 1, z


def of_a_length_that_data_tell(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    y = (x * 2)[: int(x.abs().max().ceil())]
    if x.sum() > 0:
        y = y * 3
    else:
        y[0] = w[0]
    return y


def accumulated(x: Tensor, w: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    total, rows = torch.zeros(2), torch.zeros(3, 2)
    while x.sum() > 1:
        x = x - 1
        total += x * w
        if x[0] > 0:
            rows[1] = v
    return total, rows


FUNCTIONS = [
    of_one_branch,
    of_either_branch,
    of_an_inner_branch,
    of_two_in_a_row,
    skipped_batch,
    of_a_loop,
    of_a_loop_in_a_branch,
    of_a_branch_in_a_loop,
    written_to_in_place,
    written_to_behind,
    written_to_in_the_branch,
    set_in_a_view,
    written_to_behind_what_may_record,
    written_to_by_one_branch,
    written_to_through_a_view,
    written_to_in_an_object,
    asked_behind_the_write,
    of_a_length_that_data_tell,
    accumulated,
    under_no_grad,
    beside_what_always_does,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_results_record_as_in_eager(function: Function, backend: str) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    for number in (2.0, -1.0, 0.3, 0.7):
        for trained in ((True, True), (True, False), (False, True)):
            assert _told(fast, number, trained) == _told(function, number, trained)


def of_both_branches(x: Tensor, w: Tensor, v: Tensor) -> Tensor:
    if x.sum() > 0:
        y = w * x
    else:
        y = x - w
    return y + 1


def test_what_always_records_tells_nothing() -> None:
    """Where it no longer does, capture/given_back.py asks too much."""
    outputs = []

    def look(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        outputs.append(len(graph.graph.output_node().args[0]))  # type: ignore[arg-type]
        return graph

    compiled(of_both_branches, backend=look)(vec(2.0), vec(1.0).requires_grad_(), vec(1.0))
    assert outputs == [1]


def _told(function: Function, number: float, trained: tuple[bool, bool]) -> Any:
    """Of each result: whether it records a gradient; and the gradients of the sum of those that do."""
    x = torch.tensor([number, number])
    w, v = (torch.tensor([k, 0.5], requires_grad=one) for k, one in zip((1.5, 0.25), trained, strict=True))
    results = function(x, w, v)
    results = results if isinstance(results, tuple) else (results,)
    recorded = [one for one in results if one.requires_grad]
    gradients: Any = ()
    if recorded:
        leaves = [one for one in (w, v) if one.requires_grad]
        found = torch.autograd.grad(sum(one.sum() for one in recorded), leaves, allow_unused=True)  # type: ignore[arg-type]
        gradients = [None if one is None else [round(k, 4) for k in one.tolist()] for one in found]
    return [(one.tolist(), one.requires_grad, one.is_leaf) for one in results], gradients
