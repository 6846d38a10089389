"""Lists that grow in a loop on data, of rows: tuples, dicts and dataclasses; loops that print, raise and look back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch

from tests.harness import program, vec

TRIPS = [lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),), lambda: (vec(30, 4),)]


@program(inputs=TRIPS, grad=True)
def rows_of_tuples(x):
    hist = []
    step = 0
    while x.norm() > 1:
        x = x / 2
        step += 1
        hist.append((step, x))
    return hist, len(hist)


@program(inputs=TRIPS, grad=True)
def rows_of_dicts(x):
    trace = []
    while x.norm() > 1:
        x = x / 2
        trace.append({"loss": x.sum().item(), "x": x})
    return trace, [r["loss"] for r in trace]


@program(inputs=TRIPS)
def rows_are_unpacked(x):
    hist = [(0, x)]
    step = 0
    total = torch.zeros(())
    while x.norm() > 1:
        x = x / 2
        step += 1
        hist.append((step, x))
    for k, y in hist:
        total = total + k * y.sum()
    return total, torch.stack([y for _, y in hist]), hist[-1][0], hist[-1][1]


@program(inputs=TRIPS)
def last_row_decides(x):
    hist = [(0, x.norm())]
    step = 0
    while x.norm() > 1:
        x = x / 2
        step += 1
        if hist[-1][1] < 3:
            break
        hist.append((step, x.norm()))
    return x, hist


@program(inputs=TRIPS)
def loop_that_prints_and_fills(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        print("norm", x.norm().item())
        hist.append(x)
    return hist


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),), lambda: (vec(float("inf"), 4),)])
def loop_that_raises_and_fills(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        if not torch.isfinite(x).all():
            raise ValueError("diverged")
        hist.append((len(hist), x.sum().item()))
    return hist


@program(inputs=TRIPS)
def guarded_last_of_an_empty_list(x):
    hist = []
    step = 0
    while x.norm() > 1:
        x = x / 2
        loss = (x.norm() - 2).abs()
        if hist and hist[-1]["loss"] < loss:
            break
        hist.append({"loss": loss, "step": step})
        step += 1
    return hist, step


@program(inputs=TRIPS, grad=True)
def last_three_of_a_list(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        hist.append(x.norm())
        if len(hist) >= 3 and sum(hist[-3:]) / 3 < 4:
            break
    return x, hist


@program(inputs=TRIPS, grad=True)
def two_lists_and_prints(x):
    hist, errs = [], []
    n = 0
    while x.norm() > 1:
        x = x / 2
        n += 1
        hist.append((n, x))
        if len(errs) > 0:
            print("last", errs[-1].item())
        errs.append(x.norm().detach())
        if len(errs) > 2 and errs[-2] < 3:
            print("small")
    return hist, errs


@program(inputs=TRIPS, refused="of what form the last element is shows only behind the place where it is read")
def unguarded_last_of_an_empty_list(x):
    hist = []
    n = 0
    while x.norm() > 1:
        x = x / 2
        n += 1
        if n > 1:
            x = x - hist[-1][1] * 0.1
        hist.append((n, x))
    return hist


class Step(NamedTuple):
    number: int
    loss: torch.Tensor


@dataclass
class Row:
    loss: float
    x: torch.Tensor
    good: bool = True


@program(inputs=TRIPS, grad=True, refused="an element is given back in two lists")
def rows_of_namedtuples(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        hist.append(Step(len(hist), x.sum()))
    return hist, [s.loss for s in hist]


@program(inputs=TRIPS)
def rows_of_dataclasses(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        if x.norm() > 3:
            hist.append(Row(x.sum().item(), x))
        else:
            hist.append(Row(0.5, x * 0, good=False))
    best = 0.0
    for r in hist:
        if r.good and r.loss > best:
            best = r.loss
    return hist, best


@program(inputs=TRIPS, refused="the list shows what is written to its elements later")
def dict_written_after_append(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        row = {"x": x}
        hist.append(row)
        row["norm"] = x.norm()
    return hist


@program(inputs=TRIPS, refused="the list shows it")
def dict_of_before_the_loop(x):
    hist = []
    row = {"x": x}
    while x.norm() > 1:
        x = x / 2
        row["x"] = x
        hist.append(row)
    return hist


@program(inputs=TRIPS, refused="the list shows it")
def element_written(x):
    hist = [{"x": x, "n": 0}]
    while x.norm() > 1:
        x = x / 2
        hist.append({"x": x, "n": 1})
    hist[-1]["n"] = 5
    return hist


@program(inputs=TRIPS, refused="the list shows it")
def elements_written(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        hist.append(Row(1.0, x))
    for r in hist:
        r.good = False
    return hist


@program(inputs=TRIPS, refused="the list shows it")
def last_element_written_in_the_loop(x):
    hist = [[0, x]]
    while x.norm() > 1:
        x = x / 2
        hist[-1][0] += 1
        hist.append([0, x])
    return hist


@program(inputs=TRIPS, refused="a branch writes to it and then appends it")
def written_in_the_branch_and_later(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        row = {"x": x, "big": False}
        if x.norm() > 3:
            row["big"] = True
            hist.append(row)
        row["x"] = x + 1
    return hist


@program(inputs=TRIPS)
def made_outside_of_the_branch(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        row = {"x": x, "n": len(hist)}
        row["sum"] = x.sum().item()
        if x.norm() > 3:
            hist.append(row)
    return hist


@program(inputs=TRIPS, refused="one tensor twice")
def one_tensor_twice(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        hist.append((x, x))
    return hist


@program(inputs=TRIPS, refused="two types")
def numbers_of_two_types(x):
    hist = []
    n = 0
    while x.norm() > 1:
        x = x / 2
        n += 1
        if x.norm() > 3:
            hist.append(("a", 1))
        else:
            hist.append(("a", 1.0))
    return hist


@program(inputs=TRIPS)
def strings_and_nones(x):
    hist = []
    while x.norm() > 1:
        x = x / 2
        hist.append(("step", None, x.sum().item() > 3, [len(hist), x]))
    return hist


@program(inputs=[lambda: (torch.ones(2) * 3,), lambda: (torch.ones(3) * 3,), lambda: (torch.ones(5) * 3,)])
def elements_of_another_size_in_the_next_call(x):
    xs = [x]
    while x.norm() > 1:
        x = x / 2
        xs.append(x)
    return xs


@program(inputs=TRIPS, grad=True)
def loops_in_loops_fill_one_list(x):
    hist = []
    while x.norm() > 1:
        y = x
        k = 0
        while y.norm() > 2:
            y = y / 2
            k += 1
            hist.append((k, y))
        x = x / 3
        hist.append((-1, x))
    return hist


@program(inputs=TRIPS)
def an_inner_loop_fills_a_list_of_its_own_and_the_outer_one(x):
    hist = [0.0]
    while x.norm() > 1:
        y = x
        inner = []
        while y.norm() > 2 and hist[-1] < 100:
            y = y / 2
            inner.append(y.norm())
            hist.append(y.sum().item())
            print(len(hist))
        if inner:
            hist.append(torch.stack(inner).sum().item())
        x = x / 3
    return hist


@program(inputs=TRIPS)
def positions_of_a_range_in_rows_and_messages(x):
    hist = []
    for i in range(20):
        x = x / 2
        loss = x.sum().item()
        hist.append({"loss": loss, "it": i})
        if loss < 1:
            break
        if loss > 15:
            raise ValueError(f"loss {loss:.2f} at {i} is too large")
    else:
        print("not converged")
    return hist


@program(inputs=TRIPS, refused="a list grows, and a return inside of the loop takes it along")
def a_list_is_returned_from_two_places_of_a_loop(x):
    hist = []
    i = 0
    while i < 30:
        x = x / 2
        if x.norm() < 1e-8:
            return x * 0, hist
        hist.append(x)
        if x.norm() < 1:
            break
        i += 1
    return x, hist


@program(inputs=TRIPS, refused="a list that gets shorter")
def a_stack_of_what_is_left(x):
    stack = [x]
    total = torch.zeros(())
    while stack:
        y = stack.pop()
        total = total + y.sum()
        if y.norm() > 1:
            stack.append(y / 2)
    return total


@program(inputs=TRIPS, refused="inserted")
def elements_are_inserted_in_front(x):
    xs = []
    while x.norm() > 1:
        x = x / 2
        xs.insert(0, x)
    return xs


@program(inputs=TRIPS, refused="cleared")
def a_list_is_emptied_when_full(x):
    xs = []
    while x.norm() > 1:
        x = x / 2
        xs.append(x)
        if len(xs) > 2:
            xs.clear()
    return xs


@program(inputs=TRIPS)
def the_first_element_makes_room(x):
    xs = [x]
    while x.norm() > 1:
        x = x / 2
        xs.append(x)
        del xs[0]
    return xs
