"""Lists that a loop writes to while it runs over them: eager comes to what is added, and not to what is gone."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.harness import check_any_graph, program, torch_before, vec

TWO = [lambda: (vec(5, 1),), lambda: (vec(-1, -2),), lambda: (vec(1.5, 2.5),)]


@program(inputs=TWO)
def pieces_that_are_still_large(x: Tensor) -> Any:
    work = [v for v in x]
    done = 0
    for piece in work:
        if piece > 2:
            work.append(piece / 2)
        else:
            done += 1
    return len(work), done


@program(inputs=TWO)
def added_while_there_are_few(x: Tensor) -> Any:
    work = [0, 1]
    for k in work:
        if x[k % 2] > k and len(work) < 5:
            work.append(k + 2)
    return work


@program(inputs=TWO)
def the_last_is_taken_away(x: Tensor) -> Any:
    work = [1.0, 2.0, 3.0]
    out = []
    for w in work:
        if x.sum() > 0:
            work.pop()
        out.append(w)
    return out, work


@program(inputs=TWO)
def extended_in_the_last_trip(x: Tensor) -> Any:
    todo = [3, 1]
    total = 0
    for t in todo:
        total += t
        if x[0] > 0:
            if t == 1:
                todo.extend([t - 1, t - 2, 2])
    return total, todo


@program(inputs=TWO)
def numbered_rows(x: Tensor) -> Any:
    rows = [x[0], x[1]]
    out = []
    for i, r in enumerate(rows):
        if r > 0 and i < 3:
            rows.append(r - 1)
        out.append(r)
    return torch.stack(out)


@program(inputs=TWO)
def put_in_front(x: Tensor) -> Any:
    rows = [x[0], x[1]]
    for r in rows:
        if r > 0:
            rows.insert(0, r - 5)
        if len(rows) > 6:
            break
    return rows


@program(inputs=TWO)
def emptied(x: Tensor) -> Any:
    rows = [1, 2, 3]
    seen = []
    for r in rows:
        seen.append(r)
        if x.sum() > 0:
            rows.clear()
    return seen, rows


@program(inputs=TWO)
def another_list_of_the_same_name(x: Tensor) -> Any:
    rows = [1, 2, 3]
    seen = []
    for r in rows:
        seen.append(r)
        if x.sum() > 0:
            rows = [9]
    return seen, rows


@program(inputs=TWO)
def two_lists_in_step(x: Tensor) -> Any:
    rows, other = [1, 2], [5, 6]
    seen = []
    for a, b in zip(rows, other):
        if x.sum() > a and len(rows) < 5:
            rows.append(7)
            other.append(8)
        seen.append(a + b)
    return seen


@program(inputs=TWO)
def in_a_comprehension(x: Tensor) -> Any:
    rows = [1, 2]
    return [(r, rows.append(r) if x.sum() > 0 and len(rows) < 4 else None) for r in rows]


class Todo:
    def __init__(self) -> None:
        self.items = [1, 2]


@program(inputs=TWO)
def of_an_object(x: Tensor) -> Any:
    todo, seen = Todo(), []
    for i in todo.items:
        seen.append(i)
        if x.sum() > 0 and i < 3:
            todo.items.append(i + 2)
    return seen, todo.items


@program(inputs=TWO)
def a_dict_that_grows(x: Tensor) -> Any:
    d = {"a": 1}
    try:
        for _ in d:
            if x.sum() > 0:
                d["b"] = 2
    except RuntimeError as error:
        return str(error)
    return d


@program(inputs=TWO)
def a_deque_that_is_written_to(x: Tensor) -> Any:
    q, done = deque([1.0, 2.0, 3.0], maxlen=3), 0
    try:
        for v in q:
            if x.sum() > 4:
                q.append(v)
            elif x.sum() > 3:
                q[0] = 7.0
                q.extend([])
            done += 1
    except RuntimeError as error:
        return str(error), list(q), done
    return list(q), done


@program(inputs=TWO)
def a_set_that_grows(x: Tensor) -> Any:
    seen = {1, 2}
    for k in seen:
        if x.sum() > 0:
            seen.add(k + 10)
    return sorted(seen)


@program(inputs=TWO)
def elements_that_are_replaced(x: Tensor) -> Any:
    rows = [1, 2, 3]
    seen = []
    for i, r in enumerate(rows):
        if x.sum() > 0 and i + 1 < len(rows):
            rows[i + 1] = r * 10
        seen.append(r)
    return seen, rows


@program(inputs=TWO)
def elements_that_are_replaced_before_a_return(x: Tensor) -> Any:
    rows = [1, 2, 3]
    for i, r in enumerate(rows):
        if x[0] > r:
            return r
        if x.sum() > 0 and i + 1 < len(rows):
            rows[i + 1] = 0
    return rows


ROWS = [lambda: (vec(-1, -2, -3),), lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),), lambda: (vec(0.1, 0.2, 1),)]


@program(inputs=ROWS)
def a_list_in_step_with_rows(x: Tensor) -> Any:
    found = [x[0], x[1]]
    for one, row in zip(found, x):
        if row > 0.4:
            break
        found.append(one)
    return found


@program(inputs=ROWS)
def rows_in_step_with_a_list_that_shrinks(x: Tensor) -> Any:
    found, trips = [1, 2], 0
    for _ in zip(x, range(3), found):
        if x.sum() < 0:
            found.pop()
        trips += 1
    return found, trips


@program(inputs=ROWS)
def steps_of_steps(x: Tensor) -> Any:
    found = [1, 2]
    for (one, row), _ in zip(zip(found, x), x):
        if row > 0.4:
            return found, one
        found.append(one)
    return found


PROGRAMS = [
    a_list_in_step_with_rows,
    rows_in_step_with_a_list_that_shrinks,
    steps_of_steps,
    pieces_that_are_still_large,
    added_while_there_are_few,
    the_last_is_taken_away,
    extended_in_the_last_trip,
    numbered_rows,
    put_in_front,
    emptied,
    another_list_of_the_same_name,
    two_lists_in_step,
    in_a_comprehension,
    of_an_object,
    elements_that_are_replaced,
    elements_that_are_replaced_before_a_return,
    pytest.param(a_set_that_grows, marks=torch_before("2.13", "a set may grow in a loop over it")),
    pytest.param(a_deque_that_is_written_to, marks=torch_before("2.13", "a deque may change in a loop over it")),
    pytest.param(a_dict_that_grows, marks=torch_before("2.13", "a dict may grow in a loop over it")),
]


@pytest.mark.parametrize("found", PROGRAMS, ids=lambda one: one.__name__)
def test_as_eager(found: Any) -> None:
    """On one path where there is no graph for all data; the list is told to be another one in a branch, too."""
    check_any_graph(found)
