"""How the tracer lets a Growing take the place of a list's contents (runtime/grown.py).

    self.errors.append(err)          the variable of the list stays, its contents are a Grown: what is asked of the
    len(self.errors)                 list is asked of the Growing, by the functions of runtime/growing.py

Private: `items`, the contents of ListVariable, as in capture/open_contents.py, and the methods that Dynamo asks lists
by: `call_method`, and from torch 2.13 on a method of its own for `len` and for indices.
tests/capture/test_grown.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch._dynamo.codegen import PyCodegen
from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    ConstDictVariable,
    ListVariable,
    TupleVariable,
    UserFunctionVariable,
)
from torch._dynamo.variables.base import ValueMutationNew, VariableTracker

from autograph_torch.capture.container_writes import beginning_to_write
from autograph_torch.capture.growing import write_list
from autograph_torch.capture.held import held
from autograph_torch.capture.open_contents import Open, put_into_all
from autograph_torch.capture.patching import method_of
from autograph_torch.runtime import growing, grown, tracing
from autograph_torch.runtime.refusal import raise_refusal

Locals = dict[str, Any]
Asked = Callable[[Any, Any, list[Any]], Any]  # the translator, the list, what it is asked with


class Grown(Open):
    """In the place of the contents of a list: the variable of a Growing or an Appending.

    parts: what the list is made of behind the graph.
    """

    def __init__(self, growing_list: VariableTracker, parts: list[VariableTracker], replaced: Any) -> None:
        super().__init__([], ("", 0, ""), replaced)
        self.growing_list = growing_list
        self.parts = parts

    def copy(self) -> Grown:
        return self

    def restore(self, other: Open) -> None:
        pass  # what it is asked for does not change it

    def state(self) -> list[Any]:
        return [list(part.items) if isinstance(part, BaseListVariable) else part for part in self.parts]

    def append(self, item: VariableTracker) -> None:
        self.refuse()

    def extend(self, items: list[VariableTracker]) -> None:
        """`xs += [...]` with torch 2.11."""
        add: Any = growing.extend
        given = [self.growing_list, TupleVariable(items)]
        UserFunctionVariable(add).call_function(InstructionTranslator.current_tx(), given, {})

    def update(self, items: Any) -> None:
        self.refuse()

    def refuse(self, *_: Any) -> Any:
        raise_refusal("AG311", growing.UNKNOWN, growing.ADVICE)

    __iter__ = __len__ = __getitem__ = __delitem__ = __contains__ = __bool__ = __add__ = __mul__ = refuse

    def content(self) -> list[VariableTracker]:
        message = "a branch fills a list in a loop whose number of trips depends on data"
        raise_refusal("AG311", message, "use a list of the branch's own")

    def write(self, codegen: PyCodegen) -> None:
        write_list(codegen, self.parts)


def ask_grown_lists() -> None:
    """Let the methods of list variables ask what is in the place of the contents."""
    for name, ask in _ASKED.items():
        if hasattr(ListVariable, name):
            setattr(ListVariable, name, _asking(method_of(ListVariable, name), ask))


def _asking(method: Callable[..., Any], ask: Asked) -> Callable[..., Any]:
    @functools.wraps(method)
    def asking(self: Any, tx: Any, *args: Any) -> Any:
        if is_grown(self):
            answer = ask(tx, self, list(args))
            if answer is not None:
                return answer
        return method(self, tx, *args)

    return asking


def _call_method(tx: Any, owner: Any, args: list[Any]) -> Any:
    name, given, named = args
    if name == "reverse" and not given and not named:
        reverse: Any = growing.reverse
        return UserFunctionVariable(reverse).call_function(tx, [owner], {})
    if name == "__getitem__" and len(given) == 1 and not named:
        return _element(tx, owner, given)
    if name in _METHODS and len(given) == _METHODS[name][1] and not named:
        return _called(tx, _METHODS[name][0], owner, *given)
    return None


def _called(tx: Any, function: Any, owner: Any, *args: Any) -> Any:
    return UserFunctionVariable(function).call_function(tx, [owner.items.growing_list, *args], {})


def _length(tx: Any, owner: Any, _: list[Any]) -> Any:
    return _called(tx, growing.length, owner)


def _element(tx: Any, owner: Any, args: list[Any]) -> Any:
    known = args[0].is_python_constant() and type(args[0].as_python_constant()) is int
    return _called(tx, growing.element, owner, args[0]) if known else None


def _extended(tx: Any, owner: Any, args: list[Any]) -> Any:
    _called(tx, growing.extend, owner, *args)
    return owner


_METHODS = {
    "append": (growing.append, 1),
    "extend": (growing.extend, 1),
    "__len__": (growing.length, 0),
}
_ASKED: dict[str, Asked] = {
    "call_method": _call_method,
    "sq_length": _length,
    "sq_length_impl": _length,
    "mp_subscript_impl": _element,
    "sq_item_impl": _element,
    "sq_inplace_concat_impl": _extended,
}


def is_grown(variable: Any) -> bool:
    """Whether something has taken the place of a list's contents."""
    return isinstance(variable, ListVariable) and isinstance(held(variable), Grown)


def _is_grown(parent: Any, given: Locals) -> Locals:
    return {"found": ConstantVariable.create(is_grown(given["value"].realize()))}


def _behind(parent: Any, given: Locals) -> Locals:
    variable = given["value"].realize()
    return {"found": variable.items.growing_list} if is_grown(variable) else {}


def _put_behind(parent: Any, given: Locals) -> Locals:
    owner, made = given["owner"].realize(), given["growing"].realize()
    if type(owner) is not ListVariable or any(owner is one for one in tracing.lists_of_deques().values()):
        raise_refusal("AG311", "a deque grows in a loop whose number of trips depends on data", growing.ADVICE)
    effects, tracer = parent.output.side_effects, parent.output.current_tracer
    with beginning_to_write(owner, tracer):
        effects.mutation(owner)
    put_into_all(owner, tracer, Grown(made, list(given["parts"].realize().items), owner.items))
    if all(one is not owner for one in _owners()):
        _owners().append(owner)
    return {}


def _stand_behind(parent: Any, given: Locals) -> Locals:
    shared = tracing.shared_contents(parent.output.current_tracer)
    for owner, inside in zip(given["owners"].realize().items, given["inside"].realize().items, strict=True):
        owner = owner.realize()
        stand_in: Any = ListVariable([], mutation_type=ValueMutationNew())
        stand_in.items = Grown(inside.realize(), [], owner.items)
        shared.append((owner, owner.items, stand_in))
        owner.items = stand_in.items
    return {}


def _check_given(parent: Any, given: Locals) -> Locals:
    _check_part(given["value"].realize(), ())
    return {}


def _check_part(one: Any, around: tuple[Any, ...]) -> None:
    """Refuse what a branch cannot give. `around`: the lists and dicts that it is in."""
    if is_grown(one):
        if one.mutation_type.scope >= current_scope_id():
            message = "a branch gives a list that it has made, and whose length depends on data"
            raise_refusal("AG311", message, "give a tensor, or make the list behind the branch")
    elif isinstance(one, (BaseListVariable, ConstDictVariable)):
        contents: Any = one.items
        if any(one is other for other in around):
            message = "a branch gives a list or a dict that leads back to itself"
            raise_refusal("AG311", message, "put the one into the other behind the branch")
        if not isinstance(contents, Open):
            for item in contents.values() if isinstance(one, ConstDictVariable) else contents:
                _check_part(item.realize(), (*around, one))


def _owners() -> list[Any]:
    """The lists of this trace whose contents a Growing has taken the place of."""
    return tracing.notebook().setdefault("grown", [])  # type: ignore[no-any-return]


def _note_longer(parent: Any, given: Locals) -> Locals:
    if not tracing.known().lists_grow:
        return {}
    found = tracing.notebook().setdefault((given["site"].as_python_constant(), "grows"), [])
    for variable, before, _ in tracing.shared_contents(parent.output.current_tracer):
        if type(variable) is ListVariable and isinstance(before, list) and _is_longer(variable.items, before):
            owner = _owner_of(variable, parent.output.side_effects)
            if all(one is not owner for one in found):
                found.append(owner)
    return {}


def _is_longer(items: Any, before: list[Any]) -> bool:
    return isinstance(items, Open) or len(items) > len(before)


def _owner_of(variable: Any, effects: Any) -> Any:
    """The list itself, or the one whose Growing has it as a part."""
    for owner in _owners():
        if isinstance(owner.items, Grown) and effects.has_pending_mutation_of_attr(owner.items.growing_list, "begin"):
            kept = [effects.load_attr(owner.items.growing_list, name) for name in ("begin", "more")]
            if any(one.realize() is variable for one in kept):
                return owner
    return variable


def _lists_that_grow(parent: Any, given: Locals) -> Locals:
    found = tracing.notebook().get((given["site"].as_python_constant(), "grows"), [])
    return {"found": TupleVariable(list(found))}


GROWN: dict[Any, Callable[[Any, Locals], Locals]] = {
    grown.is_grown.__code__: _is_grown,
    grown.behind.__code__: _behind,
    grown.put_behind.__code__: _put_behind,
    grown.stand_behind.__code__: _stand_behind,
    grown.check_given.__code__: _check_given,
    grown.note_longer.__code__: _note_longer,
    grown.lists_that_grow.__code__: _lists_that_grow,
}
