"""An attribute that a number or a text does not have raises Python's AttributeError, with its text.

    try: scale = k.scale                 'int' object has no attribute 'scale'
    except AttributeError: scale = 1
    getattr(name, "lower_case")          'str' object has no attribute 'lower_case'

Of a number that changes from call to call Dynamo (torch 2.13) asks in the graph, out of reach of the handler; of others
the text is the name alone.

Private: SymNodeVariable and ConstantVariable, how they look attributes up.
tests/capture/test_attributes_of_numbers.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables import ConstantVariable, SymNodeVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import method_of, patched


@contextlib.contextmanager
def attributes_of_numbers() -> Iterator[None]:
    """While this is in force, it does."""
    of_symbol, of_constant = method_of(SymNodeVariable, GET_ATTRIBUTE), ConstantVariable.const_getattr

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        _check(self.python_type()(1), tx, name)
        return of_symbol(self, tx, name)

    def const_getattr(self: Any, tx: Any, name: str) -> Any:
        _check(self.value, tx, name)
        return of_constant(self, tx, name)

    symbol: Any = {GET_ATTRIBUTE: get_attribute}
    with patched(SymNodeVariable, **symbol), patched(ConstantVariable, const_getattr=const_getattr):
        yield


def _check(value: Any, tx: Any, name: str) -> None:
    """Raise in the trace what Python raises, if it does."""
    try:
        getattr(value, name)
    except AttributeError as error:
        text = str(error)
    else:
        return
    raise_observed_exception(AttributeError, tx, args=[text])
