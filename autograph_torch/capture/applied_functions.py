"""An autograd.Function whose methods ask data, write to objects or print, where the function computes its gradient.

    class Quantize(torch.autograd.Function):
        def forward(ctx, x, limit):
            if x.abs().max() > limit: ctx.mode = "clip"; ...
        def backward(ctx, g):
            return g * 0.1 if ctx.mode == "clip" else g, None

Dynamo traces both methods where the Function is applied, as bodies of an operator, in which nobody knows the data. On
one path, where that has failed, `forward` is followed as any function, without gradients; a leaf of the graph stands
for each result, and `backward` is called with the leaf's gradient when that is computed (capture/cuts.py). Where the
caller is to compute the gradient, it is refused as before.

Private: AutogradFunctionVariable.call_apply. tests/capture/test_applied_functions.py fails clearly when torch changes
it.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Collection, Iterator
from typing import Any

from torch._dynamo.source import AttrSource
from torch._dynamo.variables import ConstantVariable, TensorVariable, TupleVariable, UserFunctionVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.ctx_manager import GradModeVariable
from torch._dynamo.variables.misc import AutogradFunctionVariable
from torch.autograd.function import _is_setup_context_defined

from autograph_torch.capture.cuts import can_be_cut, cut, remember
from autograph_torch.capture.graph_writes import storage_at
from autograph_torch.capture.marks import mark, marked
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import cuts
from autograph_torch.runtime.refusal import raise_refusal

Line = tuple[str, int]

_PLACE = "_autograph_applied"  # on an exception: the place where the Function that it has ended is applied


@contextlib.contextmanager
def applied_functions(places: Collection[Line]) -> Iterator[None]:
    """While this is in force, Functions at these places are followed so; those that fail at others can be told."""
    apply = AutogradFunctionVariable.call_apply

    def call_apply(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        place = (tx.f_code.co_filename, tx.lineno)
        if place in places and not kwargs and can_be_cut(tx):
            return _applied(self, tx, [arg.realize() for arg in args])
        with marked(_PLACE, place):
            return apply(self, tx, args, kwargs)

    with patched(AutogradFunctionVariable, call_apply=call_apply):
        yield


def failed_function(error: BaseException) -> Line | None:
    """The place where the autograd.Function is applied in which a trace has ended."""
    return mark(error, _PLACE)  # type: ignore[no-any-return]


def _applied(function: Any, tx: Any, args: list[Any]) -> Any:
    needs = [arg.is_tensor() and bool(arg.requires_grad) for arg in args]
    context = _made(tx, cuts.make_context, [TupleVariable([ConstantVariable.create(one) for one in needs])])
    mode = GradModeVariable.create(tx, False, initialized=True)
    mode.enter(tx)
    if _is_setup_context_defined(function.fn_cls.setup_context):
        found = _method(function, tx, "forward").call_function(tx, args, {})
        _method(function, tx, "setup_context").call_function(tx, [context, TupleVariable(args), found], {})
    else:
        found = _method(function, tx, "forward").call_function(tx, [context, *args], {})
    mode.exit(tx)
    if not any(needs):
        return found
    found = found.realize()
    results = found.items if isinstance(found, TupleVariable) else [found]
    leaves = [_leaf(tx, result.realize(), args) for result in results]
    backward = _method(function, tx, "backward")
    made = _made(tx, cuts.make_applied, [backward, context, TupleVariable(args), TupleVariable(leaves)])
    remember(tx, made, results[0].as_proxy().node)
    return TupleVariable(leaves) if isinstance(found, TupleVariable) else leaves[0]


def _method(function: Any, tx: Any, name: str) -> Any:
    source = AttrSource(function.source, name) if function.source else None
    return VariableTracker.build(tx, getattr(function.fn_cls, name), source=source, realize=True)


def _made(tx: Any, make: Any, parts: list[Any]) -> Any:
    return UserFunctionVariable(make).call_function(tx, parts, {})


def _leaf(tx: Any, result: Any, args: list[Any]) -> Any:
    """What stands for a result; what has saved the result keeps it."""
    if type(result) is not TensorVariable or not result.dtype.is_floating_point:
        raise_refusal("AG320", *_RESULTS)
    memory = {storage_at(arg.as_proxy().node) for arg in args if arg.is_tensor()}
    if storage_at(result.as_proxy().node) in memory:
        raise_refusal("AG320", *_RESULTS)
    leaf = copy.copy(result)
    cut(tx, leaf)
    return leaf


_RESULTS = (
    "an autograd.Function that depends on data gives what is no floating-point tensor of its own",
    "clone what it returns, or compute the gradient outside of the converted function",
)
