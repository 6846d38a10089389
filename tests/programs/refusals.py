"""Programs that have no static type: uncompiled they run as eager does, compiled they may be refused, never wrong."""

import torch

from tests.harness import integer, program, scalar, vec


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused="a vector or a scalar")
def branches_of_different_rank(x):
    if x.sum() > 0:
        y = x
    else:
        y = x.sum()
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused="float32 or int64")
def branches_of_different_dtype(x):
    if x.sum() > 0:
        return x
    return x.long()


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused="a tensor or None")
def falls_off_the_end_in_one_branch(x):
    if x.sum() > 0:
        return x * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused="a tuple of two or of three")
def tuples_of_different_length(x):
    if x.sum() > 0:
        return x, x
    return x, x, x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused="an int or a float")
def int_or_float_by_branch(x):
    return 1 if x.sum() > 0 else 2.0


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused="two strings")
def string_by_branch(x):
    if x.sum() > 0:
        return "positive"
    return "negative"


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused="y may be undefined where it is read")
def name_undefined_on_one_side(x):
    if x.sum() > 0:
        y = x
    return y


@program(
    inputs=[lambda: (integer(2),), lambda: (integer(0),)], refused="y may be undefined when the loop makes no trip"
)
def name_undefined_without_a_trip(n):
    for i in range(n):
        y = torch.tensor(1.0) * i
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(100, 2),)], refused="the shape grows in the loop")
def shape_that_grows_in_a_loop(x):
    while x.sum() < 20:
        x = torch.cat([x, x])
    return x


@program(inputs=[lambda: (scalar(3),), lambda: (scalar(0),)], refused="the int becomes a float after one trip")
def int_that_becomes_a_float_in_a_loop(x):
    n = 8
    while x > 0:
        n = n / 2
        x = x - 1
    return n


@program(
    inputs=[lambda: (vec(1, 2),), lambda: (vec(1, 2, 3),)], refused="the value of a vector is ambiguous in eager too"
)
def ambiguous_truth_value(x):
    if x > 0:
        return x
    return -x
