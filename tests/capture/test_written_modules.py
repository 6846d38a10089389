"""Modules whose parts are set in the trace, and listed afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from autograph_torch import convert
from tests.harness import torch_before

Kind = Callable[[], nn.Module]


class Parts(nn.Module):
    """Sets one of its parts, changes its mode, and lists what it has."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.first = nn.Linear(2, 2)
        self.second: nn.Module | None = None
        self.scale = nn.Parameter(torch.ones(2))
        self.spare: Any = nn.Parameter(torch.ones(1))
        self.other: Any = nn.Linear(2, 2)
        self.register_buffer("mask", torch.ones(2))
        self.register_buffer("shift", torch.zeros(2))
        self.register_buffer("hidden", torch.zeros(2), persistent=False)

    def change(self, x: torch.Tensor) -> None:
        if self.kind == "buffer":
            self.shift = x.detach() * 2
        elif self.kind == "no buffer":
            self.mask = None
        elif self.kind == "parameter":
            self.spare = self.scale
        elif self.kind == "no parameter":
            self.spare = None
        elif self.kind == "module":
            self.second = self.first
        elif self.kind == "another module":
            self.other = self.first
        elif self.kind == "no module":
            self.other = None
        elif self.kind == "deleted":
            del self.other
        elif self.kind == "registered":
            self.register_buffer("new", x.detach() * 3)

    def forward(self, x: torch.Tensor) -> Any:
        if x.sum() > 0:
            x = x * 2
        self.change(x)
        self.eval()
        total = x
        for _, value in [*self.named_parameters(), *self.named_buffers()]:
            total = total + value.sum()
        names = [name for name, _ in self.named_modules()] + [name for name, _ in self.named_buffers()]
        children = [type(one).__name__ for one in self.children()]
        return total, names, children, len(list(self.parameters())), sorted(self.state_dict())


KINDS = (
    "buffer",
    "no buffer",
    "parameter",
    "no parameter",
    "module",
    "another module",
    "no module",
    "deleted",
    "registered",
)


@torch_before("2.12", "a state_dict, which has an attribute, is refused")
@pytest.mark.parametrize("kind", KINDS)
def test_listed(kind: str) -> None:
    for value in (1.0, -1.0):
        torch.manual_seed(0)
        expected_module = Parts(kind)
        torch.manual_seed(0)
        module = Parts(kind)
        compiled = torch.compile(convert(module), backend="eager", fullgraph=True)
        x = torch.full((2,), value)
        expected, found = expected_module(x), compiled(x)
        torch.testing.assert_close(found[0], expected[0])
        assert found[1:] == expected[1:]
        torch.testing.assert_close(dict(module.state_dict()), dict(expected_module.state_dict()))


def test_torch_needs_it() -> None:
    compiled = torch.compile(Parts("no buffer"), backend="eager", fullgraph=True)
    with pytest.raises(Exception, match="branching|pending"):
        compiled(torch.ones(2))

    class Plain(Parts):
        def forward(self, x: torch.Tensor) -> Any:
            self.mask = None
            self.eval()
            return x, [name for name, _ in self.named_modules()]

    with pytest.raises(Exception, match="pending mutation"):  # else remove autograph_torch/capture/written_modules.py
        torch.compile(Plain("no buffer"), backend="eager", fullgraph=True)(torch.ones(2))
