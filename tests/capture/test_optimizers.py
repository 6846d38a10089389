"""The steps of optimizers are part of the graph that computes the gradients: parameters and state are eager's."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._dynamo.symbolic_convert import InliningInstructionTranslator
from torch._dynamo.variables.builder import VariableBuilder
from torch.optim import Optimizer

from autograph_torch import CaptureError, OnePathWarning, convert
from autograph_torch.capture import compiling, optimizers
from tests.harness import torch_before, vec

Step = Callable[[nn.Module, Optimizer, Tensor, Tensor], Any]
MAKERS: dict[str, Callable[..., Optimizer]] = {
    "sgd": partial(torch.optim.SGD, lr=0.1),
    "momentum": partial(torch.optim.SGD, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "foreach": partial(torch.optim.SGD, lr=0.1, momentum=0.9, foreach=True),
    "adam": partial(torch.optim.Adam, lr=0.01),
    "amsgrad": partial(torch.optim.Adam, lr=0.01, amsgrad=True, weight_decay=0.1),
    "adamw": partial(torch.optim.AdamW, lr=0.01, foreach=True),
    "rmsprop": partial(torch.optim.RMSprop, momentum=0.9, centered=True),
    "adagrad": torch.optim.Adagrad,
    "adadelta": torch.optim.Adadelta,
    "radam": partial(torch.optim.RAdam, lr=0.01),
    "nadam": partial(torch.optim.NAdam, lr=0.01),
    "adamax": partial(torch.optim.Adamax, lr=0.01),
    "rprop": torch.optim.Rprop,
    "asgd": torch.optim.ASGD,
    "adafactor": torch.optim.Adafactor,
}


def plain(model: nn.Module, optimizer: Optimizer, x: Tensor, y: Tensor) -> Tensor:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


def clipped_and_printed(model: nn.Module, optimizer: Optimizer, x: Tensor, y: Tensor) -> tuple[float, Tensor]:
    loss = F.mse_loss(model(x), y)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    if norm > 1:
        print("clipped", norm.item())
    optimizer.step()
    optimizer.zero_grad()
    return loss.item(), norm


def several(model: nn.Module, optimizer: Optimizer, x: Tensor, y: Tensor) -> Tensor:
    losses = []
    for _ in range(3):
        optimizer.zero_grad(set_to_none=False)
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def skipped_if_not_finite(model: nn.Module, optimizer: Optimizer, x: Tensor, y: Tensor) -> Tensor:
    optimizer.zero_grad()
    loss = F.mse_loss(model(x), y)
    if loss.isfinite():
        loss.backward()
        optimizer.step()
    return loss.detach()


def rolled_back(model: nn.Module, optimizer: Optimizer, x: Tensor, y: Tensor) -> tuple[bool, Tensor]:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    first = plain(model, optimizer, x, y)
    with torch.no_grad():
        worse = F.mse_loss(model(x), y) > first * 0.99
    if worse:
        model.load_state_dict(before)
    return bool(worse), first


def trained(
    make: Callable[..., Optimizer], step: Step, scales: tuple[float, ...] = (1, 1, 2)
) -> tuple[list[Any], list[str]]:
    """What every step gives, and what it leaves behind; the settings of the optimizer."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    optimizer = make(list(model.parameters()))
    x, y = torch.randn(4, 3), torch.randn(4, 1)
    seen: list[Any] = []
    settings: list[str] = []
    for scale in scales:
        result = step(model, optimizer, x, y * scale)
        gradients = [None if p.grad is None else p.grad.clone() for p in model.parameters()]
        state = copy.deepcopy(optimizer.state_dict())
        seen.append((result, [p.detach().clone() for p in model.parameters()], gradients, state["state"]))
        settings.append(repr(state["param_groups"]))
    return seen, settings


def check(make: Callable[..., Optimizer], step: Step, backend: str = "eager", **how: Any) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(step), backend=backend, fullgraph=True)
    (found, settings), (expected, those) = trained(make, compiled, **how), trained(make, step, **how)
    last_bit = {"rtol": 3e-7, "atol": 1e-8} if backend == "eager" else {}
    torch.testing.assert_close(found, expected, equal_nan=True, **last_bit)
    assert settings == those


@pytest.mark.parametrize("name", MAKERS)
def test_every_optimizer(name: str) -> None:
    check(MAKERS[name], plain)


ROLLED_BACK = pytest.param(rolled_back, marks=torch_before("2.12", "a state_dict, which has an attribute, is refused"))


@pytest.mark.parametrize("step", [clipped_and_printed, several, ROLLED_BACK])
@pytest.mark.parametrize("name", ["momentum", "adam"])
def test_steps_of_other_forms(name: str, step: Step) -> None:
    check(MAKERS[name], step)


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["momentum", "adam", "adamw", "radam"])
def test_backends_that_compile(name: str, backend: str) -> None:
    check(MAKERS[name], plain, backend)


def test_a_step_under_a_test_is_for_one_path() -> None:
    with pytest.raises(CaptureError):
        check(MAKERS["momentum"], skipped_if_not_finite)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePathWarning)
        check(MAKERS["momentum"], skipped_if_not_finite, scales=(1, float("inf"), 1))


def made_inside(x: Tensor) -> tuple[Tensor, Any]:
    w = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        ((w - x) ** 2).sum().backward()
        optimizer.step()
    return w.detach(), optimizer.state[w]["step"]


def with_a_closure(x: Tensor) -> tuple[Tensor, int]:
    w = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], max_iter=3)
    calls = 0

    def closure() -> Tensor:
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        loss = ((w - x) ** 4).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return w.detach(), calls


@pytest.mark.parametrize("function", [made_inside, with_a_closure])
def test_optimizers_that_the_function_makes(function: Callable[[Tensor], Any]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePathWarning)
        for x in (torch.tensor([1.0, -2.0]), torch.tensor([0.5, 0.25])):
            torch.testing.assert_close(compiled(x), function(x))


class Signed(Optimizer):
    """An optimizer of somebody else."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])


def test_optimizers_of_others() -> None:
    check(lambda parameters: Signed(parameters, {"lr": 0.1}), plain)


def scheduled(optimizer: Optimizer, scheduler: Any, x: Tensor) -> tuple[list[float], bool]:
    for _ in range(2):
        optimizer.zero_grad()
        (optimizer.param_groups[0]["params"][0] * x).sum().backward()
        optimizer.step()
        scheduler.step()
    optimizer.seen = x * 2  # type: ignore[attr-defined]
    return scheduler.get_last_lr(), optimizer.param_groups[0]["lr"] < 0.04


@torch_before("2.12", "`function.__get__`, which schedules use, is not known")
@pytest.mark.filterwarnings("error:Detected call of")
def test_schedules_and_attributes() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(scheduled), backend="eager", fullgraph=True)
    seen = []
    for function in (compiled, scheduled):
        w = torch.ones(2, requires_grad=True)
        optimizer = torch.optim.Adam([w], lr=0.1)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
        results = [function(optimizer, scheduler, vec(1, k)) for k in range(3)]
        seen.append((results, w.detach(), optimizer.seen, scheduler.last_epoch))  # type: ignore[attr-defined]
    torch.testing.assert_close(*seen, rtol=0, atol=0)


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(repair for repair in compiling._REPAIRS if repair is not optimizers.optimizers)
    monkeypatch.setattr(compiling, "_REPAIRS", others)
    with pytest.raises(CaptureError, match="torch.compiler.disable"):
        check(MAKERS["sgd"], several)


def test_names_of_the_tracer() -> None:
    assert {"_wrap", "wrap_user_defined"} <= vars(VariableBuilder).keys(), "see capture/optimizers.py"
    assert list(inspect.signature(InliningInstructionTranslator.inline_call).parameters)[:2] == ["parent", "func"]
    assert Optimizer.zero_grad.__wrapped__.__code__.co_filename.endswith("optimizer.py")
    assert {"_get_value", "_stack_if_compiling"} <= vars(inspect.getmodule(Optimizer)).keys()
    assert {"_single_tensor_adam", "_multi_tensor_adam"} <= vars(inspect.getmodule(torch.optim.Adam)).keys()
    assert Optimizer._patch_step_function.__code__ is optimizers._HOOKS
