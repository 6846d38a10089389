"""Programs that have no static type: uncompiled they run as eager does, compiled they may be refused, never wrong."""

import torch

from tests.harness import integer, program, scalar, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]


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


def with_a_branch(a):
    return (a * a).sum() if a.sum() > 0 else -a.sum()


@program(inputs=SIGNS, refused="torch.cond has no rule for torch.func.grad")
def derivative_around_a_branch(x):
    return torch.func.grad(with_a_branch)(x)


@program(inputs=SIGNS)
def gradient_of_a_branch_inside(x):
    leaf = x.detach().clone().requires_grad_()
    (gradient,) = torch.autograd.grad(with_a_branch(leaf), leaf)
    return gradient


@program(inputs=SIGNS)
def transforms_inside_a_branch(x):
    if x.sum() > 0:
        return torch.func.grad(lambda a: (a * a).sum())(x)
    return torch.vmap(lambda a: a * 2)(x)
