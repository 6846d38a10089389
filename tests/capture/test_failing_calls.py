"""A branch that raises whatever its data: the graph raises when it comes there, and only then, what eager raises."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert

UP, DOWN = torch.tensor([1.0, 2.0]), torch.tensor([-1.0, -2.0])
COUNTS = torch.tensor([1, 2])


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(convert(function), fullgraph=True, backend="eager")


def promotion(x: torch.Tensor) -> torch.Tensor:
    counts = COUNTS.clone()
    if x.sum() < 0:
        counts += x
    return counts + 1


def shape(x: torch.Tensor) -> torch.Tensor:
    y = x
    if x.sum() < 0:
        y = x.view(2, 2)
    return y + 1


def position(x: torch.Tensor) -> torch.Tensor:
    return x[5] if x.sum() < 0 else x[0]


def keyword(x: torch.Tensor) -> torch.Tensor:
    if x.sum() < 0:
        return torch.cat([x, x.unsqueeze(0)], dim=0)
    return x


def filtered(x: torch.Tensor) -> torch.Tensor:
    counts = COUNTS[x.abs() > 1]
    if x.sum() < 0:
        counts.add_(0.5)
    return counts


def refuse(reason: str) -> None:
    raise LookupError(reason)


def helper(x: torch.Tensor) -> torch.Tensor:
    if x.sum() < 0:
        refuse("negative")
    return x + 1


def missing_key(x: torch.Tensor) -> torch.Tensor:
    return {"a": x}["b"] if x.sum() < 0 else x


def wrong_type(x: torch.Tensor) -> torch.Tensor:
    found = []
    if x.sum() > 0:
        found = x / 4
    return torch.acos(found)


PROGRAMS = [promotion, shape, position, keyword, filtered, helper, missing_key, wrong_type]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("how", [plain, autograph])
def test_raised_when_the_branch_is_taken(program: Any, how: Any, caplog: pytest.LogCaptureFixture) -> None:
    compiled = how(program)
    with caplog.at_level(logging.ERROR):
        torch.testing.assert_close(compiled(UP), program(UP))
    assert "failed while attempting" not in caplog.text
    with pytest.raises(Exception) as expected:  # noqa: PT011
        program(DOWN)
    with pytest.raises(expected.type) as actual:
        compiled(DOWN)
    assert str(actual.value) == str(expected.value)
    assert actual.traceback[-1].path == expected.traceback[-1].path


def test_handled_inside_of_the_branch() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        counts = COUNTS.clone()
        if x.sum() < 0:
            try:
                counts += x
            except RuntimeError:
                counts = counts - 5
        return counts

    compiled = plain(program)
    for x in (UP, DOWN):
        torch.testing.assert_close(compiled(x), program(x))


def test_handled_around_the_branch() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        try:
            return promotion(x)
        except RuntimeError:
            return x * 2

    for compiled in (autograph(program, backend="eager"), plain(program)):
        for x in (UP, DOWN):
            torch.testing.assert_close(compiled(x), program(x))
    with pytest.raises(CaptureError, match="AG325"):
        autograph(program, backend="eager", effects="immediate")(UP)


def test_tests_that_exclude_each_other() -> None:
    """In the branch where there is no mask, the second test is false; what stands under it would raise."""

    def program(x: torch.Tensor) -> torch.Tensor:
        negative = x.sum() < 0
        mask = None
        if negative:
            mask = x < -1
        y = x * 2
        if negative:
            y = y + mask.sum()
        return y

    compiled = plain(program)
    for x in (UP, DOWN):
        torch.testing.assert_close(compiled(x), program(x))


def test_a_size_that_data_decides_on_does_not_fail_for_all_data() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        places = (x > 1).nonzero().sum(1)
        return places + torch.ones(3) if x.sum() < 0 else x

    with pytest.raises(CaptureError, match="AG320"):
        plain(program)(UP)


def read_by_the_handler(x: torch.Tensor) -> tuple[torch.Tensor, int]:
    n = 0
    try:
        if x.sum() > 0:
            n = 5
            if x[0] > 0.5:
                raise ValueError("a")
            n = 6
        while x.sum() < -9:
            n = n + 1
            x = x / 2
            if n > 2:
                raise ValueError("b")
        x = x + n
    except ValueError:
        x = x * n
    return x, n


@pytest.mark.parametrize("values", [(1.0, 2.0), (0.1, 2.0), (-1.0, -2.0), (-30.0, -50.0)])
def test_a_handler_reads_what_was_bound_before_the_exception(values: tuple[float, ...]) -> None:
    x = torch.tensor(values)
    found, wanted = autograph(read_by_the_handler, backend="eager")(x), read_by_the_handler(x)
    assert torch.equal(found[0], wanted[0]) and found[1] == wanted[1]
