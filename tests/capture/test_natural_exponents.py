"""Powers of integers whose exponents data tell."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert
from tests.harness import difference, torch_before


def powers(x: torch.Tensor) -> Any:
    k = int(x.sum())
    return 2**k, pow(k, k), x**k, 2.0**k


def waited(x: torch.Tensor) -> Any:
    tries, wait = 0, 0
    while x.norm() > 1 and tries < 5:
        wait += 2**tries
        tries += 1
        x = x / 2
    return x, wait


POWERS = torch_before("2.12", "whether a power is 1 is asked")


@pytest.mark.parametrize("backend", ["eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", [pytest.param(powers, marks=POWERS), waited])
def test_a_power_of_integers_is_an_integer(function: Any, backend: str) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend=backend)
    for x in (torch.tensor([1.0, 3.0]), torch.tensor([0.1, 0.2])):
        assert not difference(function(x), compiled(x), "result")


@POWERS
def test_a_negative_exponent_is_left_to_python_or_refused_when_it_comes() -> None:
    x = torch.tensor([-1.0, -2.0])
    with pytest.raises(CaptureError, match="AG310 a power of integers is a float here"):
        autograph(powers, backend="eager", effects="drop")(x)
    assert autograph(powers, backend="eager")(x)[0] == 0.125
    assert torch.compile(convert(powers), fullgraph=True, backend="eager")(x)[0] == 0.125
