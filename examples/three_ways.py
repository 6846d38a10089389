"""The ways torch has to turn Python into a graph, and @autograph, on functions whose control flow depends on data.

The functions come from articles about graph capture in PyTorch. Each runs on two inputs that take different sides of
it; every way is compared with eager, its results and what it prints. Below the table is the diff of one function.

    python examples/three_ways.py          # `make demo` runs it
    AUTOGRAPH_EXAMPLE_BACKEND=eager python examples/three_ways.py
"""

from __future__ import annotations

import contextlib
import difflib
import inspect
import io
import logging
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from torch import nn

from autograph_torch import autograph
from autograph_torch.pipeline import convert_source

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")
LEGEND = (
    "2/1: 2 graphs since the first input, 1 graph break in this call\n"
    "no text, other text: the result is right, what is printed is not; refused: an error instead of a result"
)


def func(x: torch.Tensor):
    all_pos = torch.all(x >= 0)
    if all_pos:
        return x + 10
    else:
        return x - 10


def f1(x, y):
    if x.sum() < 0:
        return -y
    return y


def bar(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


class PrintInForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(128, 128)

    def forward(self, x):
        x = self.linear(x)
        print(f"Shape: {x.shape}")
        return x.relu()


class IfBetweenConvolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3)
        self.conv2 = nn.Conv2d(64, 128, 3)

    def forward(self, x):
        x = self.conv1(x)
        if x.max() > 0.5:
            x = x * 2
        x = self.conv2(x)
        return x


class PathAOrPathB(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 8, bias=False)
        self.path_a = nn.Linear(8, 8)
        self.path_b = nn.Linear(8, 8)

    def forward(self, x):
        x = self.encoder(x)
        if x.mean() > 0:
            x = self.path_a(x)
        else:
            x = self.path_b(x)
        return x


class ScaleByItem(nn.Module):
    def __init__(self):
        super().__init__()
        self.process = nn.Linear(8, 8)

    def forward(self, x, mask):
        x = self.process(x)
        num_valid = mask.sum().item()
        scale = 1.0 / num_valid
        x = x * scale
        return x


@dataclass(frozen=True)
class Case:
    """A function or model, and two inputs that take different sides of it."""

    name: str
    subject: Callable[..., Any]
    inputs: dict[str, tuple[torch.Tensor, ...]]


def cases() -> list[Case]:
    """The functions above with their inputs, always with the same numbers."""
    torch.manual_seed(0)
    a, b, x, image = torch.rand(10), torch.rand(10), torch.randn(4, 8), torch.randn(1, 3, 32, 32)
    valid = torch.tensor([True, True, False, True])
    return [
        Case("func", func, {"positive": (torch.tensor([1, 2, 3]),), "negative": (torch.tensor([-1, -2, -3]),)}),
        Case("f1", f1, {"sum > 0": (a, b), "sum < 0": (-a, b)}),
        Case("bar", bar, {"sum > 0": (a, b), "sum < 0": (a, -b)}),
        Case("PrintInForward", PrintInForward(), {"first": (torch.randn(32, 128),), "second": (torch.randn(32, 128),)}),
        Case("IfBetweenConvolutions", IfBetweenConvolutions(), {"max > 0.5": (image,), "max < 0.5": (image * 0,)}),
        Case("PathAOrPathB", PathAOrPathB(), {"one mean": (x,), "its negative": (-x,)}),
        Case("ScaleByItem", ScaleByItem(), {"3 valid": (x, valid), "1 valid": (x, ~valid)}),
    ]


class Counting:
    """A backend of torch.compile that counts the graphs that it is given."""

    def __init__(self, backend: str) -> None:
        self.graphs = 0
        self._compile = torch._dynamo.lookup_backend(backend)

    def __call__(self, graph: torch.fx.GraphModule, example_inputs: list[Any]) -> Callable[..., Any]:
        self.graphs += 1
        return self._compile(graph, example_inputs)


WAYS: dict[str, Callable[[Case, Counting], Callable[..., Any]]] = {
    "eager": lambda case, backend: case.subject,
    "jit.trace": lambda case, backend: torch.jit.trace(case.subject, next(iter(case.inputs.values()))),
    "jit.script": lambda case, backend: torch.jit.script(case.subject),
    "fx": lambda case, backend: torch.fx.symbolic_trace(case.subject),
    "compile": lambda case, backend: torch.compile(case.subject, backend=backend),
    "fullgraph": lambda case, backend: torch.compile(case.subject, backend=backend, fullgraph=True),
    "@autograph": lambda case, backend: autograph(case.subject, backend=backend),
}


@dataclass(frozen=True)
class Outcome:
    """How one way did on one input."""

    word: str
    graphs: int = 0
    breaks: int = 0

    def __str__(self) -> str:
        colour = "red" if self.word != "right" else "yellow" if self.breaks else "green"
        counts = f" {self.graphs}/{self.breaks}" if self.graphs and self.word != "refused" else ""
        return f"[{colour}]{self.word}{counts}[/]"


def outcomes(case: Case, name: str) -> list[Outcome]:
    """Capture once, run on both inputs, compare with eager."""
    torch._dynamo.reset()
    backend = Counting(BACKEND)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            captured = WAYS[name](case, backend)
    except Exception:
        return [Outcome("refused")] * len(case.inputs)
    words = [(compared(case.subject, captured, inputs), backend.graphs) for inputs in case.inputs.values()]
    breaks = graph_breaks(case) if name == "compile" else [0] * len(words)  # the others allow none
    return [Outcome(word, graphs, count) for (word, graphs), count in zip(words, breaks, strict=True)]


def compared(subject: Any, captured: Any, inputs: tuple[torch.Tensor, ...]) -> str:
    expected, expected_text = observed(subject, inputs)
    try:
        actual, text = observed(captured, inputs)
    except Exception:
        return "refused"
    if expected.dtype != actual.dtype or not torch.allclose(expected, actual, rtol=1e-4, atol=1e-5):
        return "WRONG"
    return "right" if text == expected_text else "other text" if text else "no text"


def graph_breaks(case: Case) -> list[int]:
    """How often torch.compile leaves its graphs, for each input, as torch itself explains it."""
    explain = torch._dynamo.explain(case.subject)
    with contextlib.redirect_stdout(io.StringIO()):
        return [len(explain(*inputs).break_reasons) for inputs in case.inputs.values()]


def observed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[torch.Tensor, str]:
    """The result of a call, and what it prints."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        result = function(*arguments)
    return result, printed.getvalue()


def show_table(console: Console) -> bool:
    """Print the table; gives whether @autograph is right everywhere, with one graph for both inputs and no break."""
    table = Table("function", "input", *WAYS, title=f"torch {torch.__version__}, backend {BACKEND}", caption=LEGEND)
    all_good = True
    for case in cases():
        columns = {name: outcomes(case, name) for name in WAYS}
        all_good &= columns["@autograph"] == [Outcome("right", 1, 0)] * len(case.inputs)
        for index, label in enumerate(case.inputs):
            cells = [str(column[index]) for column in columns.values()]
            table.add_row("" if index else case.name, label, *cells, end_section=index == len(case.inputs) - 1)
    console.print(table)
    return all_good


def show_diff(console: Console, function: Callable[..., Any]) -> None:
    """Print what `autograph-torch convert` makes of a function in this file."""
    source = "import torch\n\n\n" + inspect.getsource(function)
    output = convert_source(source.encode(), __file__).output.decode()
    name = f"{function.__name__}.py"
    lines = difflib.unified_diff(source.splitlines(), output.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    console.print(Syntax("\n".join(lines), "diff", background_color="default"))


def main() -> int | str:
    warnings.simplefilter("ignore")  # jit.trace warns that its result may be wrong; the table says when it is
    torch._logging.set_logs(dynamo=logging.ERROR)
    console = Console(width=None if sys.stdout.isatty() else 125)
    good = show_table(console)
    show_diff(console, bar)
    return 0 if good else "@autograph is not right, with one graph and no break, everywhere"


if __name__ == "__main__":
    sys.exit(main())
