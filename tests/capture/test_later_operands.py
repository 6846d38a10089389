"""`and` and `or` do not evaluate in vain what fails for some sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.fx import GraphModule

from autograph_torch import convert


def found(x: Tensor) -> tuple[Tensor, Tensor]:
    keep = x > 0.5
    return keep, torch.stack([x, x])[:, keep].t().prod(1)


def by_a_count(x: Tensor) -> Tensor:
    keep, square = found(x)
    if int(keep.sum()) and square.max() > 10:
        return square / 2
    return square


def by_a_flag(x: Tensor) -> Tensor:
    keep, square = found(x)
    return square / 2 if keep.any() and square.argmax() > 0 else square


def alternatives(x: Tensor) -> Tensor:
    keep, square = found(x)
    if not keep.any() or square.min() > 4:
        x = x + 1
    return x


@pytest.mark.parametrize("function", [by_a_count, by_a_flag, alternatives])
def test_of_tensors_whose_size_data_tell(function: Callable[[Tensor], Tensor]) -> None:
    fast = torch.compile(convert(function), backend="eager", fullgraph=True)
    for values in ([1.0, 4.0, 0.0], [0.0, 0.1, 0.2], [3.0, 3.0, 3.0], [1.0, 0.0, 0.0]):
        x = torch.tensor(values)
        torch.testing.assert_close(fast(x), function(x))


def test_other_sizes_need_no_branch() -> None:
    made: list[GraphModule] = []

    def backend(module: GraphModule, inputs: list[Tensor]) -> GraphModule:
        made.append(module)
        return module

    def function(x: Tensor) -> Tensor:
        if (x > 0.5).any() and x.max() > 1:
            return x + 1
        return x

    x = torch.tensor([1.0, 4.0, 0.0])
    torch.testing.assert_close(torch.compile(convert(function), backend=backend, fullgraph=True)(x), x + 1)
    assert sum(node.target is torch.ops.higher_order.cond for node in made[0].graph.nodes) == 1
