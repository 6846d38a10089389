"""Questions about values that are made of tensors and constants alone, answered without interpreting the runtime.

    spec_of((x, 3))        the tracer knows both: ("tuple", 2, (("tensor", ...), ("const", 3)))
    truth(mode == "sum")   a Python value; in code of libraries most tests are

Dynamo interprets the runtime bytecode by bytecode, for every leaf of both branches of every `if`: most of the time of a
trace. Here the same questions are put to its variables. Whatever is not as plain as that (objects, lists that are
written to, sizes from data) is left to the runtime, which says what the answer is; both have to agree.

Private: the classes in `torch._dynamo.variables` and their `items`, `device`.
tests/capture/test_plain_values.py compares the two answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import torch
from torch._dynamo.variables import (
    ConstantVariable,
    ConstDictVariable,
    ListVariable,
    SymNodeVariable,
    TensorVariable,
    TupleVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
)
from torch._dynamo.variables.base import ValueMutationNew
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.misc import StringFormatVariable
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.capture import settling
from autograph_torch.capture.choices import alternatives
from autograph_torch.capture.identity import is_same
from autograph_torch.capture.open_contents import is_left_unread, is_open, is_unread
from autograph_torch.capture.picked_constants import is_picked
from autograph_torch.capture.standing_in import number_of_object, number_of_tensor
from autograph_torch.runtime import predicate, structure, tracing
from autograph_torch.runtime.layout import Spec
from autograph_torch.runtime.memories import overlaps_itself
from autograph_torch.runtime.picking import Choice
from autograph_torch.runtime.refusal import raise_refusal
from autograph_torch.runtime.reordering import order_of
from autograph_torch.runtime.structure import keyed
from autograph_torch.runtime.values import Hole, Outcome

Arguments = dict[str, Any]
Met = list[tuple[Any, tuple[int, ...]]]  # tensors met so far, each with the path to its place


class _NotPlain(Exception):
    """A value that the runtime itself has to look at."""


def fill_in_plain(code: Any, parent: Any, arguments: Arguments) -> None:
    """Answer a question of the runtime, if it is about plain values, when the tracer is about to enter it."""
    answer = _ANSWERS.get(code)
    if answer is None:
        return
    try:
        arguments["found"] = answer(parent, arguments)
    except _NotPlain:
        return


def _truth(parent: Any, arguments: Arguments) -> Any:
    variable = arguments["predicate"].realize()
    if is_picked(variable):
        variable = arguments["predicate"] = BuiltinVariable(bool).call_function(parent, [variable], {})
    if type(variable) is ConstantVariable:
        return ConstantVariable.create(bool(variable.as_python_constant()))
    is_flag = type(variable) is TensorVariable and variable.ndim == 0 and variable.dtype is torch.bool
    if is_flag and not tracing.known().one_path:  # where the runtime asks the data
        return variable
    raise _NotPlain


def _tensors_in(parent: Any, arguments: Arguments) -> Any:
    return TupleVariable(list(_tensors(arguments["value"], parent.output.side_effects)))


def _tensors(variable: Any, effects: Any) -> Iterator[Any]:
    variable = variable.realize()
    if is_left_unread(variable):
        return
    if type(variable) is TensorVariable:
        yield variable
    elif type(variable) in (TupleVariable, ListVariable):
        for item in _items(variable):
            yield from _tensors(item, effects)
    elif type(variable) is ConstDictVariable:
        for _, item in _entries(variable):
            yield from _tensors(item, effects)
    elif (values := alternatives(variable, effects)) is not None:
        for item in values:
            yield from _tensors(item, effects)
    elif _is_outcome(variable):
        for item in variable.items:
            yield from _tensors(item, effects)
    elif not is_picked(variable) and type(variable) not in (ConstantVariable, SymNodeVariable):
        if not _is_object(variable):
            raise _NotPlain


def _is_object(variable: Any) -> bool:
    """Whether a value has nothing in it that the runtime looks for: a hole, a module, an object of the program's."""
    kind = getattr(variable, "value_type", object)
    return type(variable) is UserDefinedObjectVariable and not issubclass(kind, (list, tuple, dict, Choice))


def _is_outcome(variable: Any) -> bool:
    """Whether it is how a step of a loop ended."""
    return getattr(variable, "tuple_cls", None) is Outcome


def _items(variable: Any) -> list[Any]:
    """The items of a list or tuple; those of an open list nobody knows."""
    if not isinstance(variable.items, (list, tuple)) or is_open(variable):
        raise _NotPlain
    return list(variable.items)


def _has_numbers(_: Any, arguments: Arguments) -> Any:
    return ConstantVariable.create(_number_within(arguments["value"]))


def _number_within(variable: Any) -> bool:
    """Whether a tuple has a float or truth value in it that depends on data; a list stays itself (structure.lift)."""
    variable = variable.realize()
    if type(variable) in (TensorVariable, ConstantVariable, SymNodeVariable) or _is_object(variable):
        return False
    if is_picked(variable):
        return False
    if _is_outcome(variable):
        return False  # it is taken apart before
    if type(variable) is ListVariable:
        return False
    if type(variable) is not TupleVariable:
        raise _NotPlain
    return any(_is_number(item.realize()) or _number_within(item) for item in _items(variable))


def _is_number(variable: Any) -> bool:
    is_number = type(variable) is SymNodeVariable and variable.python_type() in (bool, float)
    return is_number and not has_static_value(variable.sym_num)


def _entries(variable: Any) -> list[tuple[Any, Any]]:
    """The keys and values of a dict, of which that of a caller has guards on its keys."""
    if not isinstance(variable.items, dict) or is_open(variable):
        raise _NotPlain
    if variable.python_type() is not dict or not all(key.vt.is_python_constant() for key in variable.items):
        raise _NotPlain
    variable.install_dict_keys_match_guard()
    return [(key.vt.as_python_constant(), value) for key, value in variable.items.items()]


def _containers_in(_: Any, arguments: Arguments) -> Any:
    return TupleVariable(list(_containers(arguments["value"])))


def _containers(variable: Any) -> Iterator[Any]:
    variable = variable.realize()
    if type(variable) in (ListVariable, ConstDictVariable):
        yield variable
    for item in _inner(variable):
        yield from _containers(item)


def _inner(variable: Any) -> list[Any]:
    """What a list, tuple or dict holds; nothing for what holds no others."""
    if is_unread(variable):  # to look into it has consequences (capture/appended_lists.py)
        raise _NotPlain
    if type(variable) in (TupleVariable, ListVariable):
        return _items(variable)
    if type(variable) is ConstDictVariable:
        return [item for _, item in _entries(variable)]
    if type(variable) in (TensorVariable, ConstantVariable, SymNodeVariable) or is_picked(variable):
        return []
    if _is_object(variable):
        return []
    raise _NotPlain


def _copies_of(parent: Any, arguments: Arguments) -> Any:
    pairs = arguments["pairs"].realize()
    known = [tuple(_items(pair)) for pair in _items(pairs)]
    before = len(known)
    copier = _Copier(known, parent.output.current_tracer)
    values = arguments["values"].realize()
    if type(values) not in (TupleVariable, ListVariable):
        raise _NotPlain
    copies = [copier.copy(item) for item in _items(values)]
    pairs.items.extend(TupleVariable(list(pair)) for pair in known[before:])
    return TupleVariable(copies)


class _Copier:
    """`copy_of`, for plain values."""

    def __init__(self, known: list[tuple[Any, ...]], tracer: Any) -> None:
        self._known = known
        self._tracer = tracer

    def copy(self, variable: Any) -> Any:
        variable = variable.realize()
        if type(variable) is TupleVariable:
            return TupleVariable([self.copy(item) for item in _items(variable)])
        if type(variable) not in (ListVariable, ConstDictVariable):
            _inner(variable)  # nothing
            return variable
        inner = _inner(variable)
        for original, copy in self._known:
            if is_same(variable, original.realize(), self._tracer):
                return copy
        made: Any
        if type(variable) is ListVariable:
            made = ListVariable([], mutation_type=ValueMutationNew())
            self._known.append((variable, made))
            made.items.extend(map(self.copy, inner))
        else:
            made = ConstDictVariable({}, mutation_type=ValueMutationNew())
            self._known.append((variable, made))
            made.items.update(zip(variable.items, map(self.copy, inner), strict=True))
        return made


def _is_in(parent: Any, arguments: Arguments) -> Any:
    value = arguments["value"].realize()
    objects = _items(arguments["objects"].realize())
    return ConstantVariable.create(_is_one_of(value, objects, parent.output.current_tracer))


def _is_one_of(value: Any, objects: list[Any], tracer: Any) -> bool:
    return any(is_same(value, one.realize(), tracer) for one in objects)


def _spec_of(parent: Any, arguments: Arguments) -> Any:
    originals = [_items(known.realize()) for known in _items(arguments["originals"].realize())]
    seen = arguments["seen"].realize()
    met = _met(seen) if isinstance(seen, ListVariable) else None
    before = len(met or ())
    path = arguments["path"].realize().as_python_constant()
    spec = _Describer(originals, parent.output, met).spec(arguments["value"], path)
    for tensor, place in (met or [])[before:]:
        seen.items.append(TupleVariable([tensor, _constant(place)]))
    return _constant(spec)


def _met(seen: ListVariable) -> Met:
    pairs = [[part.realize() for part in _items(pair.realize())] for pair in _items(seen)]
    return [(tensor, path.as_python_constant()) for tensor, path in pairs]


def _constant(value: Any) -> Any:
    if isinstance(value, tuple):
        return TupleVariable([_constant(item) for item in value])
    if isinstance(value, type):
        return UserDefinedClassVariable(value)
    return ConstantVariable.create(value)


class _Describer:
    """`spec_of`, for plain values."""

    def __init__(self, originals: list[list[Any]], output: Any, met: Met | None) -> None:
        self._originals = originals
        self._output = output
        self._tracer = output.current_tracer
        self._met = met

    def spec(self, variable: Any, path: tuple[int, ...]) -> Spec:
        variable = variable.realize()
        if type(variable) is TensorVariable:
            return self._tensor(variable, path)
        if type(variable) is ConstantVariable:
            return _constant_spec(variable.as_python_constant())
        if is_picked(variable):
            return ("picked", tuple(map(_picked_spec, variable.values)))
        if type(variable) is SymNodeVariable:
            return _number_spec(variable)
        if type(variable) is StringFormatVariable:
            raise_refusal("AG310", "the branches give a text with values of the graph", "give the values instead")
        if type(variable) is TupleVariable:
            return ("tuple", len(variable.items), self._parts(_items(variable), path))
        if _is_outcome(variable):
            return ("named", Outcome, self._parts(variable.items, path))
        if _is_object(variable) and variable.value_type is Hole:
            return ("hole",)
        values = alternatives(variable, self._output.side_effects)
        if values is not None:
            return self._choice(values, path)
        index = self._original(variable)
        if type(variable) not in (ListVariable, ConstDictVariable):
            raise _NotPlain
        if index is not None:
            list(_containers(variable))  # none of them is open, to the runtime
            return ("same", index, _Describer([], self._output, None)._container(variable, ()))
        if self._met is None:
            return self._container(variable, path)
        number = number_of_object(variable)
        if number < 0:
            return self._container(variable, path)
        return ("outer", number, _Describer(self._originals, self._output, [])._container(variable, path))

    def _choice(self, values: list[Any], path: tuple[int, ...]) -> Spec:
        alternatives = [
            _Describer(self._originals, self._output, []).spec(value, (*path, -1 - k)) for k, value in enumerate(values)
        ]
        return ("choice", len(values), tuple(alternatives))

    def _container(self, variable: Any, path: tuple[int, ...]) -> Spec:
        if type(variable) is ListVariable:
            items = _items(variable)
            return ("list", len(items), self._parts(items, path))
        entries = _entries(variable)
        return ("dict", keyed(key for key, _ in entries), self._parts([value for _, value in entries], path))

    def _parts(self, items: list[Any], path: tuple[int, ...]) -> Spec:
        return tuple(self.spec(item, (*path, k)) for k, item in enumerate(items))

    def _tensor(self, variable: Any, path: tuple[int, ...]) -> Spec:
        own = _tensor_spec(variable, self._tracer)
        index = self._original(variable)
        if index is not None:
            list(_containers(variable))  # none of them is open, to the runtime
            return ("same", index, own)
        if self._met is None:
            return own
        for known, place in self._met:
            if is_same(variable, known, self._tracer):
                return ("again", place, own)
        self._met.append((variable, path))
        number = number_of_tensor(variable, self._tracer)
        return own if number < 0 else ("outer", number, own)

    def _original(self, variable: Any) -> int | None:
        found = (k for k, known in enumerate(self._originals) if _is_one_of(variable, known, self._tracer))
        return next(found, None)


_CONSTANTS = (bool, int, float, *structure.CONSTANTS)


def _constant_spec(value: Any) -> Spec:
    if value is None or (isinstance(value, _CONSTANTS) and not isinstance(value, Enum)):
        return ("const", value)
    raise _NotPlain


def _picked_spec(variable: Any) -> Spec:
    """One of the constants of which data pick one: a string, None, or a member of an enumeration."""
    if type(variable) is ConstantVariable:
        return ("const", variable.as_python_constant())
    return ("member", number_of_object(variable), type(variable.value).__name__)


def _number_spec(variable: Any) -> Spec:
    """A number that depends on data; one that a guard has settled is a constant, by another guard."""
    if has_static_value(variable.sym_num):
        raise _NotPlain
    return ("number", variable.python_type().__name__)


def _tensor_spec(variable: Any, tracer: Any) -> Spec:
    fake = tracing.resolved(variable.as_proxy(), tracer).node.meta["example_value"]
    sizes = tuple(fake.shape)
    if not all(type(size) is int for size in sizes) or overlaps_itself(fake, repeated=False):
        raise _NotPlain
    if not sizes and settling.has_numbers():
        raise _NotPlain
    return ("tensor", fake.dtype, sizes, str(variable.device), fake.requires_grad, order_of(fake))


_ANSWERS: dict[Any, Callable[[Any, Arguments], Any]] = {
    predicate.truth.__code__: _truth,
    structure.tensors_in.__code__: _tensors_in,
    structure.is_in.__code__: _is_in,
    structure.containers_in.__code__: _containers_in,
    structure.copies_of.__code__: _copies_of,
    structure.spec_of.__code__: _spec_of,
    structure.has_numbers.__code__: _has_numbers,
}
