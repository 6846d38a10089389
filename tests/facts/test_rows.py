"""One program for each thing that torch's operators refuse or get wrong, and the runtime makes right (torch 2.13).

The rows follow the shape of the operators: what may enter and leave a branch, what may be carried by a loop, what is
written to, what is differentiated. Every row runs on three backends; Inductor's take seconds and are marked slow.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from tests.harness import Program, Way, check, ints, randn, scalar, vec

Pair = namedtuple("Pair", ["a", "b"])
SIGNS = (lambda: (vec(1, 2),), lambda: (vec(-1, -2),))
TRIPS = (lambda: (vec(3, 4),), lambda: (vec(0.1, 0.2),))
INTS = (lambda: (ints(1, 2),), lambda: (ints(-1, -2),))
ROWS: dict[str, Program] = {}


def row(name: str, inputs: tuple[Callable[[], Any], ...] = SIGNS, grad: bool = False) -> Callable[[Any], Any]:
    def add(subject: Any) -> Any:
        make = subject if isinstance(subject, type) else lambda: subject
        ROWS[name] = Program(subject.__name__, "facts", make, inputs, grad)
        return subject

    return add


# -- what enters a branch ----------------------------------------------------------------------------------------------


@row("a float that depends on data is closed over")
def closed_over_float(x):
    k = x.sum().item()
    return x * k if x[0] > 0 else x - k


@row("a module is closed over")
class ClosedOverModule(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        if x.sum() > 0:
            return self.layer(x)
        return x


@row("the predicate is a vector of one element")
def vector_predicate(x):
    return x + 1 if x[:1] > 0 else x - 1


@row("the predicate is a float tensor")
def float_predicate(x):
    return x + 1 if (x[0] - 1) else x - 1


@row("the predicate is a number that depends on data")
def number_predicate(x):
    return x + 1 if x.sum().item() > 0 else x - 1


@row("the predicate is negated")
def negated_predicate(x):
    return x + 1 if not x.sum() > 0 else x - 1


# -- what leaves a branch ----------------------------------------------------------------------------------------------


@row("Python numbers leave a branch")
def numbers(x):
    if x.sum() > 0:
        return 1, 0.5, True
    return 2, 0.25, False


@row("None leaves a branch")
def nones(x):
    return (x, None) if x.sum() > 0 else (-x, None)


@row("a string leaves a branch")
def strings(x):
    return (x, "s") if x.sum() > 0 else (-x, "s")


@row("nested containers leave a branch")
def nested(x):
    if x.sum() > 0:
        return {"p": Pair(x, [x + 1]), "q": (x,)}
    return {"p": Pair(x * 2, [x]), "q": (x - 1,)}


@row("an input leaves a branch")
def the_input(x):
    return x if x.sum() > 0 else -x


@row("a view of an input leaves a branch")
def a_view(x):
    return x[:1] if x.sum() > 0 else x[1:]


@row("one tensor leaves a branch twice")
def twice(x):
    if x.sum() > 0:
        y = z = x * 2
    else:
        y = z = x * 3
    return y, z


@row("sizes differ")
def sizes(x):
    y = x if x.sum() > 0 else torch.cat([x, x])
    return y * 2


@row("layouts differ", (lambda: (randn(2, 3),), lambda: (-randn(2, 3).abs(),)))
def layouts(x):
    return x.t().contiguous() if x.sum() > 0 else x.t()


@row("storage offsets differ under no_grad")
@torch.no_grad()
def offsets(x):
    return x[1:] if x.sum() > 0 else x[:1]


@row("a number meets a tensor")
def number_and_tensor(x):
    y = x.max() if x.sum() > 0 else 0.0
    return x + y


# -- what is written to ------------------------------------------------------------------------------------------------


@row("an argument is written to")
def argument_written(x):
    if x.sum() > 0:
        x.add_(1)
    return x * 2


@row("a buffer is written to")
class BufferWritten(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(2))

    def forward(self, x):
        if x.sum() > 0:
            self.seen.add_(x)
        return x - self.seen


@row("batch normalisation trains", (lambda: (randn(4, 3),), lambda: (randn(4, 3) - 9,)), grad=True)
class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        if x.mean() > -1:
            return self.norm(x)
        return x * 2


@row("a list, a dict and a variable outside are written to")
def host_state(x):
    xs, d, n = [x], {"k": x}, 0

    def bump():
        nonlocal n
        n += 1

    if x.sum() > 0:
        xs.append(x * 2)
        d["k"] = x * 3
        bump()
    else:
        xs.append(x)
    return xs, d, n


@row("a matrix and its diagonal", (lambda: (randn(3, 3),), lambda: (randn(3, 3) * 9,)))
def diagonal(m):
    d, x = torch.diagonal(m), torch.ones(3)
    while x.norm() > 0.5:
        x = (x - m @ x / (d.abs() + 9)) * 0.5
    return x


@row("a tensor and an alias of it, of which one is written to in a loop", TRIPS)
def alias_in_a_loop(x):
    work = x.clone()
    same, total = work[0], torch.zeros(())
    while work.sum() > 1:
        work *= 0.5
        total = total + same
    return total, work


# -- gradients of a branch ---------------------------------------------------------------------------------------------


@row("integers leave beside floats", grad=True)
def integers_beside(x):
    return (x * 2, x.argmax(), 3) if x.sum() > 0 else (x**2, x.argmin(), 4)


@row("an operand is written to after the branch", grad=True)
def operand_written_after(x):
    y = x * 1
    z = y.relu() if x.sum() > 0 else y * 3  # backward reads what relu gives, not its operand
    y.add_(1)
    return z + y


@row("gradients differ in layout", (lambda: (randn(2, 3),), lambda: (-randn(2, 3).abs(),)), grad=True)
def gradient_layouts(w):
    return w.sum() if w.sum() > 0 else (w * w).sum()


@row("a constant leaves beside a differentiable result", grad=True)
def constant_beside(x):
    return (x**2).sum() if x.sum() > 0 else torch.zeros(())


# -- loops -------------------------------------------------------------------------------------------------------------


@row("numbers are carried", TRIPS)
def numbers_carried(x):
    n, scale, done = 0, 1.0, False
    while x.norm() > 1:
        x, n, scale, done = x / 2, n + 1, scale * 0.5, True
    return x, n, scale, done


@row("carries pass through and swap", TRIPS)
def swapped(x):
    a, b, c = x, x * 2, x
    while a.norm() > 1:
        a, b = b / 4, a
    return a, b, c


@row("one tensor starts two carries", TRIPS)
def one_start(x):
    a = b = x
    while a.norm() > 1:
        a, b = a / 2, b + 1
    return a, b


@row("the predicate of a loop is a carry itself", (lambda: (scalar(3),), lambda: (scalar(0),)))
def carry_as_predicate(x):
    n = 0
    while x:
        x = x - 1
        n += 1
    return n


@row("the predicate of a loop is a truth value that is carried", TRIPS)
def carried_truth(x):
    going = x.norm() > 1
    while going:
        x = x / 2
        going = x.norm() > 1
    return x, going


@row("the predicate of a loop is a vector of one element", TRIPS)
def vector_predicate_of_a_loop(x):
    while x[:1] > 1:
        x = x / 2
    return x


@row("an expanded and a transposed tensor are carried", (lambda: (randn(2, 2) * 4,), lambda: (randn(2, 2) * 0.01,)))
def strided_carries(m):
    a, b = torch.ones(2).expand(2, 2), m
    while b.norm() > 1:
        a, b = a.t() + 1, b.t() / 2
    return a, b


@row("a position in a loop is an index", (lambda: (ints(3, 1),), lambda: (ints(0, 1),)))
def position_as_index(x):
    out = torch.zeros(4)
    for i in range(x[0]):
        out[i] = i + 1
    return out


# -- gradients of a loop -----------------------------------------------------------------------------------------------


@row("S1: a loop makes no trip", TRIPS, grad=True)
def no_trip(x):
    while x.norm() > 1:
        x = x * x.cos() / 2
    return x * 3


@row("S2: a carry starts without a gradient", TRIPS, grad=True)
def starts_without(x):
    total = torch.zeros(2)
    y = x
    while y.norm() > 1:
        total = total + y * y
        y = y / 2
    return total


@row("S3: the start of a carry is an intermediate result", TRIPS, grad=True)
def intermediate_start(x):
    y = x * 3
    while y.norm() > 1:
        y = y * y.sin() / 3
    return y + x


@row("S3: parameters in a loop that starts at an intermediate result", TRIPS, grad=True)
class ParametersInALoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(2, 2)

    def forward(self, x):
        h = x * 3
        while h.norm() > 1:
            h = torch.tanh(self.cell(h)) * 0.7 + h * 0.2
        return h + x


@row("S3: a loop in a branch", TRIPS, grad=True)
def loop_in_a_branch(x):
    if x.sum() > 1:
        y = x * 2
        while y.norm() > 1:
            y = y * 0.6
    else:
        y = x**2
    return y


@pytest.mark.parametrize("backend", ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ROWS)
def test_row(name: str, backend: Way) -> None:
    verdict = check(ROWS[name], backend, seconds=120)
    assert verdict.kind == "equal", f"{verdict.kind}: {verdict.reason}"
