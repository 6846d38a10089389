"""Repairs of what Dynamo does to tensors in the bodies of operators.

1. An attribute that is a view (`x.mT`) of a tensor from around a body is computed around it: the body then has two
inputs of one memory, and torch refuses it. Here it is computed in the body.

2. `x.new_full(size, value)` with a tensor as the value asks for its number, which nothing defines afterwards. Here a
new tensor is filled with it, as Dynamo does for `torch.full`.

3. `x.resize_as_(y)` does nothing where the sizes are the same, and is refused all the same.

Private: TensorVariable looks for methods `method_attr_NAME` and `method_NAME` of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables.builder import wrap_fx_proxy
from torch._dynamo.variables.tensor import TensorVariable

_VIEWS = ("T", "mT", "H", "mH", "real", "imag")


@contextlib.contextmanager
def views_in_bodies() -> Iterator[None]:
    """Compute views that are attributes in the body that asks for them, and fill new tensors with tensors."""
    resize = TensorVariable.method_resize_as_

    def resize_as(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        same = len(args) == 1 and not kwargs and _sizes(self) is not None and _sizes(self) == _sizes(args[0])
        return self if same else resize(self, tx, *args, **kwargs)

    added = {**{f"method_attr_{name}": _view_in_body(name) for name in _VIEWS}, "method_new_full": _filled}
    for name, method in added.items():
        setattr(TensorVariable, name, method)
    TensorVariable.method_resize_as_ = resize_as  # type: ignore[method-assign]
    try:
        yield
    finally:
        TensorVariable.method_resize_as_ = resize  # type: ignore[method-assign]
        for name in added:
            delattr(TensorVariable, name)


def _sizes(variable: Any) -> tuple[int, ...] | None:
    """The size of a tensor, when it is known."""
    size = variable.realize().as_proxy().node.meta["example_value"].shape
    return tuple(size) if all(type(n) is int for n in size) else None


def _view_in_body(name: str) -> Any:
    def view(self: Any, tx: Any) -> Any:
        proxy, tracer = self.as_proxy(), tx.output.current_tracer
        if tracer.parent is None or proxy.tracer is tracer:
            return None  # Dynamo's own way
        return wrap_fx_proxy(tx, tx.output.create_proxy("call_function", getattr, (proxy, name), {}))

    return view


def _filled(self: Any, tx: Any, size: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    if args or not fill_value.is_tensor():
        return None
    made = self.call_method(tx, "new_empty", [size], kwargs)
    return made.call_method(tx, "fill_", [fill_value], {})
