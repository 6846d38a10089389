"""`n ** k` of integers, where data tell `k`: an integer, and a refusal when the graph runs and `k` is negative.

    k = int(x.sum())
    return 2 ** k              8 for 3; 0.125 for -3, which under `@autograph` Python computes

torch asks for the sign of the exponent ("Could not guard on data-dependent expression u0 >= 0"), for the type of the
result depends on it. Here the exponent becomes a number that torch knows not to be negative.

Private: BuiltinVariable.call_function. tests/capture/test_natural_exponents.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, UserFunctionVariable
from torch._dynamo.variables.builtin import BuiltinVariable
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols, statically_known_true

from autograph_torch.capture.patching import patched
from autograph_torch.runtime import queries


@contextlib.contextmanager
def natural_exponents() -> Iterator[None]:
    """While this is in force, integers have powers with exponents from data."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in (operator.pow, operator.ipow, pow) and len(args) == 2 and _may_be_fraction(*args):
            natural: Any = queries.natural
            args = [args[0], UserFunctionVariable(natural).call_function(tx, [args[1]], {})]
        return built_in(self, tx, args, kwargs)

    with patched(BuiltinVariable, call_function=call_builtin):
        yield


def _may_be_fraction(base: Any, exponent: Any) -> bool:
    """Whether only data tell if a power is an integer."""
    number = getattr(exponent.realize(), "sym_num", None)
    if not isinstance(number, torch.SymInt) or not has_free_unbacked_symbols(number):
        return False
    return _is_integer(base.realize()) and not statically_known_true(number >= 0)


def _is_integer(variable: Any) -> bool:
    if isinstance(variable, SymNodeVariable):
        return isinstance(variable.sym_num, torch.SymInt)
    return isinstance(variable, ConstantVariable) and isinstance(variable.as_python_constant(), int)
