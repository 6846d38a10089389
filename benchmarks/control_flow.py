"""How fast control flow on data is: @autograph against eager, torch.compile with graph breaks, and code by hand.

    python benchmarks/control_flow.py [--large] [--rounds 25] [--device cuda]

All forms of a workload are measured in turn in one process, so that noise hits them alike. A figure is the median over
the rounds of the CPU time of one thread; on CUDA, of the time until the device is done. Everything is compiled and run
before the clock starts, and a recompilation while it runs is an error.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch._inductor.exc import InductorError
from torch._inductor.utils import fresh_cache
from workloads import Inputs, Workload, workloads

from autograph_torch import autograph

SAMPLE_SECONDS = 0.02  # one sample repeats its calls for about this long


@dataclass(frozen=True)
class Form:
    """One way to run a workload, ready to be measured."""

    function: Callable[..., Any]
    first_call_seconds: float


@dataclass(frozen=True)
class Figures:
    """Per form the median time of a call in seconds, and how far the middle half of the samples spreads around it."""

    seconds: dict[str, float]
    spread: float


def warmed_up(workload: Workload) -> dict[str, Form]:
    """Every form, compiled, checked against eager on all inputs, and run often enough to have settled.

    Code by hand that torch cannot compile (early exit on CUDA with torch 2.11) is left out.
    """
    torch._dynamo.reset()
    forms = {
        "eager": workload.plain,
        "with breaks": torch.compile(workload.plain, dynamic=False),
        "by hand": torch.compile(workload.by_hand, fullgraph=True, dynamic=False),
        "@autograph": autograph(workload.plain, dynamic=False),
    }
    ready = {}
    for name, function in forms.items():
        start = time.perf_counter()
        try:
            with fresh_cache():  # what another form has compiled must not make this one's first calls faster
                results = [function(*inputs) for inputs in workload.inputs]
        except InductorError:
            if name != "by hand":
                raise
            continue
        ready[name] = Form(function, time.perf_counter() - start)
        expected = [workload.plain(*inputs) for inputs in workload.inputs]
        torch.testing.assert_close(results, expected, rtol=1e-3, atol=1e-3)
        for inputs in workload.inputs * 2:
            function(*inputs)
    return ready


def measured(workload: Workload, forms: dict[str, Form], rounds: int) -> Figures:
    calls = max(1, int(SAMPLE_SECONDS / sample(forms["eager"].function, workload.inputs, 3)))
    samples: dict[str, list[float]] = {name: [] for name in forms}
    with torch.compiler.set_stance("fail_on_recompile"):
        for _ in range(rounds):
            for name, form in forms.items():
                samples[name].append(sample(form.function, workload.inputs, calls))
    medians = {name: statistics.median(taken) for name, taken in samples.items()}
    return Figures(medians, max(spread(taken) for taken in samples.values()))


def sample(function: Callable[..., Any], inputs: tuple[Inputs, ...], calls: int) -> float:
    """Seconds of one call, averaged over the inputs and some calls: CPU time of this thread, or time on CUDA."""
    on_cuda = inputs[0][0].is_cuda
    clock = time.perf_counter if on_cuda else time.thread_time
    start = clock()
    for _ in range(calls):
        for arguments in inputs:
            function(*arguments)
    if on_cuda:
        torch.cuda.synchronize()
    return (clock() - start) / (calls * len(inputs))


def spread(samples: list[float]) -> float:
    low, middle, high = statistics.quantiles(samples, n=4)
    return (high - low) / middle


def row(workload: Workload, forms: dict[str, Form], figures: Figures) -> list[str]:
    seconds, eager = figures.seconds, figures.seconds["eager"]
    compiled = ("with breaks", "by hand", "@autograph")
    ratios = [f"{eager / seconds[name]:.2f}" if name in seconds else "-" for name in compiled]
    against_hand = f"{seconds['by hand'] / seconds['@autograph']:.2f}" if "by hand" in seconds else "-"
    first = " / ".join(f"{forms[name].first_call_seconds:.1f}" if name in forms else "-" for name in compiled)
    return [workload.name, f"{eager * 1e6:.0f}", *ratios, against_hand, first, f"{figures.spread:.0%}"]


def main() -> None:
    parser = argparse.ArgumentParser(description="Ratios of the speed of control flow on data.")
    parser.add_argument("--large", action="store_true", help="large inputs: arithmetic instead of overhead")
    parser.add_argument("--rounds", type=int, default=25, help="samples of each form (default: %(default)s)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    console = Console(width=None if Console().is_terminal else 130)
    size = "large" if options.large else "small"
    where = f"{size} inputs on {options.device}, torch {torch.__version__}"
    table = Table(title=f"{where}, {options.rounds} rounds; ratios: more is faster")
    table.add_column("workload")
    columns = ("eager, us", "with breaks", "by hand", "@autograph", "@autograph : by hand", "first calls, s", "spread")
    for column in columns:
        table.add_column(column, justify="right")
    torch.compile(torch.neg)(torch.ones(2))  # loads the compiler: that is no workload's first call
    with torch.no_grad():
        for workload in workloads(options.large, options.device):
            forms = warmed_up(workload)
            table.add_row(*row(workload, forms, measured(workload, forms, options.rounds)))
    console.print(table)


if __name__ == "__main__":
    main()
