"""Whether two tuples, frozensets or functions are one object: where it is certain, and otherwise it is refused.

    for k, other in enumerate(window):
        if other is entry: ...             two elements of a list of the caller's: asked of the objects, and guarded
    pair = (x, y); pair is kept            a tuple that the program builds is another object than all others
    late is early                          and so is a function that it defines

To Dynamo two such functions, or tuples with tensors in them, have no answer, and two constants of the code are never
one. What makes no new object in Python may make a new variable of the trace (`pair[:]`): only what the text builds
counts as new.

Private: the instructions BUILD_TUPLE and MAKE_FUNCTION (capture/replaced_instructions.py), TupleVariable,
FrozensetVariable, NestedUserFunctionVariable.
tests/capture/test_identity_of_values.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.variables import (
    ConstantVariable,
    FrozensetVariable,
    NestedUserFunctionVariable,
    TensorVariable,
    TupleVariable,
)

from autograph_torch.capture.dynamo_names import value_at
from autograph_torch.capture.identity import is_same
from autograph_torch.capture.replaced_instructions import Instruction, replaced
from autograph_torch.runtime import tracing

_KINDS = (TupleVariable, FrozensetVariable, NestedUserFunctionVariable)
_NEW = "tuples and functions that the program has built"
_TORCH = torch.__path__[0]


@contextlib.contextmanager
def values_built() -> Iterator[None]:
    """While this is in force, the tuples and functions that the program builds are noted."""
    with replaced(BUILD_TUPLE=_building, MAKE_FUNCTION=_building):
        yield


def _building(original: Instruction) -> Instruction:
    def build(translator: Any, instruction: Any) -> None:
        original(translator, instruction)
        filename = translator.f_code.co_filename
        is_empty = instruction.opname == "BUILD_TUPLE" and not instruction.argval
        if not is_empty and not tracing.is_ours(filename) and not filename.startswith(_TORCH):
            made = translator.stack[-1]
            tracing.notebook().setdefault(_NEW, {})[id(made)] = made

    return build


def are_such_values(one: Any, other: Any) -> bool:
    """Whether it is a question for `is_one_value`."""
    return type(one) is type(other) and type(one) in _KINDS


def is_one_value(tx: Any, one: Any, other: Any) -> bool | None:
    """Whether they are one object in Python; None where the trace does not know."""
    if one is other or (type(one) is TupleVariable and not one.items and not other.items):  # there is one empty tuple
        return True
    if _are_told_apart(one, other) or _differ(one, other, tx.output.current_tracer):
        return False
    if one.source is None or other.source is None:
        return None
    for variable in (one, other):
        install_guard(variable.source.make_guard(GuardBuilder.ID_MATCH))
    return value_at(one.source, tx) is value_at(other.source, tx)


def _are_told_apart(one: Any, other: Any) -> bool:
    """Whether one has been built in the trace, and the other has been there before, or been built elsewhere."""
    built = tracing.notebook().get(_NEW, {})
    new = [id(variable) in built for variable in (one, other)]
    return any(new) and all(is_new or known.source for is_new, known in zip(new, (one, other), strict=True))


def _differ(one: Any, other: Any, tracer: Any) -> bool:
    """Whether guards see to it that there is not the same in them."""
    if type(one) is not TupleVariable:
        return False
    if len(one.items) != len(other.items):
        return True
    pairs = zip(one.items, other.items, strict=True)
    return any(_are_others(first.realize(), second.realize(), tracer) for first, second in pairs)


def _are_others(one: Any, other: Any, tracer: Any) -> bool:
    if type(one) is ConstantVariable and type(other) is ConstantVariable:
        values = one.as_python_constant(), other.as_python_constant()
        return type(values[0]) is not type(values[1]) or (values[0] != values[1] and values[0] == values[0])
    if type(one) is TensorVariable and type(other) is TensorVariable:
        return is_given(one, tracer) and is_given(other, tracer) and not is_same(one, other, tracer)
    return False


def is_given(tensor: Any, tracer: Any) -> bool:
    """Whether it is an input of the whole graph, which no other input is."""
    proxy = tracing.resolved(tensor.as_proxy(), tracer)
    return bool(proxy.node.op == "placeholder" and proxy.tracer.parent is None)
