"""What a branch assumes about sizes holds in that branch only, and is checked there."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import autograph

BACKENDS = ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)]
VALUES = torch.tensor([1, 2, 3, 4, 5, 5])


def place(values: torch.Tensor, wanted: torch.Tensor) -> int:
    found = (values == wanted).nonzero()
    if len(found) == 0:
        index = len(values) - 1
    elif len(found) > 1:
        index = found[1].item()
    else:
        index = found[0].item()
    return index


def twice(values: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    """The second `if` asks what the first one's body has assumed."""
    found = (values == wanted).nonzero()[:, 0]
    total = values.sum()
    if len(found) > 1:
        total = total + values[found[1]]
    if len(found) > 1:
        total = total * 2
    return total


def unchecked(values: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
    found = (values == wanted).nonzero()
    if len(found) > 1:
        return found[1]
    return found[0]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [place, twice])
def test_facts_stay_in_their_branch(function: object, backend: str) -> None:
    compiled = autograph(function, backend=backend)
    for wanted in (3, 5, 7):
        arguments = (VALUES, torch.tensor(wanted))
        assert compiled(*arguments) == function(*arguments)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_index_out_of_bounds_raises(backend: str) -> None:
    compiled = autograph(unchecked, backend=backend)
    assert compiled(VALUES, torch.tensor(5)) == 5
    with pytest.raises(IndexError):
        unchecked(VALUES, torch.tensor(7))
    with pytest.raises((RuntimeError, IndexError)):
        compiled(VALUES, torch.tensor(7))
