"""`int(x.item())` and `round(x.item())` of a float that depends on data, as a symbol of its own: torch cannot use an
expression as a size, and does not write the second into its checks.

Without, the number is made by Python behind the graph, and raises what Python raises. So this is in force only when a
trace has failed (capture/attempts.py); a float that has no integer then stops the graph. Where the trace follows the
path of one call, such a float raises what Python raises, in the trace, for the handlers of the program.

Private: BuiltinVariable.call_function. tests/capture/test_whole_numbers.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, UserFunctionVariable
from torch._dynamo.variables.builtin import BuiltinVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.observed_data import is_at_the_top
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import notes, queries

_SAID = ("TruncToInt", "RoundToInt", "__round__")  # in what torch says of such a number


def is_of_whole_number(message: str) -> bool:
    """Whether torch has stopped at an integer that has been made of a float."""
    return any(word in message for word in _SAID)


@contextlib.contextmanager
def whole_numbers() -> Iterator[None]:
    """While this is in force, integers made of floats have symbols of their own."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in (int, round) and len(args) == 1 and not kwargs and _is_fraction_from_data(args[0]):
            if self.fn is int or not args[0].is_tensor():  # `round` of a tensor gives one
                number = args[0].call_method(tx, "item", [], {}) if args[0].is_tensor() else args[0]
                if notes.on_one_path() and is_at_the_top(tx):
                    found = _without_integer(self.fn, tx, number)
                    if found is not None:
                        return found
                whole: Any = queries.whole if self.fn is int else queries.rounded
                return UserFunctionVariable(whole).call_function(tx, [number], {})
        return built_in(self, tx, args, kwargs)

    with patched(BuiltinVariable, call_function=call_builtin):
        yield


def _without_integer(function: Any, tx: Any, number: Any) -> Any:
    """The integer of a float that has none of 64 bits, as Python makes it; None where it has one.

    Raises:
        ObservedException: there is no integer at all.
    """
    form: Any = queries.form_of_float
    found = UserFunctionVariable(form).call_function(tx, [number], {}).as_python_constant()
    if found == "large":
        return ConstantVariable.create(function(number.evaluate_expr()))
    try:
        function(float(found))
    except (ValueError, OverflowError) as error:
        raise_observed_exception(type(error), tx, args=[ConstantVariable.create(str(error))])
    return None


def _is_fraction_from_data(variable: Any) -> bool:
    variable = variable.realize()
    if isinstance(variable, SymNodeVariable):
        number = variable.sym_num
        return isinstance(number, torch.SymFloat) and has_free_unbacked_symbols(number)
    return bool(variable.is_tensor() and variable.dtype is not None and variable.dtype.is_floating_point)
