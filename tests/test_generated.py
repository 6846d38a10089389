"""Generated programs agree with eager or are refused: 300 small ones, always the same.

`python -m tests.fuzz` runs others, also large ones, as many as are asked for, and looks for the smallest that fails.
"""

from __future__ import annotations

import pytest
from hypothesis import Phase

from tests.fuzz import attempt
from tests.generator import SMALL, Generated, generated, judge
from tests.harness import Way

PROGRAMS = 300
PARTS = 10  # for workers to share
# Above this share the generator or the compiler has lost its way: most programs have one static type throughout.
REFUSED_AT_MOST = 0.25


@pytest.mark.parametrize("part", range(PARTS))
def test_generated_programs_agree_with_eager(part: int) -> None:
    agree(PROGRAMS // PARTS, part, ("converted", "any graph"))


def test_generated_programs_agree_on_one_path() -> None:
    agree(PROGRAMS // PARTS, PARTS, ("one path",))


def agree(count: int, part: int, ways: tuple[Way, ...]) -> None:
    """Fail at a program that gives something else than eager, or when many are refused."""
    kinds: dict[Generated, str] = {}

    def agrees(made: Generated) -> None:
        if made in kinds:
            return
        verdict = judge(made, ways)
        kinds[made] = verdict.kind
        assert verdict.kind in ("equal", "refused"), f"{verdict.kind}, {verdict.reason}\n{made.text}"

    attempt(agrees, count, part, (Phase.generate,), generated(SMALL))
    refused = list(kinds.values()).count("refused")
    assert refused <= REFUSED_AT_MOST * len(kinds), f"{refused} of {len(kinds)} refused"
