"""Iterators ask what they are given for an iterator, and look at their bounds, when they are made.

    steps = enumerate(loader)           `loader.__iter__` is called here, once, and not when `steps` gives the first
    batches = itertools.cycle(loader)   once, not twice
    try: head = itertools.islice(xs, n)      ValueError here, for a negative `n`
    except ValueError: ...

Dynamo has generators in their place, which do nothing until they are asked for an element.

    rows = iter(read, None)             Python asks whether the sentinel is what `read` gives, or is equal to it

Private: PolyfilledFunctionVariable, polyfills.builtins._CallableIterator.
tests/capture/test_iterables_asked.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.polyfills import builtins as stand_ins
from torch._dynamo.variables import (
    BaseListVariable,
    BuiltinVariable,
    ConstantVariable,
    IteratorVariable,
    SymNodeVariable,
    TensorVariable,
)
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable, PolyfilledFunctionVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.patching import patched
from autograph_torch.runtime.membership import next_before

_EACH = slice(None)
_ASKED: dict[Any, slice] = {
    enumerate: slice(1),
    itertools.accumulate: slice(1),
    itertools.compress: _EACH,
    itertools.cycle: slice(1),
    itertools.dropwhile: slice(1, 2),
    itertools.filterfalse: slice(1, 2),
    itertools.islice: slice(1),
    itertools.pairwise: slice(1),
    itertools.starmap: slice(1, 2),
    itertools.takewhile: slice(1, 2),
    itertools.zip_longest: _EACH,
}
_PLAIN = (BaseListVariable, IteratorVariable, LocalGeneratorObjectVariable, TensorVariable)


@contextlib.contextmanager
def iterables_asked() -> Iterator[None]:
    """While this is in force, they do."""
    with contextlib.ExitStack() as stack:
        for kind in (BuiltinVariable, PolyfilledFunctionVariable):
            stack.enter_context(patched(kind, call_function=_asking(kind.call_function)))
        stack.enter_context(patched(stand_ins._CallableIterator, __next__=next_before))
        yield


def _asking(call: Callable[..., Any]) -> Callable[..., Any]:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        places = _places(self.fn)
        if places is not None:
            args = list(args)
            args[places] = [_iterator_of(tx, one) for one in args[places]]
            if self.fn is itertools.islice:
                _check_bounds(tx, args[1:])
        return call(self, tx, args, kwargs)

    return call_function


def _places(function: Any) -> slice | None:
    try:
        return _ASKED.get(function)
    except TypeError:  # it has no hash
        return None


def _iterator_of(tx: Any, variable: Any) -> Any:
    """What `iter` gives for it, where the program can tell when it is asked."""
    value = variable.realize()
    is_text = isinstance(value, ConstantVariable) and isinstance(value.value, (str, bytes))
    if isinstance(value, _PLAIN) or is_text:
        return variable
    return VariableTracker.build(tx, iter).call_function(tx, [value], {})


def _check_bounds(tx: Any, bounds: Any) -> None:
    """Those of which data tell are looked at in the graph."""
    numbers = [bound.realize() for bound in bounds]
    known = [_known_number(number) for number in numbers]
    if any(number is not None and number < 0 for number in known[:2]):
        stop = known[min(1, len(known) - 1)]
        what = "Stop argument" if stop is not None and stop == -1 else "Indices"
        message = f"{what} for islice() must be None or an integer: 0 <= x <= sys.maxsize."
        raise_observed_exception(ValueError, tx, args=[message])
    if len(known) > 2 and known[2] is not None and known[2] < 1:
        raise_observed_exception(ValueError, tx, args=["Step for islice() must be a positive integer or None."])


def _known_number(variable: Any) -> Any:
    """An integer that the call tells; guards can be put on it."""
    if isinstance(variable, ConstantVariable) and isinstance(variable.value, int):
        return variable.value
    is_known = isinstance(variable, SymNodeVariable) and not has_free_unbacked_symbols(variable.sym_num)
    return variable.sym_num if is_known else None
