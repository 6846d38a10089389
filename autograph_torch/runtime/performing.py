"""What happens when an effect's turn comes: its arguments are put together and the host function is called.

Under `@autograph` a *session* holds while the compiled function runs. It queues effects with their tensors, on their
device, and plays them when the graph has returned (`effects="deferred"`), or has them done at once ("immediate").
Without a session, under plain torch.compile, an effect is done at once.

A host function is called from frames that carry the file, function and line of the user's call. So log records,
warnings and tracebacks name the places that they name in eager Python.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import random
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import torch
import torch.utils.checkpoint
from torch._dynamo.exc import TorchDynamoException

from autograph_torch.diagnostics import AutographError
from autograph_torch.runtime.places import Place, called_from, hidden_frames, raised_from
from autograph_torch.runtime.refusal import refusal_at
from autograph_torch.runtime.tuples import tuple_of
from autograph_torch.runtime.unshown import NotShownError, Unknown, with_gradient

Mode = Literal["deferred", "immediate", "drop"]
MODES = ("deferred", "immediate", "drop")
Part = tuple[Any, ...]

QUEUE_LIMIT = 10_000  # effects that may wait for the graph to return
QUEUE_BYTES = 256 * 2**20  # memory that their tensors may take


@dataclass(frozen=True)
class HostCall:
    """A function to call with arguments that have places for tensors; or an exception to raise."""

    function: Any
    arguments: Part
    places: tuple[Place, ...]  # of the call, innermost first
    raises: bool = False
    handled: bool = False  # raised inside of a `try` or `with` of the program, which has a part in it

    def run(self, values: list[torch.Tensor]) -> None:
        """Call the function, or raise the exception."""
        if self.raises:
            raised_from(self.places, self._error(values))
        args, kwargs = put_together(self.arguments, iter(values))
        level = kwargs.get("stacklevel", 1)
        if isinstance(level, int) and level > len(self.places) and looks_at_stack(self.function):
            kwargs["stacklevel"] = level + hidden_frames(self.places[-1]) + 1  # called_from has a frame, too
        called_from(self.places, self.function, args, kwargs)

    def is_due(self, values: list[torch.Tensor]) -> bool:
        """Whether there is anything to do."""
        return True

    def _error(self, values: list[torch.Tensor]) -> BaseException:
        """The exception to raise; a refusal where its text shows what the graph cannot give."""
        if isinstance(self.function, BaseException):
            return self.function
        try:
            _refuse_incomplete(self.arguments)
            args, kwargs = put_together(self.arguments, iter(values))
            error: BaseException = called_from(self.places, self.function, args, kwargs)
        except NotShownError as unknown:
            name = getattr(self.function, "__name__", "an exception")
            message = f"{name} is raised here, with a message that shows {unknown}"
            advice = "show numbers or detached tensors; under @autograph such a call runs in Python"
            return refusal_at(self.places[0].filename, self.places[0].line, unknown.code, message, advice)
        return error


def _refuse_incomplete(part: Part) -> None:
    """Stop at an argument of an exception that would be shown without its gradient, or is not known at all."""
    if part[0] == "tensor" and (part[1] or part[2]):
        raise NotShownError("AG322", "a tensor with a gradient")
    if part[0] == "const" and type(part[1]) is Unknown:
        bool(part[1])
    if part[0] not in ("const", "tensor", "number", "text"):
        for inner in part[2]:
            _refuse_incomplete(inner)


def looks_at_stack(function: Any) -> bool:
    """Whether a function tells from which line it was called."""
    module = (getattr(function, "__module__", None) or "").split(".")[0]
    return function is warnings.warn or is_log_method(function) or module in ("logging", "loguru")


def is_log_method(function: Any) -> bool:
    """Whether a function is a method of a logger."""
    import logging

    owner = getattr(function, "__self__", None)
    return isinstance(owner, (logging.Logger, logging.LoggerAdapter)) and isinstance(function, types.MethodType)


def put_together(part: Part, values: Iterator[torch.Tensor]) -> Any:
    """An argument from its description (see runtime/effects.py) and the tensors that the graph has given."""
    kind = part[0]
    if kind == "const":
        return part[1]
    if kind == "tensor":
        _, has_gradient, is_parameter, _, _ = part
        value = next(values)
        return with_gradient(value, is_parameter) if has_gradient or is_parameter else value
    if kind == "number":
        return next(values).item()
    inner = [put_together(one, values) for one in part[2]]
    if kind == "text":
        return _text(part[1], inner)
    if kind == "picked":
        return inner[1 + inner[0]]
    if kind == "dict":
        return dict(zip(part[1], inner, strict=True))
    if kind == "object":
        made = object.__new__(part[1][0])
        vars(made).update(zip(part[1][1], inner, strict=True))
        return made
    if kind == "derived tuple":
        made_of, names = inner[: len(inner) - len(part[1][1])], part[1][1]
        derived = tuple_of(part[1][0], made_of)
        for name, value in zip(names, inner[len(made_of) :], strict=True):
            vars(derived)[name] = value
        return derived
    if kind == "shown error":
        return part[1].__new__(part[1], *inner)
    return inner if kind == "list" else part[1](*inner) if kind in ("named", "error") else part[1](inner)


def _text(style: str, inner: list[Any]) -> str:
    template, values, named = inner
    if style == "choice":
        return str(values[0] if template else values[1])
    if style == "repeat":
        return str(template * values)
    if style == "percent":
        return str(template % values)
    return str(template.format(*values, **named)) if style == "format" else str(template.join(values))


def read_together(waiting: list[tuple[HostCall, list[torch.Tensor]]]) -> None:
    """Have the numbers that effects need at hand: one wait for each device and dtype, not one for each number."""
    places: dict[tuple[torch.device, torch.dtype], list[tuple[list[torch.Tensor], int]]] = {}
    for call, values in waiting:
        for position, kind in enumerate(_leaves(call.arguments)):
            value = values[position]
            if kind == "number" and value.device.type != "cpu":
                places.setdefault((value.device, value.dtype), []).append((values, position))
    for found in places.values():
        read = torch.stack([values[position].reshape(()) for values, position in found]).cpu()
        for (values, position), number in zip(found, read.unbind(), strict=True):
            values[position] = number


def _leaves(part: Part) -> Iterator[str]:
    """Of every tensor that `put_together` takes, in its order, whether it is read as a number."""
    if part[0] in ("number", "tensor"):
        yield part[0]
    elif part[0] != "const":
        for inner in part[2]:
            yield from _leaves(inner)


# -- sessions ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """What the user has chosen for the effects of a function."""

    mode: Mode = "deferred"
    functions: tuple[Any, ...] = ()  # further host functions
    asserts: bool = False  # exceptions become assertions of the graph
    one_path: bool = True  # whether a graph may be for the path of one call, if there is no other

    @property
    def names(self) -> frozenset[str]:
        """The last names of the further host functions."""
        return frozenset(function.__name__ for function in self.functions)


@dataclass
class Session:
    """One call of a compiled function: the effects that wait, and what it takes to run the call once more."""

    settings: Settings
    waiting: list[tuple[HostCall, list[torch.Tensor]]] = field(default_factory=list)
    size: int = 0
    seen: bool = False  # whether the world has seen an effect
    again: bool = False  # the graph has come to an exception, and the call is to be run once more
    failure: BaseException | None = None  # what the graph has raised; torch may turn it into another exception
    inputs: list[tuple[torch.Tensor, ...]] = field(default_factory=list)  # with where they lay, and what was in them
    generators: list[Callable[[], object]] = field(default_factory=list)  # what sets random generators back
    restorable: bool = True  # whether the state in which the call began can be had again
    forecast: bool = False  # the graph is run to look ahead: the generators of the program stay as they are
    in_python: bool = False  # the call is not compiled: only what a program says of its effects holds

    def do(self, call: HostCall, values: list[torch.Tensor]) -> None:
        """Queue an effect, or do it now."""
        if call.raises:
            self._fail(call, values)
        if self.settings.mode == "immediate":
            self.seen = True
            call.run(values)
            return
        # Copies: the graph may use the memory again.
        self.waiting.append((call, [value.clone() for value in values]))
        self.size += sum(value.nbytes for value in values)
        if len(self.waiting) >= QUEUE_LIMIT or self.size >= QUEUE_BYTES:
            warnings.warn(
                f"{len(self.waiting)} effects ({self.size} bytes) wait for the graph to return; they are played now, "
                'and the device is waited for. Print less, or use autograph(effects="immediate")',
                stacklevel=2,
            )
            self.play()

    @property
    def may_run_again(self) -> bool:
        """Whether the call can be run once more: the world has seen nothing of it, and its state can be restored.

        With "drop" it cannot: in Python, functions that are called have their effects.
        """
        return self.settings.mode != "drop" and not self.seen and self.restorable

    def _fail(self, call: HostCall, values: list[torch.Tensor]) -> NoReturn:
        if self.may_run_again:
            self.again = True
            raise RuntimeError("the graph has come to an exception")  # nobody sees this one
        self.play()
        try:
            if call.handled:
                raise refusal_at(
                    call.places[0].filename,
                    call.places[0].line,
                    "AG325",
                    "this exception would be handled in Python, but effects from before it have been played already",
                    "print less, or put the `try` around the compiled call",
                )
            call.run(values)
        except BaseException as error:
            self.failure = error
            raise
        raise AssertionError("unreachable")

    def play(self) -> None:
        """Do what waits. An exception (a warning that a filter makes an error) ends it, as it would in eager Python."""
        waiting, self.waiting, self.size = self.waiting, [], 0
        read_together(waiting)
        for call, values in waiting:
            self.seen = True
            call.run(values)

    def restore(self) -> None:
        """Give the inputs back what was in them."""
        for tensor, data, content in self.inputs:
            if not tensor.is_set_to(data):
                tensor.data = data
            data.copy_(content)
        for set_back in self.generators:
            set_back()


_session: contextvars.ContextVar[Session | None] = contextvars.ContextVar("autograph_torch_session", default=None)
_looking: contextvars.ContextVar[bool] = contextvars.ContextVar("autograph_torch_looking", default=False)


def _opened() -> Session | None:
    """The session of the compiled call that is under way. Of one that runs in Python, graphs inside know nothing."""
    opened = _session.get()
    return None if opened is None or opened.in_python else opened


def settings() -> Settings | None:
    """The settings of the session that is open; None under plain torch.compile."""
    opened = _opened()
    return opened.settings if opened is not None else None


def runs_again() -> bool:
    """Whether a call whose graph raises is run once more in Python."""
    opened = _opened()
    return is_looking() if opened is None else opened.settings.mode == "deferred"


@contextlib.contextmanager
def looking() -> Iterator[None]:
    """What is traced inside is traced as under `@autograph`, only to be looked at."""
    token = _looking.set(True)
    try:
        yield
    finally:
        _looking.reset(token)


def is_looking() -> bool:
    """Whether a trace is only looked at."""
    return _looking.get()


def do(call: HostCall, values: list[torch.Tensor]) -> None:
    """The graph has come to an effect."""
    opened = _opened()
    if opened is None:
        call.run(values)
    elif call.is_due(values):
        opened.do(call, values)


def is_wanted() -> bool:
    """Whether an effect that Python has come to is to be done."""
    opened = _session.get()
    return opened is None or opened.settings.mode != "drop"


def remember(inputs: list[torch.Tensor], draws: bool) -> None:
    """The graph, which may raise, is about to write to these inputs, and to draw random numbers."""
    opened = _opened()
    if opened is None:
        return
    opened.inputs.extend((tensor, data := tensor.detach(), data.clone()) for tensor in inputs)
    if draws:
        opened.generators.append(functools.partial(torch.set_rng_state, torch.get_rng_state()))
        if torch.cuda.is_available():
            opened.generators.append(functools.partial(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))


def remember_generator(generator: random.Random) -> None:
    """The call is about to draw numbers from a generator of Python."""
    opened = _opened()
    if opened is not None:  # the state from before the first draw is set last
        opened.generators.insert(0, functools.partial(generator.setstate, generator.getstate()))


def remember_state(generator: torch.Generator) -> None:
    """The call is about to set the state of a generator of torch."""
    opened = _opened()
    if opened is not None:
        opened.generators.insert(0, functools.partial(generator.set_state, generator.get_state()))


def remember_devices() -> None:
    """The call is about to seed the generators of all devices."""
    opened = _opened()
    if opened is not None and torch.cuda.is_available():
        opened.generators.insert(0, functools.partial(torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))


def is_forecast() -> bool:
    """Whether the graph runs only to tell what it will come to (capture/forecast.py)."""
    opened = _opened()
    return opened is not None and opened.forecast


def cannot_restore() -> None:
    """What the call under way changes is not remembered, or its trace has failed: it will not be run again."""
    opened = _opened()
    if opened is not None:
        opened.restorable = False


@contextlib.contextmanager
def session(chosen: Settings) -> Iterator[Session]:
    """What runs or is traced inside has these settings."""
    opened = Session(chosen)
    token = _session.set(opened)
    try:
        yield opened
    finally:
        _session.reset(token)


def in_session(
    chosen: Settings,
    compiled: Callable[..., Any],
    plain: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """`compiled(*args, **kwargs)` with its effects as `chosen` says; `plain` is the same function, not compiled."""
    by_torch: BaseException | None = None
    with session(chosen) as call:
        try:
            result = compiled(*args, **kwargs)
        except BaseException as error:
            if not call.again and call.failure is None and call.may_run_again and _is_of_the_program(error):
                call.again, by_torch = True, error
            if not call.again and call.failure is None:
                call.play()
                raise
    if call.failure is not None:
        raise call.failure
    if call.again:
        call.restore()
        result = in_python(chosen, plain, args, kwargs)
        if by_torch is not None:
            warnings.warn(_ran_in_python(plain, by_torch), RuntimeWarning, stacklevel=1)
        return result
    call.play()
    return result


def _is_of_the_program(error: BaseException) -> bool:
    """Whether eager Python may raise an error, too; otherwise it tells of a failed trace, or comes from outside."""
    return isinstance(error, Exception) and not isinstance(error, (AutographError, TorchDynamoException, *_SIGNALS))


_SIGNALS = (torch.utils.checkpoint._StopRecomputationError,)  # what ends a call on purpose (private)


def _ran_in_python(function: Callable[..., Any], error: BaseException) -> str:
    name = getattr(function, "__qualname__", type(function).__name__)
    return f"the graph of {name} has failed ({type(error).__name__}: {error}); the call has been run in Python"


def in_python(chosen: Settings, plain: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`plain(*args, **kwargs)`, not compiled."""
    with session(chosen) as call:
        call.in_python = True
        return plain(*args, **kwargs)
