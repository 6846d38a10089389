"""Partials and classes that the program asks about are what they are in Python.

    functools.partial(functools.partial(f, a), b).func      f: Python makes one partial of the two, Dynamo does not
    functools.partial(x)                                    TypeError for a tensor, which Dynamo leaves until the call
    Model.count += 1; "count" in vars(Model)                Dynamo has what was there before: refused

All in plain torch.compile, too (torch 2.13).

Private: FunctoolsPartialVariable, the attributes of UserDefinedClassVariable.
tests/capture/test_functions_given.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.exc import raise_observed_exception
from torch._dynamo.variables import UserDefinedClassVariable
from torch._dynamo.variables.functions import FunctoolsPartialVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def functions_given() -> Iterator[None]:
    """While this is in force, they are."""
    begin = FunctoolsPartialVariable.__init__
    look_up: Any = getattr(UserDefinedClassVariable, GET_ATTRIBUTE)

    def init(self: Any, func: Any, args: Any, keywords: Any, *others: Any, **kwargs: Any) -> None:
        inner = func.realize()
        if _is_no_callable(inner):
            raise_observed_exception(
                TypeError, tracing.current_translator(), args=["the first argument must be callable"]
            )
        if isinstance(inner, FunctoolsPartialVariable):
            func, args, keywords = inner.func, [*inner.args, *args], {**inner.keywords, **keywords}
        begin(self, func, args, keywords, *others, **kwargs)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if name == "__dict__" and tx.output.side_effects.store_attr_mutations.get(self):
            message = "the attributes of a class are asked for together, behind a write to one of them"
            raise_refusal("AG320", message, "ask for them by name, or before")
        return look_up(self, tx, name)

    with (
        patched(FunctoolsPartialVariable, __init__=init),
        patched(UserDefinedClassVariable, **{GET_ATTRIBUTE: get_attribute}),
    ):
        yield


def _is_no_callable(variable: Any) -> bool:
    """Whether a variable is known to be of what cannot be called."""
    try:
        kind = variable.python_type()
    except NotImplementedError:
        return False
    return not any("__call__" in vars(one) for one in kind.__mro__)
