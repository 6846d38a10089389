"""Attributes of functions that were there before the trace may be set.

    def step(x):
        step.calls += 1         Dynamo refuses to set an attribute of a function that the trace has not made itself
        ...

Dynamo makes a variable of such a function wherever it meets it. The first one that is written to stands for all of
them: it is tracked as an object is (private: SideEffects.track_object_existing), and the others ask it what it has.
To delete such an attribute is refused: Dynamo forgets that behind the graph.

Private: UserFunctionVariable, WrapperUserFunctionVariable, SideEffects, SetAttrBuiltinVariable.
tests/capture/test_function_attributes.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import ConstantVariable, DeletedVariable, UserFunctionVariable
from torch._dynamo.variables.functions import UserMethodVariable, WrapperUserFunctionVariable

from autograph_torch.capture.aliases import function_of, note_function
from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE, SETATTR, attribute_set
from autograph_torch.capture.instance_dicts import set_attribute
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def function_attributes() -> Iterator[None]:
    """While this is in force, they may."""
    give = SETATTR.call_function

    def called(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        target, name, value = attribute_set(self, args)
        function = None if target is None or target.source is None else function_of(target)
        if name is None or function is None:
            return give(self, tx, args, kwargs)
        note_function(target)
        effects = tx.output.side_effects
        if function not in effects:
            effects.track_object_existing(function, target)
        set_attribute(effects, effects[function], name, value)
        return ConstantVariable.create(None)

    with patched(SETATTR, call_function=called), _asking(UserFunctionVariable), _asking(WrapperUserFunctionVariable):
        yield


@contextlib.contextmanager
def _asking(kind: Any) -> Iterator[None]:
    """Variables of one kind ask the one that stands for all of a function."""
    look_up, has, call = getattr(kind, GET_ATTRIBUTE), kind.call_obj_hasattr, kind.call_method

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        tracked = _tracked(self, tx)
        found = _written(tracked, tx, name)
        if found is not None and not isinstance(found, DeletedVariable):
            return found
        return look_up(tracked if name == "__dict__" else self, tx, name)

    def call_obj_hasattr(self: Any, tx: Any, name: str) -> Any:
        found = _written(_tracked(self, tx), tx, name)
        return has(self, tx, name) if found is None else ConstantVariable.create(not isinstance(found, DeletedVariable))

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__delattr__" and function_of(self) is not None:
            message = "an attribute of a function is deleted that was there before"
            raise_refusal("AG320", message, "set it to None, or delete it outside of what is converted")
        return call(self, tx, name, args, kwargs)

    changed: Any = {GET_ATTRIBUTE: get_attribute}
    with patched(kind, call_obj_hasattr=call_obj_hasattr, call_method=call_method, **changed):
        yield


def _tracked(variable: Any, tx: Any) -> Any:
    """The variable that stands for all of its function, which a method has, too; itself where there is none yet."""
    is_method = isinstance(variable, UserMethodVariable)
    function, effects = variable.fn if is_method else function_of(variable), tx.output.side_effects
    note_function(variable)
    return effects[function] if function is not None and function in effects else variable


def _written(variable: Any, tx: Any, name: str) -> Any:
    """What the trace has given an attribute, if it has."""
    effects = tx.output.side_effects
    pending = effects.is_attribute_mutation(variable) and effects.has_pending_mutation_of_attr(variable, name)
    return effects.load_attr(variable, name, deleted_ok=True) if pending else None
