"""Modules of a list whose position data tell."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import autograph


class Routed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.experts = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))

    def forward(self, x: Tensor) -> Tensor:
        k = int(x.argmax()) - 1
        return self.experts[k](x) + self.experts[0](x)


class Kept(Routed):
    def forward(self, x: Tensor) -> Tensor:
        chosen = self.experts[x.argmax()]
        return chosen(x) * 2


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("model", [Routed(), Kept()], ids=["called", "kept"])
def test_the_module_that_data_tell(model: nn.Module, backend: str) -> None:
    compiled = autograph(model, backend=backend)
    for x in (torch.tensor([1.0, 2.0]), torch.tensor([2.0, 1.0])):
        gradients = []
        for call in (model, compiled):
            model.zero_grad()
            y = call(x)
            y.sum().backward()
            gradients.append([y, *(torch.zeros(1) if p.grad is None else p.grad.clone() for p in model.parameters())])
        for expected, got in zip(*gradients, strict=True):
            torch.testing.assert_close(got.reshape(-1).sum(), expected.reshape(-1).sum())


def test_no_such_module() -> None:
    class Far(Routed):
        def forward(self, x: Tensor) -> Tensor:
            return self.experts[int(x.sum())](x)

    with pytest.raises(IndexError, match="index 7 is out of range"):
        autograph(Far(), backend="eager")(torch.tensor([3.0, 4.0]))


def test_the_name_of_the_index() -> None:
    assert list(inspect.signature(nn.ModuleList.__getitem__).parameters) == ["self", "idx"]
