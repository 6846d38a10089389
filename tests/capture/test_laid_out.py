"""Operations that are a view, a copy or an error by the layout of a tensor, which paths lay out differently."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounterWithBackend
from torch._dynamo.variables.tensor import TensorVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable

from autograph_torch import CaptureError, convert
from autograph_torch.capture.laid_out import laid_out

Results = tuple[Any, ...]


def written_in_the_next_branch(x: torch.Tensor) -> Results:
    y = x.t() * 2 if x.sum() > 0 else x * 3
    if x.max() > 3:
        z = y + 1
        flat = z.reshape(-1)
        flat.add_(1)
        return z * 1, flat * 1
    return y * 1, y.sum()


def a_view_of_it(x: torch.Tensor) -> Results:
    y = x.t() * 2 if x.sum() > 0 else x * 3
    z = y + 1
    row = z[0].contiguous()
    row[0] = 7
    return z * 1, row


def given_by_an_inner_branch(x: torch.Tensor) -> Results:
    y = x * 1
    if x.sum() > -5:
        y = x.t() * 2 if x.sum() > 0 else x * 3
    flat = torch.ravel(y)
    flat.mul_(2)
    return y * 1, flat


def both_given_back(x: torch.Tensor) -> Results:
    y = x.t() * 2 if x.sum() > 0 else x * 3
    return y, y.reshape(-1)


def of_what_is_read_in_the_next_branch(x: torch.Tensor) -> Results:
    y = x.t() * 2 if x.sum() > 0 else x * 3
    if x.max() > 3:
        z = x.clone() + y.sum()  # has its layout from x
        flat = z.reshape(-1)
        flat += 1
        return z * 1, flat * 1
    return y * 1, y.sum()


def viewed(x: torch.Tensor) -> Results:
    y = x.t() * 2 if x.sum() > 0 else x * 3
    return ((y + 1).view(-1) * 1,)


MATTERS = [
    written_in_the_next_branch,
    a_view_of_it,
    given_by_an_inner_branch,
    both_given_back,
    of_what_is_read_in_the_next_branch,
    viewed,
]


def said(function: Callable[[torch.Tensor], Results], x: torch.Tensor) -> Results:
    """The values, which of the results share their memory, and what is raised."""
    try:
        found = function(x)
    except RuntimeError as error:
        return ("view size is not compatible" in str(error),)
    together = [a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr() for a in found for b in found]
    return ([one.tolist() for one in found], together)


@pytest.mark.parametrize("function", MATTERS)
def test_as_eager(function: Callable[[torch.Tensor], Results]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    for numbers in ([1.0, 2.0, 8.0, 4.0], [-1.0, 2.0, -8.0, 5.0], [-1.0, -2.0, 1.0, 0.5], [1.0, 2.0, 0.5, 1.0]):
        x = torch.tensor(numbers).view(2, 2)
        assert said(compiled, x) == said(function, x)


def slices(x: torch.Tensor) -> torch.Tensor:
    y = x[:, :1] if x.sum() > 0 else x[:, 1:]
    return y.reshape(-1) * 2 + y.contiguous().view(-1)


def columns(x: torch.Tensor) -> torch.Tensor:
    y = x.t() * 2 if x.sum() > 0 else x * 3
    y = y + 1
    return torch.flatten(y * y).sum() * y.reshape(4)


def products(x: torch.Tensor) -> torch.Tensor:
    y = x.t() * 2 if x.sum() > 0 else x * 3
    return (y @ x).view(-1) + torch.softmax(y, 0).view(4)


def by_the_trips(x: torch.Tensor) -> torch.Tensor:
    while x.sum() < 20:
        x = (x.reshape(-1).view(2, 2) * 2 + 1).clone()
    return x.reshape(-1) + x.view(-1)


@pytest.mark.parametrize("function", [slices, columns, products, by_the_trips])
def test_where_it_does_not_matter_there_is_one_operator(function: Callable[[torch.Tensor], torch.Tensor]) -> None:
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("eager")
    compiled = torch.compile(convert(function), fullgraph=True, backend=counter)
    for numbers in ([1.0, 2.0, 8.0, 4.0], [-1.0, 2.0, -8.0, 5.0]):
        x = torch.tensor(numbers).view(2, 2)
        assert compiled(x).tolist() == function(x).tolist()
    assert counter.frame_count == 1
    (graph,) = counter.graphs
    (operator,) = [node for node in graph.graph.nodes if str(node.target) in ("cond", "while_loop")]
    assert operator is not next(reversed(graph.graph.nodes))
    assert any(node.target in ("reshape", torch.flatten, "view") for node in graph.graph.nodes), "it is behind it"


def turned_in_each_trip(x: torch.Tensor) -> Results:
    y = x * 1
    while y.sum() < 20:
        y = (y + 1).t()
        flat = y.reshape(-1)
        flat[0] = 5
    return (y * 1,)


def turned_before_the_trips(x: torch.Tensor) -> Results:
    y = x.t() * 1
    while y.sum() < 20:
        z = y + 1
        y = (z.view(-1) * 2).view(2, 2) + z
    return (y * 1,)


def test_refused() -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="AG314 `(reshape|view)` of a tensor that the trips of a loop lay out"):
        torch.compile(convert(turned_in_each_trip), fullgraph=True, backend="eager")(torch.ones(2, 2))


def test_what_is_turned_before_the_trips_raises_in_them() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(turned_before_the_trips), fullgraph=True, backend="eager")
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        turned_before_the_trips(torch.ones(2, 2))
    with pytest.raises(CaptureError, match="Cannot view a tensor with shape"):
        compiled(torch.ones(2, 2))


def test_more_operations_than_python_has_frames() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = x.t() * 2 if x.sum() > 0 else x * 3
        for _ in range(1200):
            y = y + 1
        return y.reshape(-1) * 2

    torch._dynamo.reset()
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    for x in (torch.ones(2, 2), -torch.ones(2, 2)):
        assert compiled(x).tolist() == function(x).tolist()


def test_private_names_are_there() -> None:
    before = TensorVariable.call_method, TorchInGraphFunctionVariable.call_function
    with laid_out():
        assert TensorVariable.call_method is not before[0]
        assert TorchInGraphFunctionVariable.call_function is not before[1]
    assert (TensorVariable.call_method, TorchInGraphFunctionVariable.call_function) == before
