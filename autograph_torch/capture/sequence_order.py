"""Comparisons of lists and tuples whose elements depend on data go from pair to pair, as Python's do.

    (loss, step) < best                    runtime/lexicographic.py; named tuples, too
    bisect.bisect(edges, x.item())         runtime/ordered_lists.py; what is compared may be such tuples
    heapq.heappush(queue, (cost, node))
    levels.count(low)

Dynamo (torch 2.13) compares such sequences for equality only, and only those of numbers; `bisect` and `heapq` are C.
What it counts are comparisons, and their sum is a tensor where they are.

Private: call_function of SkipFunctionVariable, PolyfilledFunctionVariable. tests/capture/test_sequence_order.py fails
clearly when torch changes them.
"""

from __future__ import annotations

import bisect
import contextlib
import heapq
import inspect
import operator
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.variables import (
    ConstantVariable,
    ListVariable,
    NamedTupleVariable,
    SymNodeVariable,
    TensorVariable,
    TupleVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.functions import PolyfilledFunctionVariable, SkipFunctionVariable
from torch._dynamo.variables.lists import DequeVariable

from autograph_torch.capture.comparisons import COMPARISONS, ORDER, Comparison, answering_comparisons
from autograph_torch.capture.element_identity import is_one_element, tell_element
from autograph_torch.capture.identity_of_floats import may_be_no_number
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import lexicographic, ordered_lists, tracing

_SEQUENCES = (ListVariable, TupleVariable, DequeVariable)
_METHODS = [f"__{comparison.__name__}__" for comparison in COMPARISONS.values()]


# Functions in C -> what is traced in their place.
INSTEAD: dict[Any, Callable[..., Any]] = {
    getattr(module, name): getattr(ordered_lists, name)
    for module, names in (
        (bisect, ("bisect_right", "bisect_left", "insort_right", "insort_left")),
        (heapq, ("heappush", "heappop", "heapreplace", "heappushpop", "heapify")),
    )
    for name in names
}


_SEARCHES = frozenset({bisect.bisect_right, bisect.bisect_left, bisect.insort_right, bisect.insort_left})


@contextlib.contextmanager
def sequences_in_order() -> Iterator[None]:
    """While this is in force, such comparisons and calls are taken."""
    skipped = SkipFunctionVariable.call_function
    polyfilled = PolyfilledFunctionVariable.call_function

    def compare(tx: Any, comparison: Comparison, operands: Any) -> Any:
        left, right = (_sequence(operand) for operand in operands)
        if not _are_compared(comparison, left, right):
            return None
        pairs = list(zip(left.items, right.items, strict=False))
        one = [tell_element(tx, *pair) for pair in pairs]  # Python asks for that first
        same = {k for k, told in enumerate(one) if told is True}
        if not same and not any(_has_data(side, comparison in ORDER.values()) for side in (left, right)):
            return None
        given = [TupleVariable([v for k, v in enumerate(side.items) if k not in same]) for side in (left, right)]
        of_unequal = None if comparison in ORDER.values() else comparison is operator.ne
        doubtful: list[Any] = [ConstantVariable.create(told is None) for told in one if told is not True]
        arguments = [BuiltinVariable(comparison), *given, ConstantVariable.create(of_unequal), TupleVariable(doubtful)]
        compared: Any = lexicographic.compared
        return UserFunctionVariable(compared).call_function(tx, arguments, {})

    def call_skipped(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        try:
            function: Any = INSTEAD.get(self.value)
        except TypeError:  # an object without a hash
            function = None
        if function is None or (self.value in _SEARCHES and not _is_plain(args[:2], kwargs)):
            return skipped(self, tx, args, kwargs)
        return UserFunctionVariable(function).call_function(tx, args, kwargs)

    def call_polyfilled(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is not operator.countOf or not any(_has_data(one, or_number=True) for one in args):
            return polyfilled(self, tx, args, kwargs)
        elements, value = TupleVariable(args[0].unpack_var_sequence(tx)), args[1]
        same: list[Any] = [ConstantVariable.create(is_one_element(tx, one, value)) for one in elements.items]
        count: Any = ordered_lists.count_of
        return UserFunctionVariable(count).call_function(tx, [elements, value, TupleVariable(same)], {})

    with (
        answering_comparisons(compare),
        patched(SkipFunctionVariable, call_function=call_skipped),
        patched(PolyfilledFunctionVariable, call_function=call_polyfilled),
    ):
        yield


def _are_compared(comparison: Comparison, left: Any, right: Any) -> bool:
    """Whether both are lists, tuples or deques that are compared element by element, and data tell of some, or NaN."""
    if type(left) is not type(right) or type(left) not in _SEQUENCES:
        return False
    if comparison not in ORDER.values() and len(left.items) != len(right.items):
        return False
    return any(_has_data(one, or_number=True) or _has_no_number(one) for one in (left, right))


def _has_no_number(variable: Any) -> bool:
    """Whether there is NaN in it, which may be the very object that it is compared with."""
    found = _sequence(variable)
    return any(map(_has_no_number, found.items)) if type(found) in _SEQUENCES else may_be_no_number(found)


def _sequence(variable: Any) -> Any:
    """What a list or tuple is compared as: a named tuple as a tuple, where its class has no order of its own."""
    found = variable.realize()
    if not isinstance(found, NamedTupleVariable):
        return found
    kind = found.python_type()
    own = any(inspect.getattr_static(kind, name) is not vars(tuple)[name] for name in _METHODS)
    return found if own else tracing.inner_of(found)


def _is_plain(given: Any, options: Any = ()) -> bool:
    """Whether comparing values more often than Python does cannot be noticed."""
    parts = [value.realize() for value in given]
    inside = all(_is_plain(part.items) for part in parts if type(part) in (ListVariable, TupleVariable))
    kinds = (ListVariable, TupleVariable, TensorVariable, SymNodeVariable, ConstantVariable)
    return inside and "key" not in options and all(type(part) in kinds for part in parts)


def may_differ(variable: Any) -> bool:
    """Whether it is a list or tuple whose place in an order data tell."""
    return type(_sequence(variable)) in (ListVariable, TupleVariable) and _has_data(variable, or_number=True)


def _has_data(variable: Any, or_number: bool) -> bool:
    found = _sequence(variable)
    if type(found) in _SEQUENCES:
        return any(_has_data(one, or_number) for one in found.items)
    if isinstance(found, SymNodeVariable):
        return or_number  # also where facts have settled it: Dynamo knows no order of tuples with a symbol in them
    return type(found) is TensorVariable
