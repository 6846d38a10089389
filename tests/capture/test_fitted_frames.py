"""What is compiled in the place of a frame's own code finds the arguments and cells of the frame."""

from __future__ import annotations

import dataclasses
import sys

import pytest
import torch
from torch._dynamo import convert_frame, eval_frame, utils
from torch._dynamo.types import ConvertFrameReturn, GuardedCode

from autograph_torch import autograph
from tests.harness import vec


def kept(x: torch.Tensor, y: torch.Tensor, s: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """`k` and `x` are cells of what is compiled last, but not of the frame."""
    try:
        for _ in range(2):
            x = x + 1
            if -0.45 < torch.tensor(0.25) < 1.3:
                raise KeyError("k")
        y = x
    except KeyError:
        x = x - k
    if x.sum() > s:
        return x, x
    return x, y


def test_arguments_that_become_cells() -> None:
    torch._dynamo.reset()
    compiled = autograph(kept, backend="eager")
    for start in (5.0, -5.0):
        given = (vec(start), vec(1), torch.tensor(0.9), 2)
        torch.testing.assert_close(compiled(*given), kept(*given), rtol=0, atol=0)


def test_free_variables() -> None:
    offset = 3

    def shifted(x: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
        lengths = (ends - torch.cat([ends.new_zeros(1), ends[:-1]]))[ends > 0].tolist()
        return torch.cat([part - part.mean() * offset for part in torch.split(x, lengths)])

    torch._dynamo.reset()
    compiled = autograph(shifted, backend="eager")
    x, ends = torch.arange(6.0), torch.tensor([2, 6])
    for offset in (3, 4):
        with pytest.warns(RuntimeWarning, match="the graph is for data"):
            torch.testing.assert_close(compiled(x, ends), shifted(x, ends), rtol=0, atol=0)


@pytest.mark.skipif(sys.version_info >= (3, 11), reason="Dynamo goes by names from Python 3.11 on")
def test_names_of_the_tracer() -> None:
    assert "code" in {field.name for field in dataclasses.fields(GuardedCode)}
    assert "guarded_code" in {field.name for field in dataclasses.fields(ConvertFrameReturn)}
    assert callable(eval_frame.skip_code) and hasattr(convert_frame, "output_codes") and hasattr(utils, "orig_code_map")
