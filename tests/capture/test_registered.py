"""What a branch registers with a module, or cannot set, is so on the path that is taken."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import check_any_graph
from tests.programs import buffers

PROGRAMS = (
    buffers.BufferThatBecomesAParameter,
    buffers.NewNameOfAParameter,
    buffers.ParameterThatIsGivenATensor,
    buffers.CountsWhatCannotBeSet,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_eager(program: Any) -> None:
    check_any_graph(program)
