"""Attributes that numbers and texts do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError
from autograph_torch.capture.attributes_of_numbers import attributes_of_numbers
from tests.harness import check_any_graph, compiled, leave_out, program, torch_before, vec

INPUTS = [lambda: (vec(1, 2), 1, 0.5), lambda: (vec(-1, 2), 3, 1.5), lambda: (vec(1, 2), 4, 2.5)]


@program(inputs=INPUTS)
def of_arguments(x, k, rate):
    found = []
    for one in (k, rate, k > 2, "a", None, torch.float32):
        try:
            found.append(one.nope)
        except AttributeError as error:
            found.append(str(error))
        found.append(getattr(one, "nope", 7))
        try:
            found.append(getattr(one, "nope"))  # noqa: B009
        except AttributeError as error:
            found.append(str(error))
    return x * k.real, found, hasattr(k, "nope"), hasattr(k, "real"), rate.is_integer()


@program(inputs=INPUTS)
def of_numbers_that_data_give(x, k, rate):
    n, v = int(x[0]) + k, x.sum().item() + rate
    found = []
    for one in (n, v):
        try:
            found.append(one.nope)
        except AttributeError as error:
            found.append(str(error))
    return x, n, v, found


@program(inputs=INPUTS)
def handled_at_once(x, k, rate):
    try:
        return x, k.nope
    except AttributeError as error:
        return x * rate, str(error)


@pytest.mark.parametrize(
    "tested", [of_arguments, of_numbers_that_data_give, handled_at_once], ids=lambda tested: tested.__name__
)
def test_as_eager(tested: Callable[..., Any]) -> None:
    check_any_graph(tested)


@pytest.mark.parametrize("name", ["name", "obj"])
def test_what_only_python_sets_is_refused(name: str) -> None:
    def program(x: torch.Tensor, k: str) -> Any:
        try:
            return x, k.nope  # type: ignore[attr-defined]
        except AttributeError as error:
            return x, getattr(error, name)

    with pytest.raises(CaptureError, match=f"AG320 the trace does not know the `{name}` of an exception"):
        compiled(program)(vec(1), "a")


@torch_before("2.12", "what needs this is right there")
def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(x: torch.Tensor, name: str) -> Any:
        try:
            return x, getattr(name, "nope")  # noqa: B009
        except AttributeError as error:
            return x, str(error)

    leave_out(monkeypatch, attributes_of_numbers)
    assert compiled(program)(vec(1), "a")[1] == "nope"
