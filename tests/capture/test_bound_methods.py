"""Methods that are values: `__self__`, and calls of them in branches and loops on data."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.variables.misc import GetAttrVariable

from autograph_torch.capture.bound_methods import bound_methods
from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from tests.harness import check, compiled, from_text, program, scalar

OF_TENSORS = """
def program(x):
    add = x.add_
    if x > 0:
        x = x * 2
    return {}
"""


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize(
    "asked",
    [
        "add.__self__ is x, x",
        "add.__self__ is not x",
        "getattr(add, '__self__') is x",
        "add.__self__ * 2",
        "[one.__self__ is x for one in (x.mul, add)]",
        "x.__add__.__self__ is x",
    ],
)
def test_what_a_method_is_of(asked: str) -> None:
    function = from_text(OF_TENSORS.format(asked), "program", f"<{asked}>")
    found = compiled(function)
    for value in (1.0, -1.0, 3.0):
        assert repr(found(scalar(value))) == repr(function(scalar(value)))


INPUTS: Any = [lambda: (scalar(1.0),), lambda: (scalar(-1.0),), lambda: (scalar(3.0),)]


@program(inputs=INPUTS)
def appended_by_a_method_in_branches(x: torch.Tensor) -> Any:
    xs = [x]
    push = xs.append
    if x > 0:
        push(x * 2)
    else:
        xs.append(x * 3)
    push(x)
    return xs, push.__self__ is xs, len(xs)


@program(inputs=INPUTS)
def appended_by_a_method_in_a_loop(x: torch.Tensor) -> Any:
    xs = [x]
    push = xs.append
    while x > 0:
        push(x * 2)
        x = x - 1
    return xs


@program(inputs=INPUTS)
def set_by_methods_that_are_given(x: torch.Tensor) -> Any:
    found: dict[str, Any] = {}

    def note(put: Any, value: torch.Tensor) -> None:
        if value > 0:
            put("a", value * 2)
        else:
            put("a", value)

    note(found.setdefault, x)
    note(found.__setitem__, x + 2)
    return found


@program(inputs=INPUTS)
def written_by_a_method(x: torch.Tensor) -> Any:
    scale, y = x.mul_, x + 1
    if y > 1:
        scale(3)
    else:
        scale(y + 7)
    return x, y


@pytest.mark.parametrize(
    "subject",
    [
        appended_by_a_method_in_branches,
        appended_by_a_method_in_a_loop,
        set_by_methods_that_are_given,
        written_by_a_method,
    ],
)
def test_methods_that_branches_call(subject: Any) -> None:
    """As a graph for all data."""
    verdict = check(subject.__program__, "eager")
    assert verdict.kind == "equal", verdict.reason


def test_private_names_are_there() -> None:
    before = GetAttrVariable.python_type
    assert hasattr(GetAttrVariable, GET_ATTRIBUTE)
    with bound_methods():
        assert GetAttrVariable.python_type is not before
