"""The dict of an object's attributes is the object's own, and has them in Python's order.

    state = State()                  vars(state) is a new dict, which is empty where `state` is not given back, too
    state.n = x
    return vars(state)

    for name in vars(state): ...     attributes that the function has set come before those that were there

Both in plain torch.compile, too (torch 2.13; in 2.11 such a dict has no variable of its own). A branch or loop that
writes to such a dict would work on a copy, in which its object does not see the writes: that is refused.

Attributes that an object gets in an order that only data tell are refused where the object is given back. So are
attributes that change while their dict is at hand under a name from before the call (`self.state = vars(self)`).

Private: DunderDictVariable, SideEffectsProxyDict and SideEffects.codegen_update_mutated.
tests/capture/test_instance_dicts.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import inspect
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import DeletedVariable, UserDefinedObjectVariable, dicts
from torch._dynamo.variables.functions import BaseUserFunctionVariable

from autograph_torch.capture.attribute_order import set_again, unordered
from autograph_torch.capture.patching import patched
from autograph_torch.capture.presence import in_dict
from autograph_torch.runtime import structure, tracing
from autograph_torch.runtime.refusal import raise_refusal, refusal_at

_DICT: Any = getattr(dicts, "DunderDictVariable", None)

# What every function has, which Dynamo keeps in its dict, too: `__annotations__` and the like.
_OF_FUNCTIONS = frozenset(name for name, found in vars(types.FunctionType).items() if hasattr(type(found), "__set__"))


@contextlib.contextmanager
def instance_dicts() -> Iterator[None]:
    """While this is in force, it is."""
    write_back = SideEffects.codegen_update_mutated

    def codegen_update_mutated(self: Any, *args: Any, **kwargs: Any) -> None:
        changed = self._get_modified_vars()
        for item in changed:
            _check_order(item)
        _check_names(self, changed)
        write_back(self, *args, **kwargs)

    with patched(SideEffects, codegen_update_mutated=codegen_update_mutated), _dicts():
        yield


def _check_names(effects: Any, changed: list[Any]) -> None:
    """A dict that came to the trace under a name of its own may be that of an object, of which it knows nothing."""
    known = effects.id_to_variable
    for item in [one for one in known.values() if isinstance(one, UserDefinedObjectVariable)]:
        attributes = known.get(id(_dict_of(item.value)))
        if attributes not in (None, item) and (item in changed or attributes in changed):
            raise_refusal(
                "AG206",
                f"the attributes of an object of {type(item.value).__name__} change, whose dict has a name of its own",
                "ask for `vars(...)` where it is needed",
            )


def _dict_of(value: Any) -> Any:
    try:
        return object.__getattribute__(value, "__dict__")  # without asking code of the program's
    except AttributeError:
        return None


@contextlib.contextmanager
def _dicts() -> Iterator[None]:
    if _DICT is None:  # torch 2.11
        yield
        return
    begin = _DICT.__init__

    def init(self: Any, vt: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, vt, *args, **kwargs)
        self.owner = vt  # lives as long as its dict does

    def reconstruct(self: Any, codegen: Any) -> None:
        _check_order(self.owner)
        codegen(self.owner)
        codegen.append_output(codegen.create_load_attr("__dict__"))

    def names_in_order(self: Any) -> Iterator[Any]:
        _check_order(self.item)
        set_here = self.side_effects_table()
        again = set_again(self.side_effects, self.item)
        stayed = [name for name in self.item_dict if name not in again]
        names = {**dict.fromkeys(stayed), **dict.fromkeys(set_here)}
        hidden = _OF_FUNCTIONS if isinstance(self.item, BaseUserFunctionVariable) else frozenset()
        for name in names:
            if name not in hidden and not isinstance(set_here.get(name), DeletedVariable):
                yield dicts.HashableTracker(dicts.ConstantVariable.create(name))

    def install_dict_keys_match_guard(self: Any) -> None:
        if self.source:
            install_guard(self.make_guard(GuardBuilder.DICT_KEYS_MATCH))

    def install_dict_contains_guard(self: Any, tx: Any, args: Any) -> None:
        if self.source and args[0].is_python_constant():
            name = args[0].as_python_constant()
            is_there = name in self.items.item_dict  # before the trace
            install_guard(self.make_guard(in_dict(name, is_there)))

    guards = {
        "install_dict_keys_match_guard": install_dict_keys_match_guard,
        "install_dict_contains_guard": install_dict_contains_guard,
    }
    with (
        patched(_DICT, __init__=init, reconstruct=reconstruct, **guards),
        patched(dicts.SideEffectsProxyDict, __iter__=names_in_order),
    ):
        yield


def note_order(item: Any, names: list[str], effects: Any) -> None:
    """At the end of a body: whether it has set new attributes in the order in which they will be set behind it."""
    before = tracing.current_tracer().__dict__["_autograph_table"].get(item, {})
    at_first = getattr(getattr(item, "value", None), "__dict__", {})  # what a function had, is not written to
    new = [name for name in names if name not in before and name not in at_first]
    set_here = [name for name in effects.store_attr_mutations.get(item, ()) if name in new]
    if set_here != [name for name in new if name in set_here]:
        unordered().setdefault(item, tracing.user_line()[:2])


def _check_order(item: Any) -> None:
    if item in unordered():
        message = "the branches leave the attributes of an object in different orders, which `vars` shows"
        raise refusal_at(*unordered()[item], "AG310", message, "set them in the same order, or before")


def refuse_instance_dicts(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Stop where the tracer is about to ask structure.is_copied of such a dict."""
    if _DICT is not None and code is structure.is_copied.__code__ and isinstance(arguments["value"].realize(), _DICT):
        message = "a branch or loop on a tensor writes to the dict of an object's attributes"
        raise_refusal("AG206", message, "set the attributes themselves, or use a dict of your own")


def set_attribute(effects: Any, item: Any, name: str, value: Any) -> None:
    """Give an object an attribute; where Python would put it into its dict, it is found there."""
    of_object = isinstance(item, UserDefinedObjectVariable) and is_in_dict(item.value, name)
    if _DICT is not None and (of_object or isinstance(item, BaseUserFunctionVariable)):
        effects.store_instance_dict_attr(item, name, value)
    else:
        effects.store_attr(item, name, value)


def is_in_dict(value: Any, name: str) -> bool:
    """Whether an attribute that is set is kept in an object's own dict."""
    return hasattr(value, "__dict__") and not hasattr(type(inspect.getattr_static(type(value), name, None)), "__set__")
