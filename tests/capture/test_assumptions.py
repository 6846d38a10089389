"""What a branch assumes about sizes holds in that branch only, and is checked there."""

from __future__ import annotations

import pytest
import torch

from autograph_torch import autograph, convert

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


def equal_sizes(values: torch.Tensor, wanted: torch.Tensor) -> tuple[torch.Tensor, int, torch.Tensor]:
    """The size is asked for before the body that settles it, and behind."""
    found = (values == wanted).nonzero()[:, 0]
    count = found.shape[0]
    total = values.sum() * 1.0
    if wanted > 4:
        total = (found + torch.ones(2)).sum()
    if len(found) == 2:
        total = total + 100
    return total, count + found.shape[0], torch.zeros(len(found))


@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_do_not_remember_what_a_body_has_settled(backend: str) -> None:
    compiled = autograph(equal_sizes, backend=backend)
    for wanted in (5, 3, 1):
        arguments = (VALUES, torch.tensor(wanted))
        torch.testing.assert_close(compiled(*arguments), equal_sizes(*arguments))


def kmeans(points: torch.Tensor, k: int) -> tuple[torch.Tensor, list[int]]:
    """The length of a list in a body is that of an argument: a guard sees to it, for what is behind, too."""
    centers = points[:k].clone()
    nearest = torch.cdist(points, centers).argmin(1)
    for _ in range(4):
        one = torch.nn.functional.one_hot(nearest, k).float()
        counts = one.sum(0)
        moved = (one.t() @ points) / counts.clamp(min=1)[:, None]
        if (moved - centers).abs().max() < 1e-4:
            return moved, [int(count) for count in counts]
        centers = moved
        nearest = torch.cdist(points, centers).argmin(1)
    return centers, counts.tolist()


def test_sizes_of_arguments_that_a_body_settles() -> None:
    compiled = torch.compile(convert(kmeans), backend="eager", fullgraph=True)
    for count, k in ((12, 2), (12, 3), (9, 2), (20, 4)):
        points = (
            torch.randn(count, 2, generator=torch.Generator().manual_seed(k)) + torch.arange(count)[:, None] % 3 * 4
        )
        torch.testing.assert_close(compiled(points, k), kmeans(points, k))


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_index_out_of_bounds_raises(backend: str) -> None:
    compiled = autograph(unchecked, backend=backend)
    assert compiled(VALUES, torch.tensor(5)) == 5
    with pytest.raises(IndexError):
        unchecked(VALUES, torch.tensor(7))
    with pytest.raises((RuntimeError, IndexError)):
        compiled(VALUES, torch.tensor(7))
