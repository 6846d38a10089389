"""Lists, dicts and objects that a branch or loop hands out in two places, written to in one of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from tests.harness import program, scalar, vec

SIGNS = [lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2, -3),)]


class Holder:
    def __init__(self) -> None:
        self.first = None
        self.second = None


@dataclass
class State:
    value: torch.Tensor
    past: list[Any]


class Kept(NamedTuple):
    rows: list[Any]
    count: int


@program(inputs=SIGNS)
def a_list_with_two_names(x):
    if x.sum() > 0:
        d = [x[0]]
        e = d
    else:
        d = [x[1]]
        e = d
    d.append(x[2])
    return e, d is e


@program(inputs=SIGNS)
def a_dict_inside_of_another(x):
    if x.sum() > 0:
        d = {"a": x[0]}
        e = {"d": d}
    else:
        d = {"a": x[1]}
        e = {"d": d}
    d["a"] = x[2]
    return d, e


@program(inputs=SIGNS)
def an_object_with_two_names(x):
    if x.sum() > 0:
        d = State(x[0], [])
        e = d
    else:
        d = State(x[1], [])
        e = d
    d.value = x[2]
    d.past.append(x[1])
    return e.value, e.past, d is e


@program(inputs=SIGNS)
def a_list_in_an_object(x):
    if x.sum() > 0:
        past = [x[0]]
        state = State(x[0], past)
    else:
        past = [x[1]]
        state = State(x[0], past)
    past.append(x[2])
    return state.past, past


@program(inputs=SIGNS)
def rows_that_are_one(x):
    if x.sum() > 0:
        grid = [[x[0]]] * 2
    else:
        grid = [[x[1]]] * 2
    grid[0][0] = x[2]
    return grid[1][0]


@program(inputs=SIGNS)
def a_list_in_two_attributes(x):
    h = Holder()
    if x.sum() > 0:
        h.first = h.second = [x[0]]
    else:
        h.first = h.second = [x[1]]
    h.first[0] = x[2]
    return h.second[0]


@program(inputs=SIGNS)
def in_nested_branches(x):
    d = e = [x[0]]
    if x.sum() > 0:
        if x[0] > 2:
            d = [x[0]]
            e = d
        else:
            d = [x[1]]
            e = d
    d[0] = x[2]
    return e[0]


@program(inputs=SIGNS, refused="a trip gives one list two names, and it is written to behind the loop")
def behind_a_loop(x):
    xs = ys = [x[0]]
    s = x.sum()
    while s.abs() > 1:
        xs = [s]
        ys = xs
        s = s / 2
    xs.append(x[1])
    return ys


@program(inputs=SIGNS, refused="a trip gives one list two names, and it is written to behind the loop")
def bound_in_a_loop_alone(x):
    s = x.sum().abs() + 2
    while s > 1:
        xs = [s]
        ys = xs
        s = s / 2
    xs.append(x[1])
    return ys


@program(inputs=SIGNS)
def only_read(x):
    if x.sum() > 0:
        grid = [[x[0]]] * 2
        last = grid[-1]
    else:
        grid = [[x[1]]] * 2
        last = grid[-1]
    return grid[0][0] + last[0] if last is not None else grid[1][0]


@program(inputs=SIGNS)
def asked_on_the_path_that_writes(x):
    first = second = [x[0]]
    if x.sum() < 0:
        first[0] = x[2]
        if first is second:
            second.append(x[1])
    return first, first is second


@program(inputs=SIGNS)
def asked_in_the_trips_that_write(x):
    first = [x[0]]
    table = {"a": first}
    for v in x:
        if v > 0:
            first[0] = v
            if table["a"] is first:
                first[0] = first[0] + 1
    return table["a"][0]


@program(inputs=[lambda: (vec(1, -2, 3), [vec(0, 0, 0)]), lambda: (vec(-1, -2, -3), [vec(0, 0, 0)])])
def a_list_in_a_named_tuple_of_a_branch(x, rows):
    kept = Kept(rows, 1)
    if x.sum() > 0:
        kept = Kept([x], 2)
    kept.rows.append(x * 2)
    return len(kept.rows) + kept.count


@program(inputs=[lambda: (vec(1, -2, 3), [vec(0, 0, 0)]), lambda: (vec(-1, -2, -3), [vec(0, 0, 0)])])
def a_list_in_a_named_tuple_of_a_loop(x, rows):
    kept = Kept(rows, 1)
    s = x.sum()
    while s > 0:
        kept = Kept([x], 2)
        s = s - 1
    kept.rows[0] = x * 2
    return kept.count


@program(
    inputs=[
        lambda: (vec(1, -2, 3), {"a": vec(1, 1), "b": scalar(2)}),
        lambda: (vec(-1, -2, -3), {"a": vec(1, 1), "b": scalar(2)}),
        lambda: (vec(9, -2, 3), {"a": vec(1, 1), "b": scalar(2)}),
    ],
    refused="a dict of the caller's or a new one, out of a loop that data may leave",
)
def a_dict_of_a_loop_that_returns(x, d):
    for _ in range(2):
        if x.sum() > 0:
            if x.sum() > 5:
                return x
            d = {**d, "b": d["b"] * 2}
    d["a"] = x * 2
    return x
