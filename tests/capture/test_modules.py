"""The copy that a converted module is: what is shared with the original, and what leads to the copy."""

from __future__ import annotations

import copy

import torch
from torch import nn

from autograph_torch import convert
from tests.harness import vec


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(2, 2)
        self.step = self._step
        self.seen: list[object] = []
        self.seen.append(self.seen)

    def _step(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.level

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.level = x * 2
        return self.step(x)


def test_methods_that_a_module_keeps_are_its_own() -> None:
    model = Layer()
    converted = convert(model)
    assert converted.step.__self__ is converted and model.step.__self__ is model
    again = convert(converted)
    assert again.step.__self__ is again
    twin = copy.deepcopy(converted)
    assert twin.step.__self__ is not converted
    assert all(torch.equal(one(vec(1, 2)), vec(2, 8)) for one in (converted, again, twin, model))


def test_the_rest_is_shared() -> None:
    model = Layer()
    converted = convert(model)
    assert converted.inner is model.inner and converted.seen is model.seen  # also where a list is in itself
