"""Writes that others can see: in place, to views, attributes, containers, nonlocal. May be refused, never wrong."""

from dataclasses import dataclass

import torch
from torch import nn

from tests.harness import call, flags, integer, program, randn, scalar, vec


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def augmented_assignment_of_the_argument(x):
    if x.sum() > 0:
        x += 10
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def augmented_assignment_of_a_local(x):
    y = x * 2
    z = y
    if x.sum() > 0:
        y += 10
    return y, z


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def element_write_in_a_branch(x):
    y = x.clone()
    if x.sum() > 0:
        y[0] = 100.0
    else:
        y[1] += 5
    return y


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def slice_and_mask_writes_to_the_argument(x):
    if x.sum() > 0:
        x[1:] = 0
    else:
        x[x < -1] = 7
    return x.sum()


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def inplace_methods(x):
    y = x.clone()
    if x.sum() > 0:
        y.add_(1).mul_(3)
    else:
        y.zero_()
    return y


@program(inputs=[lambda: (torch.ones(3, 3),), lambda: (-torch.ones(3, 3),)])
def write_through_a_view(m):
    work = m.clone()
    diagonal = work.diagonal()
    if m.sum() > 0:
        diagonal.fill_(9)
    return work, diagonal


@program(inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(1, 2), integer(0))])
def accumulation_in_place_in_a_loop(x, n):
    total = torch.zeros(2)
    for i in range(n):
        total += x * i
    return total


@program(inputs=[lambda: (integer(3),), lambda: (integer(0),), lambda: (integer(5),)])
def element_writes_in_a_while(n):
    out = torch.zeros(5)
    i = torch.tensor(0)
    while i < n:
        out[i] = i * i
        i = i + 1
    return out


@program(inputs=[lambda: (vec(1, 2), [0, 0]), lambda: (vec(-1, -2), [0, 0])])
def list_item_of_the_caller(x, slots):
    if x.sum() > 0:
        slots[1] = 5
    else:
        slots[0] = 7
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def list_item_of_a_local(x):
    pair = [x, x * 2]
    if x.sum() > 0:
        pair[1] = x * 3
    return pair


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def dict_entry_replaced(x):
    state = {"h": x, "c": x * 0}
    if x.sum() > 0:
        state["c"] = state["h"] + 1
    return state


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -7),)])
def new_dict_key_in_both_branches(x):
    out = {}
    if x.sum() > 0:
        out["value"] = x
    else:
        out["value"] = -x
    return out


@program(inputs=[lambda: (vec(1, 2), {"n": 1}), lambda: (vec(-1, -2), {"n": 1})])
def dict_update_of_the_caller(x, info):
    if x.sum() > 0:
        info.update(n=2)
    return x * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def append_in_both_branches(x):
    items = [x]
    if x.sum() > 0:
        items.append(x * 2)
    else:
        items.append(x * 3)
    return torch.stack(items)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def append_in_one_branch(x):
    items = [x]
    if x.sum() > 0:
        items.append(x * 2)
    return len(items)


@program(inputs=[lambda: (integer(3),), lambda: (integer(0),)])
def append_in_a_tensor_loop(n):
    items = [torch.tensor(0.0)]
    i = torch.tensor(0.0)
    while i < n:
        i = i + 1
        items.append(i * 2)
    return torch.stack(items).sum()


class Meter:
    """A plain object that calls update."""

    def __init__(self):
        self.total = torch.zeros(())
        self.count = 0

    def update(self, value):
        if value > 0:
            self.total = self.total + value
            self.count += 1
        return self.total


@program(factory=True, inputs=[lambda: (scalar(2),), lambda: (scalar(-2),), lambda: (scalar(5),)])
def attributes_of_self_in_a_method():
    return Meter().update


@dataclass
class Solver:
    """What a time loop updates."""

    t: torch.Tensor
    y: torch.Tensor
    steps: int = 0


@program(inputs=[lambda: (Solver(scalar(0), vec(1, 2)), scalar(1)), lambda: (Solver(scalar(3), vec(1, 2)), scalar(1))])
def attributes_of_an_argument_in_a_while(solver, end):
    while solver.t < end:
        solver.y = solver.y * 0.9
        solver.t = solver.t + 0.3
        solver.steps += 1
    return solver.y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def nonlocal_write_in_a_branch(x):
    count = 0

    def bump(value):
        nonlocal count
        if value.sum() > 0:
            count += 1
        return value * 2

    y = bump(bump(x))
    return y, count


@program(inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) - 5,)])
class BufferAssignedInABranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("running", torch.zeros(3))

    def forward(self, x):
        if x.mean() > -1:
            self.running = self.running * 0.9 + x.mean(0) * 0.1
        return x - self.running


@program(inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) - 5,), lambda: (randn(2, 3),)])
class BufferWrittenInPlace(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.tensor(0))

    def forward(self, x):
        if x.mean() > -1:
            self.seen += 1
        return x * self.seen


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) - 5,)])
class BatchNormInABranch(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        if x.mean() > -1:
            return self.norm(x)
        return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(1, 2),)])
class PythonCounterOfTheModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0
        self.positive = 0

    def forward(self, x):
        self.calls += 1
        if x.sum() > 0:
            self.positive += 1
        return x * self.calls


@program(inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) * 10,)])
class CachedAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.last = torch.zeros(2, 3)

    def forward(self, x):
        y = self.linear(x)
        if y.norm() > 5:
            self.last = y
        else:
            self.last = y * 2
        return self.last + 1


@program(inputs=[lambda: (vec(1, 2), flags(1, 0)), lambda: (vec(1, 2), flags(0, 0))])
def out_argument(x, mask):
    result = torch.zeros(2)
    if mask.any():
        torch.mul(x, 3, out=result)
    return result


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def inplace_functional(x):
    y = x - 0.5
    if x.sum() < 0:
        torch.nn.functional.relu_(y)
    return y


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))])
def two_arguments_written_in_turn(x, y):
    if x.sum() > 0:
        y.copy_(x)
    else:
        x.copy_(y)
    return x + y


def aliased():
    base = vec(1, 2, 3)
    return base, base[:2]


@program(inputs=[aliased, lambda: (vec(-1, -2, -3), vec(5, 5))])
def argument_that_is_a_view_of_another(x, y):
    if x.sum() > 0:
        x += 1
    return y * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def none_until_set_in_a_branch(x):
    bias = None
    if x.sum() > 0:
        bias = x * 2
    if bias is not None:
        return x + bias
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def function_chosen_in_a_branch(x):
    if x.sum() > 0:
        act = torch.tanh
    else:
        act = torch.relu
    return act(x)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def print_in_a_branch(x):
    if x.sum() > 0:
        print("positive")
        y = x * 2
    else:
        y = x
    print("done")
    return y


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def print_of_a_tensor_in_a_branch(x):
    if x.sum() > 0:
        print("sum is", x.sum())
    return x + 1


@program(inputs=[lambda: (scalar(3),), lambda: (scalar(0),)])
def print_in_each_trip(x):
    while x > 0:
        print(f"x = {x.item():.1f}")
        x = x - 1
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def raise_in_a_branch(x):
    if (x < 0).any():
        raise ValueError("negative values")
    return x.sqrt()


@program(
    inputs=[
        lambda: call(vec(1, 2)),
        lambda: call(vec(1, float("nan"))),
        lambda: call(vec(1, float("nan")), check=False),
    ]
)
def raise_under_a_python_and_a_tensor_test(x, check=True):
    if check and torch.isnan(x).any():
        raise RuntimeError("NaN found")
    return x * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def assert_on_a_tensor(x):
    assert x.sum() > 0, "sum must be positive"
    return x.sqrt()


@program(inputs=[lambda: (scalar(3),), lambda: (scalar(-3),), lambda: (scalar(300),)])
def raise_in_a_loop(x):
    steps = torch.tensor(0)
    while x != 0:
        if steps >= 5:
            raise RuntimeError("did not converge")
        x = x - 1
        steps = steps + 1
    return steps


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)])
def nonlocal_written_after_an_early_return():
    total = torch.zeros(2)

    def add(x):
        nonlocal total
        if x.sum() < 0:
            return x
        total = total + x
        return total * 2

    return add


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def nonlocal_written_on_one_side():
    total = torch.zeros(2)

    def add(x):
        nonlocal total
        if x.sum() < 0:
            x = x + 1
        else:
            total = x + 1
        return total

    return add


@program(
    factory=True,
    inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)],
    refused="`return` leaves the loop, and what it would skip is written in an enclosing scope",
)
def nonlocal_written_in_a_loop_that_returns():
    total = torch.zeros(())

    def add(x):
        nonlocal total
        for element in x:
            if element > 1:
                total = element
                return x
            total = total + 1
        return total

    return add


@program(
    inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)],
    refused="a closure reads what the branch writes to a variable of its own",
)
def closure_that_reads_what_a_branch_writes(x):
    total = x * 0

    def shifted():
        return total + 1

    if x.sum() > 0:
        total = total + 5
        x = shifted()
    return x, total


class Visits:
    """An object with a counter."""

    def __init__(self):
        self.count = 0

    def visit(self, x):
        if x.sum() < 0:
            return x
        self.count += 1
        return x * self.count


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)])
def attribute_written_after_an_early_return():
    return Visits().visit


@program(inputs=[lambda: ([vec(1, 2), vec(3, 4)], scalar(1)), lambda: ([vec(1, 2), vec(3, 4)], scalar(-1))])
def list_written_in_a_loop_behind_an_early_return(xs, s):
    if s > 0:
        return s
    steps = torch.tensor(0)
    while steps < 3:
        steps = steps + 1
        xs[0] = xs[0] + xs[1]
    return -s


@program(inputs=[lambda: (vec(1, 2), scalar(1)), lambda: (vec(1, 2), scalar(-1))])
def argument_written_in_a_loop_inside_a_branch(x, s):
    if s > 0:
        steps = torch.tensor(0)
        while steps < 3:
            steps = steps + 1
            x += steps
    return s


@program(inputs=[lambda: (vec(1, 2), vec(1)), lambda: (vec(1, 9), vec(1)), lambda: (vec(1, 2), vec(-1))])
def argument_written_behind_a_loop_that_returns(x, y):
    for value in x + 1:
        if value > 9:
            return y
    if y.sum() > 0:
        x[0] = 1
    return x
