"""Python's random numbers (`random.random()`, `self.rng.randint(0, 3)`) are numbers that depend on data.

    if random.random() < self.teacher_forcing:      r = ...      drawn by Python before the graph runs,
        token = target[:, t]                                     an input of it
    else:
        token = output.argmax(1)

Draws outside of branches and loops on data are made in every call that runs the graph, in their order. So Python may
make them in front of it; nothing else that the graph does looks at Python's generators. Where the graph raises, they
are set back, and the call is run again in Python (failures.py). In the body of a branch or loop a draw would be made
whichever path is taken, and once for all trips: that is refused.

torch 2.13 refuses the functions of the module `random`. From a `random.Random` that is an object of the program it
draws while it traces, and gives the same numbers in every call. That is right only behind `seed` or `setstate` in the
function itself, where they are constants (torch makes them inputs of the graph, which Inductor reads by a wrong type).

For functions of `numpy.random` torch draws from its own generator, silently: they are refused.

Private: SkipFunctionVariable, UserDefinedObjectVariable, RandomVariable, call_random_fn (which misc.py imports),
OutputGraph.random_calls, RandomValueSource, GraphArg and create_graph_input. tests/capture/test_python_random.py fails
clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import random
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.source import RandomValueSource
from torch._dynamo.variables import (
    ConstantVariable,
    RandomVariable,
    TensorVariable,
    UserDefinedObjectVariable,
    misc,
    user_defined,
)
from torch._dynamo.variables.builder import GraphArg, wrap_fx_proxy_cls, wrap_to_fake_tensor_and_record
from torch._dynamo.variables.functions import SkipFunctionVariable

from autograph_torch.capture.dynamo_names import value_at
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime import performing, tracing
from autograph_torch.runtime.refusal import raise_refusal

_KINDS = {float: torch.float64, int: torch.int64}
_FLOATS = ("random", "uniform", "triangular", "gauss", "normalvariate", "expovariate", "betavariate", "gammavariate")
_DRAWS = frozenset((*_FLOATS, "randint", "randrange"))
_IN_BODY = "Python's random numbers in a branch or loop: they would be drawn whichever path is taken"
_BY_TORCH = "draw by torch, or outside of the converted function"
_OTHER = "of Python's random generators is not drawn by the graph"


@contextlib.contextmanager
def python_random() -> Iterator[None]:
    """While this is in force, Python's random numbers are drawn when the graph runs."""
    skipped, called = SkipFunctionVariable.call_function, UserDefinedObjectVariable.call_function
    call_method, call_random_fn = method_of(RandomVariable, "call_method"), user_defined.call_random_fn

    def builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        found = _drawn(tx, self.value, args, kwargs)
        return skipped(self, tx, args, kwargs) if found is None else found

    def bound(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:  # random.gauss, which is a method of Python's
        found = _drawn(tx, self.value, args, kwargs) if type(self.value) is types.MethodType else None
        if found is None:
            return called(self, tx, args, kwargs)
        if self.source is not None:
            install_guard(self.source.make_guard(GuardBuilder.ID_MATCH))
        return found

    def random_function(tx: Any, fn: Any, args: Any, kwargs: Any) -> Any:
        found = _drawn(tx, fn, args, kwargs)  # torch 2.11: random.random
        if found is not None:
            return found
        if getattr(fn, "__self__", None) is not None:
            return call_random_fn(tx, fn, args, kwargs)
        given = [one.as_python_constant() for one in args]  # from a state that the trace knows
        named = {key: one.as_python_constant() for key, one in kwargs.items()}
        return ConstantVariable.create(fn(*given, **named))

    def method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if self.source is None:  # made in the function
            return call_method(self, tx, name, args, kwargs)
        generator = value_at(self.source, tx)
        if name in ("seed", "setstate"):
            _seeded().append(generator)
        if any(one is generator for one in _seeded()):
            return call_method(self, tx, name, args, kwargs)
        found = _drawn(tx, getattr(generator, name, None), args, kwargs)
        if found is None:
            raise_refusal("AG320", f"`{name}` {_OTHER}", "draw by `random`, `uniform`, `gauss` or `randrange`")
        install_guard(self.source.make_guard(GuardBuilder.ID_MATCH))
        return found

    of_numpy = misc.NumpyVariable.call_function

    def numpy_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        stands_for = misc.get_np_to_tnp_map().get(self.value)
        if getattr(stands_for, "__module__", None) == "torch._numpy.random":
            name = getattr(self.value, "__name__", "a function")
            raise_refusal("AG320", f"`numpy.random.{name}` would be drawn by torch, as other numbers", _BY_TORCH)
        return of_numpy(self, tx, args, kwargs)

    with (
        patched(misc.NumpyVariable, call_function=numpy_function),
        patched(SkipFunctionVariable, call_function=builtin),
        patched(UserDefinedObjectVariable, call_function=bound),
        patched(RandomVariable, call_method=method),
        patched(user_defined, call_random_fn=random_function),
        patched(misc, call_random_fn=random_function),
    ):
        yield


def _seeded() -> list[random.Random]:
    """The generators of the program whose state the function itself has set: the trace knows what they draw."""
    return tracing.notebook().setdefault("seeded generators", [])  # type: ignore[no-any-return]


def _drawn(tx: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """What a call of a method of a generator draws; None where it is another call, or one that Python refuses."""
    generator = getattr(function, "__self__", None)
    name = getattr(function, "__name__", None)
    if type(generator) is not random.Random or name not in _DRAWS or getattr(generator, name) != function:
        return None
    if any(one is generator for one in _seeded()):
        raise_refusal("AG320", f"`{name}` {_OTHER}", "call the method of the generator itself")
    if not all(one.is_python_constant() for one in (*args, *kwargs.values())):
        return None
    given = [one.as_python_constant() for one in args]
    named = {key: one.as_python_constant() for key, one in kwargs.items()}
    try:
        example = getattr(random.Random(0), name)(*given, **named)
        example = torch.tensor(example, dtype=_KINDS[type(example)])
    except Exception:
        return None
    if tx.output.current_tracer.parent is not None or tx.output.export:
        raise_refusal("AG320", _IN_BODY, "draw before the branch, or let torch draw: torch.rand(()).item()")
    return _input(tx, _drawing(function, given, named, example.dtype), example)


def _drawing(
    function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any], dtype: torch.dtype
) -> Callable[[], torch.Tensor]:
    """What draws a number in front of the graph, as a tensor that holds it exactly."""
    generator = function.__self__  # type: ignore[attr-defined]

    def draw() -> torch.Tensor:
        performing.remember_generator(generator)
        return torch.tensor(function(*args, **kwargs), dtype=dtype, device="cpu")

    return draw


def _input(tx: Any, draw: Callable[[], torch.Tensor], example: torch.Tensor) -> Any:
    """The number that `draw` gives, read from an input of the graph."""
    source = RandomValueSource(len(tx.output.random_calls))
    tx.output.random_calls.append((draw, (), {}))
    fake = wrap_to_fake_tensor_and_record(example, tx=tx, is_tensor=False, source=source)
    proxy = tx.output.root_tracer.create_graph_input(
        f"random_value_{len(tx.output.random_calls) - 1}", torch.Tensor, fake, source=source
    )
    proxy.node.meta["grapharg"] = GraphArg(
        source,
        example,
        pass_arg_as_tensor=False,
        fake_tensor=fake,
        is_tensor=False,
        example_strong_ref=example,
    )
    tensor = wrap_fx_proxy_cls(TensorVariable, tx=tx, proxy=proxy, example_value=fake, subclass_type=None)
    return tensor.call_method(tx, "item", [], {})
