"""The flags of cuDNN around a computation on the CPU."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from autograph_torch import convert

needs_no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="the flags count where there is a GPU")


def loss_of(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    if labels.max() >= 5:
        raise ValueError("no such label")
    lengths = torch.full((scores.shape[1],), scores.shape[0])
    with torch.backends.cudnn.flags(enabled=False):
        if scores.sum() > 0:
            scores = scores * 2
        loss = F.ctc_loss(scores.log_softmax(-1), labels, lengths, (labels > 0).sum(-1))
    return loss


@needs_no_gpu
def test_flags() -> None:
    compiled = torch.compile(convert(loss_of), backend="eager", fullgraph=True)
    before = torch.backends.cudnn.enabled
    for sign in (1.0, -1.0):
        torch.manual_seed(0)
        scores = (torch.rand(6, 2, 5) * sign).requires_grad_()
        again = scores.detach().clone().requires_grad_()
        labels = torch.tensor([[1, 2, 3], [4, 0, 0]])
        expected, found = loss_of(again, labels), compiled(scores, labels)
        torch.testing.assert_close(found, expected)
        expected.backward()
        found.backward()
        torch.testing.assert_close(scores.grad, again.grad)
    with pytest.raises(ValueError, match="no such label"):
        compiled(scores, labels + 5)
    assert torch.backends.cudnn.enabled == before


@needs_no_gpu
def test_torch_needs_it() -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        with torch.backends.cudnn.flags(enabled=False):
            return x * 2

    with pytest.raises(Exception, match="cudnn|non-Tensor"):  # else remove autograph_torch/capture/backend_flags.py
        torch.compile(doubled, backend="eager", fullgraph=True)(torch.ones(2))
