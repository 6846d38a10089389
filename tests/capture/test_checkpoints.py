"""torch.utils.checkpoint around blocks in which data decide, on one path: values and gradients are eager's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from autograph_torch import CaptureError, convert
from autograph_torch.capture import compiling
from tests.harness import scalar, vec

FOLLOWED = "ignore::autograph_torch.diagnostics.OnePathWarning"
FIRST, SAME, OTHER = vec(1, 2, -3), vec(1.1, 2.1, -1), vec(-1, 2, 3)


def by_numbers(v: Tensor, scale: float = 1.0) -> Tensor:
    """No graph for all data: numbers from data are keys."""
    found = {int(e): e.sin() * e for e in v if e > 0}
    return sum(found.values(), scalar(0.0)) * scale


def once(x: Tensor) -> Tensor:
    return checkpoint(by_numbers, x * 3, use_reentrant=False) + x.sum()


def with_options(x: Tensor) -> Tensor:
    options: dict[str, Any] = {"preserve_rng_state": True, "determinism_check": "none", "early_stop": False}
    return checkpoint(by_numbers, x, use_reentrant=False, scale=2.0, **options)


def inside_of_another(x: Tensor) -> Tensor:
    def outer(v: Tensor) -> Tensor:
        return checkpoint(by_numbers, v * 2, use_reentrant=False) + v.exp().sum()

    return checkpoint(outer, x, use_reentrant=False)


def keeps_a_list(x: Tensor) -> Tensor:
    def block(v: Tensor) -> Tensor:
        kept: list[Tensor] = []
        kept.append(by_numbers(v))
        total = torch.zeros(())
        total += kept[0] * 2
        return total

    y = checkpoint(block, x, use_reentrant=False)
    y += 1
    return y


@pytest.mark.filterwarnings(FOLLOWED)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [once, with_options, inside_of_another, keeps_a_list])
def test_as_in_eager(function: Callable[[Tensor], Tensor], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for data in (FIRST, SAME, OTHER):
        one, other = data.clone().requires_grad_(), data.clone().requires_grad_()
        expected, found = function(one), compiled(other)
        torch.testing.assert_close(found, expected)
        expected.backward()
        found.backward()
        torch.testing.assert_close(other.grad, one.grad)


class Model(nn.Module):
    """A block with dropout, whose mask the second run in eager draws again."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def block(self, x: Tensor) -> Tensor:
        return by_numbers(torch.dropout(self.layer(x), 0.5, True))

    def forward(self, x: Tensor) -> Tensor:
        return checkpoint(self.block, x, use_reentrant=False)


@pytest.mark.filterwarnings(FOLLOWED)
def test_random_numbers() -> None:
    torch.manual_seed(1)  # weights with which some elements are positive, so that there is a gradient
    model, grads = Model(), []
    for called in (model, torch.compile(convert(model), backend="eager", fullgraph=True)):
        torch.manual_seed(3)
        model.zero_grad()
        called(vec(5, 2, 3)).backward()
        grads.append(model.layer.weight.grad)
    torch.testing.assert_close(*grads)


@pytest.mark.filterwarnings(FOLLOWED)
def test_a_checkpoint_without_tests_on_data_stays_one() -> None:
    def function(x: Tensor) -> Tensor:
        y = checkpoint(torch.sin, x, use_reentrant=False)
        return checkpoint(by_numbers, y, use_reentrant=False)

    graphs: list[str] = []

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph.code)
        return graph

    x = FIRST.clone().requires_grad_()
    found = torch.compile(convert(function), backend=backend, fullgraph=True)(x)
    torch.testing.assert_close(found, function(x))
    assert graphs[-1].count("tag_activation_checkpoint(") == 1


log: list[int] = []


def prints(x: Tensor) -> Tensor:
    def block(v: Tensor) -> Tensor:
        print("block")
        return by_numbers(v)

    return checkpoint(block, x, use_reentrant=False)


def appends(x: Tensor) -> Tensor:
    def block(v: Tensor) -> Tensor:
        log.append(1)
        return by_numbers(v)

    return checkpoint(block, x, use_reentrant=False)


def writes(x: Tensor) -> Tensor:
    seen = torch.zeros(1)

    def block(v: Tensor) -> Tensor:
        seen.add_(1)
        return by_numbers(v)

    return checkpoint(block, x, use_reentrant=False) + seen


def writes_whatever_the_data(x: Tensor) -> Tensor:
    seen = torch.zeros(1)

    def block(v: Tensor) -> Tensor:
        seen.add_(1)
        return torch.where(v > 0, v, v * 2)

    return checkpoint(block, x, use_reentrant=False) + seen


def written_behind_whatever_the_data(x: Tensor) -> Tensor:
    v = x * 3
    y = checkpoint(torch.sin, v, use_reentrant=False)
    with torch.no_grad():
        v.mul_(2)
    return y


def written_behind(x: Tensor) -> Tensor:
    v = x * 3
    y = checkpoint(by_numbers, v, use_reentrant=False)
    with torch.no_grad():
        v.mul_(2)
    return y


def draws_again(x: Tensor) -> Tensor:
    return checkpoint(by_numbers, x, use_reentrant=False, preserve_rng_state=False)


def reentrant(x: Tensor) -> Tensor:
    return checkpoint(by_numbers, x, use_reentrant=True)


ALWAYS = [writes_whatever_the_data, written_behind_whatever_the_data]
REFUSED = [prints, appends, writes, written_behind, draws_again, reentrant, *ALWAYS]


@pytest.mark.filterwarnings(FOLLOWED)
@pytest.mark.parametrize("function", REFUSED)
def test_what_the_second_run_would_show_is_refused(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="AG32"):
        torch.compile(convert(function), backend="eager", fullgraph=True)(FIRST.clone().requires_grad_())


def written_after_its_backward(x: Tensor) -> Tensor:
    w = x.detach().clone().requires_grad_()
    checkpoint(by_numbers, w, use_reentrant=False).backward()
    with torch.no_grad():
        w.sub_(w.grad, alpha=0.1)  # type: ignore[arg-type]
    return w.detach()


@pytest.mark.filterwarnings(FOLLOWED)
def test_behind_the_second_run_it_may_be_written_to() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(written_after_its_backward), backend="eager", fullgraph=True)
    for x in (FIRST, OTHER):
        torch.testing.assert_close(compiled(x), written_after_its_backward(x))


@pytest.mark.filterwarnings(FOLLOWED)
@pytest.mark.parametrize("function", [writes, *ALWAYS])
def test_without_gradients_there_is_no_second_run(function: Callable[[Tensor], Tensor]) -> None:
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    with torch.no_grad():
        torch.testing.assert_close(compiled(FIRST), function(FIRST))


@pytest.mark.filterwarnings(FOLLOWED)
def test_without_this_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from autograph_torch.capture import attempts

    monkeypatch.setattr(attempts, "failed_checkpoint", lambda error: None)
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="AG321"):
        torch.compile(convert(once), backend="eager", fullgraph=True)(FIRST)
    assert compiling.ONE_PATH.plain_checkpoints == frozenset()
