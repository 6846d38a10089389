"""Every program of tests/programs, converted and compiled, does what eager Python does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests import programs
from tests.harness import Program, Way, check, difference, scalar, vec
from tests.programs import all_programs

PROGRAMS = {program.name: program for program in all_programs()}
# Inductor takes seconds a program: one or so of each topic.
INDUCTOR = (
    "func",
    "ProblematicModel",
    "elif_chain_of_bins",
    "greatest_common_divisor",
    "return_from_a_tensor_range",
    "EarlyExitOverLayers",
    "counter_divided_after_the_loop",
    "newton_square_root",
    "negative_number_beside_a_tensor",
    "views_at_different_places",
    "equal_flags_of_data",
    "division_by_zero",
    "math_of_floats",
    "float_precision",
    "five_ways_out",
    "nan_inf",
    "range_with_start_stop_and_step",
    "number_of_an_attribute_in_nested_branches",
    "list_of_results",
    "rows_filled_in_a_loop",
)
AOT_EAGER = (
    "branch_in_a_loop",
    "accumulator_that_starts_at_zeros",
    "integer_beside_a_float",
    "ParametersInALoop",
    "division_by_zero",
    "list_of_results",
    "channels_last",
    "EmbeddingWithPadding",
)
# Topics whose programs need the decorator: an exception is handled inside, or leaves writes behind.
WITH_EXCEPTIONS = ("raises", "caught", "effects_more", "effects_in_use")
DECORATED = ("func", "PathAOrPathB", "sequential_itself", "bound_method_as_the_subject", "decorated_with_wraps")


@pytest.mark.parametrize("way", ["converted", "eager"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, way: Way) -> None:
    raises = PROGRAMS[name].topic in WITH_EXCEPTIONS and way == "eager"
    agrees(PROGRAMS[name], "decorator" if raises else way)


@pytest.mark.parametrize("name", INDUCTOR)
def test_on_inductor(name: str) -> None:
    agrees(PROGRAMS[name], "inductor")


@pytest.mark.parametrize("name", AOT_EAGER)
def test_on_aot_eager(name: str) -> None:
    agrees(PROGRAMS[name], "aot_eager")


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_every_backend(name: str, backend: Any) -> None:
    on_decorator: Any = f"decorator on {backend}"
    agrees(PROGRAMS[name], on_decorator if PROGRAMS[name].topic in WITH_EXCEPTIONS else backend)


@pytest.mark.parametrize("name", DECORATED)
def test_decorated(name: str) -> None:
    agrees(PROGRAMS[name], "decorator")


def agrees(program: Program, way: Way) -> None:
    """Fail on any difference; a refusal is an answer only where the program (or its topic) allows one."""
    verdict = check(program, way)
    if verdict.kind == "refused" and (program.refused or program.topic == "state"):
        pytest.xfail(verdict.reason)
    if verdict.kind != "equal":
        pytest.fail(f"{verdict.kind}: {program.topic}.{program.name}, {verdict.reason}", pytrace=False)


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, True),
        (1, 1.0),
        (1.0, 1.1),
        ([1], (1,)),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (scalar(1), 1.0),
        (vec(1), scalar(1)),
        (vec(1), vec(1).double()),
        (vec(1, 2), vec(1, 3)),
        ({"a": [vec(1), (None,)]}, {"a": [vec(1), (0,)]}),
    ],
    ids=str,
)
def test_harness_sees_a_difference(expected: Any, actual: Any) -> None:
    assert difference(expected, actual, "result")


def test_harness_takes_nan_for_equal() -> None:
    nan = float("nan")
    assert not difference([nan, vec(1, nan)], [nan, torch.tensor([1, nan])], "result")


def test_every_topic_is_there() -> None:
    files = {path.stem for path in Path(programs.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {program.topic for program in PROGRAMS.values()}
