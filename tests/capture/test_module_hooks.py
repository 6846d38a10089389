"""Hooks that a compiled function registers at modules: they run in this call and in those that follow, as in eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, convert


class Recording(torch.nn.Module):
    """Registers its hooks in the first call."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Identity(), torch.nn.Identity()
        self.ready = False
        self.seen: list[torch.Tensor] = []
        self.order: list[str] = []

    def install(self) -> None:
        if self.ready:
            return
        self.first.register_forward_hook(self.record("first"))
        self.first.register_forward_hook(self.record("before"), prepend=True)
        self.second.register_forward_pre_hook(lambda module, args, kwargs: (args, kwargs), with_kwargs=True)
        self.second.register_forward_hook(lambda module, args, out: out * 2)
        self.ready = True

    def record(self, name: str) -> Callable[..., Any]:
        def hook(module: Any, args: Any, out: torch.Tensor) -> None:
            self.order.append(name)
            self.seen.append(out)

        return hook

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.install()
        if x.sum() > 0:
            x = x + 1
        return self.second(self.first(x))


class Removing(Recording):
    """A hook that is there for one call."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        handle = self.first.register_forward_hook(lambda module, args, out: out * 3)
        y = self.first(x if x.sum() > 0 else x - 1)
        handle.remove()
        return y + self.first(x)


class Again(Recording):
    """Registers one more hook in each call."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.first.register_forward_hook(lambda module, args, out: out * 2)
        return self.first(x if x.sum() > 0 else x - 1)


@pytest.mark.parametrize("make", [Recording, Removing, Again])
def test_as_eager(make: Callable[[], Recording]) -> None:
    eager, converted = make(), convert(make())
    compiled = torch.compile(converted, fullgraph=True, backend="eager")
    for x in (torch.ones(2), -torch.ones(2), torch.ones(2)):
        assert torch.equal(compiled(x), eager(x))
    assert converted.order == eager.order
    assert str(converted.seen) == str(eager.seen)
    for name in ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_with_kwargs"):
        for part in ("first", "second"):
            assert len(getattr(getattr(converted, part), name)) == len(getattr(getattr(eager, part), name))
    x = torch.ones(2)
    assert torch.equal(converted.second(converted.first(x)), eager.second(eager.first(x)))


def test_the_numbers_are_its_own() -> None:
    module = torch.nn.Identity()

    def registered(x: torch.Tensor) -> torch.Tensor:
        module.register_forward_hook(lambda module, args, out: out * 2)
        return x * 2 if x.sum() > 0 else x

    compiled = torch.compile(convert(registered), fullgraph=True, backend="eager")
    other = module.register_forward_hook(lambda module, args, out: out * 3)
    compiled(torch.ones(1))
    assert module(torch.ones(1)) == 6
    other.remove()
    compiled(torch.ones(1))
    assert module(torch.ones(1)) == 4


def test_in_a_branch_it_is_refused() -> None:
    module = torch.nn.Identity()

    def registered(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            module.register_forward_hook(lambda module, args, out: out * 2)
        return module(x)

    try:
        compiled = torch.compile(convert(registered), fullgraph=True, backend="eager")
        assert compiled(-torch.ones(1)) == -1
        assert not module._forward_hooks
        assert compiled(torch.ones(1)) == 2
    except CaptureError:
        assert not module._forward_hooks
