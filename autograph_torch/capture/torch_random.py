"""Generators of torch (`torch.Generator`, `torch.manual_seed`) in a graph: their states are tensors that it computes.

    g = torch.Generator().manual_seed(3)          state = seeded(3)
    x = x + torch.randn(3, generator=g)           drawn, state = draw(state, ..., "randn ...")

A generator of the program (an argument, an attribute, a global) begins with its state as an input of the graph, and is
set to the new state behind each draw, in the order of effects (runtime/effects.py). The graph never draws from it, so a
call that fails and is run again in Python sets it back like what else has been written. Where the function looks at the
default generator, or seeds it, all that is drawn from there on is drawn so, also by dropout; what else torch draws by
itself (`rrelu`) is refused there. So are generators of other devices, those that are returned or stored, and bodies of
branches and loops, whose draws would be made whichever path is taken: such a function has a graph for one path.

Private: TorchInGraphFunctionVariable, SkipFunctionVariable, OpaqueObjectClassVariable (with torch 2.11, where a
generator is an object like others, UserDefinedClassVariable), UserDefinedObjectVariable, TensorVariable,
RandomValueSource, GraphArg and create_graph_input; get_fake_value.
tests/capture/test_torch_random.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
import math
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import torch
from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.guards import GuardBuilder, install_guard
from torch._dynamo.source import RandomValueSource
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    LazyVariableTracker,
    SymNodeVariable,
    TensorVariable,
    UserDefinedClassVariable,
    UserDefinedObjectVariable,
    UserFunctionVariable,
    builder,
)
from torch._dynamo.variables.builder import GraphArg, wrap_fx_proxy, wrap_fx_proxy_cls
from torch._dynamo.variables.ctx_manager import NullContextVariable
from torch._dynamo.variables.functions import SkipFunctionVariable
from torch._dynamo.variables.script_object import OpaqueObjectClassVariable
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch._guards import Source, TracingContext
from torch._library.opaque_object import is_opaque_type
from torch.fx.experimental.symbolic_shapes import guard_or_false

from autograph_torch.capture.assumptions import in_body
from autograph_torch.capture.failures import nodes_of
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime import torch_random as drawing
from autograph_torch.runtime import tracing
from autograph_torch.runtime.gradients import DRAWS, draws_random_numbers
from autograph_torch.runtime.refusal import raise_refusal

_SEEDS = (torch.manual_seed, torch.random.manual_seed)
_GIVEN = (torch.device, torch.dtype, torch.layout, torch.memory_format)
_UNSEEDED = 67280421310721  # the seed of a generator that has not been given one
_IN_BODY = "torch's generators in a branch or loop: their draws would be made whichever path is taken"
_BEFORE = "draw before the branch or loop, from a generator made by `torch.Generator()`"
_ADVICE = "draw by torch.rand, randn, randint, randperm, normal, multinomial or bernoulli, or in place: x.normal_()"


@dataclass(frozen=True)
class _StateSource(RandomValueSource):  # type: ignore[misc]
    """The state of a generator of the program, in front of the graph."""

    base: Source | None = None  # None: the default generator, by this module's name

    def reconstruct(self, codegen: Any) -> None:
        codegen.add_push_null(lambda: codegen.load_import_from(drawing.__name__, "begin"))
        if self.base is None:
            codegen.load_import_from("torch", "default_generator")
        else:
            codegen(self.base)
        codegen.append_output(codegen.create_load_const(self.random_call_index))
        codegen.extend_output(create_call_function(2, False))

    @functools.cached_property
    def _name_template(self) -> str:
        return f"state_of_generator_{self.random_call_index}"


class _Made(UserDefinedObjectVariable):  # type: ignore[misc]
    """A generator that the function has made; `value`: one like it, from which nobody draws."""

    def reconstruct(self, codegen: Any) -> NoReturn:
        raise_refusal("AG320", "a torch.Generator that the function has made leaves it", "make it outside")


@dataclass
class _Generator:
    """A generator of the trace. state: None before the function has asked; number: None of one that it has made."""

    value: torch.Generator
    number: int | None = None
    state: Any = None
    seed: Any = None  # a variable, where the function has given one
    initial: Any = None  # the input of the graph with its state
    sources: tuple[Source, ...] = ()


@contextlib.contextmanager
def torch_random() -> Iterator[None]:
    """While this is in force, draws from generators of torch are operators on their states."""
    in_graph, skipped = TorchInGraphFunctionVariable.call_function, SkipFunctionVariable.call_function
    of_object = method_of(UserDefinedObjectVariable, "call_method")
    of_tensor = method_of(TensorVariable, "call_method")
    get_fake_value = builder.get_fake_value

    def function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        found = None if tracing.may_break() else _called(tx, self.value, args, kwargs)
        return in_graph(self, tx, args, kwargs) if found is None else found

    def skipped_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        found = None if tracing.may_break() else _called(tx, self.value, args, kwargs)
        return skipped(self, tx, args, kwargs) if found is None else found

    def method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if type(self.value) is not torch.Generator or tracing.may_break() or name.startswith("__"):
            return of_object(self, tx, name, args, kwargs)
        return _method(tx, self, name, args, kwargs)

    def tensor_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        draws = name in drawing.IN_PLACE or name in drawing.METHODS
        found = _drawn(tx, name, [self, *args], kwargs) if draws and not tracing.may_break() else None
        return of_tensor(self, tx, name, args, kwargs) if found is None else found

    def fake_value(node: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        found = get_fake_value(node, tx, *args, **kwargs)
        if DRAWS in node.meta and _default_is_known() and not _is_ours(node.target):
            _refuse_native(node.meta[DRAWS])
        return found

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(TorchInGraphFunctionVariable, call_function=function))
        stack.enter_context(patched(SkipFunctionVariable, call_function=skipped_function))
        stack.enter_context(patched(UserDefinedObjectVariable, call_method=method))
        stack.enter_context(patched(TensorVariable, call_method=tensor_method))
        stack.enter_context(patched(builder, get_fake_value=fake_value))
        stack.enter_context(_making())
        yield


@contextlib.contextmanager
def _making() -> Iterator[None]:
    """While this is in force, the function may make generators."""
    kind: Any = OpaqueObjectClassVariable if is_opaque_type(torch.Generator) else UserDefinedClassVariable
    original = kind.call_function

    def make(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.value is not torch.Generator or tracing.may_break():
            return original(self, tx, args, kwargs)
        return _made(tx, *args, **kwargs)

    with patched(kind, call_function=make):
        yield


# -- what the trace knows of generators --------------------------------------------------------------------------------


def _known() -> dict[int, _Generator]:
    """The generators of this trace, by what they are."""
    return tracing.notebook().setdefault("torch generators", {})  # type: ignore[no-any-return]


def _default_is_known() -> bool:
    """Whether the function has looked at the default generator, or seeded it: from there on its state is a tensor."""
    return TracingContext.try_get() is not None and id(torch.default_generator) in _known()


def _check_place(tx: Any) -> None:
    if tx.output.export:
        raise_refusal("AG320", "generators of torch cannot be exported", "hand the random numbers over as an argument")
    if tracing.transform() is not None:
        raise_refusal("AG320", "generators of torch in a transform of torch.func", "draw before the transform")
    if tx.output.current_tracer.parent is not None or in_body():
        raise_refusal("AG320", _IN_BODY, _BEFORE)


def _made(tx: Any, device: Any = None) -> Any:
    """torch.Generator(device)"""
    _check_place(tx)
    given = None if device is None else device.as_python_constant() if device.is_python_constant() else "another device"
    if given is not None and torch.device(given).type != "cpu":
        raise_refusal("AG320", f"a generator on {given} is not drawn from by the graph", "make it outside, on the CPU")
    value = torch.Generator()
    made = _Generator(value, seed=ConstantVariable.create(_UNSEEDED))
    made.state = _seeded(tx, _UNSEEDED)
    _known()[id(value)] = made
    return _Made(value)


def _generator(tx: Any, variable: Any) -> _Generator:
    """What a variable of the trace stands for. Only its type is guarded, unless there is another one."""
    value = variable.value
    if value.device.type != "cpu":
        raise_refusal("AG320", f"a generator on {value.device} is not drawn from by the graph", "draw before the call")
    if value is torch.default_generator:
        return _default(tx)
    known = _known()
    if id(value) not in known:
        known[id(value)] = _Generator(value, drawing.new_number())
    found = known[id(value)]
    if variable.source is not None and variable.source not in found.sources:
        found.sources += (variable.source,)
        _guard_identities()
    if found.state is None:
        found.initial = found.state = _input(tx, found, found.sources[0])
    return found


def _guard_identities() -> None:
    """Of several generators, or one with several names, the next call must have the same: they may be one there."""
    of_program = [one for one in _known().values() if one.number is not None]
    if sum(max(len(one.sources), 1) for one in of_program) > 1:
        for source in [source for one in of_program for source in one.sources]:
            install_guard(source.make_guard(GuardBuilder.ID_MATCH))


def _default(tx: Any, seeds: bool = False) -> _Generator:
    """The default generator. seeds: whether the function sets its state, whatever it was."""
    known = _known()
    value = torch.default_generator
    if id(value) not in known:
        drawn = next((node for node in nodes_of_trace(tx) if draws_random_numbers(node)), None)
        if drawn is not None and not seeds:
            raise_refusal("AG320", "the state of the default generator, behind numbers that torch has drawn", _ADVICE)
        known[id(value)] = _Generator(value, drawing.DEFAULT)
        _guard_identities()
    found = known[id(value)]
    if found.state is None and not seeds:
        found.initial = found.state = _input(tx, found, None)
    return found


def nodes_of_trace(tx: Any) -> Iterator[Any]:
    """The nodes of the graph so far, and of the bodies of its operators."""
    yield from tx.output.graph.nodes
    for module in tx.output.nn_modules.values():
        if isinstance(module, torch.fx.GraphModule):
            yield from nodes_of(module)


def _input(tx: Any, generator: _Generator, base: Source | None) -> Any:
    """The state of a generator in front of the graph, as an input of it."""
    assert generator.number is not None
    example = generator.value.get_state()
    source = _StateSource(generator.number, base)
    fake = tx.fake_mode.from_tensor(example, static_shapes=True)
    proxy = tx.output.root_tracer.create_graph_input(
        f"state_of_generator_{generator.number}", torch.Tensor, fake, source=source
    )
    proxy.node.meta["grapharg"] = GraphArg(
        source, example, pass_arg_as_tensor=False, fake_tensor=fake, is_tensor=False, example_strong_ref=example
    )
    return wrap_fx_proxy_cls(TensorVariable, tx=tx, proxy=proxy, example_value=fake, subclass_type=None)


def _seeded(tx: Any, seed: Any) -> Any:
    """The state behind a seed. seed: a number, or a proxy of one."""
    if isinstance(seed, int) and seed >= 2**63:
        seed -= 2**64  # the same for torch
    return wrap_fx_proxy(tx, tx.output.create_proxy("call_function", torch.ops.autograph_torch.seeded, (seed,), {}))


def _set(tx: Any, generator: _Generator, state: Any, seed: Any = None, everywhere: bool = False) -> None:
    """Go on with another state, to which the generator of the program is set when the graph runs."""
    if generator.number is not None:
        before = generator.initial or state
        told = [state, before, ConstantVariable.create(generator.number), ConstantVariable.create(everywhere)]
        keep: Any = drawing.keep
        UserFunctionVariable(keep).call_function(tx, told, {})
    generator.state, generator.seed = state, seed


# -- what a program does with them -------------------------------------------------------------------------------------


def _called(tx: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """What a function of torch gives that draws, or concerns the default generator; None for any other call."""
    if not isinstance(function, (types.FunctionType, types.BuiltinFunctionType)):
        return None
    if function in _SEEDS:
        _check_place(tx)
        return _seed(tx, _default(tx, seeds=True), "manual_seed", *args, **kwargs)
    if function is torch.random.get_rng_state:
        _check_place(tx)
        return _copied(tx, _default(tx).state)
    if function is torch.random.set_rng_state:
        _check_place(tx)
        return _set_state(tx, _default(tx, seeds=True), *args, **kwargs)
    if function is torch.random.initial_seed and _default_is_known():
        return _seed_of(_default(tx))
    if function is torch.random.fork_rng:
        return _fork(tx, args, kwargs)
    if function in drawing.FUNCTIONS:
        return _drawn(tx, drawing.FUNCTIONS[function], args, kwargs)
    if function in drawing.NATIVE and _default_is_known():
        return UserFunctionVariable(drawing.NATIVE[function]).call_function(tx, args, kwargs)  # type: ignore[arg-type]
    if any(_is_generator(one) for one in (*args, *kwargs.values())):
        name = getattr(function, "__name__", "a function")
        raise_refusal("AG320", f"`{name}` with a torch.Generator is not drawn by the graph", _ADVICE)
    return None


def _is_generator(variable: Any) -> bool:
    if isinstance(variable, (TensorVariable, ConstantVariable)):
        return False
    if isinstance(variable, LazyVariableTracker) and not variable.is_realized():
        return type(variable.original_value()) is torch.Generator  # without a guard
    variable = variable.realize()
    return isinstance(variable, UserDefinedObjectVariable) and type(variable.value) is torch.Generator


def _method(tx: Any, variable: Any, name: str, args: Any, kwargs: Any) -> Any:
    """What a method of a generator gives."""
    _check_place(tx)
    generator = _generator(tx, variable)
    if name == "manual_seed":
        return _seed(tx, generator, variable, *args, **kwargs)
    if name == "set_state":
        _set_state(tx, generator, *args, **kwargs)
        return variable
    if name == "get_state" and not args and not kwargs:
        return _copied(tx, generator.state)
    if name == "initial_seed" and not args and not kwargs:
        return _seed_of(generator)
    raise_refusal("AG320", f"`{name}` of a torch.Generator is not for a graph", "use manual_seed, get_state, set_state")


def _seed(tx: Any, generator: _Generator, of: Any, seed: Any) -> Any:
    """manual_seed; `of`: the variable of the generator, or the name of the function that seeds all devices."""
    seed = seed.realize()
    everywhere = of == "manual_seed"
    if isinstance(seed, SymNodeVariable) and seed.python_type() is int:
        given = seed.as_proxy()
    elif seed.is_python_constant() and type(seed.as_python_constant()) is int and -(2**63) <= seed.value < 2**64:
        given = seed.value
    elif everywhere and seed.is_python_constant() and type(seed.as_python_constant()) in (float, bool):
        given = int(seed.as_python_constant())  # which torch.manual_seed takes, too
        seed = ConstantVariable.create(given)
    else:
        raise_refusal("AG320", "a seed that is no integer of 64 bits", "seed by an int: `int(x.item())`")
    _set(tx, generator, _seeded(tx, given), seed, everywhere and not _forked())
    return _Made(generator.value) if everywhere else of


def _set_state(tx: Any, generator: _Generator, new_state: Any) -> Any:
    new_state = new_state.realize()
    if not new_state.is_tensor():
        raise_refusal("AG320", "a state of a generator that is no tensor", "use what get_state gives")
    _set(tx, generator, _copied(tx, new_state))
    return ConstantVariable.create(None)


def _copied(tx: Any, state: Any) -> Any:
    """A state that may be written to."""
    return state.call_method(tx, "clone", [], {})


def _seed_of(generator: _Generator) -> Any:
    """initial_seed()"""
    seed = generator.seed
    if seed is None or (isinstance(seed, SymNodeVariable) and not _is_positive(seed)):
        raise_refusal("AG320", "a seed that the function has not given", "keep the seed in a variable")
    return seed if isinstance(seed, SymNodeVariable) else ConstantVariable.create(seed.value % 2**64)


def _is_positive(seed: Any) -> bool:
    return bool(guard_or_false(seed.sym_num >= 0))


# -- draws -------------------------------------------------------------------------------------------------------------


def _drawn(tx: Any, name: str, args: Any, kwargs: Any) -> Any:
    """What a call draws from a generator whose state is a tensor; None where torch draws it."""
    kwargs = dict(kwargs)
    given = kwargs.pop("generator", None)
    given = None if given is None else given.realize()
    if given is None or (given.is_python_constant() and given.as_python_constant() is None):
        if not _default_is_known():
            return None
        _check_place(tx)
        generator = _default(tx)
    elif _is_generator(given):
        _check_place(tx)
        generator = _generator(tx, given)
    else:
        return None
    return _draw(tx, name, generator, args, kwargs)


def _draw(tx: Any, name: str, generator: _Generator, args: Any, kwargs: dict[str, Any]) -> Any:
    for key in ("out", "requires_grad"):
        given = kwargs.pop(key, None)
        if given is not None and not (given.is_python_constant() and not given.as_python_constant()):
            raise_refusal("AG320", f"`{name}` from a generator with `{key}`", f"draw without `{key}`")
    inputs = _Inputs(tx, name)
    parts = tuple([inputs.of(one) for one in args])
    call = drawing.Call(name, parts, tuple([(key, inputs.of(one)) for key, one in kwargs.items()]))
    operands = (generator.state.as_proxy(), inputs.values, inputs.numbers, call.text())
    proxy = tx.output.create_proxy("call_function", torch.ops.autograph_torch.draw, operands, {})
    drawn: Any = wrap_fx_proxy(tx, proxy)
    result, state = drawn.items
    if result.as_proxy().node.meta["example_value"].device.type != "cpu":
        raise_refusal("AG320", f"`{name}` draws from the generator of another device than the CPU", "draw on the CPU")
    if name in drawing.IN_PLACE:
        result = args[0].call_method(tx, "copy_", [result], {})
    _set(tx, generator, state, generator.seed)
    return result


class _Inputs:
    """The tensors and numbers of a call that only the graph knows."""

    def __init__(self, tx: Any, name: str) -> None:
        self._tx = tx
        self._name = name
        self.values: list[Any] = []
        self.numbers: list[Any] = []

    def of(self, variable: Any) -> Any:
        """The description of an argument (runtime/torch_random.py)."""
        variable = variable.realize()
        if variable.is_tensor():
            return ("tensor", self._add(self._without_gradient(variable).as_proxy()))
        if isinstance(variable, SymNodeVariable):
            return self._number(variable)
        if isinstance(variable, BaseListVariable):
            return ("list", tuple([self.of(one) for one in variable.items]))
        if variable.is_python_constant() and _is_plain(variable.as_python_constant()):
            return ("const", variable.as_python_constant())
        raise_refusal("AG320", f"`{self._name}` from a generator with such an argument", "use numbers and tensors")

    def _number(self, variable: Any) -> Any:
        if variable.python_type() is int:
            self.numbers.append(variable.as_proxy())
            return ("int", len(self.numbers) - 1)
        create = self._tx.output.create_proxy
        proxy = create("call_function", torch.scalar_tensor, (variable.as_proxy(),), {"dtype": torch.float64})
        return ("float", self._add(wrap_fx_proxy(self._tx, proxy).as_proxy()))

    def _add(self, proxy: Any) -> int:
        self.values.append(proxy)
        return len(self.values) - 1

    def _without_gradient(self, tensor: Any) -> Any:
        fake = tensor.as_proxy().node.meta["example_value"]
        if not fake.requires_grad:
            return tensor
        only_form = self._name in drawing.IN_PLACE and not self.values
        if not only_form and self._name in ("bernoulli", "normal", "poisson", "bernoulli_") and torch.is_grad_enabled():
            raise_refusal("AG320", f"`{self._name}` from a generator, of a tensor with a gradient", "detach it first")
        return tensor.call_method(self._tx, "detach", [], {})


def _is_plain(value: Any) -> bool:
    """Whether the text of a constant tells all of it."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    if type(value) is float:
        return math.isfinite(value)
    return value is None or type(value) in (bool, int, str, *_GIVEN)


# -- what torch draws by itself ----------------------------------------------------------------------------------------


def _is_ours(target: Any) -> bool:
    return str(target).startswith("autograph_torch")


def _refuse_native(name: str) -> None:
    message = f"`{name}` draws from the default generator, which the function has seeded or looked at"
    raise_refusal("AG320", message, _ADVICE + "; or seed before the call")


# -- with torch.random.fork_rng() --------------------------------------------------------------------------------------


def _forked() -> list[Any]:
    """The blocks under way that set the generators of all devices back at their end."""
    return tracing.notebook().setdefault("forked generators", [])  # type: ignore[no-any-return]


class _Fork(NullContextVariable):  # type: ignore[misc]
    """The default generator, which is set back at the end of the block."""

    def enter(self, tx: Any, *args: Any) -> Any:
        _check_place(tx)
        self.before = _default(tx).state, _default(tx).seed
        _set(tx, _default(tx), *self.before)  # a write, so that dropout in the block is refused
        _forked().append(self)
        return ConstantVariable.create(None)

    def exit(self, tx: Any, *args: Any) -> Any:
        _check_place(tx)
        _forked().remove(self)
        _set(tx, _default(tx), *self.before)
        return ConstantVariable.create(None)


def _fork(tx: Any, args: Any, kwargs: Any) -> Any:
    _check_place(tx)
    told = [one.as_python_constant() if one.is_python_constant() else 1 for one in (*args, *kwargs.values())]
    if not all(one is None or one is True or one in ([], ()) for one in told) or (args and told[0] is True):
        raise_refusal("AG320", "`fork_rng` with other arguments than devices=[]", "fork the generator of the CPU only")
    if any(one in ([], ()) for one in told) and torch.cuda.is_available():
        raise_refusal("AG320", "`fork_rng(devices=[])` where there are other devices", "leave `devices` out")
    return _Fork()
