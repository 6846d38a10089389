"""Descriptions of runs: what counts as a difference, and that later changes do not show."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from autograph_torch.trial.outcome import Calls, describe, difference


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, True),
        (1, 1.0),
        (1.0, 1.5),
        ([1], (1,)),
        ({"a": 1}, {"b": 1}),
        ("a", "b"),
        (None, 0),
        (torch.ones(2), torch.ones(2).double()),
        (torch.ones(2), torch.ones(2, 1)),
        (torch.ones(2), torch.tensor([1.0, 1.0000001])),
        (torch.ones(()), 1.0),
        ([torch.ones(2)], [torch.zeros(2)]),
        (torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)),
    ],
    ids=str,
)
def test_sees_a_difference(one: Any, other: Any) -> None:
    assert difference(describe(one), describe(other), "result").startswith("result: ")


@pytest.mark.parametrize("value", [float("nan"), torch.tensor([float("nan"), 1.0]), {"a": [1, (None, "x")]}, {3, 1}])
def test_the_same_is_no_difference(value: Any) -> None:
    assert difference(describe(value), describe(value), "result") == ""


def test_a_description_does_not_change_later() -> None:
    value = {"weights": torch.zeros(2), "names": ["a"]}
    before = describe(value)
    value["weights"].add_(1)
    value["names"].append("b")
    assert difference(before, describe({"weights": torch.zeros(2), "names": ["a"]}), "result") == ""
    assert difference(before, describe(value), "result") != ""


def test_calls_note_arguments_as_they_are_at_the_end() -> None:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    def bump(x: torch.Tensor, *, by: int = 1) -> torch.Tensor:
        x += by
        return inner(x)

    with Calls([__file__], frozenset(("bump", "inner"))) as calls:
        bump(torch.ones(2), by=3)
    assert sys.getprofile() is None
    (noted,) = calls.noted  # not the call of `inner`, which is inside
    name, arguments, result = noted
    assert name == ("call", "bump")
    assert difference(describe({"x": torch.full((2,), 4.0), "by": 3}), arguments, "arguments") == ""
    assert difference(describe(torch.full((2,), 8.0)), result, "result") == ""


def test_calls_of_other_files_are_not_noted(tmp_path: Path) -> None:
    with Calls([tmp_path / "other.py"], frozenset(("describe",))) as calls:
        describe(1)
    assert calls.noted == []
