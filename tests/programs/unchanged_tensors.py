"""Loops that hand a tensor on as the object that it is, and loops whose tensors change places."""

from __future__ import annotations

import torch

from tests.harness import program, vec

INPUTS = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(40, 50, 60),)]


@program(inputs=INPUTS)
def another_name_of_what_trips_write_to_is_never_bound_anew(x):
    y = x * 2
    z = y
    more = False
    k = 0
    while y.sum() < 100:
        if more:
            z = z + 1
        y.add_(1)
        k += 1
    return y, z, z is y, k


@program(inputs=INPUTS)
def a_name_is_never_bound_anew_and_written_to_behind_the_loop(x):
    y = x * 2
    z = y
    more = False
    while z.sum() < 100:
        if more:
            y = y + 1
        z = z + 1
    y.mul_(2)
    return y, z


@program(inputs=INPUTS, grad=True)
def a_name_is_never_bound_anew(x):
    y = x * 2
    z = y
    more = False
    while y.sum() < 100:
        if more:
            z = z + 1
        y = y + z.abs()
    return y, z


@program(inputs=INPUTS)
def a_write_gives_back_its_target(x):
    y = x * 2
    w = y
    while y.sum() < 100:
        y = y.add_(1)
    return y, w


@program(inputs=INPUTS)
def a_function_with_out_gives_back_its_target(x):
    y = x * 2
    w = y
    k = 0
    while y.sum() < 100:
        y = torch.add(y, 1, out=y)
        k += 1
    return y, w, k


@program(inputs=INPUTS, refused="`w` is what the name is bound to on one path")
def a_write_gives_back_its_target_on_one_path(x):
    y = x * 2
    w = y
    k = 0
    while y.sum() < 100:
        k += 1
        if k > 3:
            y = y + 7
        else:
            y = y.add_(1)
    return y, w * 1, k


@program(inputs=INPUTS)
def tensors_that_are_written_to_change_places(x):
    a, b = x.clone(), x + 1
    k = 0
    while a.sum() < 100:
        a.add_(b.abs() + 1)
        a, b = b, a
        k += 1
    return a, b, k


@program(inputs=INPUTS)
def three_buffers_change_places(x):
    old, now, new = x.abs(), x + 1, torch.empty_like(x)
    for k in range(20):
        torch.add(old, now, out=new)
        if new.sum() > 1000:
            break
        old, now, new = now, new, old
    return old, now, new, k


@program(inputs=INPUTS, refused="`first` is a buffer that a later trip writes to")
def one_of_the_buffers_that_change_places_has_another_name(x):
    a, b = x.clone(), x + 1
    first, k = b, 0
    while a.sum() < 100:
        a.add_(b.abs() + 1)
        a, b = b, a
        k += 1
    return a * 1, b * 1, first * 1, k


@program(inputs=INPUTS, refused="`a` and `b` are one")
def two_of_the_buffers_that_change_places_are_one(x):
    a = x.clone()
    b, c, k = a, x + 1, 0
    while a.sum() < 100:
        a.add_(c.abs() + 1)
        a, b, c = b, c, a
        k += 1
    return a * 1, b * 1, c * 1, k


@program(inputs=INPUTS, refused="`a` and `b` are one from the third trip on")
def two_buffers_become_one(x):
    a, b = x.clone(), x + 1
    k = 0
    while a.sum() < 100:
        a.add_(b.abs() + 1)
        if k == 2:
            b = a
        k += 1
    return a * 1, b * 1, k


@program(inputs=INPUTS, refused="the caller has one of the buffers")
def the_callers_tensor_changes_places_with_another(x):
    a, b = x, x + 1
    k = 0
    while a.sum() < 100:
        a.add_(b.abs() + 1)
        a, b = b, a
        k += 1
    return a * 1, b * 1, k


@program(inputs=INPUTS)
def a_name_of_what_trips_write_to_is_bound_anew_to_it(x):
    x = x.clone()
    best = x
    while best.sum() < 100:
        best.mul_(0.5).add_(30)
        x = best
    x.add_(1)
    return x, best, x is best


@program(inputs=[INPUTS[0], INPUTS[2]])
def a_name_is_bound_to_something_else_within_each_trip(x):
    start = x + 1
    y = start
    k = 0
    while start.sum() < 100:
        y = y * 2
        start += y
        y = start
        k += 1
    return y, start, y is start, k


@program(inputs=INPUTS, grad=True)
def a_name_starts_each_trip_as_what_it_was_before_the_loop(x):
    y = x
    total = x.sum()
    while total < 100:
        y = y * y.abs()
        total = total + y.abs().sum() + 1
        y = x
    return y, total, y is x


@program(inputs=INPUTS, refused="whether a result is the tensor that trips write to depends on data")
def a_name_is_the_tensor_from_around_in_some_trips_only(x):
    start = x + 1
    y = start
    k = 0
    while y.sum() < 100:
        start.add_(20)
        y = start if start.sum() > 50 else y + start
        k += 1
    return y, start, k


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(-1, -2),), lambda: (vec(1, -2),)], grad=True)
def what_may_be_a_number_is_unchanged_in_front_of_others(x):
    penalty = 0.0
    if x[0] > 0:
        penalty = x.norm()
    if x.sum() > 0:
        kept, n = penalty, 2
    else:
        kept, n = penalty, 3
    return x * kept, penalty + x.sum(), n


@program(inputs=INPUTS)
def copied_back_unless_it_is_the_same(x):
    y = x
    while True:
        high = y > 5
        if not high.any():
            break
        y = torch.where(high, y / 2, y)
    if x is not y:
        x.copy_(y)
    return x
