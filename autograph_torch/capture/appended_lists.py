"""A list of the caller that a function only appends to: one graph, however long it is.

    self.losses.append(loss.item())     losses.extend([a, b]); history["loss"] += [loss]

Dynamo makes a graph for each length, and each holds what is in the list: at the ninth call it gives up. Here nobody
looks into a list before something asks what is in it. As long as nothing does, what is appended is all that is known of
it, and behind the graph the list is extended by that; as soon as something does, it is Dynamo's list, with the guard on
its length.

For branches and loops such a list is an open one from the start (runtime/open_contents.py): they give what they append.
Where a trace in which bodies do so fails, the next one looks into those lists when it meets them (capture/attempts.py).

Private: `items`, the contents of ListVariable; VariableBuilder._type_dispatch; SideEffects.codegen_update_mutated.
tests/capture/test_appended_lists.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo import config
from torch._dynamo.bytecode_transformation import create_call_method, create_instruction
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import GetItemSource
from torch._dynamo.variables import ConstantVariable, ListVariable, TupleVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builder import VariableBuilder, get_locals_to_steal

from autograph_torch.capture.container_writes import beginning_to_write
from autograph_torch.capture.dynamo_names import expression_of, unlooked_at
from autograph_torch.capture.held import ITEMS, held
from autograph_torch.capture.open_contents import Open, Place
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing


class _Given:
    """A list of the caller, its name (a Python expression), its source, and the translator that met it."""

    def __init__(self, value: list[Any], name: str, source: Any, translator: Any) -> None:
        self.value = value
        self.name = name
        self.source = source
        self.translator = translator
        self.elements: list[VariableTracker] | None = None

    def read(self) -> list[VariableTracker]:
        """What is in the list, as Dynamo's own."""
        if self.elements is None:
            install_guard(self.source.make_guard(GuardBuilder.SEQUENCE_LENGTH))
            self.elements = [
                unlooked_at(value, GetItemSource(self.source, index), self.translator)
                for index, value in enumerate(self.value)
            ]
        return self.elements


class Unread(Open):
    """In the place of the contents of a list of the caller: what has been added to it, one after the other."""

    def __init__(self, given: _Given, contents: list[VariableTracker], place: Place | None = None) -> None:
        super().__init__(contents, place, None)
        self.given = given
        self.known: list[VariableTracker] | None = None

    def copy(self) -> Unread:
        return Unread(self.given, list(self.contents), self.place)

    def is_readable(self) -> bool:
        """Whether no branch has left open what it adds."""
        return all(isinstance(one, ListVariable) for one in self.contents)

    def read(self) -> list[VariableTracker]:
        """What is in the list now; the same object for all that share it."""
        if not self.is_readable():
            self.refuse()
        if self.known is None:
            self.known = [*self.given.read(), *self._added()]
        return self.known

    def state(self) -> list[Any]:
        """What has been added, also behind the first look."""
        if self.known is None:
            return self._added() if self.is_readable() else super().state()
        given = self.given.read()
        return self.known[len(given) :] if self.known[: len(given)] == given else list(self.known)

    def is_behind(self, contents: Any) -> bool:
        return contents is self or (contents is self.known and contents is not None)

    def note_open(self) -> None:
        """A body takes it for open: where the trace fails, the next one looks into it."""
        tracing.known().unread.add(self.given.name)

    def _added(self) -> list[VariableTracker]:
        return [item for content in self.contents for item in content.items]  # type: ignore[attr-defined]

    def write(self, codegen: Any) -> None:
        """The bytecode that extends the list of the caller."""
        codegen(self.given.source)
        codegen.load_method("extend")
        if self.is_readable():
            added = self._added()
            codegen.foreach(added)
            codegen.append_output(create_instruction("BUILD_LIST", arg=len(added)))
        else:
            super().write(codegen)
        codegen.extend_output([*create_call_method(1), create_instruction("POP_TOP")])


@contextlib.contextmanager
def appended_lists() -> Iterator[None]:
    """While this is in force, lists of the caller are read when something asks what is in them."""
    builders = VariableBuilder._type_dispatch()
    dispatch = {**builders, list: _met_unread(builders[list])}
    with (
        patched(VariableBuilder, _type_dispatch=staticmethod(lambda: dispatch)),
        patched(ListVariable, call_method=_appending(ListVariable.call_method)),
        patched(ListVariable, **{ITEMS: property(_items, _put_items)}),
        patched(SideEffects, codegen_update_mutated=_extending(SideEffects.codegen_update_mutated)),
    ):
        yield


def _met_unread(wrap: Callable[[Any, list[Any]], Any]) -> Callable[[Any, list[Any]], Any]:
    def wrap_list(self: Any, value: list[Any]) -> Any:
        stolen = get_locals_to_steal(self.tx.output.local_scope.get("self"))
        name = expression_of(self.get_source())
        if stolen or name is None or name in tracing.known().lists_read:
            return wrap(self, value)
        self.install_guards(GuardBuilder.TYPE_MATCH)
        made = ListVariable([], source=self.source)
        _put_items(made, Unread(_Given(value, name, self.get_source(), self.tx), []))
        return self.tx.output.side_effects.track_mutable(value, made)

    return wrap_list


def _appending(call: Callable[..., Any]) -> Callable[..., Any]:
    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        found = held(self)
        further = None
        if type(found) in (Open, Unread) and len(args) == 1 and not kwargs:
            further = _further(self, name, args[0])
        if further is None:
            return call(self, tx, name, args, kwargs)
        with beginning_to_write(self, tx.output.current_tracer):
            tx.output.side_effects.mutation(self)
        for item in further:
            found.append(item)
        return ConstantVariable.create(None)

    return call_method


def _further(variable: Any, name: str, argument: Any) -> list[VariableTracker] | None:
    """What a call of a method appends, and nothing else; None where it does other things."""
    if name == "append":
        return [argument]
    argument = argument.realize()
    sequence = isinstance(argument, (ListVariable, TupleVariable)) and argument is not variable
    if name == "extend" and sequence and not isinstance(held(argument), Open):
        return list(argument.items)
    return None


def _extending(write_back: Callable[..., None]) -> Callable[..., None]:
    """Extend what has been appended to, and let Dynamo write back the rest."""

    def codegen_update_mutated(self: Any, codegen: Any, *args: Any, **kwargs: Any) -> None:
        extended = [one for one in self._get_modified_vars() if isinstance(held(one), Unread)]
        for one in extended:
            if config.replay_side_effects:
                held(one).write(codegen)
            one.mutation_type.is_modified = False
        write_back(self, codegen, *args, **kwargs)
        for one in extended:
            one.mutation_type.is_modified = True

    return codegen_update_mutated


def _items(variable: Any) -> Any:
    found = held(variable)
    if isinstance(found, Unread) and found.is_readable():
        found = vars(variable)[ITEMS] = found.read()
    return found


def _put_items(variable: Any, items: Any) -> None:
    vars(variable)[ITEMS] = items
