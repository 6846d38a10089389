"""Operators of objects whose classes define them, as calls of the methods: `q / x` beside a tensor, `p @ q`, `~q`.

    class Quaternion:
        def __truediv__(self, by): ...
        def __rmul__(self, factor): ...
        def __iadd__(self, step): ...
        def __eq__(self, other): ...

    q / x                              q.__truediv__(x)
    x * q                              q.__rmul__(x): a tensor does not know the other, and leaves the answer to it
    q += x, q *= x                     q.__iadd__(x), and the method of `*` where there is none of `*=`
    q < x, x < q                       q.__lt__(x), q.__gt__(x)
    x > Level.LOW                      torch.gt(x, 1), for a member of an enum.IntEnum: it is a number to a tensor
    q == x.sum().item()                q.__eq__(n): all objects, also derived numbers, were unequal to one of the graph
    p @ q, p @= q, ~q                  p.__matmul__(q), p.__imatmul__(q), q.__invert__()
    p != q                             not p.__eq__(q), where data tell that; so of dataclasses

Dynamo takes every operator with a tensor for one of torch. Classes with `__torch_function__` are left to it there. Of
the operators of two objects, and of one, it leaves out these.

Private: BuiltinVariable.call_function. tests/capture/test_operators_of_objects.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import inspect
import operator
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, UserDefinedObjectVariable, UserFunctionVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.tensor import TensorVariable

from autograph_torch.capture.compared_in_c import answers_in_c
from autograph_torch.capture.comparisons import Comparison, answering_comparisons
from autograph_torch.capture.enum_members import plain_value
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.logic import not_
from autograph_torch.runtime.refusal import raise_refusal

_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")
# Operators -> the methods of the left operand, in the order in which Python asks, and that of the right one.
_COMPARED: dict[Any, tuple[tuple[str, ...], str]] = {
    operator.lt: (("__lt__",), "__gt__"),
    operator.le: (("__le__",), "__ge__"),
    operator.gt: (("__gt__",), "__lt__"),
    operator.ge: (("__ge__",), "__le__"),
    operator.eq: (("__eq__",), "__eq__"),
    operator.ne: (("__ne__",), "__ne__"),
}
_SEEN_FROM_THE_RIGHT: dict[Any, Any] = {
    operator.lt: operator.gt,
    operator.le: operator.ge,
    operator.gt: operator.lt,
    operator.ge: operator.le,
}
_OPERATORS: dict[Any, tuple[tuple[str, ...], str]] = {}
for _name in _NAMES:
    _plain = _name.rstrip("_")
    _OPERATORS[getattr(operator, _name)] = ((f"__{_plain}__",), f"__r{_plain}__")
    _OPERATORS[getattr(operator, f"i{_plain}")] = ((f"__i{_plain}__", f"__{_plain}__"), f"__r{_plain}__")
_OF_OBJECTS: dict[Any, tuple[str, ...]] = {
    **{function: _OPERATORS[function][0] for function in (operator.matmul, operator.imatmul)},
    operator.invert: ("__invert__",),
}


@contextlib.contextmanager
def operators_of_objects() -> Iterator[None]:
    """While this is in force, such operators are calls of methods."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        found = None
        if self.fn in _OPERATORS and len(args) == 2:
            found = _beside_a_tensor(tx, _OPERATORS[self.fn], args)
        if found is None and self.fn in _OF_OBJECTS and args:
            found = _of_objects(tx, _OF_OBJECTS[self.fn], args)
        if found is not None:
            return found
        found = built_in(self, tx, args, kwargs)
        if self.fn in _OPERATORS and isinstance(found, ConstantVariable) and found.value is NotImplemented:
            advice = "use a container of Python's own, or compute it before"
            raise_refusal("AG320", f"`{self.fn.__name__}` of what Dynamo does not know it of", advice)
        return found

    def compare(tx: Any, comparison: Comparison, operands: Any) -> Any:
        found = _beside_a_tensor(tx, _COMPARED[comparison], operands)
        if found is None:
            found = _with_a_number(tx, comparison, operands)
        if found is None:
            found = _beside_a_number(tx, comparison, operands)
        return _unequal(tx, operands) if found is None and comparison is operator.ne else found

    with patched(BuiltinVariable, call_function=call_builtin), answering_comparisons(compare):
        yield


def _beside_a_tensor(tx: Any, methods: tuple[tuple[str, ...], str], operands: Any) -> Any:
    """What an object says to an operator beside a tensor; None where it says nothing."""
    left, right = (operand.realize() for operand in operands)
    names, reflected = methods
    if type(right) is TensorVariable:
        return _first_answer(tx, left, [name for name in names if _is_for_torch(left, name)], right)
    if type(left) is TensorVariable and _is_for_torch(right, reflected) and not _is_number(right):
        return _first_answer(tx, right, [reflected], left)
    return None


def _with_a_number(tx: Any, comparison: Comparison, operands: Any) -> Any:
    """What a tensor says of a number of a class of its own (`enum.IntEnum`), which by itself knows no tensors."""
    left, right = (operand.realize() for operand in operands)
    if type(left) is TensorVariable and _is_number_of_its_own(right):
        tensor, number, asked = left, right, comparison
    elif type(right) is TensorVariable and _is_number_of_its_own(left):
        tensor, number, asked = right, left, _SEEN_FROM_THE_RIGHT.get(comparison, comparison)
    else:
        return None
    return VariableTracker.build(tx, getattr(torch, asked.__name__)).call_function(tx, [tensor, number], {})


def _beside_a_number(tx: Any, comparison: Comparison, operands: Any) -> Any:
    """What an object says to a comparison with a number of the graph; None where it says nothing."""
    left, right = (operand.realize() for operand in operands)
    if isinstance(left, SymNodeVariable) == isinstance(right, SymNodeVariable):
        return None
    is_left = isinstance(right, SymNodeVariable)
    one, number = (left, right) if is_left else (right, left)
    names, reflected = _COMPARED[comparison]
    name = names[0] if is_left else reflected
    plain = _number_of(one, name)
    if plain is not None:
        return BuiltinVariable(comparison).call_function(tx, [plain, number] if is_left else [number, plain], {})
    return _first_answer(tx, one, [name], number) if defines(one, name) or answers_in_c(one, name) else None


def _number_of(variable: Any, name: str) -> Any:
    """The number that an object of a class derived from one is, where it has the method from there; else None."""
    value = getattr(variable, "_base_vt", None)
    is_plain = isinstance(value, ConstantVariable) and not defines(variable, name)
    return value if is_plain else plain_value(variable, name)


def _is_number_of_its_own(variable: Any) -> bool:
    return isinstance(variable, UserDefinedObjectVariable) and not variable.is_tensor() and _is_number(variable)


def _of_objects(tx: Any, names: tuple[str, ...], operands: Any) -> Any:
    left, *others = (operand.realize() for operand in operands)
    if any(one.is_tensor() or _comes_first(one, left) for one in others):
        return None
    return _first_answer(tx, left, [name for name in names if defines(left, name)][:1], *others)


def _unequal(tx: Any, operands: Any) -> Any:
    """`!=` of an object whose class says what `==` is: `object.__ne__` asks that, and so it does of the other object.

    One whose class is derived from that of the left one is asked first. Of two that both decline Python asks whether
    they are one. (What a method does, it does once: Dynamo asks no more.)
    """
    left, right = (operand.realize() for operand in operands)
    if isinstance(left, SymNodeVariable):  # a number, which knows no objects
        left, right = right, left
    if not _is_unequal_by_equality(left):
        return None
    asked = [(left, right)]
    if _is_unequal_by_equality(right):
        asked.insert(0 if _comes_first(right, left) else 1, (right, left))
    elif type(right) is not ConstantVariable and not isinstance(right, SymNodeVariable):
        return None
    for one, other in asked:
        equal = _first_answer(tx, one, ["__eq__"], other)
        if equal is not None:
            opposite = UserFunctionVariable(not_).call_function(tx, [equal], {})  # type: ignore[arg-type]
            return BuiltinVariable(bool).call_function(tx, [opposite], {})
    return BuiltinVariable(operator.is_not).call_function(tx, [left, right], {})


def _is_unequal_by_equality(variable: Any) -> bool:
    """Whether it is an object whose class has a method for `==`, and none of its own for `!=`."""
    return defines(variable, "__eq__") and inspect.getattr_static(variable.python_type(), "__ne__") is object.__ne__


def _first_answer(tx: Any, variable: Any, names: list[str], *others: Any) -> Any:
    """What the first of these methods gives that does not decline."""
    for name in names:
        found = variable.call_method(tx, name, list(others), {})
        if not (found.is_python_constant() and found.as_python_constant() is NotImplemented):
            return found
    return None


def _comes_first(right: Any, left: Any) -> bool:
    """Whether Python may ask the right operand first: one of a class that is derived from that of the left one."""
    return right.python_type() is not left.python_type() and issubclass(right.python_type(), left.python_type())


def defines(variable: Any, name: str) -> bool:
    """Whether it is an object, and its class defines a method in Python."""
    if not isinstance(variable, UserDefinedObjectVariable) or variable.is_tensor():
        return False
    return isinstance(inspect.getattr_static(variable.python_type(), name, None), types.FunctionType)


def _is_for_torch(variable: Any, name: str) -> bool:
    """Whether its class defines a method in Python, and leaves torch's functions alone."""
    return defines(variable, name) and not hasattr(variable.python_type(), "__torch_function__")


def _is_number(variable: Any) -> bool:
    """Whether a tensor knows it: numbers of a class of their own are numbers to torch."""
    return issubclass(variable.python_type(), (int, float, complex))
