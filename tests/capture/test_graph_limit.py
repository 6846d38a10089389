"""More graphs than torch makes of one function: the call runs in Python, and is told."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch
from torch import nn

from autograph_torch import CaptureError, autograph, convert
from tests.harness import vec

X = vec(1.0, 2.0)


class Named(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.name = ""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.name += "a"
        print(self.name)
        return x * len(self.name) if x.sum() > 0 else x


class Keeping:
    def __init__(self) -> None:
        self.kept: list[torch.Tensor] = []

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            self.kept.append(x * 2)
        return self.kept[-1] + len(self.kept)


def _played(subject: Any, calls: int) -> list[torch.Tensor]:
    return [subject(X * n) for n in range(1, calls)]


@pytest.mark.parametrize("kind", [Named, Keeping])
def test_calls_without_a_graph_run_in_python(kind: Any, capsys: pytest.CaptureFixture[str]) -> None:
    torch._dynamo.reset()
    subject, plain = kind(), kind()
    expected = _played(plain, 14)
    printed = capsys.readouterr().out
    with pytest.warns(RuntimeWarning, match="AG328"):
        found = _played(autograph(subject, backend="eager"), 14)
    assert capsys.readouterr().out == printed
    assert all(torch.equal(one, other) for one, other in zip(found, expected, strict=True))
    assert str(vars(subject)) == str(vars(plain))


def test_it_is_told_once_at_the_users_line() -> None:
    torch._dynamo.reset()
    fast = autograph(Keeping(), backend="eager")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        _played(fast, 14)
    (only,) = (str(one.message) for one in told)
    assert "test_graph_limit.py" in only and "if x.sum() > 0:" in only and "recompile_limit" in only
    assert "there are 8 graphs" in only and "len(target.kept) == 7" in only


def test_graphs_that_exist_are_still_used() -> None:
    torch._dynamo.reset()
    ran: list[int] = []

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        return lambda *args: (ran.append(1), graph(*args))[1]

    fast = autograph(lambda x, name: x * len(name) if x.sum() > 0 else x, backend=backend)
    with pytest.warns(RuntimeWarning, match="AG328"):
        for n in range(12):
            assert torch.equal(fast(X, "a" * n), X * n)
    assert len(ran) == 8
    assert torch.equal(fast(X, "aa"), X * 2)
    assert len(ran) == 9


def test_by_torch_compile_it_is_an_error_of_ours() -> None:
    torch._dynamo.reset()
    fast = torch.compile(convert(lambda x, name: x * len(name) if x.sum() > 0 else x), backend="eager", fullgraph=True)
    with pytest.raises(CaptureError, match="AG328") as refused:
        for n in range(12):
            fast(X, "a" * n)
    assert refused.value.diagnostic.advice
