"""What torch asks of sizes that depend on data is answered, and the graph checks the answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from autograph_torch import autograph, convert
from tests.harness import torch_before

AREAS = torch_before("2.12", "torch.trapz asks how many rows there are")
AREAS = torch_before("2.12", "torch.trapz asks how many rows there are")
Function = Callable[[torch.Tensor], torch.Tensor]
SEVERAL = torch.tensor([1.0, 2.0, -1.0, 4.0])
DATA = [SEVERAL, torch.tensor([3.0, -2.0, -0.5, -1.0]), torch.tensor([-1.0, -2.0, -0.5, -1.0])]  # 3, 1 and no rows


def area(x: torch.Tensor) -> torch.Tensor:
    return torch.trapz(x[x > 0]) + x.sum()


def area_of_two(x: torch.Tensor) -> torch.Tensor:
    return torch.trapz(x[x > 0], x[x > 0.25] * 2) + x.sum()  # of one size: nothing says so but the data


def in_a_branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > -9:
        found = torch.trapz(x[x > 0]) + x.sum()
    else:
        found = x.sum()
    return found * 2


PROGRAMS: list[Function] = [area, area_of_two, in_a_branch]


@AREAS
@pytest.mark.filterwarnings("ignore:the graph of")
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_results_and_gradients_are_those_of_eager(function: Function, backend: str) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    for data in DATA:
        found = []
        for run in (function, compiled):
            x = data.clone().requires_grad_()
            result = run(x)
            found.append((result, *torch.autograd.grad(result, x)))
        torch.testing.assert_close(found[1], found[0])


def test_two_sizes_that_differ_raise_as_in_eager() -> None:
    x = torch.tensor([1.0, 0.1, 3.0])  # three rows, and two
    with pytest.raises(RuntimeError, match="one `x` value"):
        area_of_two(x)
    with pytest.raises(RuntimeError, match="one `x` value"):
        torch.compile(convert(area_of_two), fullgraph=True, backend="eager")(x)


@AREAS
@pytest.mark.filterwarnings("ignore:the graph of")
def test_with_inductor_the_graph_ends_before_it_reads_what_is_not_there() -> None:
    compiled = autograph(area, backend="inductor")
    for data in DATA:
        torch.testing.assert_close(compiled(data), area(data))
