"""Functions that are called again and again, while the world that they read changes between the calls: as in eager.

A few dozen generated ones, always the same; `python -m tests.fuzz --worlds` runs others.
"""

from __future__ import annotations

import pytest
from hypothesis import Phase

from tests.fuzz import attempt
from tests.worlds import World, judge, worlds

WORLDS = 40
PARTS = 4  # for workers to share
# Above this share the generator or the compiler has lost its way.
REFUSED_AT_MOST = 0.25


@pytest.mark.parametrize("part", range(PARTS))
def test_later_calls_agree_with_eager(part: int) -> None:
    kinds: dict[World, str] = {}

    def agrees(made: World) -> None:
        if made in kinds:
            return
        verdict = judge(made)
        kinds[made] = verdict.kind
        assert verdict.kind in ("equal", "refused"), f"{verdict.kind}, {verdict.reason}\n{made.text}"

    attempt(agrees, WORLDS // PARTS, part, (Phase.generate,), worlds())
    refused = list(kinds.values()).count("refused")
    assert refused <= REFUSED_AT_MOST * len(kinds), f"{refused} of {len(kinds)} refused"
