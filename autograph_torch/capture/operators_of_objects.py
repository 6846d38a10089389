"""Operators of objects whose classes define them, as calls of the methods: `q / x` beside a tensor, `p @ q`, `~q`.

    class Quaternion:
        def __truediv__(self, by): ...
        def __rmul__(self, factor): ...

    q / x                              q.__truediv__(x)
    x * q                              q.__rmul__(x): a tensor does not know the other, and leaves the answer to it
    p @ q, p @= q, ~q                  p.__matmul__(q), p.__imatmul__(q), q.__invert__()

Dynamo takes every operator with a tensor for one of torch. Classes with `__torch_function__` are left to it there. Of
the operators of two objects, and of one, it leaves out these three.

Private: BuiltinVariable.call_function. tests/capture/test_operators_of_objects.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import inspect
import operator
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import UserDefinedObjectVariable
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.tensor import TensorVariable

from autograph_torch.capture.patching import patched

_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_OPERATORS = {getattr(operator, name): (f"__{name}__", f"__r{name}__") for name in _NAMES}
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
        if self.fn in _OPERATORS and len(args) == 2:
            left, right = (arg.realize() for arg in args)
            name, reflected = _OPERATORS[self.fn]
            if type(right) is TensorVariable and _defines(left, name):
                return _answer(left.call_method(tx, name, [right], {}), lambda: built_in(self, tx, args, kwargs))
            if type(left) is TensorVariable and _defines(right, reflected) and not _is_number(right):
                return _answer(right.call_method(tx, reflected, [left], {}), lambda: built_in(self, tx, args, kwargs))
        if self.fn in _OF_OBJECTS and args:
            left, *others = (arg.realize() for arg in args)
            found = [name for name in _OF_OBJECTS[self.fn] if _defines(left, name, even_for_torch=True)]
            if found and not any(one.is_tensor() or _comes_first(one, left) for one in others):
                return _answer(left.call_method(tx, found[0], others, {}), lambda: built_in(self, tx, args, kwargs))
        return built_in(self, tx, args, kwargs)

    with patched(BuiltinVariable, call_function=call_builtin):
        yield


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


def _answer(result: Any, otherwise: Any) -> Any:
    declined = result.is_python_constant() and result.as_python_constant() is NotImplemented
    return otherwise() if declined else result
