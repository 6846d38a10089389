"""Writes that a branch could hide are not lost for torch, either, also where an example has told every type."""

from __future__ import annotations

import pytest
import torch

from autograph_torch.pipeline import Options, convert_source
from autograph_torch.source.file import SourceFile
from autograph_torch.trial.observer import OBSERVER, Observer, observed_code
from tests.torch_target.conftest import module_of

NONLOCAL = b"""\
import torch

def func(x):
    total = 0
    def step(y):
        nonlocal total
        if y.sum() < 0:
            return y
        total = total + 1
        return y * 2
    return step(x), total
"""
STALE = b"""\
import torch

def func(x):
    total = x
    add = lambda: total + 1
    y = x
    if x.sum() > 0:
        total = total + 5
        y = add()
    return y, total
"""


@pytest.mark.parametrize("raw", [NONLOCAL, STALE], ids=["nonlocal", "stale"])
def test_no_write_is_lost(raw: bytes) -> None:
    observer = Observer()
    observed = module_of(observed_code(SourceFile.read(raw, "hidden.py")), "hidden", **{OBSERVER: observer})
    inputs = [torch.full((3,), value) for value in (1.0, -1.0)]
    expected = [observed.func(x) for x in inputs]
    done = convert_source(raw, "hidden.py", Options(target="torch", seen=observer.sites))
    converted = module_of(done.output.decode(), "hidden_for_torch")
    torch.testing.assert_close([converted.func(x) for x in inputs], expected)
