"""Sets are gone through in Python's order: Dynamo takes their members in the order in which they have come in.

    for k in {3, 1}: ...                    1, then 3

The order of a set follows from its members and their way in and out, which a set of Python's own goes as well
(capture/set_twins.py).

And with torch 2.13 a set from before the function stays as it was behind `names -= {...}`: Dynamo writes back what is
new in one, unless told that something has gone. A set that holds anything but constants it tracks by its attributes, of
which it has none, and does not write back at all.

Private: SideEffects.track_object_existing, track_mutable.
tests/capture/test_sets.py shows the differences, and fails when torch has none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import ListVariable, SetVariable, TupleVariable
from torch._dynamo.variables import iter as iterators

from autograph_torch.capture.advanced_iterators import watching
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.capture.set_twins import following_twins, is_changed, twin_of


@contextlib.contextmanager
def sets_in_order() -> Iterator[None]:
    """While converted functions are traced."""
    unpack, call = method_of(SetVariable, "unpack_var_sequence"), method_of(ListVariable, "call_method")

    def unpack_var_sequence(self: Any, tx: Any) -> Any:
        order = _order(self)
        return unpack(self, tx) if order is None else [one.vt for one in order]

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        order = _order(args[0]) if name == "extend" and len(args) == 1 else None
        args = args if order is None else [TupleVariable([one.vt for one in order])]
        return call(self, tx, name, args, kwargs)

    with (
        patched(SetVariable, unpack_var_sequence=unpack_var_sequence, **_iterators(), **_subtraction()),
        patched(SetVariable, **following_twins()),
        patched(ListVariable, call_method=call_method),
        patched(SideEffects, track_object_existing=_tracking(SideEffects.track_object_existing)),
    ):
        yield


def _tracking(track: Callable[..., Any]) -> Callable[..., Any]:
    """What is done to a set that was there before is done to its members."""

    def track_object_existing(self: Any, item: Any, variable: Any) -> Any:
        return (self.track_mutable if isinstance(variable, SetVariable) else track.__get__(self))(item, variable)

    return track_object_existing


def _iterators() -> dict[str, Any]:
    """How a set gives its iterator; one of torch 2.11 makes it of what it is unpacked to."""
    if not hasattr(SetVariable, "tp_iter_impl") or not hasattr(iterators, "SetIterator"):
        return {}
    iterate = method_of(SetVariable, "tp_iter_impl")

    def tp_iter_impl(self: Any, tx: Any) -> Any:
        order = _order(self)
        made = iterate(self, tx) if order is None else iterators.SetIterator({one: one.vt for one in order})
        return watching(made, self)

    return {"tp_iter_impl": tp_iter_impl}


def _subtraction() -> dict[str, Any]:
    """How a set loses the members of another one in place; not in torch 2.11, where that is an update."""
    if not hasattr(SetVariable, "nb_inplace_subtract_impl"):
        return {}
    subtract = method_of(SetVariable, "nb_inplace_subtract_impl")

    def nb_inplace_subtract_impl(self: Any, tx: Any, other: Any) -> Any:
        self.should_reconstruct_all = True
        return subtract(self, tx, other)

    return {"nb_inplace_subtract_impl": nb_inplace_subtract_impl}


def _order(variable: Any) -> list[Any] | None:
    """The members of a set of constants, in the order of Python; None where Dynamo's is right, or none is known."""
    if variable.source is not None and not is_changed(variable):
        return None
    twin = twin_of(variable)
    if twin is None:
        return None
    by_value = {one.vt.as_python_constant(): one for one in variable.items}
    return [by_value[value] for value in twin]
