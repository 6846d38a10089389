"""What prints, log calls, checks and `loss.item()` cost: eager, torch.compile with graph breaks, and @autograph.

    python benchmarks/effects.py [--rounds 25]

The forms take turns in one process; a figure is the median over the rounds of CPU time (on CUDA, of wall time). What is
printed and logged goes nowhere. On a machine with CUDA synchronisations are counted as torch reports them.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

from autograph_torch import autograph, explain

SAMPLE_SECONDS = 0.02  # one sample repeats its calls for about this long
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
logger = logging.getLogger("benchmark")


class PrintPerLayer(nn.Module):
    """A model that tells the mean of every activation."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for index, layer in enumerate(self.layers):
            x = torch.tanh(layer(x))
            print(f"layer {index}: mean {x.mean().item():.4f}")
        return x


class LoggedLoss(nn.Module):
    """The forward pass of a training step that logs its loss and gives it as a number, too."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.model = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x: Tensor) -> tuple[Tensor, float]:
        scale = x.detach().abs().max().item()
        loss = self.model(x / scale).pow(2).mean()
        logger.info("loss %.4f", loss.item())
        return loss, loss.item()


class Validated(nn.Module):
    """A function that checks its argument three times before it does its work."""

    def forward(self, x: Tensor) -> Tensor:
        if x.isnan().any():
            raise ValueError("x has NaN")
        if x.min() < 0:
            raise ValueError(f"x must not be negative, its lowest value is {x.min().item():.3f}")
        if x.max() > 1e6:
            raise OverflowError(f"x is too large: {x.max().item():.3f}")
        return (x + 1).log().cumsum(-1).softmax(-1)


@dataclass(frozen=True)
class Workload:
    """A module, its input, and whether a call is followed by a backward pass."""

    name: str
    module: nn.Module
    x: Tensor
    trains: bool = False

    def call(self, function: Callable[..., Any]) -> Callable[[], Any]:
        def step() -> Any:
            result = function(self.x)
            if self.trains:
                result[0].backward()
                self.module.zero_grad(set_to_none=True)
            return result

        return step


def workloads() -> tuple[Workload, ...]:
    torch.manual_seed(0)
    x = torch.rand(256, 256, device=DEVICE)
    return (
        Workload("print per layer", PrintPerLayer(256, 6).to(DEVICE).requires_grad_(False), x),
        Workload("loss.item() logged", LoggedLoss(256).to(DEVICE), x, trains=True),
        Workload("three checks", Validated(), x),
    )


def forms(module: nn.Module) -> dict[str, Callable[..., Any]]:
    return {"eager": module, "with breaks": torch.compile(module), "@autograph": autograph(module)}


def measured(workload: Workload, ready: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Per form the median time of a call in seconds."""
    calls = max(1, int(SAMPLE_SECONDS / sample(ready["eager"], 3)))
    samples: dict[str, list[float]] = {name: [] for name in ready}
    with torch.compiler.set_stance("fail_on_recompile"):
        for _ in range(rounds):
            for name, step in ready.items():
                samples[name].append(sample(step, calls))
    return {name: statistics.median(taken) for name, taken in samples.items()}


def sample(step: Callable[[], Any], calls: int) -> float:
    clock = time.perf_counter if DEVICE == "cuda" else time.process_time
    start = clock()
    for _ in range(calls):
        step()
    if DEVICE == "cuda":
        torch.cuda.synchronize()
    return (clock() - start) / calls


def synchronisations(step: Callable[[], Any]) -> int:
    """How often a call waits for the device, as CUDA's debug mode tells."""
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            step()
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(one.message) for one in caught)


@contextlib.contextmanager
def nowhere() -> Iterator[None]:
    """Prints and log records are formatted, and thrown away."""
    with open(os.devnull, "w") as sink, contextlib.redirect_stdout(sink):
        handler = logging.StreamHandler(sink)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(handler)


def row(workload: Workload, rounds: int) -> list[str]:
    """The figures of one workload, as text."""
    torch._dynamo.reset()
    ready = {name: workload.call(form) for name, form in forms(workload.module).items()}
    for step in ready.values():
        for _ in range(4):
            step()
    seconds = measured(workload, ready, rounds)
    waits = [str(synchronisations(step)) for step in ready.values()] if DEVICE == "cuda" else []
    told = explain(workload.module, workload.x)
    counted = waits or [str(told.waits_before), "", str(told.waits_after)]
    eager = seconds["eager"]
    return [
        workload.name,
        f"{eager * 1e6:.0f}",
        *(f"{eager / seconds[name]:.2f}" for name in ("with breaks", "@autograph")),
        f"{told.graphs_before} / {told.graphs_after}",
        " / ".join(count for count in counted if count),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    waits = "host waits, eager / breaks / @autograph" if DEVICE == "cuda" else "host waits, before / after"
    table = Table("workload", "eager, us", "with breaks", "@autograph", "graphs, breaks / @autograph", waits)
    for workload in workloads():
        with nowhere():
            cells = row(workload, rounds)
        table.add_row(*cells)
    Console().print(table)


if __name__ == "__main__":
    main()
