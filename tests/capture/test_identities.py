"""`is` between a tensor and what a branch or loop gives: as eager, or refused."""

from __future__ import annotations

import pytest
import torch
from torch._dynamo import symbolic_convert
from torch._dynamo.variables import dicts

from autograph_torch import CaptureError, convert
from autograph_torch.capture.identities import identities


def test_a_tensor_that_a_loop_carries_is_refused() -> None:
    def function(x: torch.Tensor, n: torch.Tensor) -> tuple[int, torch.Tensor]:
        y, hits = x, 0
        while n > 0:
            if y is x:
                hits += 1
            y = y + 1
            n = n - 1
        return hits, y

    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    with pytest.raises(CaptureError, match="AG314 `is` asks"):
        compiled(torch.ones(2), torch.tensor(3))


def test_private_names_are_there() -> None:
    before, make_key = symbolic_convert.compare_op_handlers, dicts.HashableTracker.__init__
    with identities():
        assert symbolic_convert.compare_op_handlers is not before
        assert dicts.HashableTracker.__init__ is not make_key
        assert before.keys() == symbolic_convert.compare_op_handlers.keys() >= {"is", "is not"}
    assert "compare_op_handlers" in symbolic_convert.InstructionTranslatorBase.IS_OP.__code__.co_names
