"""Lists and dicts from around a body that it writes to: other ways to them lead to what the body sees.

    if p:                       the body works on a copy of `xs`,
        xs[0] = x * 5           and whatever else leads to the list, an attribute, a closure, another container,
        n = self.count()        has to find in it what the copy holds

While such a body is traced, the variable of the original holds the very contents of the copy's.

Private name of Dynamo: `items`, the contents of ListVariable and ConstDictVariable, which all their methods change in
place (checked when the body ends); but `LazyVariableTracker.realize_all`, with which it walks through an optimizer's
`param_groups`, puts new ones there. tests/capture/test_contents.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import (
    ConstantVariable,
    ConstDictVariable,
    ListVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.lazy import LazyVariableTracker

from autograph_torch.capture.held import held
from autograph_torch.capture.open_contents import Open, is_left_unread, is_open, is_unread, put_into_all
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import outside, tracing
from autograph_torch.runtime.refusal import raise_refusal


@contextlib.contextmanager
def contents_in_place() -> Iterator[None]:
    """While this is in force, what Dynamo looks at in a list or dict stays in the same contents."""
    found: Any = vars(LazyVariableTracker)["realize_all"]
    realize = found.__func__

    def realize_all(cls: Any, value: Any, cache: Any = None, **kwargs: Any) -> Any:
        cache = {} if cache is None else cache
        result = realize(cls, value, cache, **kwargs)
        if type(value) not in (list, dict, OrderedDict):
            return result
        if type(value) is list:
            value[:] = result
        else:
            value.update(result)
        cache[id(value)] = (value, value)
        return value

    with patched(LazyVariableTracker, realize_all=classmethod(realize_all)):
        yield


def fill_in_contents(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of outside.share, is_shared and parted when the tracer is about to enter one of them."""
    tracer = parent.output.current_tracer
    if code is outside.share.__code__:
        for original, copy in zip(
            arguments["originals"].realize().items, arguments["copies"].realize().items, strict=True
        ):
            _share(tracer, original.realize(), copy.realize())
    elif code is outside.is_shared.__code__:
        arguments["found"] = ConstantVariable.create(_is_shared(tracer, arguments["value"].realize()))
    elif code is outside.parted.__code__:
        _part(tracer)


def as_tuple(variable: Any) -> Any:
    """The plain tuple in one with a class of its own, a named one say; else the variable itself."""
    inner = tracing.inner_of(variable)
    return inner if isinstance(inner, TupleVariable) else variable


def _share(tracer: Any, original: Any, copy: Any) -> None:
    original, copy = as_tuple(original), as_tuple(copy)
    if isinstance(original, TupleVariable) and isinstance(copy, TupleVariable):
        for inner, inner_copy in zip(original.items, copy.items, strict=True):
            _share(tracer, inner.realize(), inner_copy.realize())
        return
    is_open_now = is_open(copy) and (is_open(original) or is_left_unread(original))
    both = is_open_now or (_is_container(original) and _is_container(copy))
    if not both or held(original) is held(copy):
        return
    for inner, inner_copy in zip(_parts(original), _parts(copy), strict=False):
        _share(tracer, inner, inner_copy)
    # In a body inside of another the original is a copy itself: what shares its contents goes along.
    around = [one for tracer in tracing.enclosing(tracer.parent) for one in tracing.shared_contents(tracer)]
    known = {one: None for variable, _, copied in around for one in (variable, copied) if held(one) is held(original)}
    deques = {one: None for one, known_list in tracing.lists_of_deques().items() if known_list is original}
    for variable in {original: None, **known, **deques}:
        tracing.shared_contents(tracer).append((variable, held(variable), copy))
        variable.items = held(copy)


def _is_shared(tracer: Any, variable: Any) -> bool:
    inner = _parts(variable) if _is_container(variable) or isinstance(variable, TupleVariable) else ()
    return tracing.shares_contents(tracer, variable) or any(_is_shared(tracer, one) for one in inner)


def _part(tracer: Any) -> None:
    """At the end of a body: each has its own contents again."""
    shared, written = tracing.shared_contents(tracer), tracing.written_containers(tracer)
    # The last one first: a deque and the list that stands for it have the same contents, and what was there before the
    # first of the writes is what was there before the body.
    for variable, items in reversed(written.items()):
        _put_back(variable, items, tracer)
    for variable, items, copy in reversed(shared):
        if held(variable) is not held(copy):
            raise_refusal(
                "AG206",
                "a branch or loop writes to a list or dict in a way that its other names do not see",
                "use one name for it there, or copy it before",
            )
        variable.items = items
    shared.clear()
    written.clear()
    for variable, items in tracing.taken_away(tracer):
        tracing.unusable().discard(variable)
        if items is not None:
            variable.items = items
    tracing.taken_away(tracer).clear()


def take_away(variable: Any, tracer: Any) -> None:
    """From here on (to the end of the body that a tracer traces), using the contents of an object is refused."""
    if tracer is not None:
        tracing.taken_away(tracer).append((variable, held(variable)))
    if _is_container(variable):
        variable.items = _Gone()
    elif isinstance(variable, UserDefinedObjectVariable):
        tracing.unusable().add(variable)


class _Gone:
    """In the place of the contents of a list or dict that may not be used."""

    def _refuse(self, *_: Any) -> Any:
        raise_refusal(
            "AG206",
            "a list or dict is used here that a loop has written to, and bound its name to another one",
            "make a copy of it before the loop",
        )

    __iter__ = __len__ = __getitem__ = __setitem__ = __delitem__ = __contains__ = __bool__ = __add__ = __mul__ = _refuse
    __getattr__ = _refuse


def _put_back(variable: Any, items: Any, tracer: Any) -> None:
    """Let a container hold what it held before a body has written to it."""
    found = held(variable)
    if isinstance(items, Open) and isinstance(found, Open):
        found.restore(items)
        return
    if isinstance(items, Open):  # the body has looked into it
        items = items.read()
    if is_open(variable):
        put_into_all(variable, tracer, found.replaced)
    _fill(variable.items, items)


def _fill(contents: Any, items: Any) -> None:
    """Put items into a list or dict that others may share."""
    contents.clear()
    contents.extend(items) if isinstance(contents, list) else contents.update(items)


def _is_container(variable: Any) -> bool:
    return isinstance(variable, (ListVariable, ConstDictVariable)) and (
        is_unread(variable) or isinstance(held(variable), (list, dict))
    )


def _parts(variable: Any) -> list[Any]:
    if is_open(variable) or is_left_unread(variable):
        return []
    items = variable.items.values() if isinstance(variable.items, dict) else variable.items
    return [item.realize() for item in items]
