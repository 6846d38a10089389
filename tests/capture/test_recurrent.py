"""Recurrent layers in the graph."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch._dynamo import config

from autograph_torch import CaptureError, autograph


class Dropping(nn.Module):
    """Dropout between the two layers, behind a branch (or in it)."""

    def __init__(self, in_branch: bool) -> None:
        super().__init__()
        self.layers = nn.LSTM(3, 4, 2, dropout=0.5)
        self.in_branch = in_branch

    def forward(self, x: Tensor) -> Tensor:
        if not self.in_branch:
            return self.layers(x if x.sum() > 0 else -x)[0].sum()
        return self.layers(x)[0].sum() if x.sum() > 0 else x.sum()


def test_the_switch_is_there() -> None:
    assert config.allow_rnn is False


@pytest.mark.parametrize(("backend", "in_branch"), [("eager", True), ("aot_eager", False)])
def test_dropout_between_layers_is_refused(backend: str, in_branch: bool) -> None:
    with pytest.raises(CaptureError, match="AG323"):
        autograph(Dropping(in_branch), backend=backend)(torch.ones(5, 1, 3))


def test_dropout_between_layers_as_in_eager() -> None:
    model = Dropping(False)
    results = []
    for call in (model, autograph(model, backend="eager")):
        torch.manual_seed(1)
        results.append(call(torch.ones(5, 1, 3)))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_without_training_there_is_no_dropout(backend: str) -> None:
    model = Dropping(True).eval()
    x = torch.ones(5, 1, 3)
    torch.testing.assert_close(autograph(model, backend=backend)(x), model(x))
