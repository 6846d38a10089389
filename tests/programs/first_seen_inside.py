"""Objects, lists and dicts that a branch or loop is the first to look at, and that are written to behind it."""

import torch
from torch import nn

from tests.harness import program, vec


class Meter:
    def __init__(self):
        self.mean = torch.zeros(3)
        self.n = 0
        self.log = []
        self.table = {"n": 0}


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.n = 0
        self.meter = Meter()
        self.register_buffer("run", torch.zeros(3))


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()


SIGNS = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(0.1, -0.2, 0.3),)]
METERS = [lambda: (vec(1, 2, 3), Meter()), lambda: (vec(-1, -2, -3), Meter()), lambda: (vec(0.1, -0.2, 0.3), Meter())]


@program(inputs=SIGNS)
class ReadInABranch(Holder):
    def forward(self, x):
        y = x
        if x.sum() > 0:
            y = x + self.inner.run + self.inner.meter.mean
        self.inner.n += 1
        self.inner.meter.n += 2
        return y


@program(inputs=SIGNS)
class BufferWrittenInABranch(Holder):
    def forward(self, x):
        if x.sum() > 0:
            self.inner.run.copy_(x)
        self.inner.n += 1
        self.inner.meter.log.append(x)
        return self.inner.run * 1


@program(inputs=SIGNS)
class ReadInALoop(Holder):
    def forward(self, x):
        while x.sum() > 1:
            x = x / 2 - self.inner.meter.mean - self.inner.meter.table["n"]
        self.inner.meter.table["n"] += 1
        self.inner.meter.mean = x
        return x


@program(inputs=METERS)
def read_by_a_branch_then_written(x, meter):
    if x.sum() > 0:
        x = x * (meter.n + 1) + meter.table["n"] + len(meter.log)
    meter.log.append(x)
    meter.table["x"] = x
    meter.n += 1
    return x


@program(inputs=METERS)
def read_by_one_branch_and_written_by_the_next(x, meter):
    if x.sum() > 0:
        x = x + meter.mean
    if x[0] > 0.5:
        meter.n += 1
        meter.log.append(x)
    meter.log.append(x + 1)
    meter.mean = x
    return x


@program(inputs=METERS)
def written_by_the_branch_and_behind_it(x, meter):
    if x.sum() > 0:
        meter.log.append(x)
        meter.table["n"] += 1
        meter.n += 1
    else:
        meter.log.append(-x)
    meter.log.append(x * 2)
    meter.table["n"] += 5
    meter.n += 10
    return x
