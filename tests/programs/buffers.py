"""Buffers that are counted up, also on paths that return early."""

import logging

import torch
from torch import nn

from tests.harness import program, vec

logger = logging.getLogger("programs.buffers")
logger.setLevel(logging.DEBUG)
NAN = float("nan")
X = [lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(3, 2),)]


@program(inputs=X)
class CounterSetBackOnAnEarlyReturn(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("good", torch.tensor(0))

    def forward(self, x):
        if x[0] < 0:
            self.good.zero_()
            return x
        self.good += 1
        return x * 2


@program(inputs=X)
class CounterBehindAnEarlyReturn(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("good", torch.tensor(0))

    def forward(self, x):
        if x[0] < 0:
            return x
        self.good += 1
        return x * 2


@program(inputs=X)
class CounterInBothBranches(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("good", torch.tensor(0))

    def forward(self, x):
        if x[0] < 0:
            self.good.zero_()
        else:
            self.good += 1
        return x * 2


@program(inputs=X)
class CounterThatIsRead(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("good", torch.tensor(0))

    def forward(self, x):
        if x[0] < 0:
            print("neg")
            return x.new_zeros(())
        self.good += 1
        if self.good >= 2:
            print("ok", self.good.item())
        return x.sum() * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(NAN, 2),), lambda: (vec(1, 3),), lambda: (vec(2, 3),)])
class LossScaler(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1024.0
        self.register_buffer("good", torch.tensor(0))
        self.lin = nn.Linear(2, 1)

    def forward(self, x):
        loss = self.lin(x).sum() * self.scale
        if not torch.isfinite(loss):
            logger.warning("overflow, scale %.0f -> %.0f", self.scale, self.scale / 2)
            self.good.zero_()
            return loss.new_zeros(())
        self.good += 1
        if self.good >= 2:
            print("scale ok after", self.good.item(), "steps")
        return loss / self.scale


class TwoBuffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.zeros(2))
        self.register_buffer("b", torch.ones(2))


@program(inputs=X)
class BuffersThatChangePlaces(TwoBuffers):
    def forward(self, x):
        if x.sum() > 0:
            self.a, self.b = self.b, self.a
        self.a += x
        return self.a + 2 * self.b


@program(inputs=X)
class BufferThatIsReplacedAndWritten(TwoBuffers):
    def forward(self, x):
        if x.sum() > 0:
            self.a = self.b * 2
        self.a += x
        return self.a + 2 * self.b


class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.zeros(2))
        self.register_buffer("high", None)


@program(inputs=X)
def of_a_module_made_in_the_function(x):
    cells = Cells()
    cells.low = x + 1
    if x.sum() > 2:
        cells.high = cells.low * 2
    else:
        cells.low = x
        cells.high = x * 3
    cells.low.add_(1)
    return cells.low, cells.high, [name for name, _ in cells.named_buffers()]


class BufferAndParameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.ones(2))
        self.high = nn.Parameter(torch.ones(2))


@program(inputs=X, refused="AG206")
class BufferThatBecomesAParameter(BufferAndParameter):
    def forward(self, x):
        if x.sum() > 2:
            self.low = self.high
        return x, list(self._buffers), list(self._parameters)


@program(inputs=X, refused="AG206")
class NewNameOfAParameter(BufferAndParameter):
    def forward(self, x):
        found = self.high if x.sum() > 2 else self.low
        self.other = found
        return x, list(self._parameters), "other" in self.__dict__


@program(inputs=X, refused="AG206")
class ParameterThatIsGivenATensor(BufferAndParameter):
    def forward(self, x):
        try:
            if x.sum() > 2:
                self.high = x
        except TypeError:
            x = x * 0
        return x


@program(inputs=X, refused="AG206")
class CountsWhatCannotBeSet(BufferAndParameter):
    skipped = 0

    def forward(self, x):
        y = x * self.high
        try:
            if y.sum() > 2:
                self.high = self.high / 2
        except TypeError:
            self.skipped += 1
        return y.detach(), self.skipped
