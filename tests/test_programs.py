"""Every program of tests/programs, converted and compiled, does what eager Python does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests import programs
from tests.harness import Program, Way, check, difference, mutable_parts, scalar, vec
from tests.programs import programs_by_name

PROGRAMS = programs_by_name()
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
    "empty_pop_raises",
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
    "intervals_on_a_stack",
)
# Traces of several seconds: they run with the slow tests. Others of their topics are of the same kind.
LONG = frozenset(
    """
    EarlyStopOverRows GreedyDecoder KeepsMetrics RecurrentCellUntilQuiet ResidualTree WeightThatALoopScales
    a_dict_is_written_before_and_behind_a_break a_list_in_a_dict_that_a_loop_replaces_is_written_afterwards
    a_list_is_returned_by_a_loop_and_written_behind_it a_list_of_an_object_is_replaced_in_a_loop_and_written_afterwards
    a_method_keeps_what_a_loop_lets_through a_method_writes_to_containers_under_an_if_in_a_loop a_new_list_in_two_loops
    a_sum_grows_in_place_in_two_loops a_write_gives_back_its_target_on_one_path accumulation_in_place
    alias_of_an_object_that_a_loop_replaces an_element_is_written_behind_the_loop an_inner_list_is_replaced_in_a_branch
    an_object_is_written_to_and_replaced_in_a_loop argument_written_behind_a_loop_that_returns
    argument_written_through_its_diagonal assert_over_lines attribute_that_is_none_until_the_first_hit
    beams_of_views_with_a_break break_after_a_write break_and_continue_in_a_python_range break_in_a_python_range
    break_out_of_a_tensor_range break_with_gradients bubble_sort_with_early_exit comparison_of_two_chosen_numbers
    comprehension_over_it conditional_expression_then_a_write conjugate_gradients differences_of_neighbours early_stop
    early_stopping_tensors early_stopping_with_log element_written_by_the_name_of_another_trip
    else_of_a_for_when_not_found else_of_a_while_when_no_divisor entropy_of_checked_probabilities exception_of_the_users
    gradient_descent_with_early_stop gradients_of_a_picked_tensor helper_reads in_a_tuple item_count_as_predicate
    kmeans_until_stable last_number_that_passes length_of_nonzero_in_a_while_test list_as_the_state_of_a_loop
    list_with_another_name_behind_a_break local_dataclass_updated loop_in_a_loop loop_over_a_list_behind_a_break
    loop_over_nonzero_indices losses_that_are_finite matrix_exponential_by_scaling methods_ask_for_all_rows
    name_undefined_without_a_trip nested_both nested_loops_with_outer_return newton_that_may_not_converge
    none_until_a_function_finds_it none_until_a_row_is_found nonlocal_before_a_long_rest
    nonlocal_of_a_function_defined_in_a_branch nucleus_cutoff one_tensor_in_two_lists patience_that_runs_out
    power_iteration python_while_with_a_tensor_break raise_behind_a_loop_that_returns
    read_by_a_lambda_in_a_comprehension read_in_one_loop_and_written_in_the_next relu_with_a_flag return_in_each_arm
    return_inside_a_loop some_of_the_rows_of_two_masks stack_of_a_list_behind_a_break stacked
    state_object_of_the_caller_rebuilt steps_of_a_trainer sum_in_a_branch sum_that_may_be_the_number_zero suppression
    tensor_in_a_dict_written_in_place tensor_written_in_loop the_same_twice_and_seen_behind
    vector_that_starts_as_a_number what_cannot_grow_is_followed_trip_by_trip while_inside_a_branch while_true_with_break
    written_before_an_exception_that_others_see
    """.split()
)
# So that a run of the suite takes minutes, three programs of four of a topic run compiled with the slow tests, too.
TOPICS = sorted({program.topic for program in PROGRAMS.values()})
OF_A_TOPIC = [[n for n, made in PROGRAMS.items() if made.topic == topic] for topic in TOPICS]
# Graphs for all data that were lost once, which a slow test alone had shown.
ONCE_LOST = frozenset(
    """
    KeepsLosses a_list_of_floats_of_data_is_sorted_in_a_branch a_tensor_is_written_to_and_replaced_in_a_loop
    appended_on_some_trips letters_of_a_string report_line_by_line
    tensors_that_are_written_to_change_places three_buffers_change_places what_a_loop_over_rows_finds
    """.split()
)
LATER = frozenset(n for names in OF_A_TOPIC for k, n in enumerate(names) if k % 4) - ONCE_LOST
# Topics whose programs need the decorator: an exception is handled inside, or leaves writes behind.
WITH_EXCEPTIONS = ("raises", "caught", "effects_more", "effects_in_use")
# Its warning names the line of the caller, which is one of torch's when a call runs in Python behind the graph.
SEES_ITS_CALLER = "stacklevel_of_one_and_two"
DECORATED = ("func", "PathAOrPathB", "sequential_itself", "bound_method_as_the_subject", "decorated_with_wraps")


@pytest.mark.parametrize("name", PROGRAMS)
def test_uncompiled(name: str) -> None:
    agrees(PROGRAMS[name], "converted")


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG | LATER else n for n in PROGRAMS]
)
def test_compiled(name: str) -> None:
    agrees(PROGRAMS[name], "decorator" if PROGRAMS[name].topic in WITH_EXCEPTIONS else "eager")


def test_the_long_ones_are_programs() -> None:
    assert PROGRAMS.keys() >= LONG | ONCE_LOST


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


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if k % 16 else n for k, n in enumerate(sorted(PROGRAMS))]
)
def test_on_one_path(name: str) -> None:
    """A call whose data take another path than the first runs in Python, whatever the program does."""
    verdict = check(PROGRAMS[name], "one path")
    if verdict.kind == "refused" or name == SEES_ITS_CALLER:
        pytest.xfail(verdict.reason)
    assert verdict.kind == "equal", verdict.reason


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


def test_harness_takes_what_leads_back_to_itself() -> None:
    def made(number: int, back: bool) -> dict[str, Any]:
        node: dict[str, Any] = {"number": number}
        node["next"] = [node if back else {"number": number, "next": []}]
        return node

    assert not difference(made(1, True), made(1, True), "result")
    assert difference(made(1, True), made(2, True), "result")
    assert difference(made(1, True), made(1, False), "result")
    assert len(list(mutable_parts(made(1, True), "node"))) == 3


def test_every_topic_is_there() -> None:
    files = {path.stem for path in Path(programs.__file__).parent.glob("*.py")} - {"__init__"}
    assert files == {program.topic for program in PROGRAMS.values()}
