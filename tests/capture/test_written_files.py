"""Functions of files that `autograph-torch convert` has written hold, under torch.compile, all that `convert` gives."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import convert
from autograph_torch.capture import compiling
from autograph_torch.diagnostics import OnePathWarning
from tests.harness import vec
from tests.written import module_of, written_text

TEXT = """
import torch


def one_of_two(x: torch.Tensor, y: torch.Tensor):
    one, other = x * 1.0, y + 0.5
    for i in range(3):
        one = one if (x[i] > 0.1).any() else other
    return one, one is other


def two_boxes(x: torch.Tensor, boxes):
    boxes[0]["n"] += 1
    if x.sum() > 0:
        x = x * boxes[1]["n"]
    return x, boxes[1]["n"]


def of_two_types(x: torch.Tensor, y: torch.Tensor):
    kept = {}
    if x.sum() > 0:
        kept[int(x[0])] = y
    return kept


def raised(x: torch.Tensor, y: torch.Tensor):
    y.add_(1)
    if x.sum() > 0:
        raise ValueError(f"sum {x.sum().item():.1f}")
    return y
"""


def both_modules() -> tuple[ModuleType, ModuleType]:
    """Of the text, and of the file that is written of it."""
    return module_of(TEXT, "plain", "plain.py"), module_of(written_text(TEXT), "changed", "changed.py")


def outcome(function: Callable[..., Any], *args: Any) -> str:
    try:
        return str((function(*args), args))
    except ValueError as error:
        return str((error, args))


def boxes(twice: bool) -> list[dict[str, int]]:
    return [{"n": 1}] * 2 if twice else [{"n": 1}, {"n": 1}]


@pytest.mark.parametrize("name", ["one_of_two", "two_boxes", "of_two_types", "raised"])
def test_as_eager(name: str) -> None:
    plain, changed = both_modules()
    torch._dynamo.reset()
    compiled = torch.compile(getattr(changed, name), fullgraph=True, backend="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePathWarning)
        for x in vec(1, 2, 3), vec(-1, -2, -3), vec(3, 2, 1):

            def arguments(x: Tensor = x) -> tuple[Any, ...]:
                return x.clone(), boxes(bool(x[0] < 0)) if name == "two_boxes" else vec(0, 0, 0)

            assert outcome(compiled, *arguments()) == outcome(getattr(plain, name), *arguments())


@pytest.mark.parametrize("by_file", [True, False])
@pytest.mark.parametrize("fullgraph", [True, False])
def test_called_by_what_is_not_converted(fullgraph: bool, by_file: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, changed = both_modules()
    monkeypatch.setitem(sys.modules, "changed", changed)
    monkeypatch.setitem(sys.modules, "plain", plain)
    chosen = changed.one_of_two if by_file else convert(plain.one_of_two)

    def around(x: Tensor, y: Tensor) -> Any:
        one, is_other = chosen(x, y)
        return one + 1, is_other

    torch._dynamo.reset()
    compiled = torch.compile(around, fullgraph=fullgraph, backend="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for x in vec(1, 2, 3), vec(-1, -2, -3), vec(3, 2, 1):
            one, is_other = plain.one_of_two(x, vec(0, 0, 0))
            assert outcome(compiled, x, vec(0, 0, 0)) == str(((one + 1, is_other), (x, vec(0, 0, 0))))


def test_what_comes_to_nothing_runs_in_python() -> None:
    plain, changed = both_modules()
    torch._dynamo.reset()
    compiled = torch.compile(changed.one_of_two, backend="eager")
    x, y = vec(1, 2, 3), vec(0, 0, 0)
    with pytest.warns(RuntimeWarning, match="calls run in Python, because of\n.*AG314"):
        found = compiled(x, y)
    assert outcome(lambda: found) == outcome(lambda: plain.one_of_two(x, y))


def test_functions_of_written_files_are_known_before_they_are_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "meeting", None)
    _, changed = both_modules()
    torch._dynamo.reset()
    compiled = torch.compile(changed.two_boxes, fullgraph=True, backend="eager")
    assert compiled(vec(1, 2, 3), boxes(False))[0].tolist() == [1.0, 2.0, 3.0]


def test_functions_that_come_to_none_are_left_to_dynamo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "_traced", None)
    torch._dynamo.reset()
    assert torch.compile(lambda x: x + 1, fullgraph=True, backend="eager")(vec(1)).item() == 2
