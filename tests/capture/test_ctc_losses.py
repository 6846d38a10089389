"""CTC losses, for which torch keeps a tensor whose size the data tell."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from autograph_torch import convert


def loss_of(scores: torch.Tensor, labels: torch.Tensor, reduction: str) -> torch.Tensor:
    if labels.max() >= 5:
        raise ValueError("no such label")
    present = labels > 0
    lengths = torch.full((scores.shape[1],), scores.shape[0])
    return F.ctc_loss(scores.log_softmax(-1), labels.masked_select(present), lengths, present.sum(-1), 0, reduction)


def in_a_branch(scores: torch.Tensor, labels: torch.Tensor, reduction: str) -> torch.Tensor:
    if scores.sum() > 0:
        scores = scores * 2
        return loss_of(scores, labels, reduction) * 2
    return loss_of(scores, labels, reduction)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("function", [loss_of, in_a_branch])
def test_losses(function, reduction: str) -> None:  # type: ignore[no-untyped-def]
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    for sign in (1.0, -1.0):
        for labels in ([[1, 2, 3], [4, 0, 0]], [[1, 0, 0], [4, 0, 0]]):
            torch.manual_seed(0)
            scores = (torch.rand(6, 2, 5) * sign).requires_grad_()
            again = scores.detach().clone().requires_grad_()
            expected = function(again, torch.tensor(labels), reduction)
            found = compiled(scores, torch.tensor(labels), reduction)
            torch.testing.assert_close(found, expected)
            expected.sum().backward()
            found.sum().backward()
            torch.testing.assert_close(scores.grad, again.grad)
    with pytest.raises(ValueError, match="no such label"):
        compiled(scores, torch.tensor(labels) + 5, reduction)


def test_torch_needs_it() -> None:
    def loss(scores: torch.Tensor, labels: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return F.ctc_loss(scores.log_softmax(-1), labels, lengths, lengths)

    with pytest.raises(Exception, match="ctc_loss"):  # else remove autograph_torch/capture/ctc_losses.py
        torch.compile(loss, backend="eager", fullgraph=True)(
            torch.rand(3, 1, 5), torch.ones(1, 3).long(), torch.tensor([3])
        )
