"""What the fuzzer of the source layer asks of every input holds for its seeds, and for some edits of each."""

from __future__ import annotations

import random

import pytest

from tests.fuzz_source import check, mutated, seeds

SEEDS = seeds()
CONTINUED_BY_A_COMMENT = """\
import torch


def counted(rows: list[torch.Tensor]):
    for row in rows:
        if row.sum() > 0:
            continue
        total = total + 1
    return total \\
# end"""
DELETED_AND_READ_LATER = """\
def f(x, n):
    y = x  # type: torch.Tensor
    if x.sum() > 0:
        del y
    else:
        if z.max() > i: z = z + i; y = y + 1
    if x.sum() > 0:
        +1
    elif x.max() > 1:
        return -x
    return y + z if y.sum() > 0 else x
"""
LAMBDA_OF_A_CARRIED_VARIABLE = """\
import torch


def func(x: torch.Tensor, n: torch.Tensor):
    while n > 0:
        n = n - 1
        total = x * 0
        add = lambda: total + 1
    if x.sum() > 0:
        total = total + 5
        x = add()
    return x, total
"""
RANGE_WITHOUT_BOUNDS = """\
import torch


def func(x: torch.Tensor) -> torch.Tensor:
    for i in range():
        x = x / 2
        if x.norm() < i:
            break
    return x
"""
RETURN_IN_THE_ELSE_OF_A_LOOP = """\
import torch


def func(x: torch.Tensor):
    while x.norm() > 1:
        x = x / 2  # halve
    else:
        if x.max() > 100:
            return x
        x = x * 0
        return -x
    x = x + 1
    return x
"""
FOUND = [
    CONTINUED_BY_A_COMMENT,
    DELETED_AND_READ_LATER,
    LAMBDA_OF_A_CARRIED_VARIABLE,
    RANGE_WITHOUT_BOUNDS,
    RETURN_IN_THE_ELSE_OF_A_LOOP,
]


@pytest.mark.parametrize("index", range(len(SEEDS)))
def test_golden_files_and_edits_of_them(index: int) -> None:
    randomly = random.Random(index)
    assert check(SEEDS[index]) in ("changed", "unchanged")
    for _ in range(3):
        check(mutated(SEEDS[index], randomly, SEEDS))


@pytest.mark.parametrize("text", FOUND)
def test_what_the_fuzzer_found(text: str) -> None:
    assert check(b"f" + text.encode()) in ("changed", "unchanged")


def test_most_edits_still_parse() -> None:
    randomly = random.Random(1)
    found = [check(mutated(randomly.choice(SEEDS), randomly, SEEDS)) for _ in range(100)]
    assert found.count("changed") > 50
