"""Functions, partials and classes that the program asks about are what they are in Python.

    functools.partial(functools.partial(f, a), b).func      f: Python makes one partial of the two, Dynamo does not
    getattr(helper, "last", None)                           a later call may find that somebody has set it: a guard
    Model.count += 1; "count" in vars(Model)                Dynamo has what was there before: refused

All three in plain torch.compile, too (torch 2.13).

Private: FunctoolsPartialVariable, UserFunctionVariable.call_obj_hasattr, the attributes of UserDefinedClassVariable.
tests/capture/test_functions_given.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.variables import UserDefinedClassVariable, UserFunctionVariable
from torch._dynamo.variables.functions import FunctoolsPartialVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def functions_given() -> Iterator[None]:
    """While this is in force, they are."""
    begin, has = FunctoolsPartialVariable.__init__, UserFunctionVariable.call_obj_hasattr
    look_up: Any = getattr(UserDefinedClassVariable, GET_ATTRIBUTE)

    def init(self: Any, func: Any, args: Any, keywords: Any, *others: Any, **kwargs: Any) -> None:
        inner = func.realize()
        if isinstance(inner, FunctoolsPartialVariable):
            func, args, keywords = inner.func, [*inner.args, *args], {**inner.keywords, **keywords}
        begin(self, func, args, keywords, *others, **kwargs)

    def call_obj_hasattr(self: Any, tx: Any, name: str) -> Any:
        if self.source:
            install_guard(self.source.make_guard(functools.partial(GuardBuilder.HASATTR, attr=name)))
        return has(self, tx, name)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if name == "__dict__" and tx.output.side_effects.store_attr_mutations.get(self):
            message = "the attributes of a class are asked for together, behind a write to one of them"
            raise_refusal("AG320", message, "ask for them by name, or before")
        return look_up(self, tx, name)

    with (
        patched(FunctoolsPartialVariable, __init__=init),
        patched(UserFunctionVariable, call_obj_hasattr=call_obj_hasattr),
        patched(UserDefinedClassVariable, **{GET_ATTRIBUTE: get_attribute}),
    ):
        yield
