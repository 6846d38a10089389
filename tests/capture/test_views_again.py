"""Views whose place or length data tell are views of what they are views of in eager, on every path."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph

Function = Callable[[Any, Tensor], Any]


def rows_in_use(w: Any, x: Tensor) -> Tensor:
    """A buffer whose write position moves where data say so."""
    if x.sum() > 0:
        w.rows[w.used] = x[0]
        w.used = (w.used + 1) % 3
    return w.rows[: w.used]  # type: ignore[no-any-return]


def from_a_place(w: Any, x: Tensor) -> Tensor:
    rows: Tensor = w.rows
    if x.sum() > 0:
        rows = rows[int(x.abs().max()) - 1 :]
    return rows


def one_row(w: Any, x: Tensor) -> Tensor:
    if x.sum() > 0:
        return w.rows[x.argmax()]  # type: ignore[no-any-return]
    return w.rows[0]  # type: ignore[no-any-return]


def of_a_cache(w: Any, x: Tensor) -> Tensor:
    size = int(x.abs().max())
    if "rows" in w.cache and w.cache["rows"].shape[0] >= size:
        return w.cache["rows"][:size]  # type: ignore[no-any-return]
    w.cache["rows"] = torch.arange(size + 1).float()
    return w.cache["rows"]  # type: ignore[no-any-return]


def of_inner_branches(w: Any, x: Tensor) -> Tensor:
    if x.sum() > 0:
        if x[1] > 0:
            found = w.rows[int(x.abs().max()) :]
        else:
            found = w.rows[int(x.abs().min())]
        found = found.view(-1)
    else:
        found = w.rows
    return found  # type: ignore[no-any-return]


def around_a_number(w: Any, x: Tensor) -> Tensor:
    if x.sum() > 0:
        at = int(x.abs().max())
        if x[1] > 0:
            found = w.rows[at:]
        else:
            found = w.rows[:at]
    else:
        found = w.rows[1:]
    return found  # type: ignore[no-any-return]


def split_at(w: Any, x: Tensor) -> Any:
    if x.sum() > 0:
        at = int(x.abs().max())
        first, second = w.rows.split([at, 4 - at])
    else:
        first, second = w.rows[:2], w.rows[2:]
    return first, second


def of_another_result(w: Any, x: Tensor) -> Any:
    y = x * 2
    if x.sum() > 0:
        at = int(x.abs().max()) - 1
        return y, y[at:], y[at]
    return y, y, y[0]


def written_to_in_the_branch(w: Any, x: Tensor) -> Tensor:
    if x.sum() > 0:
        part = w.rows[int(x.abs().max()) - 1 :]
        part[0] = 7.0
        part = part.flip(0)[:1]
    else:
        part = w.rows[:1]
    return part  # type: ignore[no-any-return]


def next_to_the_first(w: Any, x: Tensor) -> Tensor:
    """One number is known outside of the branch, one in it."""
    at = x.argmax()
    found = w.rows[at]
    if found > 5:
        found = w.rows[at + 1]
    return found  # type: ignore[no-any-return]


def a_view_on_one_path(w: Any, x: Tensor) -> Tensor:
    places = x.abs().to(torch.int64)
    if x.sum() > 0:
        return w.rows[places[0] : places[0] + places[1]]  # type: ignore[no-any-return]
    return w.rows[places]  # type: ignore[no-any-return]


FUNCTIONS = [
    rows_in_use,
    from_a_place,
    one_row,
    of_a_cache,
    of_inner_branches,
    around_a_number,
    split_at,
    of_another_result,
    written_to_in_the_branch,
    next_to_the_first,
    a_view_on_one_path,
]
DATA = ([2.0, 1.0, 1.0], [-1.0, -2.0, -1.0], [2.0, 1.0, 3.0], [-3.0, 1.0, 1.0], [2.0, -1.0, 1.0])


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_writes_behind_the_call_are_seen(function: Function, backend: str) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    plain, own = _world(), _world()
    for values in DATA:
        assert _told(fast, own, values) == _told(function, plain, values)


def without_gradient(w: Any, x: Tensor) -> Tensor:
    rows: Tensor = w.rows
    if x.sum() > 0:
        with torch.no_grad():
            rows = rows[int(x.abs().max()) - 1 :]
    return rows


@pytest.mark.parametrize("function", [from_a_place, without_gradient])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_gradients_come_to_the_rows(function: Function, backend: str) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    for values in DATA:
        assert _gradient(fast, values) == _gradient(function, values)


def _gradient(function: Function, values: list[float]) -> list[float] | None:
    rows = torch.arange(4.0).requires_grad_()
    function(types.SimpleNamespace(rows=rows), torch.tensor(values)).pow(2).sum().backward()
    return None if rows.grad is None else rows.grad.tolist()


def last_row_of_a_loop(w: Any, x: Tensor) -> Tensor:
    at, found = 0, w.rows[0]
    while x[0] > 1:
        x = x / 2
        at += 1
        found = w.rows[at]
    return found  # type: ignore[no-any-return]


def rows_that_a_loop_leaves(w: Any, x: Tensor) -> Tensor:
    rows: Tensor = w.rows
    while rows.numel() > 1 and rows[0] < x[0] * 5:
        rows = rows[1:]
    return rows


LOOPS = [(last_row_of_a_loop, "only a loop knows"), (rows_that_a_loop_leaves, "the trips of a loop have made views")]


@pytest.mark.parametrize(("function", "message"), LOOPS)
@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_of_loops_they_are_seen_on_a_path(function: Function, message: str) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend="eager")
    plain, own = _world(), _world()
    for values in DATA:
        assert _told(fast, own, values) == _told(function, plain, values)


@pytest.mark.parametrize(("function", "message"), LOOPS)
def test_no_graph_for_all_data_copies_them(function: Function, message: str) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match=f"AG314 .*{message}"):
        autograph(function, backend="eager")(_world(), torch.tensor(DATA[0]))


def one_row_twice(w: Any, x: Tensor) -> Any:
    row, first, second = w.rows[0], w.rows[1], w.rows[2]
    if x[0] > 0:
        first = row
    if x[1] > 0:
        second = first
    return first, second


def with_the_row_itself(w: Any, x: Tensor) -> Any:
    row = w.rows[0]
    w.kept = row
    first = row if x[0] > 0 else w.rows[1]
    return first, w.rows[0]


def of_a_place_twice(w: Any, x: Tensor) -> Any:
    row, first, second = w.rows[x.argmax()], w.rows[1], w.rows[2]
    if x[0] > 0:
        first = row
    if x[1] > 0:
        second = row
    return first, second


def without_a_gradient(w: Any, x: Tensor) -> Any:
    row = w.rows[0].detach()
    first = second = w.rows[1].detach()
    if x[0] > 0:
        first = row
    if x[1] > 0:
        second = row
    return first, second


def lowest_that_is_kept(w: Any, x: Tensor) -> Any:
    w.kept, stopped = w.rows[3], None
    for row in w.rows[:3]:
        w.kept = min(w.kept, row + 0 if x[2] > 2 else row)
        if row > x[1] * 5:
            stopped = row
            break
    return w.kept, stopped


ONE_VIEW = [one_row_twice, with_the_row_itself, of_a_place_twice, without_a_gradient, lowest_that_is_kept]


@pytest.mark.parametrize("function", ONE_VIEW)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("records", [False, True])
@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_one_view_in_two_places_is_one_object(function: Function, backend: str, records: bool) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    for values in (*DATA, [-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]):
        assert _places(fast, values, records) == _places(function, values, records)


def _places(function: Function, values: list[float], records: bool) -> Any:
    """Of each result: where it lies in the rows, and which results are this object."""
    w = _world()
    w.rows.requires_grad_(records)
    given = [*function(w, torch.tensor(values)), getattr(w, "kept", None)]
    tensors = [one for one in given if one is not None]
    memory = w.rows.untyped_storage().data_ptr()
    lie = [(one.untyped_storage().data_ptr() == memory, one.storage_offset(), one.requires_grad) for one in tensors]
    return lie, [[one is other for other in given] for one in given]


def _world() -> Any:
    return types.SimpleNamespace(used=1, rows=torch.arange(4.0) * 10, cache={})


def _told(function: Function, w: Any, values: list[float]) -> Any:
    """What a call gives, which tensors share memory, and what all hold once the caller has written to the last one."""
    results = function(w, torch.tensor(values))
    results = results if isinstance(results, tuple) else (results,)
    tensors = [w.rows, *w.cache.values(), *results]
    memory = [one.untyped_storage().data_ptr() for one in tensors]
    layout = [(one.storage_offset(), one.stride(), one.tolist()) for one in tensors]
    results[-1].add_(1)
    return [memory.index(one) for one in memory], layout, [one.tolist() for one in tensors], w.used
