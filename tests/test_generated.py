"""Generated programs agree with eager or are refused.

AUTOGRAPH_PROGRAMS=500 python -m pytest tests/test_generated.py runs more of them; `python -m tests.fuzz` also looks for
the smallest program that fails.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.generator import Generated, generated, judge

PROGRAMS = int(os.environ.get("AUTOGRAPH_PROGRAMS", "60"))
# Above this share the generator or the compiler has lost its way: most programs have one static type throughout.
REFUSED_AT_MOST = 0.25


@pytest.mark.skipif(PROGRAMS == 0, reason="AUTOGRAPH_PROGRAMS=0")
def test_generated_programs_agree_with_eager() -> None:
    kinds: list[str] = []

    @settings(
        max_examples=PROGRAMS,
        phases=(Phase.generate,),
        report_multiple_bugs=False,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(generated())
    def agrees(made: Generated) -> None:
        verdict = judge(made)
        kinds.append(verdict.kind)
        assert verdict.kind in ("equal", "refused"), f"{verdict.kind}, {verdict.reason}\n{made.text}"

    agrees()
    assert kinds.count("refused") <= REFUSED_AT_MOST * len(kinds), f"{kinds.count('refused')} of {len(kinds)} refused"
