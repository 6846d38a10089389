"""nn.Module: convolutions and branches, experts, early exits, buffers that are read, eval-mode layers, module trees."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

from tests.harness import ints, program, randn, vec


@program(inputs=[lambda: (randn(1, 3, 8, 8),), lambda: (randn(1, 3, 8, 8) * 0,), lambda: (randn(1, 3, 8, 8) * 9,)])
class BranchBetweenConvolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 4, 3)
        self.conv2 = nn.Conv2d(4, 2, 3)

    def forward(self, x):
        x = self.conv1(x)
        if x.max() > 0.8:
            x = x * 0.5
        return self.conv2(x)


@program(inputs=[lambda: (randn(2, 4),), lambda: (randn(2, 4) - 3,), lambda: (randn(2, 4) + 3,)])
class TwoPaths(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.path_a = nn.Linear(4, 3)
        self.path_b = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))

    def forward(self, x):
        x = self.encoder(x)
        if x.mean() > 0:
            x = self.path_a(x)
        else:
            x = self.path_b(x)
        return x


@program(inputs=[lambda: (randn(2, 4),), lambda: (randn(2, 4) * 20,)])
class EarlyExitHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 4)
        self.exit = nn.Linear(4, 2)
        self.deep = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))

    def forward(self, x):
        hidden = self.body(x).relu()
        early = self.exit(hidden).softmax(-1)
        if early.max(dim=-1).values.min() > 0.55:
            return early
        return self.deep(hidden).softmax(-1)


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-10, 0, 10),)])
class BuffersRead(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("limit", torch.tensor(4.0))
        self.register_buffer("mean", torch.tensor([0.5, 0.5, 0.5]))
        self.scale = 2.0

    def forward(self, x):
        if x.abs().max() > self.limit:
            return (x - self.mean) / self.limit
        return x * self.scale


@program(inputs=[lambda: (randn(4, 3),), lambda: (randn(4, 3) * 10,)])
class EvalModeLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5)
        self.eval()

    def forward(self, x):
        x = self.drop(self.norm(x))
        if x.std() > 2:
            x = x / x.std()
        elif self.training:
            x = x + torch.randn_like(x)
        return x


class Gate(nn.Module):
    """A submodule with its own branch."""

    def __init__(self, bound):
        super().__init__()
        self.bound = bound
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        if x.norm() > self.bound:
            return self.linear(x / x.norm())
        return self.linear(x)


@program(inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) * 0.1,)])
class SequentialOfGates(nn.Module):
    def __init__(self):
        super().__init__()
        self.stack = nn.Sequential(Gate(1.0), nn.ReLU(), Gate(0.5))

    def forward(self, x):
        return self.stack(x)


@program(factory=True, inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) * 0.1,)])
def sequential_itself():
    return nn.Sequential(Gate(1.0), nn.Tanh(), Gate(2.0))


@program(inputs=[lambda: (randn(2, 3),), lambda: (randn(2, 3) * 0.01,)])
class HelperMethods(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate(1.0)

    @property
    def strength(self):
        return 1.5

    def normalise(self, x, eps=0.2):
        scale = x.abs().mean()
        if scale < eps:
            return x
        return x / scale

    def forward(self, x):
        x = self.normalise(self.gate(x))
        return self._finish(x) * self.strength

    @staticmethod
    def _finish(x):
        return x.clamp(-1, 1) if x.max() > 1 else x


@program(inputs=[lambda: (randn(3, 4),), lambda: (randn(3, 4) - 10,), lambda: (randn(3, 4, seed=1),)])
class MixtureOfExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 2) for _ in range(3))

    def forward(self, x):
        choice = self.router(x.mean(0)).argmax()
        if choice == 0:
            return self.experts[0](x)
        elif choice == 1:
            return self.experts[1](x)
        return self.experts[2](x)


@program(inputs=[lambda: (randn(3, 4),), lambda: (randn(3, 4) - 10,), lambda: (randn(3, 4, seed=1),)])
class ExpertChosenByIndex(nn.Module):
    def __init__(self):
        super().__init__()
        self.router = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 2) for _ in range(3))

    def forward(self, x):
        choice = self.router(x.mean(0)).argmax()
        out = x.new_zeros(3, 2)
        for index, expert in enumerate(self.experts):
            if choice == index:
                out = expert(x)
        return out


@program(inputs=[lambda: (randn(5, 3),), lambda: (randn(1, 3),), lambda: (randn(5, 3) * 0,)])
class RecurrentCellUntilQuiet(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, sequence):
        state = torch.zeros(1, 4)
        for row in sequence:
            new = self.cell(row[None], state)
            if (new - state).abs().max() < 0.05:
                break
            state = new
        return state


@program(inputs=[lambda: (ints(1, 2, 3),), lambda: (ints(0, 0, 0),), lambda: (ints(9, 0, 1),)])
class EmbeddingWithPadding(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 4, padding_idx=0)

    def forward(self, tokens):
        valid = (tokens != 0).sum()
        vectors = self.embed(tokens)
        if valid == 0:
            return vectors.sum(0)
        return vectors.sum(0) / valid


@program(inputs=[lambda: (randn(1, 4, 6),), lambda: (randn(1, 4, 6) * 8,)])
class AttentionThatSkips(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True).eval()
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        if x.norm(dim=-1).mean() > 5.0:
            return self.norm(x)
        attended, _ = self.attention(x, x, x, need_weights=False)
        return self.norm(x + attended)


@program(inputs=[lambda: (randn(4, 4),), lambda: (randn(4, 4) * 3,), lambda: (randn(4, 4) * 0,)])
class DeepEquilibrium(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        z = torch.zeros_like(x)
        steps = 0
        while steps < 30:
            new = torch.tanh(0.3 * self.linear(z) + x)
            gap = (new - z).norm()
            z = new
            steps += 1
            if gap < 1e-4:
                break
        return z, steps


@program(inputs=[lambda: (randn(2, 3), vec(1, 0)), lambda: (randn(2, 3) * 50, vec(0, 1)), lambda: (randn(2, 3),)])
class LossInForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 1)

    def forward(self, x, target=None):
        logits = self.linear(x).squeeze(-1)
        if target is None:
            return {"logits": logits}
        loss = F.binary_cross_entropy_with_logits(logits, target)
        if loss > 1:
            loss = loss.sqrt()
        return {"logits": logits, "loss": loss}


@program(inputs=[lambda: (randn(2, 2, 4, 4),), lambda: (randn(2, 2, 4, 4) * 4,)])
class ResidualTree(nn.Module):
    class Block(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.conv = nn.Conv2d(channels, channels, 3, padding=1)

        def forward(self, x):
            y = self.conv(x)
            return x + y if y.abs().mean() < 1 else x

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(self.Block(2) for _ in range(2))
        self.heads = nn.ModuleDict({"mean": nn.AdaptiveAvgPool2d(1), "max": nn.AdaptiveMaxPool2d(1)})

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.heads["max"](x) if x.std() > 2 else self.heads["mean"](x)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 0),)], grad=True)
class SetUpByItsFirstInput(nn.Module):
    """As ActNorm, and averages of weights: written to by way of `.data`, which records no gradient."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(2))
        self.register_buffer("ready", torch.tensor(False))

    def forward(self, x):
        if not self.ready:
            self.weight.data.copy_(x.abs())
            self.ready.data.copy_(torch.tensor(True))
        return x * self.weight


class LeadsBackToItself(nn.Module):
    """Attributes and a hook that lead to the module, and read what the forward pass sets."""

    def __init__(self):
        super().__init__()
        self.step = self._step
        self.steps = {"half": [functools.partial(self._step, factor=0.5)]}
        self.shift = lambda x: x + self.level
        self.register_forward_hook(lambda module, given, result: self._count())
        self.count = 0

    def _step(self, x, factor=1.0):
        return x * self.level * factor

    def _count(self):
        self.count += 1


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)])
class StoredMethodsOfTheModule(LeadsBackToItself):
    def forward(self, x):
        self.level = x * 2
        if x.sum() > 0:
            x = x + 1
        return self.step(x), self.steps["half"][0](x), self.shift(x)


@program(inputs=[lambda: (randn(2, 5, 3),), lambda: (randn(2, 5, 3).abs(),)], grad=True)
class LastStateOfALSTM(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.LSTM(3, 4, 2, batch_first=True)
        self.head = nn.Linear(4, 1)

    def forward(self, x):
        out, (h, _) = self.layers(x)
        if h.sum() > 0:
            out = out * 2
        return self.head(out[:, -1])


@program(inputs=[lambda: (randn(2, 5, 3),), lambda: (randn(2, 5, 3).abs(),)], grad=True)
class RecurrentLayersInBranchesAndLoops(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.GRU(3, 3, batch_first=True)
        self.cell = nn.LSTMCell(3, 3)

    def forward(self, x):
        if x.mean() > 0.3:
            x = self.layer(x)[0]
        y, n = x[:, 0], 0
        h = c = torch.zeros(2, 3)
        while n < 4:
            h, c = self.cell(y, (h, c))
            y, n = h, n + 1
            if h.norm() > 0.9:
                break
        return h, n


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(0, 5, 2),), lambda: (vec(1, 1, 1),)])
class FirstTripSetsABuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.tensor(float("inf")))
        self.seen = 0

    @property
    def ready(self):
        return bool(torch.isfinite(self.low)) and self.seen > 0

    def forward(self, x):
        low = x.min().detach()
        if not self.ready:
            self.low.copy_(low)
        else:
            self.low = self.low * 0.5 + low
        self.seen += 1
        return x * self.low


@program(inputs=[lambda: (ints(0, 1),), lambda: (ints(2, 3),), lambda: (ints(4, 1),)])
class RowsNormalisedOnTheWay(nn.Module):
    """A look-up scales rows that are too long, in place, before the branch and in it."""

    def __init__(self):
        super().__init__()
        self.rows = nn.Embedding(5, 2, max_norm=0.7)
        self.bags = nn.EmbeddingBag(5, 2, max_norm=0.6)
        with torch.no_grad():
            self.rows.weight.copy_(torch.arange(10.0).reshape(5, 2) - 3)
            self.bags.weight.copy_(torch.arange(10.0).reshape(5, 2) - 4)

    def forward(self, x):
        first, bag = self.rows(x), self.bags(x[None])
        if first.mean() + bag.mean() > 0:
            other = 4 - x
            return self.rows(other), self.bags(other[None])
        return first
