"""`explain` counts graphs and breaks on both sides of conversion and says what became of every branch and loop."""

from __future__ import annotations

import dataclasses
import functools
import io
import linecache
from typing import Any

import pytest
import torch
from rich.console import Console

from autograph_torch import CaptureError, autograph, explain
from autograph_torch.capture.explain import Explanation
from tests.harness import from_text


def line_of(text: str) -> int:
    """The line of this file that holds a piece of text (and is the first one that does)."""
    return next(number for number, line in enumerate(linecache.getlines(__file__), 1) if text in line)


def site(explanation: Explanation, construct: str, text: str) -> Any:
    """The one site of a construct on the line that holds `text`."""
    line = line_of(text)
    found = [s for s in explanation.sites if (s.file, s.line, s.construct) == (__file__, line, construct)]
    assert len(found) == 1, (construct, line, explanation.sites)
    return found[0]


def branch(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:  # branch
        return x + 1
    return x - 1


def helper(x: torch.Tensor) -> torch.Tensor:
    if x.max() > 5:  # helper
        x = x / 2
    return x


def every_construct(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:
    x = helper(x)
    y = x + 1 if x.min() < 0 else x - 1  # ternary on a tensor
    z = y * scale if scale > 1 else y  # ternary on a number
    if scale > 1:  # if on a number
        z = z + 1
    for i in range(3):  # unrolled
        z = z + i
    while z.sum() > 10:  # while on a tensor
        z = z / 2
    return z


class Counting(torch.nn.Module):
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        y = self.linear(x)
        if y.sum() > 0:  # forward
            y = y * 2
        return y

    def method(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # method
            return self.linear(x)
        return x


class Callable:
    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # callable object
            return x
        return -x


X = torch.tensor([1.0, 2.0])


def test_counts_before_and_after() -> None:
    found = explain(branch, X)
    assert (found.graphs_before, found.breaks_before) == (2, 1)
    assert (found.graphs_after, found.breaks_after, found.error) == (1, 0, None)
    assert len(found.break_reasons) == 1
    assert f"test_explain.py:{line_of('# branch')}" in found.break_reasons[0]


def test_every_construct_says_what_it_became() -> None:
    found = explain(every_construct, X)
    assert site(found, "ternary", "# ternary on a tensor").outcome == "torch.cond"
    assert site(found, "ternary", "# ternary on a number").outcome == "Python (decided while tracing)"
    assert site(found, "if", "# if on a number").outcome == "Python (decided while tracing)"
    assert site(found, "for", "# unrolled").outcome == "unrolled"
    assert site(found, "while", "# while on a tensor").outcome == "torch.while_loop"
    assert len(found.sites) == 6


def test_sites_of_functions_converted_when_reached() -> None:
    assert site(explain(every_construct, X), "if", "# helper").outcome == "torch.cond"


def test_predicates() -> None:
    def on_kinds(x: torch.Tensor, flag: bool) -> torch.Tensor:
        n = x.sum().item()
        if n > 3:  # number
            x = x + 1
        if x.any():  # tensor
            x = x + 2
        if flag:  # flag
            x = x + 3
        return x

    found = explain(on_kinds, X, True)
    assert site(found, "if", "# number").predicate == "number from data"
    assert site(found, "if", "# tensor").predicate == "tensor"
    assert site(found, "if", "# flag").predicate == "Python value"


def test_sites_are_in_the_order_of_the_source() -> None:
    lines = [s.line for s in explain(every_construct, X).sites if s.line > line_of("def every_construct")]
    assert lines == sorted(lines)


def test_what_is_left_alone_says_why() -> None:
    def yields(x: torch.Tensor) -> torch.Tensor:
        def parts() -> Any:
            if x.sum() > 0:  # yields
                yield x
            yield -x

        return sum(parts())

    found = explain(yields, X)
    left = site(found, "if", "# yields")
    assert left.outcome == "left alone"
    assert "AG201" in left.reason and "yields" in left.reason
    assert found.graphs_after == 0


@pytest.mark.parametrize(
    ("read", "outcome"),
    [
        ("x.sum().item()", "moved"),
        ("float(x.sum())", "moved"),
        ("int(x.argmax())", "moved"),
        ("bool(x.sum() > 0)", "moved"),
        ("(x.sum() > 0).item()", "moved"),
        ("x.tolist()", "moved"),
        ("x * x.sum().item()", "vanished"),
        ("x[: int(x.argmax())]", "stayed"),
        ("torch.zeros(x.argmax().item())", "stayed"),
        ("1 / x.sum().item()", "stayed"),
    ],
)
def test_every_form_of_reading_a_number(read: str, outcome: str) -> None:
    function = from_text(f"def read(x):\n    return {read}\n", "read", f"<reading {read}>")
    explanation = explain(function, torch.tensor([1.0, 2.0]))
    assert [site.outcome for site in explanation.sites] == [outcome]


def test_failed_capture_is_its_error() -> None:
    def widened(x: torch.Tensor) -> torch.Tensor:
        while x.sum() < 9:
            x = x.double() + 1 if x.sum() > 5 else x + 1
        return x

    found = explain(widened, X)
    assert isinstance(found.error, CaptureError)
    assert (found.graphs_after, found.breaks_after) == (0, 0)
    assert (found.graphs_before, found.breaks_before) == (1, 1)
    assert "AG310" in str(found) and "not captured" in str(found)


def test_module_and_its_buffers_stay_as_they_are() -> None:
    model = Counting()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    found = explain(model, X)
    assert (found.graphs_after, found.error) == (1, None)
    assert site(found, "if", "# forward").outcome == "torch.cond"
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_arguments_stay_as_they_are() -> None:
    def writes(x: torch.Tensor, log: list[torch.Tensor]) -> torch.Tensor:
        log.append(x)
        return x.add_(1)

    x, log = X.clone(), []  # type: ignore[var-annotated]
    found = explain(writes, x, log)
    assert found.error is None
    assert torch.equal(x, X) and log == []


def test_arguments_that_are_no_leaves() -> None:
    weight = torch.ones(2, requires_grad=True)
    found = explain(branch, weight * 2)
    assert (found.graphs_before, found.graphs_after) == (2, 1)
    assert weight.grad is None


def test_the_program_runs_once() -> None:
    calls = []

    def effect(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x + 1

    explain(effect, X)
    assert calls == [1]


@pytest.mark.parametrize(
    ("target", "text"),
    [
        (Counting().method, "# method"),
        (functools.partial(branch), "# branch"),
        (Callable(), "# callable object"),
        (autograph(branch), "# branch"),
        (autograph(Counting()), "# forward"),
        (autograph(Counting().method), "# method"),
    ],
    ids=["method", "partial", "callable object", "decorated function", "decorated module", "decorated method"],
)
def test_targets(target: Any, text: str) -> None:
    found = explain(target, X)
    assert found.error is None
    assert (found.breaks_before, found.graphs_after, found.breaks_after) == (1, 1, 0)
    assert site(found, "if", text).outcome == "torch.cond"


def test_decorated_class() -> None:
    found = explain(autograph(Counting)(), X)
    assert (found.breaks_before, found.graphs_after) == (1, 1)


def test_prints_as_a_table_without_colour() -> None:
    text = str(explain(every_construct, X))
    assert "\x1b" not in text
    assert all(len(line) <= 120 for line in text.splitlines())
    for word in ("torch.compile", "autograph", "every_construct", "torch.while_loop", "unrolled", "test_explain.py:"):
        assert word in text


def test_rich_prints_it_too() -> None:
    page = io.StringIO()
    Console(file=page, width=100).print(explain(branch, X))
    assert "torch.cond" in page.getvalue()


def test_is_frozen() -> None:
    found = explain(branch, X)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.graphs_after = 2  # type: ignore[misc]


def test_nothing_to_capture() -> None:
    found = explain(lambda x: 1, X)
    assert (found.graphs_before, found.breaks_before, found.graphs_after, found.error) == (0, 0, 0, None)


def test_errors_of_the_program_itself_pass() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        explain(branch)
