"""Gradients through branches and loops: of arguments and parameters, with no trip, one, and many."""

import torch
from torch import nn

from tests.harness import integer, program, randn, scalar, vec


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def through_a_branch(x):
    if x.sum() > 0:
        return x.sin()
    return x**2


@program(grad=True, inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))])
def argument_used_in_one_branch_only(x, y):
    if x.sum() > 0:
        z = x * y
    else:
        z = x * 3
    return z


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def argument_returned_as_it_is(x):
    y = x
    if x.sum() > 0:
        y = x * 5
    return y * x


@program(grad=True, inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))])
def integer_beside_a_float(x, w):
    if x.sum() > 0:
        label, score = x.argmax(), (x * w).sum()
    else:
        label, score = x.argmin(), (x - w).sum()
    return label, score


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def python_number_beside_a_float(x):
    n = 0
    y = x.exp()
    if x.sum() > 0:
        n = 2
        y = y * x
    return y * n, n


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def constant_in_one_branch(x):
    if x.sum() > 0:
        return (x**3).sum()
    return torch.zeros(())


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def detached_in_one_branch(x):
    if x.sum() > 0:
        y = x.detach() * 2
    else:
        y = x * 2
    return y + x


@program(
    grad=True,
    inputs=[lambda: (vec(3, -1), vec(1, 1)), lambda: (vec(-3, 1), vec(1, 1)), lambda: (vec(0.1, 0), vec(1, 2))],
)
def nested_branches(x, w):
    if x.sum() > 0:
        y = x * w
        if y.max() > 1:
            y = y.log1p().nan_to_num()
    else:
        y = x - w
    return y


@program(
    grad=True,
    inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(1, 2), integer(1)), lambda: (vec(1, 2), integer(0))],
)
def through_a_tensor_range(x, n):
    y = x
    for _ in range(n):
        y = y.sin() * x
    return y


@program(grad=True, inputs=[lambda: (vec(0.3, 0.2),), lambda: (vec(3, 2),), lambda: (vec(0.01, 0.01),)])
def through_a_while(x):
    y = x * 1.5
    while y.sum() < 4:
        y = y * 2 + x
    return y


@program(
    grad=True,
    inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(1, 2), integer(1)), lambda: (vec(1, 2), integer(0))],
)
def accumulator_that_starts_at_zeros(x, n):
    total = torch.zeros(2)
    for i in range(n):
        total = total + x * (i + 1)
    return total


@program(grad=True, inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),), lambda: (vec(-1, -2),)])
def sum_of_the_positive_values(x):
    total = torch.tensor(0.0)
    for value in x:
        if value > 0:
            total = total + value**2
    return total


@program(grad=True, inputs=[lambda: (scalar(2),), lambda: (scalar(1),), lambda: (scalar(30),)])
def newton_iterations(a):
    x = a
    change = torch.tensor(1.0)
    while change > 1e-4:
        new = 0.5 * (x + a / x)
        change = (new - x).abs()
        x = new
    return x


@program(grad=True, inputs=[lambda: (vec(0.5, 1),), lambda: (vec(9, 9),), lambda: (vec(-1, 1),)])
def break_in_a_python_range(x):
    for i in range(4):
        x = x * 1.5 + i
        if x.sum() > 8:
            break
    return x


@program(grad=True, inputs=[lambda: (vec(0.5, 1),), lambda: (vec(9, 9),), lambda: (vec(-1, 1),)])
def return_inside_a_loop(x):
    steps = torch.tensor(0)
    y = x
    while steps < 4:
        if y.sum() > 8:
            return y * 2
        y = y * x + 1
        steps = steps + 1
    return y.cos()


@program(
    grad=True,
    inputs=[lambda: (vec(0.5, 1), integer(2)), lambda: (vec(-3, 1), integer(3)), lambda: (vec(1, 1), integer(0))],
)
def branch_in_a_loop(x, n):
    y = x
    for _ in range(n):
        if y.sum() > 0:
            y = y * x
        else:
            y = y + x.exp()
    return y


@program(
    grad=True,
    inputs=[lambda: (vec(0.5, 1), integer(2)), lambda: (vec(-3, 1), integer(2)), lambda: (vec(1, 1), integer(0))],
)
def loop_in_a_branch(x, n):
    y = x * 3
    if x.sum() > 0:
        for _ in range(n):
            y = y.tanh() * x
    else:
        y = y - 1
    return y


@program(
    grad=True,
    inputs=[lambda: (vec(0.5, 1), integer(2)), lambda: (vec(0.5, 1), integer(1)), lambda: (vec(1, 1), integer(0))],
)
def loop_in_a_loop(x, n):
    y = x * 2
    for _ in range(n):
        for _ in range(n):
            y = y.sin() * x
    return y


@program(grad=True, inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) - 5,)])
class ParametersOfOneBranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(3, 3)
        self.down = nn.Linear(3, 3)

    def forward(self, x):
        if x.mean() > -1:
            return self.up(x).tanh()
        return self.down(x).sin()


@program(
    grad=True,
    inputs=[lambda: (randn(2, 3), integer(3)), lambda: (randn(2, 3), integer(1)), lambda: (randn(2, 3), integer(0))],
)
class ParametersInALoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(3, 3)

    def forward(self, x, n):
        state = torch.zeros(2, 3)
        for _ in range(n):
            state = torch.tanh(self.cell(state) + x)
        return state


@program(grad=True, inputs=[lambda: (randn(4, 3),), lambda: (randn(1, 3),), lambda: (randn(4, 3) * 9,)])
class EarlyStopOverRows(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(3, 3)

    def forward(self, rows):
        state = torch.zeros(3)
        for row in rows:
            state = torch.tanh(self.cell(state) + row)
            if state.abs().mean() > 0.9:
                break
        return state


@program(grad=True, inputs=[lambda: (randn(3, 3),), lambda: (torch.ones(3, 3),)])
def expanded_gradient_layout(w):
    if w.sum() > 5:
        return w.sum()
    return (w * w).sum()


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def inplace_on_a_copy(x):
    y = x * 2
    if x.sum() > 0:
        y *= 3
    return y * x


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(0, 0),)])
def ternary_and_values_of_or(x):
    total = x.sum()
    scale = total or x.exp().sum()
    return x * scale if scale > 2.5 else x / scale


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def call_of_a_closure(x):
    scale = x.norm()

    def weigh(value):
        if value.sum() > 0:
            return value * scale
        return value / scale

    return weigh(x) + weigh(-x) * 2
