"""`range(n)` and `enumerate(xs, n)` ask for a whole number when they are called, as Python's do.

    for i, v in enumerate(xs, k)        k a tensor of integers: i is an int, from k.item() on
    list(range(total / 2))              TypeError: 'float' object cannot be interpreted as an integer
    range(0, 9, n)                      ValueError where n is 0, also when nobody asks for an element

Dynamo rounds a bound that data give, and its `enumerate` is a generator, which looks at what it is given when it is
asked for the first element. The loops of the graph ask the same (runtime/iteration.py).

Private: `fn` and call_function of the variables of built-in functions, also of those that Dynamo has in Python.
tests/capture/test_whole_bounds.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.variables import (
    BuiltinVariable,
    ConstantVariable,
    SymNodeVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import PolyfilledFunctionVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import iteration

_FIRST = "start"  # where `enumerate` begins to count


@contextlib.contextmanager
def whole_bounds() -> Iterator[None]:
    """While this is in force, bounds are whole numbers."""
    with contextlib.ExitStack() as stack:
        for kind in (BuiltinVariable, PolyfilledFunctionVariable):
            stack.enter_context(patched(kind, call_function=_asking(kind.call_function)))
        yield


def _asking(call: Callable[..., Any]) -> Callable[..., Any]:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is range:
            args = [_whole(tx, one) for one in args]
            if len(args) == 3 and isinstance(args[2].realize(), SymNodeVariable):
                args[2] = _traced(iteration.nonzero, tx, args[2])
        elif self.fn is enumerate:
            args = [*args[:1], *[_start(tx, one) for one in args[1:]]]
            kwargs = {key: _start(tx, one) if key == _FIRST else one for key, one in kwargs.items()}
        return call(self, tx, args, kwargs)

    return call_function


def _whole(tx: Any, variable: Any) -> Any:
    found = variable.realize()
    if not found.is_tensor() and not _is_no_integer(found):
        return variable
    return _traced(iteration.whole_number, tx, found)


def _start(tx: Any, variable: Any) -> Any:
    """Where `enumerate` begins to count, which is an int also where it is given a truth value, or what has an index."""
    found = variable.realize()
    if isinstance(found, ConstantVariable) and isinstance(found.value, bool):
        return ConstantVariable.create(int(found.value))
    if isinstance(found, UserDefinedObjectVariable):
        return VariableTracker.build(tx, operator.index).call_function(tx, [found], {})
    return _whole(tx, variable)


def _traced(function: Any, tx: Any, argument: Any) -> Any:
    return UserFunctionVariable(function).call_function(tx, [argument], {})


def _is_no_integer(variable: Any) -> bool:
    """Whether it is a number of the graph, but a float or a truth value."""
    return isinstance(variable, SymNodeVariable) and not isinstance(variable.sym_num, torch.SymInt)
