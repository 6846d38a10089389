"""The step of an optimizer, and its `zero_grad`, become part of the graph that computes the gradients.

    optimizer.zero_grad()     torch keeps it out of traces: its own body
    loss.backward()
    if loss.isfinite():
        optimizer.step()      torch breaks the graph before and behind it, and runs `_init_group` in Python, where the
                              gradients of this call are not there yet: its own body, as of any object
    optimizer.best = loss     torch forgets what is set on an optimizer

torch does so for graphs in which nothing but the step is computed; there the number of the step is a tensor of float32.
Python computes what depends on it (`1 - beta2 ** step`) in float64: so does the graph, in a tensor; where many tensors
step at once, by functions that take lists of numbers, as a number. And the tracer takes `p.addcdiv_(m, v, value=-lr)`
apart into operators that round otherwise (torch has a setting for that).

Private: VariableBuilder._wrap and wrap_user_defined, SkipFunctionVariable, TorchInGraphFunctionVariable, and what
`torch._disable_dynamo` puts around functions. tests/capture/test_optimizers.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import operator
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo import config
from torch._dynamo.source import AttrSource
from torch._dynamo.symbolic_convert import InliningInstructionTranslator
from torch._dynamo.variables import ConstantVariable
from torch._dynamo.variables.builder import VariableBuilder
from torch._dynamo.variables.functions import SkipFunctionVariable, UserFunctionVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch.optim import Optimizer, optimizer

from autograph_torch.capture.patching import patched

_FILES = os.path.dirname(torch.optim.__file__) + os.sep
_AS_EAGER = ("_get_value", "_stack_if_compiling")  # lists of numbers, for graphs of tensors
_DECOMPOSES = "enable_dynamo_decompositions"
_ROUNDING_AS_IN_EAGER = {_DECOMPOSES: False} if hasattr(config, _DECOMPOSES) else {}  # torch 2.11 has none


@contextlib.contextmanager
def optimizers() -> Iterator[None]:
    """While this is in force, optimizers are objects as others are."""
    skipped, called = SkipFunctionVariable.call_function, TorchInGraphFunctionVariable.call_function
    in_float64: Any = _in_float64
    inlined, wrapped = InliningInstructionTranslator.inline_call, VariableBuilder._wrap

    def wrap(self: Any, value: Any) -> Any:
        return self.wrap_user_defined(value) if isinstance(value, Optimizer) else wrapped(self, value)

    def call_skipped(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value is torch._dynamo.graph_break and _is_of_optimizers(tx.f_code):
            return ConstantVariable.create(None)
        function = _entered(self, self.value, tx)
        if function is not None:
            return function.call_function(tx, args, kwargs)
        return skipped(self, tx, args, kwargs)

    def inline(parent: Any, function: Any, args: Any, kwargs: Any, **options: Any) -> Any:
        if isinstance(function, UserFunctionVariable):
            function = _entered(function, function.get_function(), parent) or function
        code = function.get_code()
        if code is _VALUE and not _makes_many_steps(parent):
            function = UserFunctionVariable(in_float64)
        if code is _HOOKS:
            _hook_step(args[0].python_type())
        return inlined(parent, function, args, kwargs, **options)

    def call_torch(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        asks = self.value is torch.compiler.is_compiling and tx.f_code.co_name in _AS_EAGER
        if asks and _is_of_optimizers(tx.f_code):
            return ConstantVariable.create(False)
        return called(self, tx, args, kwargs)

    with (
        config.patch(_ROUNDING_AS_IN_EAGER),
        patched(SkipFunctionVariable, call_function=call_skipped),
        patched(TorchInGraphFunctionVariable, call_function=call_torch),
        patched(VariableBuilder, _wrap=wrap),
        patched(InliningInstructionTranslator, inline_call=inline),
    ):
        yield


def _in_float64(value: Any) -> Any:
    """What `value.item()` would be in the arithmetic that follows; a graph is faster with tensors."""
    return value.double() if isinstance(value, torch.Tensor) else value


def _makes_many_steps(tx: Any) -> bool:
    """Whether a function of torch.optim that steps for many tensors at once is traced, or a comprehension in it."""
    frames = [tx.f_code, *([tx.parent.f_code] if getattr(tx, "parent", None) is not None else [])]
    return any(code.co_name.startswith("_multi_tensor") for code in frames)


def _hook_step(kind: type[Optimizer]) -> None:
    """Let the steps of a class call hooks, as its first object does: the class is none of this program's."""
    if not getattr(kind.step, "hooked", False):
        Optimizer._patch_step_function(object.__new__(kind))


_VALUE = optimizer._get_value.__code__
_HOOKS = Optimizer._patch_step_function.__code__


def _entered(variable: Any, function: Any, tx: Any) -> UserFunctionVariable | None:
    """A function of torch's optimizers that torch keeps out of traces, without what keeps it out; None for others."""
    code: Any = getattr(function, "__code__", None)
    if code in _AROUND:
        name = "_torchdynamo_orig_callable" if hasattr(function, "_torchdynamo_orig_callable") else "__wrapped__"
        inner: Any = getattr(function, name)
        if not _is_of_optimizers(inspect.unwrap(inner).__code__):
            return None
        source = variable.source or _place_of(function, tx)
        return UserFunctionVariable(inner, source=source and AttrSource(source, name))
    if getattr(function, "_torchdynamo_disable", False) and _is_of_optimizers(code):  # copied from what it wraps
        bare = types.FunctionType(code, function.__globals__, function.__name__, None, function.__closure__)
        return UserFunctionVariable(bare, source=variable.source or _place_of(function, tx))
    return None


def _place_of(function: Any, tx: Any) -> Any:
    """Where a method of one of torch's optimizers is to be found, if the optimizer is made in the function."""
    try:
        found = operator.attrgetter(function.__qualname__)(sys.modules[function.__module__])
    except (AttributeError, KeyError):
        return None
    names = [tx.import_source(function.__module__), *function.__qualname__.split(".")]
    return functools.reduce(AttrSource, names) if found is function else None


def _is_of_optimizers(code: Any) -> bool:
    """Whether a function has its text in torch.optim."""
    return code is not None and code.co_filename.startswith(_FILES)


# Of `torch._disable_dynamo` and of `torch._dynamo.disable`.
_AROUND = (Optimizer.zero_grad.__code__, torch._dynamo.disable(os.fspath).__code__)
