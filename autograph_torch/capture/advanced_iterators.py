"""Iterators keep their place: a body that takes from one around it is refused, and the use of one that is spent.

    if p: next(values)          in a body, which may be traced twice, or not be the one that is run
    if p: values.close()        so are `throw` and `send` of a generator

    for v in values:            a loop that data may leave early: all elements are taken before the first trip, and only
        if v > 4: break         data tell how far eager would have come (taken_elements.py)
    rest = list(values)         and so of an iterator that outlives the call: `for v in self.values`

    for k in d: d[k + 1] = 0    Python raises, Dynamo does not (torch 2.13); so of a set or deque

    left = iter(values)         what is left is what is in the list then, also for who takes all of it at once:
    if p: values.append(x)      `list(left)`, `[*left]`, `a, b = left`
    rest = list(left)

What a list or dict gives is known by its place there. Dynamo makes a list of its own that is reversed (torch 2.13), and
does not see what is written to the first one meanwhile, nor that a branch has left a list open (open_contents.py); here
what is there is given. An iterator that outlives the call is of its list or deque, and of its kind.

Private: how Dynamo's iterators are made of lists and dicts, and how they advance.
tests/capture/test_advanced_iterators.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.exc import ObservedUserStopIteration, raise_observed_exception
from torch._dynamo.variables import BuiltinVariable, ConstDictVariable, ListVariable, SetVariable, TupleVariable
from torch._dynamo.variables import iter as iterators
from torch._dynamo.variables.base import ValueMutationNew, VariableTracker
from torch._dynamo.variables.dicts import DictItemsVariable, DictKeysVariable, DictValuesVariable
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable
from torch._dynamo.variables.lists import DequeVariable, ListIteratorVariable, RangeIteratorVariable

from autograph_torch.capture.container_writes import is_from_around
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.capture.taken_elements import AS_A_LIST, KEPT, MADE_OF, SEES_WRITES, at, note_taken, spent
from autograph_torch.runtime import iteration, tracing
from autograph_torch.runtime.refusal import raise_refusal

_BASE = iterators.IteratorVariable
_VIEWS = (DictItemsVariable, DictValuesVariable)
# Of an iterator: whether it runs over its list from behind, and how many elements it has given.
_REVERSED, _GIVEN = "_autograph_reversed", "_autograph_given"
_VIEW = "_autograph_view"  # of one that runs over a dict from behind: the view that it is made of, or the dict
_STATE = "_autograph_state"  # what it runs over, and the state of that when the iterator was made
_NEVER = (0, 0)
_CHANGED: dict[Any, str] = {  # what Python says of another size
    ConstDictVariable: "dictionary changed size during iteration",
    SetVariable: "Set changed size during iteration",
}
# After these the iterators of a deque raise.
_CHANGES = frozenset("append appendleft extend extendleft insert pop popleft remove rotate clear __delitem__".split())
# The names differ with the version of torch; a list's iterator gives all that is left at once, too.
_NEXT = "tp_iternext_impl" if hasattr(VariableTracker, "tp_iternext_impl") else "next_variable"
_ALL = ("unpack_var_sequence", "force_unpack_var_sequence")
_ADVANCES = ("gen_send_ex2", "tp_iternext_impl", "next_variable", *_ALL)
_ENDS = ("close", "throw")  # methods of generators
_MADE_ANEW = "reconstruct"
_IN_BODY = "a branch or loop advances an iterator from around it"
_KEPT_BEHIND_A_CHANGE = "an iterator of a deque is kept that has changed since the iterator was made"
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
            if _MADE_ANEW in vars(kind):
                own[_MADE_ANEW] = _keeping(vars(kind)[_MADE_ANEW])
            stack.enter_context(patched(kind, **own))
        by_method = LocalGeneratorObjectVariable.call_method
        stack.enter_context(patched(LocalGeneratorObjectVariable, call_method=_ending(by_method)))
        for kind in (ListVariable, DequeVariable, ConstDictVariable, DictKeysVariable, *_VIEWS):
            stack.enter_context(patched(kind, call_method=_reversing(method_of(kind, "call_method"))))
        stack.enter_context(patched(DequeVariable, call_method=_counting(DequeVariable.call_method)))
        if not hasattr(VariableTracker, "tp_iter_impl"):
            stack.enter_context(_made_by_methods())
        for kind in (ListVariable, DequeVariable, ConstDictVariable, *_VIEWS):
            if "tp_iter_impl" in vars(kind):
                stack.enter_context(patched(kind, tp_iter_impl=_making(vars(kind)["tp_iter_impl"])))
        yield


def _making(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(self: Any, *args: Any) -> Any:
        iterator = make(self, *args)
        container = getattr(self, "dv_dict", self)
        iterator.__dict__[MADE_OF] = container
        return watching(iterator, container)

    return made


@contextlib.contextmanager
def _made_by_methods() -> Iterator[None]:
    """The same up to torch 2.12, where lists and dicts make iterators in call_method.

    There `reversed` makes a tuple, `map` and `filter` a list of the elements that there are when they are called.
    """
    call_any = BuiltinVariable.call_function

    def made_by(call: Callable[..., Any]) -> Callable[..., Any]:
        def call_method(self: Any, tx: Any, name: str, *args: Any) -> Any:
            result = call(self, tx, name, *args)
            if name == "__iter__" and isinstance(result, ListIteratorVariable):
                if type(self) is not TupleVariable:
                    result.__dict__[MADE_OF] = getattr(self, "dv_dict", self)
                elif _REVERSED in self.__dict__:
                    result.__dict__.update({MADE_OF: self.__dict__[MADE_OF], _REVERSED: True})
                result.__dict__["view_type"] = _view_type(self)
            return result

        return call_method

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn in (map, filter) and len(args) > 1 and not kwargs:
            function, *iterables = args
            items = [VariableTracker.build(tx, iter).call_function(tx, [one], {}) for one in iterables]
            made: Any = iterators.MapVariable if self.fn is map else iterators.FilterVariable
            return made(function, items if self.fn is map else items[0], mutation_type=ValueMutationNew())
        result = call_any(self, tx, args, kwargs)
        if self.fn is reversed and isinstance(container := args[0].realize(), (ListVariable, DequeVariable)):
            result.__dict__.update({MADE_OF: container, _REVERSED: True})
        return result

    with contextlib.ExitStack() as stack:
        for kind in (ListVariable, DequeVariable, TupleVariable, ConstDictVariable, *_VIEWS):
            stack.enter_context(patched(kind, call_method=made_by(method_of(kind, "call_method"))))
        stack.enter_context(patched(BuiltinVariable, call_function=call_function))
        yield


def _view_type(container: Any) -> str:
    if isinstance(container, DictItemsVariable):
        return "items"
    return "values" if isinstance(container, DictValuesVariable) else "keys"


def _beginning(make: Callable[..., None]) -> Callable[..., None]:
    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self._autograph_tracer = tracing.current_tracer()

    return begin


def _advancing(name: str, advance: Callable[..., Any]) -> Callable[..., Any]:
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        _check_place(self)
        _check_state(self, *args[:1])
        _renew(self)
        place = _place(self) if name == _NEXT else None
        note_taken(self, place, counts=name == _NEXT)
        try:
            result = advance(self, *args, **kwargs)
        except ObservedUserStopIteration:
            _end(self)
            raise
        if name == _NEXT:
            self.__dict__[_GIVEN] = self.__dict__.get(_GIVEN, 0) + 1
        elif name in _ALL:
            _end(self)
        return result if place is None else _what_is_there(self, place, result)

    return checked


def _ending(call: Callable[..., Any]) -> Callable[..., Any]:
    """A generator goes on as well where it is closed, or an exception is raised in it."""

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in _ENDS:
            _check_place(self)
        return call(self, tx, name, args, kwargs)

    return call_method


def _check_place(iterator: Any) -> None:
    """Refuse to move an iterator that the tracer knows not to be at the place where Python has it."""
    tracer = tracing.current_tracer()
    made_in = getattr(iterator, "_autograph_tracer", tracer)
    if made_in is not tracer and made_in in tracing.enclosing(tracer):
        raise_refusal("AG206", _IN_BODY, "make the iterator in the branch or loop, or take from it before")
    if iterator in spent():
        raise_refusal("AG206", _SPENT, AS_A_LIST)


def _renew(iterator: Any) -> None:
    """Let an iterator of a list or deque, or one from behind, come to what is there now."""
    container = iterator.__dict__.get(MADE_OF)
    if isinstance(view := iterator.__dict__.get(_VIEW), _VIEWS):
        iterator.items = view.view_items_vt[::-1]
    if not isinstance(iterator, ListIteratorVariable) or not isinstance(container, (ListVariable, DequeVariable)):
        return
    left = len(iterator.items) - iterator.index
    if _REVERSED not in iterator.__dict__:
        iterator.items = container.items
    elif left <= len(container.items):
        iterator.items[iterator.index :] = container.items[:left][::-1]
    else:  # it is behind the end of the list, and stays there
        iterator.is_exhausted = True


def _end(iterator: Any) -> None:
    """An iterator has come to its end: that of a dict or set asks it no more. (That of a deque does.)"""
    container, _ = iterator.__dict__.get(_STATE, (None, None))
    if type(container) in _CHANGED:
        del iterator.__dict__[_STATE]


def _keeping(make: Callable[..., None]) -> Callable[..., None]:
    """An iterator that is made anew behind the graph, for who keeps it: of a list or deque, not of its elements."""

    def checked(self: Any, codegen: Any) -> None:
        if self in spent():
            raise_refusal("AG206", KEPT, AS_A_LIST)
        container = self.__dict__.get(MADE_OF)
        if type(self) is not ListIteratorVariable or type(container) not in (ListVariable, DequeVariable):
            make(self, codegen)
            return
        if self.__dict__.get(_STATE, (None, None))[1] != _state(container):
            raise_refusal("AG206", _KEPT_BEHIND_A_CHANGE, "make the iterator behind it")
        codegen.add_push_null(lambda: codegen.load_import_from(iteration.__name__, iteration.continued.__name__))
        codegen(container)
        given = None if self.is_exhausted else self.index
        backwards = len(self.items) if _REVERSED in self.__dict__ else None
        codegen.append_output(codegen.create_load_const(given))
        codegen.append_output(codegen.create_load_const(backwards))
        codegen.extend_output(create_call_function(3, False))

    return checked


def _counting(call: Callable[..., Any]) -> Callable[..., Any]:
    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        result = call(self, tx, name, args, kwargs)
        if name in _CHANGES and not (name.startswith("extend") and _is_empty(args[0].realize())):
            in_branch = is_from_around(self, tx.output.current_tracer)
            sure, perhaps = _changes().get(self, _NEVER)
            _changes()[self] = (sure, perhaps + 1) if in_branch else (sure + 1, perhaps)
        return result

    return call_method


def _is_empty(variable: Any) -> bool:
    return getattr(variable, "items", None) == []


def _changes() -> dict[Any, tuple[int, int]]:
    """How often a deque has become another one for sure, and in a branch or loop of the graph."""
    return tracing.notebook().setdefault("changes", {})  # type: ignore[no-any-return]


def watching(iterator: Any, container: Any) -> Any:
    """An iterator that raises what Python does when what it runs over has changed."""
    iterator.__dict__[_STATE] = container, _state(container)
    return iterator


def _state(container: Any) -> tuple[int, int] | None:
    """What has to be the same when an iterator of a dict, set or deque advances."""
    if isinstance(container, DequeVariable):
        return _changes().get(container, _NEVER)
    return (len(container.items), 0) if type(container) in _CHANGED else None


def _check_state(iterator: Any, tx: Any) -> None:
    """Raise what Python does when a dict, set or deque has changed while a loop runs over it."""
    container, before = iterator.__dict__.get(_STATE, (None, None))
    now = _state(container)
    if before is None or now is None:
        return
    if now[0] != before[0]:
        message = _CHANGED.get(type(container), "deque mutated during iteration")
        raise_observed_exception(RuntimeError, tx, args=[message])
    if now != before:
        raise_refusal("AG206", SEES_WRITES, AS_A_LIST)


def _what_is_there(iterator: Any, place: Any, given: Any) -> Any:
    """What an iterator gives where Dynamo has made a list of its own for it: up to torch 2.12 of a dict's views."""
    container = iterator.__dict__[MADE_OF]
    if not isinstance(iterator, ListIteratorVariable) or not isinstance(container, ConstDictVariable):
        return given
    now = at(container, place)
    if type(given) is TupleVariable and iterator.__dict__["view_type"] == "items":
        return given if given.items[1].realize() is now else TupleVariable([given.items[0], now])
    return now


def _reversing(call: Callable[..., Any]) -> Callable[..., Any]:
    def call_method(self: Any, tx: Any, name: str, *args: Any) -> Any:
        result = call(self, tx, name, *args)
        if name == "__reversed__" and isinstance(result, ListIteratorVariable):
            container = getattr(self, "dv_dict", self)
            result.__dict__.update({MADE_OF: container, _REVERSED: True})
            if isinstance(container, ConstDictVariable):
                result.__dict__.update({"view_type": _view_type(self), _VIEW: self})
            watching(result, container)
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
    if isinstance(container, ConstDictVariable):
        return next(islice(container.items, index, None), None) if index >= 0 else None
    return index if 0 <= index < len(container.items) else None
