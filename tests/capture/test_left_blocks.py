"""Handlers see what a block has bound before an exception leaves it: compiled, uncompiled, and in a file."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.symbolic_convert import InstructionTranslatorBase

from autograph_torch import convert, trace
from autograph_torch.codeobject import is_block
from autograph_torch.live import convert_code
from tests.harness import compiled, from_text, vec


def newest_trip(x: Tensor, values: list[int]) -> tuple[Tensor, int]:
    done = 0
    try:
        while done < 3:
            v = values[done]
            if v == 7:
                break
            done = done + 1
            x = x + 6 // v
    except (ZeroDivisionError, IndexError):
        return x, done
    return x, -done


def of_a_callee(x: Tensor, values: list[int]) -> tuple[Tensor, int]:
    return newest_trip(x * 2, values)


def key_of_its_own(x: Tensor, values: list[int]) -> tuple[Tensor, int]:
    n = 1

    def key(n: int) -> float:
        m = n
        return 1 / m

    try:
        values = sorted(values, key=key)
        n = 2
    except ZeroDivisionError:
        pass
    return x * n, n


def in_a_cell(x: Tensor, values: Any) -> tuple[Tensor, int]:
    n = 0
    twice = lambda: n * 2  # noqa: E731 (a name of the block, that a function elsewhere reads)
    try:
        if values:
            n = 3
            n = values[7]
    except IndexError:
        pass
    return x, twice()


@pytest.mark.parametrize("function", [newest_trip, of_a_callee, key_of_its_own, in_a_cell])
@pytest.mark.parametrize("values", [[1, 2], [1, 0, 3], [1, 7], [0], []])
def test_as_eager(function: Callable[..., Any], values: list[int]) -> None:
    expected = function(vec(1, 2), list(values))
    for way in (convert, compiled):
        assert shown(way(function)(vec(1, 2), list(values))) == shown(expected)


def shown(result: tuple[Tensor, int]) -> tuple[list[float], int]:
    return result[0].tolist(), result[1]


def in_a_branch_of_the_graph(x: Tensor) -> tuple[Tensor, int]:
    n = 1
    try:
        if x.sum() > 0:
            n = 5
            x = x.reshape(7)
    except RuntimeError:
        return x, n
    return x * 3, n


def test_an_exception_that_the_graph_raises_binds_nothing() -> None:
    function = compiled(in_a_branch_of_the_graph)
    for x in (vec(-1, -2), vec(1, 2), vec(-3, -2)):
        assert shown(function(x)) == shown(in_a_branch_of_the_graph(x))


def while_it_lasts(x: Tensor, items: Iterator[int]) -> tuple[Tensor, int]:
    n = 0
    try:
        while x.sum() < 10:
            n = next(items)
            x = x * n
    except StopIteration:
        return x, n
    return x, -n


def test_python_runs_what_a_handler_sees_as_it_was_written() -> None:
    plain, traced = (
        convert_code(while_it_lasts.__code__, globals(), {}, for_trace=for_trace).code for for_trace in (False, True)
    )
    assert not list(blocks(plain))
    assert [block.co_name for block in blocks(traced)] == ["body"]
    calls = trace(with_a_list, vec(1, 2)).graph
    assert [node for node in calls.nodes if node.target is torch.ops.higher_order.while_loop]


def with_a_list(x: Tensor) -> tuple[Tensor, int]:
    n = 0
    try:
        while x.sum() < 10:
            n = n + 1
            x = x * 2
    except StopIteration:
        return x, n
    return x, -n


def blocks(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from [constant] if is_block(constant) else []
            yield from blocks(constant)


def written_here(x: Tensor) -> Tensor:
    def then() -> Tensor:
        n = x * 2
        return n

    if x.sum() > 0:
        y = then()
        x = y + 1
    return x


def test_functions_of_the_user_are_no_blocks() -> None:
    made = convert_code(written_here.__code__, globals(), {}, for_trace=True).code
    nested = [constant for constant in made.co_consts if isinstance(constant, types.CodeType)]
    told = {one.co_name: is_block(one) for one in nested if not one.co_name.startswith("<")}
    assert told == {"then": False, "then_2": True}


GROUP = """
def of_a_group(x, table):
    n = 0
    try:
        if x.sum() > 2:
            n = 1
            table["k"]
    except* KeyError:
        n += 10
    return n
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there is no `except*`")
def test_a_function_with_groups_stays_as_it_is() -> None:
    function = from_text(GROUP, "of_a_group", "<a group>")
    for x, table in ((vec(1, 2), {}), (vec(1, 2), {"k": 0}), (vec(-1, 2), {})):
        assert convert(function)(x, table) == function(x, table)


def test_private_names() -> None:
    assert callable(InstructionTranslatorBase.exception_handler)
