"""Writes that a branch would hide are left alone for torch, too, also where an example has told every type."""

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
def test_left_alone(raw: bytes) -> None:
    observer = Observer()
    observed = module_of(observed_code(SourceFile.read(raw, "hidden.py")), "hidden", **{OBSERVER: observer})
    for value in (1.0, -1.0):
        observed.func(torch.full((3,), value))
    done = convert_source(raw, "hidden.py", Options(target="torch", seen=observer.sites))
    assert "AG206" in [diagnostic.code for diagnostic in done.diagnostics]
    assert b"torch.cond" not in done.output
