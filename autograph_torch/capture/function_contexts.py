"""Calls of an autograd.Function that Dynamo takes for other calls, or does not take.

    class Solve(torch.autograd.Function):
        def forward(ctx, is_upper, *matrices): ...

    Solve.apply(True, a, b)            three arguments, three parameters: torch 2.13 calls forward(True, a, b)
    Solve.apply(True, a, a)            refused where a gradient is recorded: here the second `a` is a view of the first

A `forward` has no `ctx` where the class has a `setup_context`, and nowhere else. (Only where no gradient is recorded:
where one is, Dynamo asks the class.) A `forward` that asks with `is` may tell a view from the tensor: it is left alone.

Whether a gradient is recorded Dynamo asks its memory, where a view of a tensor that has been written to since still
records none: the Function's own `backward` was left out without a word.

To learn what a Function gives, Dynamo runs its `forward` once more, and its `backward` where gradients are computed in
the graph. A number that it reads there (`if x.equal(y):`) gets a symbol for a second time, which no result has, and
Dynamo stops ("Pending unbacked symbols"): it is dropped.

Private: AutogradFunctionVariable.call_apply, autograd_function_apply, ShapeEnv.pending_fresh_unbacked_symbols,
dynamo's run_node.
tests/capture/test_function_contexts.py shows the errors without this, and fails when torch no longer needs it.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo import utils
from torch._dynamo.source import AttrSource
from torch._dynamo.variables import NNModuleVariable, TensorVariable
from torch._dynamo.variables.base import VariableTracker
from torch._dynamo.variables.misc import AutogradFunctionContextVariable, AutogradFunctionVariable
from torch._functorch.autograd_function import autograd_function_apply
from torch._guards import detect_fake_mode
from torch.autograd.function import _is_setup_context_defined
from torch.fx import Node
from torch.fx.experimental.proxy_tensor import get_proxy_mode
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from autograph_torch.capture.known_torch import is_before
from autograph_torch.capture.patching import patched
from autograph_torch.capture.reshaped import follow_tensor
from autograph_torch.runtime.refusal import raise_refusal

_LOSES_GRADIENTS = is_before(2, 13)  # of a tensor that comes twice; later versions refuse it by themselves


@contextlib.contextmanager
def contexts_of_functions() -> Iterator[None]:
    """While converted functions are traced."""
    original = AutogradFunctionVariable.call_apply

    def call_apply(self: Any, tx: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        for arg in args:
            if isinstance(arg.realize(), TensorVariable):  # what Dynamo remembers of it may be out of date
                follow_tensor(arg.realize(), tx)
        if _has_gradient(tx, args) and not _asks_identity(self.fn_cls.forward):
            return original(self, tx, _apart(tx, args), kwargs)
        if _LOSES_GRADIENTS and _has_gradient(tx, args) and any(_is_met(arg, args[:k]) for k, arg in enumerate(args)):
            raise_refusal("AG320", "duplicate tensor input of an autograd.Function that asks with `is`", "give a view")
        if kwargs or not _counted_wrong(self.fn_cls, len(args)) or _has_gradient(tx, args):
            return original(self, tx, args, kwargs)
        context = AutogradFunctionContextVariable.create(tx, args, kwargs)
        source = AttrSource(self.source, "forward") if self.source else None
        forward = VariableTracker.build(tx, self.fn_cls.forward, source=source, realize=True)
        return forward.call_function(tx, [context, *args], kwargs)

    operator = type(autograd_function_apply)
    run_operator, run_node = operator.__call__, utils.run_node

    def forwards(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _without_needless_symbols(args, lambda: run_operator(self, *args, **kwargs))

    def computed(tracer: Any, node: Node, args: Any, kwargs: Any, module: Any) -> Any:
        run = functools.partial(run_node, tracer, node, args, kwargs, module)
        return _without_needless_symbols(args, run) if node.target is torch.autograd.grad else run()

    with (
        patched(AutogradFunctionVariable, call_apply=call_apply),
        patched(operator, __call__=forwards),
        patched(utils, run_node=computed),
    ):
        yield


def _without_needless_symbols(args: Any, run: Callable[[], Any]) -> Any:
    mode = detect_fake_mode(args)
    if mode is None or mode.shape_env is None or get_proxy_mode() is not None:
        return run()
    pending = mode.shape_env.pending_fresh_unbacked_symbols
    known = list(pending)
    value = run()
    pending[:] = [one for one in pending if one in known or one in free_unbacked_symbols(value)]
    return value


def _counted_wrong(function: type[Any], count: int) -> bool:
    """Whether there are as many arguments as parameters, one of which is `ctx`."""
    forward = function.forward
    if not isinstance(forward, types.FunctionType) or _is_setup_context_defined(function.setup_context):
        return False
    return len(inspect.signature(forward).parameters) == count


def _apart(tx: Any, args: list[Any]) -> list[Any]:
    """The arguments; a tensor that comes again is a view of itself."""
    return [arg.call_method(tx, "view_as", [arg], {}) if _is_met(arg, args[:k]) else arg for k, arg in enumerate(args)]


def _is_met(arg: Any, before: list[Any]) -> bool:
    """Whether a tensor is among the arguments before it."""
    return arg.is_tensor() and any(one.is_tensor() and arg.as_proxy() is one.as_proxy() for one in before)


def _asks_identity(forward: Any) -> bool:
    """Whether a function compares with `is`, but for None."""
    code = getattr(forward, "__code__", None)
    if code is None:
        return True
    pairs = itertools.pairwise(dis.get_instructions(code))
    return any(one.opname == "IS_OP" and before.argval is not None for before, one in pairs)


def _has_gradient(tx: Any, args: list[Any]) -> bool:
    """Whether Dynamo records a gradient of the call."""
    found: list[bool] = []

    def visit(variable: Any) -> None:
        if variable.is_tensor():
            found.append(variable.requires_grad is not False)
        elif isinstance(variable, NNModuleVariable):
            found.append(variable.is_training(tx))

    VariableTracker.visit(visit, args)
    return any(found) and torch.is_grad_enabled()
