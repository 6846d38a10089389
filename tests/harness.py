"""Runs one program eagerly and converted, on fresh equal inputs, and says how the two differ.

    @program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
    def double_or_half(x):
        ...

Eager Python is the oracle: values, Python types, dtypes, mutated arguments, module state, stdout, stderr, log records
and warnings in their common order and with their places, exceptions and gradients.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import linecache
import logging
import math
import os
import re
import signal
import traceback
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import pytest
import torch
from torch import Tensor, nn

from autograph_torch.capture.known_torch import is_before
from autograph_torch.diagnostics import OnePathWarning

Way = Literal[
    "converted",
    "eager",
    "aot_eager",
    "inductor",
    "decorator",
    "decorator on aot_eager",
    "decorator on inductor",
    "any graph",  # where no graph is for all data, one for the path of each call
    "one path",  # every graph is for the path of one call
    "as it is",  # as Python calls it: what is compared is another text (tests/written.py)
    "as it is on eager",  # that under torch.compile
]
OnOnePath = Literal["error", "ignore"]  # what becomes of the warning that a graph is for the path of one call
Kind = Literal["equal", "refused", "wrong", "crashed"]
Subject = Callable[..., Any]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])
Pair = tuple[str, str]  # paths of two tensors of one storage, or of one list, dict or object


@dataclass(frozen=True)
class Call:
    """The arguments of one call."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)


Factory = Callable[[], "tuple[Any, ...] | Call"]


@dataclass(frozen=True)
class Program:
    """A function (or what a factory makes), and the calls that take each of its paths."""

    name: str
    topic: str
    make: Callable[[], Subject]
    inputs: tuple[Factory, ...]
    grad: bool = False
    refused: str = ""


@dataclass(frozen=True)
class Verdict:
    """What came of one program in one way; `reason` says what differed on which input."""

    kind: Kind
    reason: str = ""
    error: BaseException | None = None


@dataclass(frozen=True)
class Outcome:
    """All that can be seen of one call."""

    result: Any
    error: BaseException | None
    arguments: Call
    events: tuple[str, ...]
    gradients: dict[str, Tensor | None]
    shared: frozenset[Pair] = frozenset()
    same: frozenset[Pair] = frozenset()

    def without_lines(self) -> Outcome:
        """Where the lines are those of another text."""
        events = tuple(re.sub(r"\.py:\d+", ".py", event) for event in self.events)
        return dataclasses.replace(self, events=events, error=self.error and self.error.with_traceback(None))


def call(*args: Any, **kwargs: Any) -> Call:
    """The arguments of a call that has keywords."""
    return Call(args, kwargs)


def vec(*values: float) -> Tensor:
    """A float32 vector."""
    return torch.tensor(values, dtype=torch.float32)


def scalar(value: float) -> Tensor:
    """A 0-d float32 tensor."""
    return torch.tensor(value, dtype=torch.float32)


def ints(*values: int) -> Tensor:
    """An int64 vector."""
    return torch.tensor(values, dtype=torch.int64)


def integer(value: int) -> Tensor:
    """A 0-d int64 tensor."""
    return torch.tensor(value, dtype=torch.int64)


def flags(*values: bool) -> Tensor:
    """A bool vector."""
    return torch.tensor(values, dtype=torch.bool)


def randn(*shape: int, seed: int = 0) -> Tensor:
    """Normal values, the same on each call."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def program(
    *,
    inputs: Sequence[Factory],
    grad: bool = False,
    refused: str = "",
    factory: bool = False,
) -> Callable[[Decorated], Decorated]:
    """Attach inputs to a function, to an nn.Module class, or (factory=True) to a function that makes the subject.

    `refused` gives the reason why an AutographError is as good an answer as eager's.
    """

    def attach(subject: Decorated) -> Decorated:
        makes = factory or isinstance(subject, type)
        topic = subject.__module__.rpartition(".")[2]
        make = subject if makes else lambda: subject
        made = Program(subject.__name__, topic, make, tuple(inputs), grad, refused)
        subject.__program__ = made  # type: ignore[attr-defined]
        return subject

    return attach


def torch_before(version: str, reason: str) -> pytest.MarkDecorator:
    """Skips a test with a torch that is older than this version."""
    older = is_before(*map(int, version.split(".")))
    return pytest.mark.skipif(older, reason=f"torch before {version}: {reason}")


def by_torch(version: str, reason: str) -> str:
    """Why a program is refused with this version of torch; with others it is not."""
    return reason if torch.__version__.startswith(f"{version}.") else ""


def programs_of(module: types.ModuleType) -> tuple[Program, ...]:
    """The programs defined in a module, in its order."""
    subjects = [value for value in vars(module).values() if "__program__" in getattr(value, "__dict__", {})]
    return tuple(subject.__program__ for subject in subjects)


def from_text(text: str, name: str, filename: str, context: Mapping[str, Any] | None = None) -> Subject:
    """The function `name` of exec'd text whose source inspect can find, as in a notebook cell."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "cell", "torch": torch, **(context or {})}
    exec(compile(text, filename, "exec", dont_inherit=True), namespace)
    return namespace[name]


def check(program: Program, way: Way, seconds: int = 60, changed: Program | None = None) -> Verdict:
    """Compare eager with `way` on each input; what takes longer than `seconds` of processor time counts as crashed.

    `changed`: the same program of another text, which is to be like this one.
    """
    torch._dynamo.reset()
    try:
        with time_limit(seconds), always_warning(changed is not None):
            return agreement(program, way, changed)
    except OutOfTime as error:
        return Verdict("crashed", str(error), error)


@contextlib.contextmanager
def always_warning(always: bool) -> Iterator[None]:
    """Have torch give its warnings in each of two texts, not once."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(always or before)
    try:
        yield
    finally:
        torch.set_warn_always(before)


def check_any_graph(subject: Decorated, seconds: int = 60) -> None:
    """Fail where what `program` decorates differs from eager, as a graph for all data or for the path of each call."""
    verdict = check(subject.__program__, "any graph", seconds)  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason


def compiled(function: Callable[..., Any], backend: str | Callable[..., Any] = "eager") -> Any:
    """A function that torch.compile has converted by us, into one graph; nothing is known of earlier ones."""
    from autograph_torch import convert

    torch._dynamo.reset()
    return torch.compile(convert(function), backend=backend, fullgraph=True)


def leave_out(monkeypatch: pytest.MonkeyPatch, repair: Callable[..., Any]) -> None:
    """For the rest of a test, trace without one of our repairs of Dynamo."""
    from autograph_torch.capture import compiling

    monkeypatch.setattr(compiling, "_REPAIRS", tuple(one for one in compiling._REPAIRS if one is not repair))
    torch._dynamo.reset()


def agreement(program: Program, way: Way, changed: Program | None = None) -> Verdict:
    """The verdict; one compiled subject sees all inputs, as in real use."""
    if way == "one path":
        with following_one_path():
            return agreement(program, "eager")
    on_one_path: OnOnePath = "error"  # that is no graph for all data
    if way == "any graph":
        way, on_one_path = "eager", "ignore"
    elif changed is not None:
        on_one_path = "ignore"
    expected_subject, plain = fresh(program), fresh(changed or program)
    try:
        subject, owner = prepared(plain, way)
    except Exception as error:
        return failure(error, "while converting")
    outcomes = []
    for index, factory in enumerate(program.inputs):
        expected = run(expected_subject, expected_subject, factory, program.grad)
        actual = run(subject, owner, (changed or program).inputs[index], program.grad, on_one_path)
        if changed is not None:
            expected, actual = expected.without_lines(), actual.without_lines()
        verdict = compared(expected, actual, f"input {index}")
        if verdict.kind == "equal":
            verdict = verdict_of(difference(state_of(expected_subject), state_of(owner), "state"), f"input {index}")
        if verdict.kind != "equal":
            return verdict
        outcomes.append((expected, actual))
    return verdict_of(sharing_difference(outcomes), "aliasing")


@contextlib.contextmanager
def following_one_path() -> Iterator[None]:
    """While this is in force, no trace looks for a graph for all data."""
    from autograph_torch.capture import compiling
    from autograph_torch.capture.patching import patched

    with patched(compiling, _traced=lambda _, trace: compiling._followed(trace)):
        yield


def sharing_difference(outcomes: Sequence[tuple[Outcome, Outcome]]) -> str:
    """Tensors that lie in one place do so in eager, and the other way round; so do lists, dicts and objects."""
    for expected, actual in outcomes:
        if expected.error is None:
            lost = (expected.shared - actual.shared) | (expected.same - actual.same)
            new = (actual.shared - expected.shared) | (actual.same - expected.same)
            for kind, pairs in (("lost", lost), ("new", new)):
                if pairs:
                    return f"{kind}: {' and '.join(min(pairs))} in one memory"
    return ""


def shared_objects(values: Mapping[str, Any]) -> frozenset[Pair]:
    """Pairs of paths with the same list, dict or object."""
    parts = (one for name, value in values.items() for one in mutable_parts(value, name))
    return _pairs((path, (type(part), id(part))) for path, part in parts if not isinstance(part, Tensor))


def shared_memory(values: Mapping[str, Any]) -> frozenset[Pair]:
    """Pairs of paths with tensors that lie in the same place."""
    parts = (one for name, value in values.items() for one in mutable_parts(value, name))
    return _pairs((path, (part.data_ptr(), part.shape)) for path, part in parts if isinstance(part, Tensor))


def _pairs(parts: Iterable[tuple[str, Any]]) -> frozenset[Pair]:
    places: dict[Any, list[str]] = {}
    for path, key in parts:
        places.setdefault(key, []).append(path)
    return frozenset((a, b) for paths in places.values() for i, a in enumerate(paths) for b in paths[i + 1 :])


def mutable_parts(value: Any, path: str, around: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Tensors with elements, lists, dicts and objects of the user's, nested ones included, each with its path.

    `around`: what it is in, which it may lead back to.
    """
    if isinstance(value, Tensor):
        if value.numel():
            yield path, value
        return
    parts = parts_of(value)
    if parts and not isinstance(value, tuple):
        yield path, value
    for key, item in parts if id(value) not in around else ():
        yield from mutable_parts(item, f"{path}{key}", (*around, id(value)))


class OutOfTime(BaseException):
    """A program computes for too long. (It is no Exception: nothing under test may take it for one of its own.)"""


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise OutOfTime in the main thread when the block computes longer, again and again until it ends."""

    def interrupt(number: int, frame: types.FrameType | None) -> None:
        raise OutOfTime(f"no result after {seconds} s of computing")

    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def fresh(program: Program) -> Subject:
    """A new subject, with the same parameters each time."""
    torch.manual_seed(0)
    return program.make()


def prepared(subject: Subject, way: Way) -> tuple[Subject, Subject]:
    """The subject converted (and compiled where `way` asks for it), and what holds its state."""
    from autograph_torch import autograph, convert

    decorator, _, backend = way.partition(" on ")
    if decorator == "as it is":
        return torch.compile(subject, fullgraph=True, backend=backend) if backend else subject, subject
    decorated = decorator == "decorator"
    converted = autograph(subject, backend=backend or "eager") if decorated else convert(subject)
    owner = converted if isinstance(converted, nn.Module) else subject
    if decorated or way == "converted":
        return converted, owner
    return torch.compile(converted, fullgraph=True, backend=way), owner


def run(subject: Subject, owner: Subject, factory: Factory, grad: bool, on_one_path: OnOnePath = "error") -> Outcome:
    """Call `subject` on fresh arguments. `owner` holds the parameters."""
    given = factory()
    arguments = given if isinstance(given, Call) else Call(given)
    leaves = differentiable(owner, arguments) if grad else {}
    torch.manual_seed(0)
    result, error = None, None
    with recorded() as events, warnings.catch_warnings():
        warnings.simplefilter(on_one_path, OnePathWarning)
        try:
            result = subject(*arguments.args, **arguments.kwargs)
            backward(result, leaves)
        except Exception as raised:
            error = raised
    gradients = {name: leaf.grad for name, leaf in leaves.items()}
    seen = tuple(event for event in events if "FX-traced Module" not in event)  # torch's remark on an exception
    parts = {"result": result, "argument": arguments.args, "keyword": arguments.kwargs, "state": state_of(owner)}
    return Outcome(result, error, arguments, seen, gradients, shared_objects(parts), shared_memory(parts))


class Stream(io.TextIOBase):
    """What is written to a stream, as events: one for all that is written before something else happens."""

    def __init__(self, label: str, events: list[str]) -> None:
        self._label = label
        self._events = events

    def write(self, text: str) -> int:
        if self._events and self._events[-1].startswith(self._label):
            self._events[-1] += text
        else:
            self._events.append(self._label + text)
        return len(text)


class Records(logging.Handler):
    """Log records of the programs, as events."""

    def __init__(self, events: list[str]) -> None:
        super().__init__()
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.startswith(("programs", "tests")) or record.name == "root":
            place = f"{os.path.basename(record.pathname)}:{record.lineno} {record.funcName}"
            self._events.append(f"log: {record.levelname} {record.name} {place}: {record.getMessage()}")


@contextlib.contextmanager
def recorded() -> Iterator[list[str]]:
    """All that a program shows to the world, in order. Warnings and log records come with their places."""
    events: list[str] = []

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any) -> None:
        if is_program(filename):
            events.append(f"warning: {category.__name__} {os.path.basename(filename)}:{lineno}: {message}")

    root, handler = logging.getLogger(), Records(events)
    root.addHandler(handler)
    with (
        contextlib.redirect_stdout(Stream("stdout: ", events)),  # type: ignore[type-var]
        contextlib.redirect_stderr(Stream("stderr: ", events)),  # type: ignore[type-var]
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            yield events
        finally:
            root.removeHandler(handler)


def is_program(filename: str) -> bool:
    """Whether a file holds programs (or calls them)."""
    return "tests" in os.path.dirname(os.path.abspath(filename)).split(os.sep)


def differentiable(owner: Subject, arguments: Call) -> dict[str, Tensor]:
    """The float arguments, told to require gradients, and the parameters that the subject owns; gradients cleared."""
    given = [leaf for leaf in tensors((arguments.args, arguments.kwargs), "argument") if leaf[1].is_floating_point()]
    owned = [leaf for leaf in tensors(state_of(owner), "state") if leaf[1].requires_grad]
    leaves = {name: leaf for name, leaf in given + owned if leaf.is_leaf}
    for leaf in leaves.values():
        leaf.grad = None
        leaf.requires_grad_()
    return leaves


def backward(result: Any, leaves: Mapping[str, Tensor]) -> None:
    """Backpropagate a weighted sum of all float outputs, so that no two elements count the same."""
    outputs = [leaf for _, leaf in tensors(result, "result") if leaf.requires_grad] if leaves else []
    ramps = [torch.arange(out.numel(), dtype=out.dtype, device=out.device) for out in outputs]
    weights = [torch.cos(ramp).reshape(out.shape) + 2 for ramp, out in zip(ramps, outputs, strict=True)]
    if outputs:
        torch.autograd.backward(outputs, weights)


def tensors(value: Any, path: str, around: tuple[int, ...] = ()) -> Iterator[tuple[str, Tensor]]:
    """The tensors in nested containers and objects, each with its path."""
    if isinstance(value, Tensor):
        yield path, value
        return
    for key, item in parts_of(value) if id(value) not in around else ():
        yield from tensors(item, f"{path}{key}", (*around, id(value)))


def parts_of(value: Any) -> list[tuple[str, Any]]:
    """What a container or a user's object is made of; nothing for a scalar."""
    if isinstance(value, Mapping):
        return [(f"[{key!r}]", item) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [(f"[{index}]", item) for index, item in enumerate(value)]
    if isinstance(value, deque):
        return [(".maxlen", value.maxlen), *((f"[{index}]", item) for index, item in enumerate(value))]
    if isinstance(value, nn.Module):
        return [(f".{name}", item) for name, item in module_state(value).items()]
    if dataclasses.is_dataclass(value) or is_of_tests(type(value)):
        return [(f".{name}", item) for name, item in vars(value).items()] if hasattr(value, "__dict__") else []
    return []


def module_state(module: nn.Module) -> dict[str, Any]:
    """Parameters, buffers and the plain attributes that a forward may set."""
    named = dict(module.named_parameters()) | dict(module.named_buffers())
    owned = {f"{path}.{name}": value for path, child in module.named_modules() for name, value in vars(child).items()}
    return named | {name: value for name, value in owned.items() if is_plain(name.rpartition(".")[2], value)}


def is_plain(name: str, value: Any) -> bool:
    """Whether an attribute of a module is data of the user's."""
    return not name.startswith("_") and not isinstance(value, nn.Module) and not callable(value)


def state_of(subject: Subject) -> Any:
    """What outlives a call: a module's state, the object of a method, the variables that a function closes over."""
    if isinstance(subject, types.MethodType):
        return subject.__self__
    if isinstance(subject, nn.Module):
        return module_state(subject)
    if not isinstance(subject, types.FunctionType):
        return subject
    cells = zip(subject.__code__.co_freevars, subject.__closure__ or (), strict=True)
    return {name: cell.cell_contents for name, cell in cells if not callable_only(cell)}


def callable_only(cell: types.CellType) -> bool:
    """Whether a closure cell is empty or holds a function or a class (which have no state to compare)."""
    try:
        return isinstance(cell.cell_contents, (types.FunctionType, types.BuiltinFunctionType, type))
    except ValueError:
        return True


def compared(expected: Outcome, actual: Outcome, where: str) -> Verdict:
    """The verdict on one call."""
    if actual.error is not None and (expected.error is None or not same_type(expected.error, actual.error)):
        return failure(actual.error, where)
    pairs = (
        ("exception", said(expected.error), said(actual.error)),
        ("place of the exception", raised_at(expected.error), raised_at(actual.error)),
        ("result", expected.result, actual.result),
        ("arguments", expected.arguments.args, actual.arguments.args),
        ("keyword arguments", expected.arguments.kwargs, actual.arguments.kwargs),
        ("events", expected.events, actual.events),
        ("gradient", expected.gradients, actual.gradients),
    )
    found = (difference(wanted, got, name) for name, wanted, got in pairs)
    return verdict_of(next((text for text in found if text), ""), where)


def said(error: BaseException | None) -> str:
    """The type and the message of an exception, or that there is none."""
    return f"{type(error).__name__}: {error}" if error is not None else "no exception"


def raised_at(error: BaseException | None) -> str:
    """The innermost line of a program in an exception's traceback, when it is the one that raises."""
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    places = [frame for frame in frames if is_program(frame.filename)]
    if not places or not (places[-1].line or "").startswith(("raise", "assert")):
        return ""
    return f"{os.path.basename(places[-1].filename)}:{places[-1].lineno}"


def verdict_of(found: str, where: str) -> Verdict:
    """`found` is the text of a difference; empty when there is none."""
    return Verdict("wrong", f"{where}: {found}") if found else Verdict("equal")


def failure(error: BaseException, where: str) -> Verdict:
    """An exception that eager does not raise: ours, also where torch wraps it, is a refusal; any other a crash."""
    from autograph_torch import AutographError

    ours = next((cause for cause in chain(error) if isinstance(cause, AutographError)), None)
    kind: Kind = "crashed" if ours is None else "refused"
    return Verdict(kind, f"{where}: {said(ours or error)}", error)


def chain(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and what it came from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def difference(expected: Any, actual: Any, path: str, around: tuple[tuple[int, int], ...] = ()) -> str:
    """The first difference of two values, types included; empty when they are the same.

    `around`: the pairs of what they are in, which they may lead back to.
    """
    if not same_type(expected, actual):
        return f"{path}: expected {shown(expected)}, got {shown(actual)}"
    if isinstance(expected, Tensor):
        return tensor_difference(expected, actual, path)
    if isinstance(expected, float):
        return "" if same_float(expected, actual) else f"{path}: expected {expected!r}, got {actual!r}"
    if isinstance(expected, (int, str, bytes, type(None), Set, torch.dtype, range)):
        return "" if expected == actual else f"{path}: expected {expected!r}, got {actual!r}"
    pair = id(expected), id(actual)
    if pair[0] in dict(around):
        return "" if pair in around else f"{path}: expected to lead back, got {shown(actual)}"
    wanted, got = parts_of(expected), parts_of(actual)
    if [key for key, _ in wanted] != [key for key, _ in got]:
        return f"{path}: expected parts {[key for key, _ in wanted]}, got {[key for key, _ in got]}"
    pairs = zip(wanted, got, strict=True)
    found = (difference(value, other, path + key, (*around, pair)) for (key, value), (_, other) in pairs)
    return next((text for text in found if text), "")


def same_type(one: Any, other: Any) -> bool:
    """Whether two objects are of one class, or of the same class of two texts of one module."""
    first, second = type(one), type(other)
    if first is second or not is_of_tests(first):
        return first is second
    return (first.__module__, first.__qualname__) == (second.__module__, second.__qualname__)


def is_of_tests(kind: type) -> bool:
    """Whether a class is that of a program."""
    return kind.__module__.startswith("tests.")


def tensor_difference(expected: Tensor, actual: Tensor, path: str) -> str:
    """dtype, shape and values, NaN equal to NaN."""
    try:
        torch.testing.assert_close(actual.as_subclass(Tensor), expected.as_subclass(Tensor), equal_nan=True)
    except AssertionError:
        return f"{path}: expected {shown(expected)}, got {shown(actual)}"
    if expected.requires_grad and not actual.requires_grad:
        return f"{path}: expected a gradient to be recorded, got none"
    return ""


def same_float(expected: float, actual: float) -> bool:
    """Equal up to the rounding of float32, which is what most Python floats here were read from."""
    return math.isclose(expected, actual, rel_tol=1e-5, abs_tol=1e-6) or (math.isnan(expected) and math.isnan(actual))


def shown(value: Any) -> str:
    """A value with its type, on one line."""
    if isinstance(value, Tensor):
        return f"{str(value.detach().flatten()[:8].tolist())} ({value.dtype}, {tuple(value.shape)})"
    return f"{repr(value)[:200]} ({type(value).__name__})"
