"""`one is other` of tuples, frozensets and functions is answered as in eager, by every call, or refused."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert

PAIR, LIKE_IT = ("x", torch.ones(2)), ("x", torch.ones(2))
WITH_ITS_TENSOR = ("x", PAIR[1])
ONES, OTHER_ONES = tuple([1, 2]), tuple([1, 2])
SET, OTHER_SET = frozenset([1, 2]), frozenset([1, 2])
CHANGES = [(PAIR, PAIR), (PAIR, LIKE_IT), (LIKE_IT, LIKE_IT), (PAIR, WITH_ITS_TENSOR), (PAIR, PAIR)]
CONSTANTS = [(ONES, ONES), (ONES, OTHER_ONES), (SET, SET), (SET, OTHER_SET), (ONES, SET), ((), ())]

Function = Callable[[Any, Tensor], Any]


def of_the_caller(given: Any, x: Tensor) -> Any:
    return given[0] is given[1], given[0] is not given[1], given[0] is given[0]


def of_a_deque(given: Any, x: Tensor) -> Any:
    window = deque([*given, ("x", x)])
    window.append(given[0])
    return [[k for k, other in enumerate(window) if other is entry] for entry in list(window)]


def built(given: Any, x: Tensor) -> Any:
    pair, kept = ("x", x), [given[0]]
    kept.append(pair)
    found = [one is pair for one in kept]
    return found, pair is tuple(pair), ("x", x) is pair, pair is given[0], given is kept, tuple(kept[2:]) is tuple([])


def defined(given: Any, x: Tensor) -> Any:
    def square(v: Tensor) -> Tensor:
        return v * v

    found = [square]
    for scale in (1, 2):
        late = lambda v: v * scale  # noqa: B023, E731
        found.append(late if given[0] is given[1] else (lambda v, scale=scale: v * scale))
    return [one is late for one in found], square is found[0], square is torch.relu, late is not found[1]


def sliced(given: Any, x: Tensor) -> Any:
    pair = (x, x)
    return pair[:] is pair


def of_the_code(given: Any, x: Tensor) -> Any:
    def constants() -> Any:
        return 1, 2

    return constants() is constants()


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("given", [CHANGES, CONSTANTS])
@pytest.mark.parametrize("ask", [of_the_caller, of_a_deque, built, defined])
def test_each_call_is_told(ask: Function, given: Any, order: int) -> None:
    def program(given: Any, x: Tensor) -> Any:
        if x.sum() > 0:
            x = x + 1
        return ask(given, x)

    fast = torch.compile(convert(program), backend="eager", fullgraph=True)
    for one in given[::order]:
        assert fast(list(one), torch.ones(2)) == program(list(one), torch.ones(2)), one


@pytest.mark.parametrize("ask", [sliced, of_the_code])
def test_what_is_not_known_is_refused(ask: Function) -> None:
    with pytest.raises(CaptureError, match="AG320 `is` between two tuples, frozensets or functions"):
        torch.compile(convert(ask), backend="eager", fullgraph=True)([], torch.ones(2))
