"""What generated programs have of memory: tensors under several names, detached, transposed, with other data."""

from __future__ import annotations

import torch
from torch import nn

from tests.grammar import Feature
from tests.harness import vec


class Tracker(nn.Module):
    """A module with buffers and plain attributes that its calls and programs write to, in place or anew."""

    mean: torch.Tensor
    count: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", vec(0.5, -0.25, 0.0))
        self.register_buffer("count", torch.tensor(0))
        self.last = vec(0.0, 1.0, 0.0)

    def forward(self, q: torch.Tensor) -> torch.Tensor:
        self.count += 1
        self.mean.mul_(0.5).add_(q, alpha=0.5)
        if q.sum() > self.mean.sum():
            self.last = q
        return q - self.mean


MEMORY_FEATURES: dict[str, Feature] = {
    "traded": Feature(
        locals={"one": "vector", "other": "vector"},
        prelude=("one, other = x * 1.0, y + 0.5",),
        expressions={
            "vector": ("one + other",),
            "scalar": ("one[0]", "other.sum()"),
            "test": ("one is other", "one is x", "one is not other"),
        },
        statements=(
            "one, other = other, one",
            "one, other = other, {vector}",
            "one, other = other, other + {float}",
            "one, other = one * {float}, one",
            "other = one",
            "one = x",
            "one.add_({float})",
            "other.mul_({float})",
            "other[0] = {scalar}",
            "one.copy_({vector})",
            "one.copy_(other)",
            "x.copy_(one)",
            "one, other = (x, {vector}) if {test} else ({vector}, y)",
            "one = one if {test} else other",
        ),
        results=("one", "other", "one is other"),
        no_gradients=True,
    ),
    "aliases": Feature(
        locals={"one": "vector", "other": "vector"},
        prelude=("one = x + y", "other = one.detach()"),
        statements=(
            "one, other = other, {vector}",
            "one = other.view(3)",
            "other = one.detach()",
            "other = one[:]",
            "one = torch.stack([other, {vector}])[0]",
            "one += {vector}",
            "other[1:] *= {float}",
            "torch.add({vector}, {vector}, out=one)",
            "torch.mul({vector}, {float}, out=other)",
            "one = other.clone()",
            "one = {vector}",
        ),
        results=("one", "other"),
        no_gradients=True,
    ),
    "detached": Feature(
        locals={"one": "vector", "other": "vector"},
        prelude=("one, other = x * y, y",),
        expressions={"test": ("one.requires_grad", "one is other", "other.grad_fn is None")},
        statements=(
            "one = other.detach()",
            "other = one",
            "one, other = other, one",
            "one, other = other, one * {float}",
            "one, other = torch.tanh(one), one.detach()",
            "other = one if {test} else other.detach()",
            "with torch.no_grad(): one = other * {float}",
            "with torch.no_grad(): one = other",
            "one = {vector}",
        ),
        results=("one", "other", "one.requires_grad"),
    ),
    "turned": Feature(
        locals={"mat": "turned"},
        prelude=("mat = torch.stack([x, y]).t()",),
        expressions={
            "vector": ("mat[:, 0]", "mat.sum(1)", "mat.reshape(-1)[:3]", "mat.t().view(6)[1:4]", "mat.flatten()[3:]"),
            "scalar": ("mat[1, 1]", "mat.max()"),
            "int": ("mat.stride(0)", "mat.clone().stride(1)"),
            "test": ("mat.is_contiguous()", "mat.t().is_contiguous()"),
        },
        statements=(
            "mat = mat * {float}",
            "mat = mat + {vector}[:, None]",
            "mat = mat.clone()",
            "mat = torch.stack([{vector}, {vector}]).t()",
            "mat = torch.where(mat > {float}, mat, mat * 0.5)",
            "mat = torch.tanh(mat)",
        ),
        walks=(("{first} in mat.t()", {"first": "vector"}), ("{first} in mat.unbind(1)", {"first": "vector"})),
        results=("mat", "mat.stride()"),
    ),
    "turned_written": Feature(
        locals={"mat": "turned"},
        prelude=("mat = torch.stack([x, y]).t()",),
        expressions={"vector": ("mat[:, 1]", "mat.t().reshape(-1)[:3]"), "test": ("mat.is_contiguous()",)},
        statements=(
            "mat[:, 1] = {vector}",
            "mat.mul_({float})",
            "mat[mat > {float}] = 0.25",
            "mat.t()[0] += {vector}",
            "mat.t().view(-1)[2:5] = {vector}",
            "mat = mat - {vector}[:, None]",
        ),
        results=("mat", "mat.stride()"),
        no_gradients=True,
    ),
    "tracker": Feature(
        parameters={"stat": "tracker"},
        expressions={
            "vector": ("stat({vector})", "stat.mean", "stat.last", "stat.mean * {float}"),
            "index": ("stat.count",),
        },
        statements=(
            "stat.mean.mul_({float})",
            "stat.mean = {vector}",
            "stat.mean = stat.mean + {vector}",
            "stat.mean[0] = {scalar}",
            "stat.mean.copy_({vector})",
            "stat.last = {vector}",
            "stat.last = stat.mean",
            "stat.last, stat.mean = stat.mean, {vector}",
            "stat.last.add_({float})",
            "stat.count += 1",
            "v = stat({vector})",
        ),
        no_gradients=True,
    ),
    "data": Feature(
        locals={"one": "vector"},
        prelude=("one = x * 2.0",),
        statements=(
            "one.data = {vector} * 1.0",
            "one.data.add_({float})",
            "one.data[0] = {scalar}",
            "one.data.copy_({vector})",
            "one = {vector} + 0.0",
            "v = one",
        ),
        results=("one", "one.data"),
        no_gradients=True,
    ),
    "stored": Feature(
        locals={"kept": "stored"},
        prelude=("kept = {'a': x, 'b': [y, x]}",),
        expressions={
            "vector": ("kept['a']", "kept['b'][0]", "kept['b'][-1]"),
            "test": ("kept['a'] is x", "kept['a'] is kept['b'][0]"),
        },
        statements=(
            "kept['a'] = {vector}",
            "kept['b'][0] = kept['a']",
            "kept['a'], kept['b'][1] = kept['b'][1], {vector}",
            "kept['a'] = kept['b'][0]",
            "kept['a'].add_({float})",
            "kept['b'][1].mul_({float})",
            "kept['b'] = [kept['a'], {vector}]",
            "x.copy_(kept['a'])",
            "y[0] = {scalar}",
        ),
        results=("kept",),
        no_gradients=True,
    ),
}
