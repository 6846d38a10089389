"""Repairs of what Dynamo does to tensors in the bodies of operators.

1. An attribute that is a view (`x.mT`) of a tensor from around a body is computed around it: the body then has two
inputs of one memory, and torch refuses it. Here it is computed in the body. So are the rows of a tensor that is
iterated over or unpacked, and the numbers of `x.tolist()`: those taken around a body would also miss what the body has
written, without a word. Rows are those of `unbind`, as in eager (Dynamo indexes): autograd refuses to write into them.

2. `x.new_full(size, value)` with a tensor as the value asks for its number, which nothing defines afterwards. Here a
new tensor is filled with it, as Dynamo does for `torch.full`.

3. `x.resize_as_(y)` does nothing where the sizes are the same, and is refused all the same.

4. Where `x[i].mul_(2)` is differentiated and `i` depends on data, torch makes the view again; its place then has a
symbol that no result has, which the tracer refuses. Here it is dropped: a write in place makes no new tensor.

Private: TensorVariable looks for methods `method_attr_NAME` and `method_NAME` of its own; `get_fake_value` and
`ShapeEnv.pending_fresh_unbacked_symbols`. tests/capture/test_views.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo.variables import builder
from torch._dynamo.variables.builder import wrap_fx_proxy
from torch._dynamo.variables.tensor import TensorVariable
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import (
    free_unbacked_symbols,
)

from autograph_torch.capture.graph_writes import writes_in_place
from autograph_torch.capture.patching import patched

_VIEWS = ("T", "mT", "H", "mH", "real", "imag")


@contextlib.contextmanager
def views_in_bodies() -> Iterator[None]:
    """Compute views that are attributes in the body that asks for them, and fill new tensors with tensors."""
    resize, unpack = TensorVariable.method_resize_as_, TensorVariable.unpack_var_sequence
    tolist, get_fake_value = TensorVariable.method_tolist, builder.get_fake_value

    def resize_as(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        same = len(args) == 1 and not kwargs and _sizes(self) is not None and _sizes(self) == _sizes(args[0])
        return self if same else resize(self, tx, *args, **kwargs)

    def rows(self: Any, tx: Any, idxes: Any = None) -> list[Any]:
        fake = self.as_proxy().node.meta["example_value"]
        if type(self) is not TensorVariable or fake.ndim == 0 or (idxes is not None and len(idxes) != fake.shape[0]):
            return unpack(_in_body(self, tx), tx, idxes)  # type: ignore[no-any-return]
        return self.call_method(tx, "unbind", [], {}).unpack_var_sequence(tx)  # type: ignore[no-any-return]

    def numbers(self: Any, tx: Any) -> Any:
        return tolist(_in_body(self, tx), tx)

    attributes = {f"method_attr_{name}": _view_in_body(name) for name in _VIEWS}
    methods = {
        "method_new_full": _filled,
        "method_resize_as_": resize_as,
        "method_tolist": numbers,
        "unpack_var_sequence": rows,
    }
    with (
        patched(TensorVariable, **attributes, **methods),
        patched(builder, get_fake_value=_without_needless_symbols(get_fake_value)),
    ):
        yield


def _without_needless_symbols(get_fake_value: Callable[..., Any]) -> Callable[..., Any]:
    def fake_value(node: Node, tx: Any, *args: Any, **kwargs: Any) -> Any:
        pending = tx.output.shape_env.pending_fresh_unbacked_symbols
        known = list(pending)
        value = get_fake_value(node, tx, *args, **kwargs)
        if writes_in_place(node):
            pending[:] = [one for one in pending if one in known or one in free_unbacked_symbols(value)]
        return value

    return fake_value


def _sizes(variable: Any) -> tuple[int, ...] | None:
    """The size of a tensor, when it is known."""
    size = variable.realize().as_proxy().node.meta["example_value"].shape
    return tuple(size) if all(type(n) is int for n in size) else None


def _in_body(variable: Any, tx: Any) -> Any:
    """A tensor as the body has it that is being traced."""
    proxy, tracer = variable.as_proxy(), tx.output.current_tracer
    if tracer.parent is None or proxy.tracer is tracer:
        return variable
    return variable.clone(proxy=tracer.maybe_lift_tracked_freevar_to_input(proxy))


def _view_in_body(name: str) -> Any:
    def view(self: Any, tx: Any) -> Any:
        here = _in_body(self, tx)
        if here is self:
            return None  # Dynamo's own way
        return wrap_fx_proxy(tx, tx.output.create_proxy("call_function", getattr, (here.as_proxy(), name), {}))

    return view


def _filled(self: Any, tx: Any, size: Any, fill_value: Any, *args: Any, **kwargs: Any) -> Any:
    if args or not fill_value.is_tensor():
        return None
    made = self.call_method(tx, "new_empty", [size], kwargs)
    return made.call_method(tx, "fill_", [fill_value], {})
