"""Training through a loop keeps each carry once: what the graph saves for its backward pass, in sizes of the carry."""

from __future__ import annotations

import pytest

from benchmarks.loop_memory import PROGRAMS, compiled, kept

TRIPS, SIZE = 32, 1024


@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("function", PROGRAMS)
def test_each_carry_once(function, backend) -> None:
    carries = kept(compiled(function, backend, TRIPS, SIZE), TRIPS, SIZE)
    assert TRIPS - 1 <= carries <= TRIPS + 2
