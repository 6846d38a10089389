"""Elements are asked whether they are one object before they are compared."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo import polyfills
from torch._dynamo.variables import ConstantVariable

from autograph_torch import CaptureError, convert
from tests.harness import check, compiled, difference, programs_of, scalar, torch_before, vec
from tests.programs import element_identity

NAN = float("nan")
PROGRAMS = {program.name: program for program in programs_of(element_identity)}


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_one_object(name: str) -> None:
    verdict = check(PROGRAMS[name], "any graph")
    assert verdict.kind == "equal", verdict.reason


def test_it_is_refused_at_the_branch() -> None:
    with pytest.raises(CaptureError, match="AG314"):
        compiled(element_identity.a_number_that_a_loop_hands_on)(scalar(1))


def copied_or_not(x: torch.Tensor) -> tuple[bool, bool]:
    n = m = x[0].item()
    if x[1] > 1:
        m = n * 1
    return (m, 1) == (n, 1), [m, 1] < [n, 2]


@torch_before("2.12", "tuples of numbers from data are compared one by one")
def test_two_floats_of_which_nobody_knows_whether_they_are_one_are_asked_for_nan() -> None:
    """One graph, which fails where both are NaN: that call runs in Python."""
    graphs: list[torch.fx.GraphModule] = []

    def count(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph

    given = torch.compile(convert(copied_or_not), backend=count, fullgraph=True)
    for values in ((1, 3), (1, 0), (NAN, 2), (NAN, 0), (2, NAN)):
        assert not difference(copied_or_not(vec(*values)), given(vec(*values)), "result")
    assert len(graphs) == 1


def of_whole_numbers(x: torch.Tensor) -> tuple[bool, bool, torch.Tensor]:
    y, n = x, 2
    if x > 0:
        y, n = x + 1, 3
    return y in [x], n in [2], y


def test_what_is_equal_to_itself_needs_no_path() -> None:
    function = compiled(of_whole_numbers)
    for value in (1, -1):
        assert function(torch.tensor(value)) == of_whole_numbers(torch.tensor(value))


def a_part_in_a_branch(x: torch.Tensor) -> torch.Tensor:
    rows = list(x)
    if 2.0 in rows and x[0] not in rows[1:]:
        return x + 1
    return x


def test_a_part_that_a_branch_takes_is_new() -> None:
    function = compiled(a_part_in_a_branch)
    for values in ([1.0, 2.0], [2.0, 2.0], [3.0, 1.0]):
        assert torch.equal(function(torch.tensor(values)), a_part_in_a_branch(torch.tensor(values)))


def test_private_names_are_there() -> None:
    assert hasattr(polyfills, "impl_CONTAINS_OP_fallback") and hasattr(ConstantVariable, "is_python_equal")
