"""Whether two elements are one object: a list or tuple asks for that before it compares them.

    y = x
    if p: y = x * 1
    y in [x], (1, y) == (1, x), [x].count(y)       true of NaN, too, where p is false; no other NaN is equal to one

It matters only for what need not be equal to itself: floats, tensors of them or of several elements, and objects whose
class says what is equal. Of tensors it is known when the graph is finished, as of those that `is` tells apart
(capture/identities.py); of numbers see capture/identity_of_floats.py,
and of those from outside capture/identity_of_constants.py.
"""

from __future__ import annotations

from typing import Any

from torch._dynamo import symbolic_convert
from torch._dynamo.variables import (
    ConstantVariable,
    ListVariable,
    TensorVariable,
    TupleVariable,
    UserDefinedObjectVariable,
)

from autograph_torch.capture.graph_writes import is_operator, name_of
from autograph_torch.capture.identities import note_told_apart
from autograph_torch.capture.identity import is_same
from autograph_torch.capture.identity_of_constants import is_one_constant
from autograph_torch.capture.identity_of_floats import is_one_float, may_be_no_number
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime import tracing


def tell_element(tx: Any, one: Any, other: Any) -> bool | None:
    """As `is_one_element`; None of two floats of which the trace does not know."""
    if not (may_be_no_number(one.realize()) and may_be_no_number(other.realize())):
        return is_one_element(tx, one, other)
    try:
        return is_one_element(tx, one, other)
    except CaptureError:
        return None


def is_one_element(tx: Any, one: Any, other: Any) -> bool:
    """Whether they are one object; False where they are equal to themselves, and comparing them says the same.

    Raises:
        CaptureError: the trace does not know.
    """
    one, other = one.realize(), other.realize()
    tracer = tx.output.current_tracer
    if is_same(one, other, tracer):
        return True
    if type(one) is type(other) and type(one) in (ListVariable, TupleVariable):
        pairs = zip(one.items, other.items, strict=False)
        return all([is_one_element(tx, *pair) for pair in pairs]) and len(one.items) == len(other.items)
    if isinstance(one, TensorVariable) and isinstance(other, TensorVariable):
        is_new = _is_made_behind(one, other, tracer) or _is_made_behind(other, one, tracer)
        if not is_new and _may_differ_from_itself(one) and _may_differ_from_itself(other):
            note_told_apart(one, other, tracer)
        return False
    if isinstance(one, UserDefinedObjectVariable) and isinstance(other, UserDefinedObjectVariable):
        found = symbolic_convert.compare_op_handlers["is"](tx, [one, other], {})
        return bool(found.is_python_constant() and found.as_python_constant())
    are_floats = may_be_no_number(one) and may_be_no_number(other)
    known = is_one_constant(tx, one, other) if are_floats else None
    if known is not None:
        return known
    if type(one) is ConstantVariable and type(other) is ConstantVariable:
        return one.as_python_constant() is other.as_python_constant()
    return are_floats and is_one_float(one, other, tracer)


def _may_differ_from_itself(tensor: TensorVariable) -> bool:
    example = tensor.as_proxy().node.meta["example_value"]
    is_single = all(type(size) is int and size == 1 for size in example.shape)
    return example.is_floating_point() or example.is_complex() or not is_single


def _is_made_behind(one: TensorVariable, other: TensorVariable, tracer: Any) -> bool:
    """Whether one is a part of a tensor (`x[0]`) that a body has made, and the other has been handed to the body.

    What is an element of a list that grows looks like a part, too, and need not be a new object.
    """
    part, given = (tracing.resolved(tensor.as_proxy(), tracer).node for tensor in (one, other))
    is_part = name_of(part) == "getitem" and not is_operator(part.all_input_nodes[0]) and one not in tracing.frozen()
    while name_of(given) in ("clone", "detach"):
        (given,) = given.all_input_nodes
    return is_part and given.op == "placeholder" and given.graph is part.graph
