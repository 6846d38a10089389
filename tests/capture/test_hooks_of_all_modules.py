"""Hooks of all modules that come or go between calls count in the next one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.modules import module

from autograph_torch import autograph
from autograph_torch.capture.hooks_of_all_modules import hooks_of_all_modules
from tests.harness import compiled, leave_out, vec


class Twice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.inner(x)
        return y * 2 if x.sum() > 0 else y


def around(inner: nn.Module) -> Callable[[Tensor], Tensor]:
    def run(x: Tensor) -> Tensor:
        y: Tensor = inner(x)
        return y - 1

    return run


def before(_: nn.Module, given: Any) -> Any:
    return given[0] + 1


def after(_: nn.Module, given: Any, result: Tensor) -> Tensor:
    return result * 3


REGISTER: dict[str, Callable[[], Any]] = {
    "before": lambda: module.register_module_forward_pre_hook(before),
    "after": lambda: module.register_module_forward_hook(after),
    "another after": lambda: module.register_module_forward_hook(lambda _, given, result: result - 1),
    "always": lambda: module.register_module_forward_hook(after, always_call=True),
}


def answers(run: Any) -> list[Any]:
    found = []
    for x in (vec(0.5, 1), vec(-1, -2)):
        given = x.clone().requires_grad_()
        result = run(given)
        result.sum().backward()
        found += [result.detach(), given.grad]
    return found


@pytest.mark.parametrize("names", [["before"], ["after", "another after"], ["always", "before"]], ids="+".join)
@pytest.mark.parametrize("compile_it", [compiled, autograph], ids=["compile", "decorator"])
def test_they_come_and_go(names: list[str], compile_it: Any) -> None:
    expected = around(Twice())
    run = compile_it(expected)
    for register in [None, *(REGISTER[name] for name in names), None]:
        handle = register and register()
        try:
            torch.testing.assert_close(answers(run), answers(expected))
        finally:
            if handle:
                handle.remove()


def test_no_trace_without_need() -> None:
    run = compiled(around(Twice()))
    torch._dynamo.utils.counters.clear()
    for _ in range(3):
        answers(run)
        REGISTER["after"]().remove()
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_torch_asks_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, torch does without our repair."""
    leave_out(monkeypatch, hooks_of_all_modules)
    run = compiled(around(Twice()))
    expected = run(vec(1, 2))
    handle = REGISTER["after"]()
    try:
        assert torch.equal(run(vec(1, 2)), expected)
    finally:
        handle.remove()
