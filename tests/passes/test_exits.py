"""What is written right before a loop is left: golden texts, and what stays where it is."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable

import gast
import pytest
import torch

from autograph_torch import convert
from autograph_torch.passes.exits import move_exits

TEXT = """
def path(x, info):
    for i in x:
        {body}
    return info
"""


def text_of(body: str, skipped: frozenset[int] = frozenset()) -> str:
    """The body of the function behind the pass."""
    source = TEXT.format(body=textwrap.indent(textwrap.dedent(body).strip(), "        ").strip())
    function = gast.ast_to_gast(ast.parse(source)).body[0]
    changed = move_exits(function, frozenset({3}), skipped)
    body_ = gast.gast_to_ast(gast.Module(body=changed.body, type_ignores=[]))
    return ast.unparse(ast.fix_missing_locations(body_))


def test_writes_before_a_break_and_a_return() -> None:
    found = text_of("""
        if i > 0:
            y = i
            info["at"] = y
            log.append(y)
            break
        elif i < -9:
            info["low"] = i
            return info, i
    """)
    assert found == textwrap.dedent("""\
        exit_ = 0
        for i in x:
            if i > 0:
                y = i
                exit_ = 1
                break
            elif i < -9:
                exit_ = 2
                break
        if exit_ == 1:
            info['at'] = y
            log.append(y)
        if exit_ == 2:
            info['low'] = i
            return (info, i)
        return info""")


@pytest.mark.parametrize(
    "body",
    [
        "if i > 0:\n    y = i\n    break",
        "info['at'] = i\nif i > 0:\n    break",
        "if i > 0:\n    info['at'] = i\n    continue",
        "with lock:\n    info['at'] = i\n    break",
        "try:\n    info['at'] = i\n    break\nfinally:\n    f()",
        "for j in i:\n    info['at'] = j\n    break",
        "if i > 0:\n    info['at'] = i\n    if i > 1:\n        f()\n    break",
        "if i > 0:\n    info['at'] = (yield i)\n    break",
    ],
)
def test_left_alone(body: str) -> None:
    assert "exit_" not in text_of(body)


def test_a_comment_asks_to_leave_it() -> None:
    assert "exit_" not in text_of("if i > 0:\n    info['at'] = i\n    break", skipped=frozenset({3}))


def patient(limit: int) -> tuple[Callable[[torch.Tensor], list[str]], Callable[[], int]]:
    late = 0

    def observe(x: torch.Tensor) -> list[str]:
        nonlocal late
        log = []
        for v in x:
            late += 1
            if v < 1:
                log.append("small")
            elif late >= limit:
                log.append("stop")
                break
        return log

    return observe, lambda: late


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_variables_of_functions_around_are_written() -> None:
    (expected, late), (other, also_late) = patient(2), patient(2)
    found = torch.compile(convert(other), backend="eager", fullgraph=True)
    for values in ([3.0, 2.0, 0.5], [0.5, 0.2, 3.0], [3.0, 2.0, 0.5]):
        assert found(torch.tensor(values)) == expected(torch.tensor(values))
        assert also_late() == late()


class Swallows:
    def __init__(self, log: list[object]) -> None:
        self.log = log

    def __enter__(self) -> None:
        self.log.append("in")

    def __exit__(self, kind: type | None, *_: object) -> bool:
        self.log.append(kind is not None)
        return kind is not None and issubclass(kind, ArithmeticError)


def leaves_in_many_ways(x: torch.Tensor) -> tuple[int, list[object]]:
    log: list[object] = []
    n = 0
    for v in x:
        with Swallows(log):
            if v > 0:
                raise FloatingPointError("n")
            if v < -3:
                break
            if v < -1:
                continue
            n += 1
            if v < -0.9:
                raise LookupError("k")
        log.append(n)
    return n, log


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_a_loop_in_a_block_that_goes_on() -> None:
    found = torch.compile(convert(leaves_in_many_ways), backend="eager", fullgraph=True)
    for values in ([-0.5, -0.5], [1.0, -0.5], [-0.5, -2.5, -4.0]):
        assert found(torch.tensor(values)) == leaves_in_many_ways(torch.tensor(values))
