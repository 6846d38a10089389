"""How fast a whole training step is: @autograph, which has one graph of it, against eager and graph breaks.

    python benchmarks/training_step.py [--width 64] [--rounds 25]

The step is that of examples/training_step.py: loss, gradients, a test of their norm, Adam. The forms take turns in one
process, each with a model of its own; a figure is the median over the rounds of the CPU time of one thread.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import nn

from autograph_torch import autograph

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from training_step import step

_CALLS = 20  # of one sample


def bound(function: Callable[..., Any], model: nn.Module) -> Callable[[], Any]:
    """Steps with a model and an optimizer of their own, whose gradients are never clipped: nothing is printed."""
    model = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    width = next(model.parameters()).shape[1]
    x = torch.randn(32, width, generator=torch.Generator().manual_seed(0))
    y = 0.01 * x.sum(1, keepdim=True)
    return lambda: function(model, optimizer, x, y)


def sample(run: Callable[[], Any]) -> float:
    start = time.thread_time()
    for _ in range(_CALLS):
        run()
    return (time.thread_time() - start) / _CALLS


def main() -> None:
    parser = argparse.ArgumentParser(description="Ratios of the speed of a training step.")
    parser.add_argument("--width", type=int, default=64, help="of the layers (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=25, help="samples of each form (default: %(default)s)")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    width = options.width
    model = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
    functions = {"eager": step, "with breaks": torch.compile(step), "@autograph": autograph(step)}
    forms = {name: bound(function, model) for name, function in functions.items()}
    first, losses = {}, {}
    for name, run in forms.items():
        start = time.perf_counter()
        losses[name] = [run()[0] for _ in range(5)]
        first[name] = time.perf_counter() - start
    for found in losses.values():
        torch.testing.assert_close(found, losses["eager"], rtol=1e-3, atol=1e-3)
    samples: dict[str, list[float]] = {name: [] for name in forms}
    with torch.compiler.set_stance("fail_on_recompile"):
        for _ in range(options.rounds):
            for name, run in forms.items():
                samples[name].append(sample(run))
    seconds = {name: statistics.median(taken) for name, taken in samples.items()}
    table = Table(title=f"width {width}, torch {torch.__version__}, {options.rounds} rounds; ratio: more is faster")
    for column in ("form", "step, us", "eager : form", "first five, s"):
        table.add_column(column)
    for name in forms:
        ratio = seconds["eager"] / seconds[name]
        table.add_row(name, f"{seconds[name] * 1e6:.0f}", f"{ratio:.2f}", f"{first[name]:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
