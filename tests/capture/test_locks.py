"""`with lock:` in a trace: what one thread sees is as in eager."""

from __future__ import annotations

import threading

import pytest
import torch

from autograph_torch import autograph, convert

_LOCK = threading.Lock()


class Counting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.RLock()
        self.steps = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        with self.lock as got, _LOCK:
            self.steps += 1
            if x.sum() > 0:
                x = x * 2 if got else x * 3
        with self.lock:
            return x + self.steps


def test_as_eager() -> None:
    x = torch.ones(2)
    eager, ours, module = Counting(), Counting(), Counting()
    decorated = autograph(ours, backend="eager")
    converted = convert(module)
    compiled = torch.compile(converted, fullgraph=True, backend="eager")
    for value in (x, -x, x):
        expected = eager(value)
        assert torch.equal(decorated(value), expected)
        assert torch.equal(compiled(value), expected)
    assert eager.steps == converted.steps == 3
    assert _LOCK.acquire(blocking=False)
    _LOCK.release()


def test_torch_needs_this() -> None:
    def locked(x: torch.Tensor) -> torch.Tensor:
        with _LOCK:
            return x + 1

    with pytest.raises(torch._dynamo.exc.Unsupported, match="context manager"):
        torch.compile(locked, fullgraph=True, backend="eager")(torch.ones(1))
