"""How the tracer lets a body write to lists and dicts from around it, where the text of the body does not show it.

    self.usage[0] += 1          in a method, a helper, a local function, or by another name

Dynamo refuses such writes. In bodies of our operators it does not: what was in the container is remembered when the
body first writes to it, and is there again behind the body. The next attempt knows the container, and its bodies work
on a copy (runtime/outside.py: written_containers, share), as if the text had shown the write.

Some methods of Dynamo's containers change `items` first and tell of it afterwards (`SideEffects.mutation`); so what was
there is remembered when such a method begins. tests/capture/test_container_writes.py fails clearly when torch changes
this.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.variables import ConstDictVariable, ListVariable, TupleVariable
from torch._dynamo.variables.base import ValueMutationExisting, ValueMutationNew
from torch._dynamo.variables.lists import DequeVariable

from autograph_torch.capture.held import held
from autograph_torch.capture.patching import method_of
from autograph_torch.runtime import outside, tracing
from autograph_torch.runtime.refusal import raise_refusal

_CONTAINERS = (ListVariable, ConstDictVariable, DequeVariable)
_WRITERS = (
    "call_method",
    "mp_ass_subscript_impl",
    "sq_ass_item_impl",
    "sq_inplace_concat_impl",
    "sq_inplace_repeat_impl",
    "nb_inplace_or_impl",
)


def watch_containers() -> None:
    """Let the methods that write remember what there was."""
    for kind in _CONTAINERS:
        for name in _WRITERS:
            if hasattr(kind, name):
                setattr(kind, name, _remembering(method_of(kind, name)))


def may_be_written(item: Any, tracer: Any) -> bool:
    """Whether a body may write to an object: a list or dict from around it, of which it is known what was in it."""
    if type(item) not in _CONTAINERS or not is_from_around(item, tracer):
        return False
    if not tracing.shares_contents(tracer, item):
        begun = tracer.__dict__.get("_autograph_begun", {})
        if item not in begun:
            return False
        tracing.written_containers(tracer).setdefault(item, begun[item])
    tracer.__dict__["_autograph_written_to"] = True
    return True


def _remembering(method: Any) -> Any:
    """A method that may write: what was in the container is known while it runs."""

    @functools.wraps(method)
    def remembering(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        with beginning_to_write(self, tx.output.current_tracer):
            return method(self, tx, *args, **kwargs)

    return remembering


@contextlib.contextmanager
def beginning_to_write(item: Any, tracer: Any) -> Iterator[None]:
    """What may write to a container begins: what is in the container is known until that has ended."""
    begun = tracer.__dict__.setdefault("_autograph_begun", {})
    if type(item) not in _CONTAINERS or not is_from_around(item, tracer) or item in begun:
        yield
        return
    begun[item] = held(item).copy()
    try:
        yield
    finally:
        del begun[item]


def is_from_around(item: Any, tracer: Any) -> bool:
    """Whether a container was there before the body of ours that is being traced."""
    if "_autograph_table" not in tracer.__dict__ or item.mutation_type is None:
        return False
    return bool(item.mutation_type.scope < current_scope_id())


def fill_in_containers(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of outside.written_containers when the tracer is about to enter it."""
    if code is outside.written_containers.__code__:
        effects = parent.output.side_effects
        found = tracing.containers_of(arguments["site"].as_python_constant())
        arguments["found"] = TupleVariable([_plain(_registered(one, effects)) for one in found])


def _registered(found: tracing.Field, effects: Any) -> Any:
    """The variable that Dynamo has for a container now: what it first met inside a body, it forgets behind."""
    if found.place is None:
        return found.item
    holder = effects.id_to_variable.setdefault(found.place, found.holder)
    if type(holder).__name__ == "OrderedDictVariable":  # what is written to its contents does not reach the object
        raise_refusal(
            "AG206",
            "a branch or loop writes to an OrderedDict in a way that its text does not show",
            "write to it in the branch or loop itself, or use a dict",
        )
    return holder if found.holder is found.item else tracing.inner_of(holder)


def _plain(item: Any) -> Any:
    """The container itself, or a list of the same contents for a deque, which the runtime writes to in its place."""
    if not isinstance(item, DequeVariable):
        return item
    lists = tracing.lists_of_deques()
    if item not in lists:
        mutation, around = ValueMutationNew(), item.mutation_type
        assert around is not None
        mutation.scope = around.scope
        lists[item] = ListVariable(item.items, mutation_type=mutation)
        lists[item].items = item.items
    return lists[item]


def note_write_to_deque(item: Any) -> None:
    """What the runtime has done to the list of a deque."""
    deque = next((one for one, known in tracing.lists_of_deques().items() if known is item), None)
    if deque is not None and isinstance(deque.mutation_type, ValueMutationExisting):
        deque.mutation_type.is_modified = True
