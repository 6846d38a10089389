"""`max` and `min` of tensors: one of them, chosen as Python chooses."""

import torch

from tests.harness import program, scalar, vec

COPIED = "which one it is depends on data"


@program(inputs=[lambda: (scalar(1), scalar(float("nan"))), lambda: (scalar(float("nan")), scalar(1))], copied=COPIED)
def nan_beside_a_number(a, b):
    return max(a, b), min(a, b), max(b, a), min(b, a)


@program(inputs=[lambda: (vec(1, 1, 1),), lambda: (vec(1, 2, 1),), lambda: (vec(3, 2, 1),)], grad=True)
def gradient_of_equal_ones(x):
    return max(x[0], x[1]) * 2 + min(x[1], x[2]) + max(x[0], x[1], x[2]) + min([x[0] * 2, x[1]])


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(5, 2),)])
def largest_of_a_tensor_and_a_number_that_loses(x):
    return max(x.sum(), 0.5) + min(x[0], 9)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-5, 2),)], refused="a tensor, or the Python number")
def largest_of_a_tensor_and_a_number(x):
    return max(x.sum(), 0)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-5, 2),)])
def largest_under_a_test(x):
    loss = max(x.sum(), torch.zeros(()))
    if loss > 0:
        x = x * min(loss, x[1])
    return x, loss
