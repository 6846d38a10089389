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

from torch._dynamo.variables import UserDefinedObjectVariable, UserFunctionVariable
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.tensor import TensorVariable

from autograph_torch.capture.comparisons import Comparison, answering_comparisons
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.logic import not_

_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor", "lshift", "rshift")
# Operators -> the methods of the left operand, in the order in which Python asks, and that of the right one.
_OPERATORS: dict[Any, tuple[tuple[str, ...], str]] = {
    operator.lt: (("__lt__",), "__gt__"),
    operator.le: (("__le__",), "__ge__"),
    operator.gt: (("__gt__",), "__lt__"),
    operator.ge: (("__ge__",), "__le__"),
    operator.eq: (("__eq__",), "__eq__"),
    operator.ne: (("__ne__",), "__ne__"),
}
for _name in _NAMES:
    _plain = _name.rstrip("_")
    _OPERATORS[getattr(operator, _name)] = ((f"__{_plain}__",), f"__r{_plain}__")
    _OPERATORS[getattr(operator, f"i{_plain}")] = ((f"__i{_plain}__", f"__{_plain}__"), f"__r{_plain}__")
_OF_OBJECTS = {
    operator.matmul: ("__matmul__",),
    operator.imatmul: ("__imatmul__", "__matmul__"),
    operator.invert: ("__invert__",),
}


@contextlib.contextmanager
def operators_of_objects() -> Iterator[None]:
    """While this is in force, such operators are calls of methods."""
    built_in = BuiltinVariable.call_function

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        found = None
        if self.fn in _OPERATORS and len(args) == 2:
            found = _beside_a_tensor(tx, self.fn, args)
        if found is None and self.fn in _OF_OBJECTS and args:
            found = _of_objects(tx, self.fn, args)
        return built_in(self, tx, args, kwargs) if found is None else found

    def compare(tx: Any, comparison: Comparison, operands: Any) -> Any:
        found = _beside_a_tensor(tx, comparison, operands)
        return _unequal(tx, operands) if found is None and comparison is operator.ne else found

    with patched(BuiltinVariable, call_function=call_builtin), answering_comparisons(compare):
        yield


def _beside_a_tensor(tx: Any, function: Any, operands: Any) -> Any:
    """What an object says to an operator beside a tensor; None where it says nothing."""
    left, right = (operand.realize() for operand in operands)
    names, reflected = _OPERATORS[function]
    if type(right) is TensorVariable:
        return _first_answer(tx, left, [name for name in names if _defines(left, name)], right)
    if type(left) is TensorVariable and _defines(right, reflected) and not _is_number(right):
        return _first_answer(tx, right, [reflected], left)
    return None


def _of_objects(tx: Any, function: Any, operands: Any) -> Any:
    left, *others = (operand.realize() for operand in operands)
    names = [name for name in _OF_OBJECTS[function] if _defines(left, name, even_for_torch=True)]
    if any(one.is_tensor() or _comes_first(one, left) for one in others):
        return None
    return _first_answer(tx, left, names[:1], *others)


def _unequal(tx: Any, operands: Any) -> Any:
    """`!=` of an object whose class says what `==` is: `object.__ne__` asks that."""
    left, right = (operand.realize() for operand in operands)
    if not _defines(left, "__eq__", even_for_torch=True) or _comes_first(right, left):
        return None
    if inspect.getattr_static(left.python_type(), "__ne__") is not object.__ne__:
        return None
    equal = _first_answer(tx, left, ["__eq__"], right)
    if equal is None:
        return None
    opposite: Any = not_
    return BuiltinVariable(bool).call_function(tx, [UserFunctionVariable(opposite).call_function(tx, [equal], {})], {})


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


def _defines(variable: Any, name: str, even_for_torch: bool = False) -> bool:
    """Whether it is an object, and its class defines a method in Python and leaves torch's functions alone."""
    if not isinstance(variable, UserDefinedObjectVariable) or variable.is_tensor():
        return False
    owner = variable.python_type()
    method = inspect.getattr_static(owner, name, None)
    return isinstance(method, types.FunctionType) and (even_for_torch or not hasattr(owner, "__torch_function__"))


def _is_number(variable: Any) -> bool:
    """Whether a tensor knows it: numbers of a class of their own are numbers to torch."""
    return issubclass(variable.python_type(), (int, float, complex))
