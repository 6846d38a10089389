"""Random numbers in a branch whose gradients are recorded are refused: torch would draw others in the backward pass."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import CaptureError, autograph


class Noisy(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return self.drop(x)
        return x


def test_dropout_in_a_branch_with_gradients_is_refused() -> None:
    with pytest.raises(CaptureError, match="AG323"):
        autograph(Noisy(), backend="eager")(torch.ones(4, requires_grad=True))


def test_dropout_in_a_branch_without_gradients_or_in_eval_is_captured() -> None:
    with torch.no_grad():
        assert autograph(Noisy(), backend="eager")(torch.ones(4)).shape == (4,)
    assert torch.equal(autograph(Noisy().eval(), backend="eager")(torch.ones(4)), torch.ones(4))
