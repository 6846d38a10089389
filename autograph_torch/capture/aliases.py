"""Objects that were there before the trace are one for every call, or two for every call.

    def run(a, b):
        a.v, b.v = 1, 2
        return a.v              2 where the caller has given one object twice

    a is b; a == b; a.step == b.step; {a: 1}.get(b); a in [b]
    a.step is a.step                         False: each read makes a method
    mode is MISSING                          of `MISSING = object()`, or whatever else the trace does not track

Dynamo finds out which objects are one, and takes that for true in all calls: it asks later ones whether what was one
still is (and not where one of the two is a global), but never whether what was two has become one. In plain
torch.compile, too. Here, what is written to, or asked for its identity, is told apart from all others of its type that
the trace has met, by one guard for each type.

Left out: lists, dicts and sets that modules keep for themselves (`_buffers`).

Private: make_dupe_guard, vt_identity_compare (torch 2.11 has none), SideEffects, GuardBuilder.
tests/capture/test_aliases.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import nn
from torch._dynamo import variables
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.source import AttrSource
from torch._dynamo.variables import (
    ConstantVariable,
    FrozensetVariable,
    SymNodeVariable,
    TupleVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
    builder,
    builtin,
)
from torch._dynamo.variables.base import AttributeMutationExisting, ValueMutationExisting, VariableTracker
from torch._dynamo.variables.functions import FunctoolsPartialVariable, UserMethodVariable, WrapperUserFunctionVariable
from torch._dynamo.variables.lazy import LazyVariableTracker

from autograph_torch.capture.dynamo_names import expression_of, value_at
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime import tracing

_GIVEN = "functions as keys of dicts given"
_COMPARING = "richcompare_impl"
_EQUALITIES = ("__eq__", "__ne__")
_COMPARE = "vt_identity_compare"
_UNTRACKED = (TupleVariable, FrozensetVariable, FunctoolsPartialVariable)
_EXISTING = (AttributeMutationExisting, ValueMutationExisting)
_OF_MODULES = frozenset(vars(nn.Module()))


@contextlib.contextmanager
def aliases() -> Iterator[None]:
    """While this is in force, they are."""
    update = SideEffects.codegen_update_mutated

    def codegen_update_mutated(self: Any, *args: Any, **kwargs: Any) -> None:
        _tell_written_apart(self)
        update(self, *args, **kwargs)

    as_constant = UserFunctionVariable.as_python_constant

    def as_python_constant(self: Any) -> Any:
        found = _given(self, tracing.current_translator())
        if found is not None:
            _note(*found)
        return as_constant(self)

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(SideEffects, codegen_update_mutated=codegen_update_mutated))
        stack.enter_context(patched(builder, make_dupe_guard=_make_dupe_guard))
        stack.enter_context(patched(UserFunctionVariable, as_python_constant=as_python_constant))
        stack.enter_context(patched(UserMethodVariable, is_python_equal=_equal_methods))
        if hasattr(UserMethodVariable, _COMPARING):  # torch 2.11 has none
            for kind in (UserMethodVariable, UserDefinedObjectVariable):
                comparing: Any = {_COMPARING: _comparing_methods(method_of(kind, _COMPARING))}
                stack.enter_context(patched(kind, **comparing))
        for module in (getattr(variables, "object_protocol", None), builtin):  # torch 2.11 has none
            if hasattr(module, _COMPARE):
                stack.enter_context(patched(module, **{_COMPARE: _telling_apart(getattr(module, _COMPARE))}))
        yield


def _make_dupe_guard(source: Any, other: Any) -> Any:
    """That two sources lead to one object, also where one of them is a global."""
    return functools.partial(GuardBuilder.DUPLICATE_INPUT, source_b=other) if other and other != source else None


def _telling_apart(compare: Callable[..., Any]) -> Callable[..., Any]:
    def answer(one: Any, other: Any) -> Any:
        if tell_apart(one, other):
            return ConstantVariable.create(True)
        if isinstance(one, UserMethodVariable) or isinstance(other, UserMethodVariable):  # each read makes another one
            return ConstantVariable.create(one.realize() is other.realize())
        return compare(one, other)

    return answer


def _equal_methods(one: Any, other: Any) -> bool:
    return isinstance(other, UserMethodVariable) and _are_one_method(one, other)


def _comparing_methods(compare: Callable[..., Any]) -> Callable[..., Any]:
    def compare_methods(self: Any, tx: Any, other: Any, op: str) -> Any:
        other = other.realize()
        if op in _EQUALITIES and _is_method(self) and _is_method(other):
            return ConstantVariable.create(_are_one_method(self, other) is (op == _EQUALITIES[0]))
        return compare(self, tx, other, op)

    return compare_methods


def _is_method(variable: Any) -> bool:
    """Whether it is a bound method; Dynamo takes one that lies somewhere (`self.step = self.slow`) for any object."""
    is_object = isinstance(variable, UserDefinedObjectVariable) and type(variable.value) is types.MethodType
    return isinstance(variable, UserMethodVariable) or (is_object and variable.source is not None)


def _are_one_method(one: Any, other: Any) -> bool:
    """Whether two bound methods are of one function and one object; Dynamo looks at the functions alone."""
    (function, mine), (another, others) = _parts_of_method(one), _parts_of_method(other)
    return function is another and (tell_apart(mine, others) or mine is others)


def _parts_of_method(method: Any) -> tuple[Any, Any]:
    """The function of a bound method, on which later calls have to agree, and the variable of its object."""
    if isinstance(method, UserMethodVariable):
        return method.fn, method.obj.realize()
    install_guard(AttrSource(method.source, "__func__").make_guard(GuardBuilder.ID_MATCH))
    of_object = AttrSource(method.source, "__self__")
    tx = tracing.current_translator()
    return method.value.__func__, VariableTracker.build(tx, method.value.__self__, of_object).realize()


def tell_apart(one: Any, other: Any) -> bool:
    """Have later calls agree whether two variables are of one object that was there before the trace, which is told."""
    tx = tracing.current_translator()
    mine, others = (_given(variable, tx) or _lying_there(variable, tx) for variable in (one.realize(), other.realize()))
    if mine is None or others is None or mine[0] is not others[0]:
        return False
    _note(*mine)
    _note(*others)
    return mine[1] == others[1]


def tell_key_apart(key: Any) -> None:
    """Have later calls agree which of the objects that have been keys of dicts and sets are one.

    To look at a class, a function or a member of an enumeration puts a guard on it, which Dynamo alone would not do.
    """
    if (
        isinstance(key, LazyVariableTracker)
        and not key.is_realized()
        and ConstantVariable.is_literal(key.original_value())
    ):
        return
    key = key.realize()
    if isinstance(key, TupleVariable):
        for item in key.items:
            tell_key_apart(item)
        return
    if isinstance(key, UserMethodVariable):
        key = key.obj.realize()
    found = _given(key, tracing.current_translator())
    if found is None:
        return
    _note(*found)
    if _GIVEN in tracing.notebook() and function_of(key) is not None:
        install_guard(key.source.make_guard(GuardBuilder.ID_MATCH))


def note_keys_given(keys: Iterable[Any]) -> None:
    """Functions are keys of a dict that was there before: which of them is looked up is for later calls to agree."""
    if any(isinstance(_looked_at(key), types.FunctionType) for key in keys):
        tracing.notebook()[_GIVEN] = True


def _looked_at(key: Any) -> Any:
    """What a key is, or the function that it is; nothing is realized, which would put guards on all keys."""
    is_read = isinstance(key, LazyVariableTracker) and not key.is_realized()
    return key.original_value() if is_read else function_of(key.realize())


def function_of(variable: Any) -> Any:
    """The function that a variable is of; None for a bound method, which is another object each time."""
    if type(variable) is WrapperUserFunctionVariable:
        return variable.wrapper_obj
    return variable.fn if type(variable) is UserFunctionVariable else None


def note_function(variable: Any) -> None:
    """An attribute of a function is asked for, or set: Dynamo does not track what it is not told to."""
    if variable.source is not None and (function := function_of(variable)) is not None:
        _functions()[variable.source] = function


def _functions() -> dict[Any, Any]:
    return tracing.notebook().setdefault("functions asked", {})  # type: ignore[no-any-return]


def _kind_of_function(function: Any) -> Any:
    """Its code: functions of other code are other functions, which Dynamo's own guards see."""
    return getattr(function, "__code__", type(function))


def _tell_written_apart(effects: Any) -> None:
    tracked = [(_kind(variable), identity, variable) for identity, variable in effects.id_to_variable.items()]
    written = {kind for kind, _, variable in tracked if kind is not None and effects.is_modified(variable)}
    for kind, identity, variable in tracked:
        if kind in written:
            _note(kind, identity, variable.source)
    for source, function in _functions().items():
        if _kind_of_function(function) in written:
            _note(_kind_of_function(function), id(function), source)


def _given(variable: Any, tx: Any) -> tuple[Any, int, Any] | None:
    """The type, the identity and the source of an object that was there before the trace."""
    if variable.source is None or expression_of(variable.source) is None:
        return None
    if (function := function_of(variable)) is not None:
        return _kind_of_function(function), id(function), variable.source
    if type(variable) in _UNTRACKED:
        return _lying_there(variable, tx)
    kind = _kind(variable)
    if kind is None:
        return None
    tracked = tx.output.side_effects.id_to_variable
    identity = next((key for key, one in tracked.items() if one is variable), None)
    return None if identity is None else (kind, identity, variable.source)


def _lying_there(variable: Any, tx: Any) -> tuple[Any, int, Any] | None:
    """The same of what Dynamo does not track (an object() that marks what is missing, a range), and not of numbers."""
    if isinstance(variable, (ConstantVariable, SymNodeVariable)) or variable.is_tensor():
        return None
    if variable.source is None or expression_of(variable.source) is None:
        return None
    value = value_at(variable.source, tx)
    is_kept = value is value_at(variable.source, tx)  # and not made by each look at it
    return (type(value), id(value), variable.source) if is_kept else None


def _kind(variable: Any) -> Any:
    """The type of an object that was there before the trace and may be written to; None of any other."""
    source = variable.source
    if source is None or (isinstance(source, AttrSource) and source.member in _OF_MODULES):
        return None
    if not isinstance(variable.mutation_type, _EXISTING) or variable.is_tensor():  # torch tells tensors apart
        return None
    if isinstance(variable, UserDefinedObjectVariable):
        return type(variable.value)
    if (function := function_of(variable)) is not None:
        return _kind_of_function(function)
    try:
        return variable.python_type()
    except NotImplementedError:  # a cell, which no argument is
        return None


def _note(kind: Any, identity: int, source: Any) -> None:
    if expression_of(source) is None:
        return
    known: dict[Any, int] = tracing.notebook().setdefault("one object or two", {}).setdefault(kind, {})
    known[source] = identity
    if len(known) > 1:
        install_guard(next(iter(known)).make_guard(functools.partial(_agree, known=known)))


def _agree(builder: Any, guard: Any, known: dict[Any, int]) -> None:
    """A guard that the objects are one where they were, and two where they were."""
    first: dict[int, str] = {}
    same = []
    for source, identity in known.items():
        name = str(expression_of(source))
        if identity in first:
            same.append(f"{name} is {first[identity]}")
        first.setdefault(identity, name)
    distinct = [f"len({{{', '.join(f'id({name})' for name in first.values())}}}) == {len(first)}"]
    parts = [*same, *(distinct if len(first) > 1 else [])]
    builder.add_python_lambda_leaf_guard_to_root(parts, parts)
