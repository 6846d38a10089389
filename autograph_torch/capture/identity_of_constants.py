"""Whether two numbers or texts are one object, one of which at least is from outside: later calls have to agree.

    mode is AUTO                       another text that is equal, in a later call
    if value is not self.last: ...     change detection
    NAN in values, values == [NAN]     Python asks first whether it is the very object, which matters for NaN

Dynamo compares the objects of the first call, and later calls have to have equal ones; in plain torch.compile, too
(torch 2.13). Of what neither comes from outside, the trace has the objects that Python would have made or handed on.

Private: ConstantVariable, SymNodeVariable.
tests/capture/test_identity_of_constants.py shows what torch does without this.
"""

from __future__ import annotations

from typing import Any

from torch._dynamo.variables import ConstantVariable, SymNodeVariable

from autograph_torch.capture.dynamo_names import expression_of, value_at
from autograph_torch.capture.later_calls import agree

_KINDS = (str, bytes, int, float, complex)  # of which equal ones need not be one


def is_one_constant(tx: Any, one: Any, other: Any) -> bool | None:
    """Whether two variables are of one number or text; None where that is no question for later calls."""
    names = [_expression(variable, tx) for variable in (one, other)]
    if one is other or names == [None, None]:
        return None
    values = [
        _constant(variable) if name is None else value_at(variable.source, tx)
        for variable, name in zip((one, other), names, strict=True)
    ]
    if type(values[0]) not in _KINDS or type(values[0]) is not type(values[1]):
        return None
    if _are_known(one, other) and repr(values[0]) != repr(values[1]):  # which their guards ask, but for -0.0
        return None
    answer = values[0] is values[1]
    sides = [name or "___constant" for name in names]
    constant = values[names.index(None)] if None in names else None
    agree((one if names[0] else other).source, f"({sides[0]} is {sides[1]}) is {answer}", ___constant=constant)
    return answer


def _expression(variable: Any, tx: Any) -> str | None:
    """What leads to a number or text from outside; None where it is none, or made by each look at it (a size)."""
    if not isinstance(variable, (ConstantVariable, SymNodeVariable)) or variable.source is None:
        return None
    name = expression_of(variable.source)
    is_kept = name is not None and value_at(variable.source, tx) is value_at(variable.source, tx)
    return name if is_kept else None


def _constant(variable: Any) -> Any:
    return variable.as_python_constant() if type(variable) is ConstantVariable else None


def _are_known(*variables: Any) -> bool:
    return all(type(variable) is ConstantVariable for variable in variables)
