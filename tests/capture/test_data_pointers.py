"""Whether two tensors begin at one place in memory is what eager says, or refused."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, OnePathWarning, convert


def views(x: torch.Tensor) -> tuple[bool, ...]:
    first, second, again = x[0], x[1], x.view(-1)
    return (
        x.data_ptr() == first.data_ptr(),
        x.data_ptr() == second.data_ptr(),
        again.data_ptr() == first.data_ptr(),
        x.data_ptr() != x.clone().data_ptr(),
        x.t().contiguous().data_ptr() == x.data_ptr(),
        x.contiguous().data_ptr() == x.data_ptr(),
        x[:0].data_ptr() == x.data_ptr(),
        x[:0].data_ptr() == first[:0].data_ptr(),
    )


def written(x: torch.Tensor) -> tuple[torch.Tensor, bool, bool]:
    before = x
    x += 1
    same = x.data_ptr() == before.data_ptr()
    x = x + 1
    return x, same, x.data_ptr() == before.data_ptr()


def behind_a_branch(x: torch.Tensor) -> tuple[torch.Tensor, bool]:
    y = x
    if x.sum() > 0:
        y = x * 2
    return y, y.data_ptr() == x.data_ptr()


def arguments(x: torch.Tensor, y: torch.Tensor) -> bool:
    return x.data_ptr() == y.data_ptr()


def compiled(function: Any) -> Any:
    return torch.compile(convert(function), backend="eager", fullgraph=True)


@pytest.mark.parametrize("function", [views, written])
def test_the_memory_of_the_trace_tells(function: Any) -> None:
    expected = function(torch.ones(2, 2))
    torch.testing.assert_close(compiled(function)(torch.ones(2, 2)), expected)


def test_behind_a_branch_a_path_tells() -> None:
    fast = compiled(behind_a_branch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePathWarning)
        for value in (1.0, -1.0, 2.0):
            x = torch.full((2,), value)
            assert fast(x)[1] == behind_a_branch(x)[1]


def test_two_arguments_may_share_memory_in_another_call() -> None:
    x = torch.ones(2)
    with pytest.raises(CaptureError, match="AG320"):
        compiled(arguments)(x, torch.ones(2))


class Ring:
    """A view that is a second input of the graph, and sizes that change from call to call."""

    def __init__(self) -> None:
        self.rows = torch.zeros(4)
        self.window = self.rows[1:]
        self.count = 0

    def add(self, x: torch.Tensor) -> tuple[bool, bool]:
        self.rows[self.count] = x.sum()
        self.window += 1
        view = self.rows[: self.count]
        self.count += 1
        return view.data_ptr() == self.rows.data_ptr(), self.rows[self.count :].data_ptr() == self.rows.data_ptr()


def test_views_of_what_an_object_holds() -> None:
    expected, given = Ring(), Ring()
    fast = compiled(given.add)
    for _ in range(4):
        assert fast(torch.ones(2)) == expected.add(torch.ones(2))
    assert given.rows.equal(expected.rows)
