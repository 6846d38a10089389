"""copy.deepcopy of tensors: copies, or refused where the copy would be told from eager's."""

from __future__ import annotations

import copy

import pytest
import torch
from torch._dynamo.exc import Unsupported

from autograph_torch import CaptureError, convert
from tests.harness import torch_before


def compiled(function):
    return torch.compile(convert(function), fullgraph=True, backend="eager")


@torch_before("2.12", "copy.deepcopy is not known")
def test_a_copy_is_written_to():
    def scaled(x, boxes):
        kept = copy.deepcopy(boxes)
        if x.sum() > 0:
            kept["low"] += 1
            kept["both"][0].mul_(2)
        return kept, boxes, kept["both"][0] is kept["both"][1], kept["low"] is boxes["low"]

    def given():
        one = torch.tensor([1.0, 2.0])
        return {"low": torch.zeros(2), "both": [one, one]}

    for x in (torch.ones(1), -torch.ones(1)):
        assert str(compiled(scaled)(x, given())) == str(scaled(x, given()))


def test_views_are_refused():
    def row_of_a_copy(x):
        whole, row = copy.deepcopy([x, x[0]])
        row.add_(1)
        return whole

    with pytest.raises((CaptureError, Unsupported), match="deepcopy"):
        compiled(row_of_a_copy)(torch.zeros(2, 2))


def test_gradients_and_layouts_are_refused():
    for x in (torch.ones(2, requires_grad=True), torch.ones(1).expand(2), torch.nn.Parameter(torch.ones(2))):
        with pytest.raises((CaptureError, Unsupported), match="deepcopy"):
            compiled(lambda x: copy.deepcopy(x) * 2 if x.sum() > 0 else x * 1)(x)


def test_torch_needs_this():
    with pytest.raises(Unsupported, match="deepcopy"):
        torch.compile(lambda x: copy.deepcopy(x), fullgraph=True, backend="eager")(torch.ones(2))
