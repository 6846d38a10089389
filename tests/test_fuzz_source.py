"""What the fuzzer of the source layer asks of every input holds for its seeds, and for some edits of each."""

from __future__ import annotations

import random

import pytest

from tests.fuzz_source import check, mutated, seeds

SEEDS = seeds()


@pytest.mark.parametrize("index", range(len(SEEDS)))
def test_golden_files_and_edits_of_them(index: int) -> None:
    randomly = random.Random(index)
    assert check(SEEDS[index]) in ("changed", "unchanged")
    for _ in range(3):
        check(mutated(SEEDS[index], randomly, SEEDS))


def test_most_edits_still_parse() -> None:
    randomly = random.Random(1)
    found = [check(mutated(randomly.choice(SEEDS), randomly, SEEDS)) for _ in range(100)]
    assert found.count("changed") > 50
