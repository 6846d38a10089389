"""Iterators keep their place: a body that takes from one around it is refused, and the use of one that is spent.

    if p: next(values)          in a body, which may be traced twice, or not be the one that is run

    for v in values:            a loop that data may leave early: all elements are taken before the first trip, and only
        if v > 4: break         data tell how far eager would have come (taken_elements.py)
    rest = list(values)

What a list or dict gives is known by its place there. Dynamo makes a list of its own that is reversed (torch 2.13), and
does not see what is written to the first one meanwhile; here what is there is given.

Private: how Dynamo's iterators are made of lists and dicts, and how they advance.
tests/capture/test_advanced_iterators.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from torch._dynamo.variables import ConstDictVariable, ListVariable
from torch._dynamo.variables import iter as iterators
from torch._dynamo.variables.dicts import DictItemsVariable, DictValuesVariable
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable
from torch._dynamo.variables.lists import DequeVariable, ListIteratorVariable, RangeIteratorVariable

from autograph_torch.capture.patching import method_of, patched
from autograph_torch.capture.taken_elements import AS_A_LIST, MADE_OF, at, note_taken, spent
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal

_BASE = iterators.IteratorVariable
_VIEWS = (DictItemsVariable, DictValuesVariable)
# Of an iterator: whether it runs over its list from behind, and how many elements it has given.
_REVERSED, _GIVEN = "_autograph_reversed", "_autograph_given"
# The names differ with the version of torch; a list's iterator gives all that is left at once, too.
_NEXT = "tp_iternext_impl"
_ADVANCES = ("gen_send_ex2", _NEXT, "next_variable", "unpack_var_sequence", "force_unpack_var_sequence")
_IN_BODY = "a branch or loop advances an iterator from around it"
_SPENT = "an iterator is used that a loop has run over which data may leave early"


@contextlib.contextmanager
def advanced_iterators() -> Iterator[None]:
    """While converted functions are traced."""
    found = [one for one in vars(iterators).values() if isinstance(one, type) and issubclass(one, _BASE)]
    kinds: list[Any] = [LocalGeneratorObjectVariable, ListIteratorVariable, RangeIteratorVariable, *found]
    roots: list[Any] = [LocalGeneratorObjectVariable, _BASE]
    with contextlib.ExitStack() as stack:
        for root in roots:
            stack.enter_context(patched(root, __init__=_beginning(root.__init__)))
        for kind in kinds:
            own = {name: _advancing(name, vars(kind)[name]) for name in _ADVANCES if name in vars(kind)}
            stack.enter_context(patched(kind, **own))
        for kind in (ListVariable, DequeVariable):
            stack.enter_context(patched(kind, call_method=_reversing(method_of(kind, "call_method"))))
        for kind in (ListVariable, DequeVariable, ConstDictVariable, *_VIEWS):
            if "tp_iter_impl" in vars(kind):
                stack.enter_context(patched(kind, tp_iter_impl=_making(vars(kind)["tp_iter_impl"])))
        yield


def _making(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(self: Any, *args: Any) -> Any:
        iterator = make(self, *args)
        iterator.__dict__[MADE_OF] = getattr(self, "dv_dict", self)
        return iterator

    return made


def _beginning(make: Callable[..., None]) -> Callable[..., None]:
    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self._autograph_tracer = tracing.current_tracer()

    return begin


def _advancing(name: str, advance: Callable[..., Any]) -> Callable[..., Any]:
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        tracer = tracing.current_tracer()
        made_in = getattr(self, "_autograph_tracer", tracer)
        if made_in is not tracer and made_in in tracing.enclosing(tracer):
            raise_refusal("AG206", _IN_BODY, "make the iterator in the branch or loop, or take from it before")
        if self in spent():
            raise_refusal("AG206", _SPENT, AS_A_LIST)
        place = _place(self) if name == _NEXT else None
        note_taken(self, place, counts=name == _NEXT)
        result = advance(self, *args, **kwargs)
        if name == _NEXT:
            self.__dict__[_GIVEN] = self.__dict__.get(_GIVEN, 0) + 1
        return result if place is None or _REVERSED not in self.__dict__ else at(self.__dict__[MADE_OF], place)

    return checked


def _reversing(call: Callable[..., Any]) -> Callable[..., Any]:
    def call_method(self: Any, tx: Any, name: str, *args: Any) -> Any:
        result = call(self, tx, name, *args)
        if name == "__reversed__" and isinstance(result, ListIteratorVariable):
            result.__dict__.update({MADE_OF: self, _REVERSED: True})
        return result

    return call_method


def _place(iterator: Any) -> Any:
    """The index in a list, or the key in a dict, of the value that comes next; None where that is not known."""
    container = iterator.__dict__.get(MADE_OF)
    if container is None or getattr(iterator, "view_type", "") == "keys":
        return None
    if not isinstance(iterator, ListIteratorVariable):
        return next(islice(container.items, iterator.__dict__.get(_GIVEN, 0), None), None)
    index = len(iterator.items) - 1 - iterator.index if _REVERSED in iterator.__dict__ else iterator.index
    return index if 0 <= index < len(container.items) else None
