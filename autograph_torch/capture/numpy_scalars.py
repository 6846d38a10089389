"""Scalars of NumPy that leave the function are scalars, as in eager.

    return x.numpy()[0]        numpy.float32(1.0); torch.compile gives numpy.array(1.0), which is no float and no key

To Dynamo both are arrays without dimensions. What tells them apart is what has made them: operators, most functions and
methods, and indices that are integers give scalars.

Private: PyCodegen. tests/capture/test_arrays.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.bytecode_transformation import create_binary_subscr
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.utils import np
from torch._dynamo.variables import NumpyNdarrayVariable

from autograph_torch.capture.patching import patched

_GIVE_NEW = tuple(getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg"))
_COMPARE = tuple(getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne"))
_GIVE_SCALARS = frozenset(
    "sum prod max min amax amin mean median std var argmax argmin any all count_nonzero dot abs round "
    "float32 float64 int32 int64".split()
)


@contextlib.contextmanager
def numpy_scalars() -> Iterator[None]:
    """While this is in force, the code behind the graph takes such scalars out of their arrays."""
    generate = PyCodegen.__call__

    def generate_scalar(self: Any, value: Any, allow_cache: bool = True) -> None:
        generate(self, value, allow_cache)
        if type(value) is NumpyNdarrayVariable and _is_scalar(value):
            self.append_output(self.create_load_const(()))  # array[()]; a scalar stays what it is
            self.append_output(create_binary_subscr())

    with patched(PyCodegen, __call__=generate_scalar):
        yield


def _is_scalar(value: Any) -> bool:
    node = value.as_proxy().node
    if value.source is not None or node.meta["example_value"].ndim > 0:
        return False
    made_with: Any = getattr(node.target, "op", None)
    return gives_scalar(node) or made_with in _COMPARE or (made_with is operator.getitem and _is_one(node.args[1]))


def _is_one(index: Any) -> bool:
    """Whether an index is that of one element: with an ellipsis or a new axis it is that of an array."""
    return not any(one is None or one is Ellipsis for one in (index if isinstance(index, (tuple, list)) else [index]))


def gives_scalar(node: torch.fx.Node) -> bool:
    """Whether what NumPy gives without dimensions is a scalar: most functions, methods and operators give no array."""
    made_by: Any = node.target
    if getattr(made_by, "op", None) in _GIVE_NEW:
        return True
    if "out" in node.kwargs:
        return False
    name = getattr(getattr(made_by, "f", None), "__name__", "") or getattr(made_by, "method", "")
    return name in _GIVE_SCALARS or isinstance(getattr(np, name, None), np.ufunc)
