"""`max` and `min` as Python takes them; what is ambiguous stays so."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import autograph, convert
from autograph_torch.diagnostics import CaptureError


def largest(x: torch.Tensor) -> object:
    return max(x.sum(), 0)


def of_vectors(x: torch.Tensor) -> torch.Tensor:
    return max(x, x * 2)


def test_nan_loses_where_python_lets_it() -> None:
    def pair(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return max(a, b), max(b, a)

    compiled = torch.compile(convert(pair), fullgraph=True, backend="eager")
    first, second = compiled(torch.tensor(1.0), torch.tensor(float("nan")))
    assert first == 1 and second.isnan()


def test_the_number_is_given_where_it_is_the_largest() -> None:
    decorated = autograph(largest, backend="eager")
    assert decorated(torch.ones(2)) == torch.tensor(2.0)
    found = decorated(-torch.ones(2))
    assert type(found) is int and found == 0


def test_vectors_have_no_largest() -> None:
    with pytest.raises(CaptureError, match="the predicate has 2 elements"):
        torch.compile(convert(of_vectors), fullgraph=True, backend="eager")(torch.ones(2))
