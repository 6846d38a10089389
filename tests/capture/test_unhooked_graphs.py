"""Hooks of all modules see the modules of the program, and no graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.fx import GraphModule, symbolic_trace
from torch.nn.modules import module

from autograph_torch import autograph
from autograph_torch.capture.unhooked_graphs import unhooked_graphs
from autograph_torch.diagnostics import CaptureError
from tests.harness import compiled, leave_out, vec

BACKENDS = ("eager", "aot_eager", "inductor")
INPUTS = (vec(1, 2), vec(-1, -2), vec(300, 300))


@pytest.fixture
def hook() -> Iterator[Callable[[Callable[..., Any]], list[str]]]:
    """Registers a hook for all modules; the names of those that any has seen."""
    handles: list[Any] = []
    seen: list[str] = []

    def register(give: Callable[..., Any]) -> list[str]:
        before: Any = lambda one, _: seen.append(f"before {type(one).__name__}")  # noqa: E731
        after: Any = lambda one, _, result: seen.append(type(one).__name__) or give(result)  # type: ignore[func-returns-value]  # noqa: E731
        handles.append(module.register_module_forward_pre_hook(before))
        handles.append(module.register_module_forward_hook(after))
        return seen

    yield register
    for handle in handles:
        handle.remove()


def made(inner: nn.Module) -> Callable[[Tensor], Tensor]:
    def run(x: Tensor) -> Tensor:
        y: Tensor = inner(x)
        while y.sum() > 100:
            y = y / 2
        if x.sum() > 0:
            if x.max() > 1.5:
                return y * 2
            return y.sin()
        return y

    return run


def linear() -> nn.Module:
    torch.manual_seed(0)
    return nn.Linear(2, 2)


def as_eager(function: Any, run: Any, seen: list[str]) -> None:
    for x in INPUTS * 2:
        answers: list[Any] = []
        names = []
        for one in (function, run):
            seen.clear()
            given = x.clone().requires_grad_()
            result = one(given)
            result.sum().backward()
            answers.append((result.detach(), given.grad))
            names.append(list(seen))
        torch.testing.assert_close(*answers)
        assert names[0] == names[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_graph_is_not_seen(hook: Any, backend: str) -> None:
    function = made(linear())
    as_eager(function, compiled(function, backend), hook(lambda _: None))


def test_a_result_of_a_hook_is_no_result_of_a_branch(hook: Any) -> None:
    function = made(linear())
    as_eager(function, autograph(function), hook(lambda result: result * 2))


def test_a_hook_may_come_between_calls(hook: Any) -> None:
    function = made(linear())
    run = autograph(function)
    as_eager(function, run, [])
    as_eager(function, run, hook(lambda result: result + 1))


def test_a_graph_of_the_program_is_seen(hook: Any) -> None:
    inner = symbolic_trace(nn.Sequential(linear(), nn.Tanh()))
    function = made(inner)
    seen = hook(lambda _: None)
    as_eager(function, autograph(function), seen)
    assert any("GraphModule" in name or "Sequential" in name for name in seen)


def test_graphs_of_others_are_seen(hook: Any) -> None:
    with unhooked_graphs():
        ours = symbolic_trace(nn.Tanh())
    seen = hook(lambda _: None)
    ours(INPUTS[0])
    assert not seen
    symbolic_trace(nn.Tanh())(INPUTS[0])
    assert seen and isinstance(ours, GraphModule)


def test_torch_has_them_seen(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, torch does without our repair."""

    def run(x: Tensor) -> Tensor:
        return x * 2 if x.sum() > 0 else x

    leave_out(monkeypatch, unhooked_graphs)
    hook(lambda result: result[0] if type(result) is tuple else result * 2)
    with pytest.raises(CaptureError, match="cannot become part"):
        compiled(run)(INPUTS[0])
