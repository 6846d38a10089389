"""How the tracer keeps lists and dicts open whose contents only data can tell (runtime/open_contents.py).

Private: `items`, the contents of ListVariable and ConstDictVariable: all their methods go through it. Here an object of
ours takes its place, which takes additions and refuses everything else; and `reconstruct`, which writes the bytecode
that runs behind the graph.
tests/capture/test_open_contents.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    ConstDictVariable,
    ListIteratorVariable,
    ListVariable,
    TupleVariable,
)
from torch._dynamo.variables.base import ValueMutationNew, VariableTracker
from torch._dynamo.variables.lazy import LazyVariableTracker

from autograph_torch.capture.choices import ChosenVariable, is_of_one_type
from autograph_torch.capture.container_writes import beginning_to_write
from autograph_torch.capture.held import held
from autograph_torch.runtime import open_contents, tracing
from autograph_torch.runtime.refusal import raise_refusal, refusal_at

Locals = dict[str, Any]
Place = tuple[str, int, str]  # the line of the branch that has left a container open, and what it has left
_READS = "a branch or loop needs to know what is in a list or dict that it adds to"
_ADVICE = "give both branches the same number of elements and the same keys, or use a new list or dict"


class Open(VariableTracker):
    """In the place of the contents of an open list or dict: contents, one after the other.

    place: None where no branch has left it open yet.
    replaced: the contents that were there before.
    """

    def __init__(self, contents: list[VariableTracker], place: Place | None, replaced: Any) -> None:
        super().__init__()
        self.contents = contents
        self.place = place
        self.replaced = replaced

    def copy(self) -> Open:
        return Open(list(self.contents), self.place, self.replaced)

    def restore(self, other: Open) -> None:
        self.contents = list(other.contents)

    def is_readable(self) -> bool:
        """Whether it is only that nothing has asked for the contents yet."""
        return False

    def read(self) -> Any:
        """The contents."""
        return self.refuse()

    def state(self) -> list[Any]:
        """What is known of the contents, to be compared with what it was before."""
        return [list(one.items) if isinstance(one, BaseListVariable) else one for one in self.contents]

    def is_behind(self, contents: Any) -> bool:
        """Whether these contents, or what is in their place, are the ones that it stands for."""
        return contents is self

    def note_open(self) -> None:
        """Say that a body takes it for open."""

    # -- additions ----------------------------------------------------------------------------------------------------

    def append(self, item: VariableTracker) -> None:
        last = self.contents[-1] if self.contents else None
        if isinstance(last, ListVariable):
            self.contents[-1] = _list([*last.items, item])
        else:
            self.contents.append(_list([item]))

    def __setitem__(self, key: Any, value: VariableTracker) -> None:
        if isinstance(key, (int, slice)):  # of a list
            self.refuse()
        self.update({key: value})

    def update(self, items: Any) -> None:
        if isinstance(items, Open):
            items.refuse()
        self.contents.append(_dict(items))

    # -- all else -----------------------------------------------------------------------------------------------------

    def refuse(self, *_: Any) -> Any:
        assert self.place is not None
        filename, line, message = self.place
        raise refusal_at(filename, line, "AG310", message, _ADVICE)

    __iter__ = __len__ = __getitem__ = __delitem__ = __contains__ = __bool__ = __add__ = __mul__ = refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.refuse()

    def content(self) -> list[VariableTracker]:
        """What a body that has left it open gives."""
        return self.contents

    def write(self, codegen: Any) -> None:
        """The bytecode that gives the contents as one list or dict."""
        codegen.add_push_null(lambda: codegen.load_import_from(open_contents.__name__, open_contents.gathered.__name__))
        codegen.foreach(self.contents)
        codegen.extend_output(create_call_function(len(self.contents), False))


def _list(items: list[VariableTracker]) -> ListVariable:
    return ListVariable(items, mutation_type=ValueMutationNew())


def _dict(items: dict[Any, VariableTracker]) -> ConstDictVariable:
    return ConstDictVariable(dict(items), mutation_type=ValueMutationNew())


def write_open_containers() -> None:
    """Let the variables of lists and dicts write the bytecode of open ones, which are no constants."""
    for kind in (ListVariable, ConstDictVariable):
        kind.reconstruct = _writing(kind.reconstruct)  # type: ignore[method-assign]
        kind.as_python_constant = _unless_open(kind.as_python_constant)  # type: ignore[method-assign]
    # What takes the contents of another as they are.
    BaseListVariable.__init__ = _given_contents(BaseListVariable.__init__, 1)  # type: ignore[method-assign]
    ListIteratorVariable.__init__ = _given_contents(ListIteratorVariable.__init__, 1)  # type: ignore[method-assign]
    InstructionTranslatorBase.call_function = _given_contents(  # type: ignore[method-assign]
        InstructionTranslatorBase.call_function, 2
    )


def _writing(reconstruct: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(reconstruct)
    def writing(self: Any, codegen: Any) -> None:
        self.items.write(codegen) if is_open(self) else reconstruct(self, codegen)

    return writing


def _given_contents(method: Callable[..., None], position: int) -> Callable[..., None]:
    @functools.wraps(method)
    def given_contents(*args: Any, **kwargs: Any) -> None:
        if len(args) > position and isinstance(args[position], Open):
            args = (*args[:position], args[position].read(), *args[position + 1 :])
        method(*args, **kwargs)

    return given_contents


def _unless_open(constant: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(constant)
    def unless_open(self: Any) -> Any:
        if is_open(self):
            raise NotImplementedError
        return constant(self)

    return unless_open


def _may_stay_open(parent: Any, given: Locals) -> Locals:
    return {"found": ConstantVariable.create(not is_of_one_type())}


def _is_open(parent: Any, given: Locals) -> Locals:
    container = given["container"].realize()
    return {"found": ConstantVariable.create(is_open(container) or is_left_unread(container))}


def _is_open_here(parent: Any, given: Locals) -> Locals:
    container = given["container"].realize()
    mutation = container.mutation_type
    here = is_open(container) and mutation is not None and mutation.scope >= current_scope_id()
    # What Python picks behind the graph is no value of a body.
    return {"found": ConstantVariable.create(here and not any(map(_is_picked_behind, container.items.contents)))}


def _is_picked_behind(content: Any) -> bool:
    parts = content.items if isinstance(content, TupleVariable) else ()
    return isinstance(content, ChosenVariable) or any(map(_is_picked_behind, parts))


def is_open(variable: Any) -> bool:
    """Whether only data can tell what is in a list or dict."""
    return _is_held_open(variable) and not held(variable).is_readable()


def is_unread(variable: Any) -> bool:
    """Whether nothing has looked into a list of the caller, and it can still be (capture/appended_lists.py)."""
    return _is_held_open(variable) and held(variable).is_readable()


def is_left_unread(variable: Any) -> bool:
    """Whether a body is to take such a list for an open one."""
    left = is_unread(variable) and not is_of_one_type()
    if left:
        held(variable).note_open()
    return left


def holds_unread(variable: Any) -> bool:
    """Whether such a list is in a value; what nobody has met yet may be one."""
    if isinstance(variable, LazyVariableTracker):
        if not variable.is_realized():
            return variable.peek_type() is list
        variable = variable.realize()
    if is_unread(variable):
        return True
    contents = held(variable) if isinstance(variable, (ListVariable, TupleVariable)) else ()
    return isinstance(contents, list) and any(map(holds_unread, contents))


def _is_held_open(variable: Any) -> bool:
    return isinstance(variable, (ListVariable, ConstDictVariable)) and isinstance(held(variable), Open)


def _open_like(parent: Any, given: Locals) -> Locals:
    copy, container = given["copy"].realize(), given["container"].realize()
    place = _place(_READS) if is_unread(container) else held(container).place
    copy.items = Open([], place, copy.items)
    return {}


def _open_content(parent: Any, given: Locals) -> Locals:
    container = given["container"].realize()
    contents = container.items.content()
    empty = _dict({}) if isinstance(container, ConstDictVariable) else _list([])
    return {"found": TupleVariable(list(contents)) if contents else empty}


def _put_content(parent: Any, given: Locals) -> Locals:
    container, content = given["container"].realize(), given["content"].realize()
    tracer, effects = parent.output.current_tracer, parent.output.side_effects
    _check_kind(container)
    with beginning_to_write(container, tracer):
        effects.mutation(container)
    found = held(container)
    if isinstance(found, Open):
        found.place = found.place or _place(_message(content))
        found.contents.append(content)
        return {}
    put_into_all(container, tracer, Open([content], _place(_message(content)), found))
    if isinstance(container, ConstDictVariable):
        container.should_reconstruct_all = True
    return {}


def put_into_all(container: Any, tracer: Any, items: Any) -> None:
    """Let a list or dict hold other contents, and with it all that holds the same in the bodies around."""
    before = held(container)
    around = [one for tracer in tracing.enclosing(tracer) for one in tracing.shared_contents(tracer)]
    for variable in {container: None, **{one: None for entry in around for one in (entry[0], entry[2])}}:
        if held(variable) is before:
            variable.items = items


def _place(message: str) -> Place:
    filename, line, _ = tracing.user_line()
    return filename, line, message


def _check_kind(container: Any) -> None:
    """Others than lists and dicts of Python's own write themselves back in other ways."""
    plain = type(container) is ListVariable or (type(container) is ConstDictVariable and container.user_cls is dict)
    if not plain or any(container is one for one in tracing.lists_of_deques().values()):
        raise_refusal(
            "AG310",
            "the branches leave a deque, or a dict of another kind than Python's, with different lengths or keys",
            "use a list or dict",
        )


def _message(content: Any) -> str:
    sides: list[Any] = content.values if isinstance(content, ChosenVariable) else []
    kinds = [f"a {one.python_type().__name__} of {len(one.items)}" for one in sides if not isinstance(held(one), Open)]
    told = f": {' and '.join(kinds)}" if len(set(kinds)) > 1 else ""
    return f"what follows needs to know what is in a list or dict that the branches leave different{told}"


OPEN_CONTENTS: dict[Any, Callable[[Any, Locals], Locals]] = {
    open_contents.may_stay_open.__code__: _may_stay_open,
    open_contents.is_open.__code__: _is_open,
    open_contents.is_open_here.__code__: _is_open_here,
    open_contents.open_like.__code__: _open_like,
    open_contents.open_content.__code__: _open_content,
    open_contents.put_content.__code__: _put_content,
}
