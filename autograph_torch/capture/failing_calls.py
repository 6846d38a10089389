"""Calls of torch that fail whatever the data, in a branch: an exception of the program, which the graph raises.

    if weights.ndim:                       counts is a tensor of integers
        counts += 0.5                      RuntimeError, but only for data that come here

While Dynamo traces a call it tries it on tensors without data. In the body of an operator a failure of that is an
exception that the program may handle; when none of its handlers does, the branch ends in it (runtime/branch.py). When
the graph comes to the branch, the call is made on the tensors themselves, and raises what it raises in eager. So is a
method that a value of one of Python's own types does not have.

Private: `get_fake_value` and the exceptions of Dynamo. tests/capture/test_failing_calls.py fails clearly when torch
changes what this leans on.
"""

from __future__ import annotations

import contextlib
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.exc import TorchRuntimeError, Unsupported, raise_observed_exception
from torch._dynamo.variables import TensorVariable, TupleVariable, VariableTracker, builder, tensor
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.dynamo_names import raised_exception
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.performing import Part
from autograph_torch.runtime.places import Place
from autograph_torch.runtime.refusal import refusal_at

_PLAIN_TYPES = (list, tuple, dict, set, str, int, float, bool, type(None))
_UNKNOWN_SIZE = re.compile(r"\bz?uf?\d+\b")  # a failure that another size might not have
_WRONG_TYPE = "TypeError when making fake tensor call"  # Dynamo's name for it
ERRORS: tuple[type[Exception], ...] = (RuntimeError, TypeError, ValueError, IndexError)


@dataclass(frozen=True)
class FailedCall:
    """A call of torch that has failed on tensors without data, with the places of the program that made it."""

    error: Any  # the exception, as the tracer knows it
    function: Callable[..., Any]
    arguments: Part
    tensors: TupleVariable
    places: tuple[Place, ...]


@dataclass(frozen=True, eq=False)
class Again:
    """The call, made again when the graph runs; it has to fail."""

    function: Callable[..., Any]
    place: Place

    def __call__(self, *args: Any, **kwargs: Any) -> BaseException:
        try:
            self.function(*args, **kwargs)
        except Exception as error:
            return error.with_traceback(None)  # raised at the user's line
        message = "torch fails to trace this, but does not fail when it runs"
        return refusal_at(self.place.filename, self.place.line, "AG320", message, "move it out of the branch")


@contextlib.contextmanager
def failing_calls(places_of: Callable[[Any], tuple[Place, ...]]) -> Iterator[None]:
    """While this is in force, calls that fail in bodies are exceptions of the program."""
    get_fake_value = builder.get_fake_value

    def fake_value(node: Node, tx: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return get_fake_value(node, tx, *args, **kwargs)
        except (TorchRuntimeError, IndexError, Unsupported) as error:
            cause = error if isinstance(error, IndexError) else _cause(error)
            depends = tx.output.current_tracer.parent is None or _UNKNOWN_SIZE.search(str(cause)) is not None
            described = None if depends else _described(node)
            kind = next((kind for kind in ERRORS if type(cause) is kind), None)
            if type(cause) is AssertionError:  # so torch's Python code checks, which stands in for its C++
                kind = RuntimeError
            if kind is None or described is None:
                raise
            text, places = _of_python(str(cause)), places_of(tx)
        function, arguments, nodes = described
        node.graph.erase_node(node)
        tensors = TupleVariable([_variable(tx, one) for one in nodes])
        try:
            raise_observed_exception(kind, tx, args=[text])
        finally:
            known = raised_exception(tx)
            _failed().append(FailedCall(known, function, arguments, tensors, places))

    call_method = VariableTracker.call_method

    def no_such_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        try:
            kind = self.python_type()
        except NotImplementedError:
            kind = None
        if kind in _PLAIN_TYPES and not hasattr(kind, name):
            raise_observed_exception(AttributeError, tx, args=[f"'{kind.__name__}' object has no attribute '{name}'"])
        return call_method(self, tx, name, args, kwargs)

    with (
        patched(VariableTracker, call_method=no_such_method),
        patched(builder, get_fake_value=fake_value),
        patched(tensor, get_fake_value=fake_value),  # `x[i] = v`
    ):
        _LOG.addFilter(_is_no_failure)
        try:
            yield
        finally:
            _LOG.removeFilter(_is_no_failure)


_LOG = logging.getLogger("torch._subclasses.fake_tensor")


def _is_no_failure(record: logging.LogRecord) -> bool:
    """Whether a record tells of something else than such a failure; if it ends the trace, the error shows it."""
    return "failed while attempting to run meta" not in str(record.msg)


def failed_call(error: Any) -> FailedCall | None:
    """The call that an exception of the trace comes from."""
    return next((one for one in _failed() if one.error is error), None)


def _failed() -> list[FailedCall]:
    return tracing.notebook().setdefault("failed calls", [])  # type: ignore[no-any-return]


def _of_python(text: str) -> str:
    """The message as it is where the arguments are Python's lists and dicts instead of those of a graph."""
    return text.replace("immutable_list", "list").replace("immutable_dict", "dict")


def _cause(error: BaseException) -> BaseException | None:
    """What torch itself has raised; None where Dynamo says that it does not take the call."""
    if isinstance(error, Unsupported):
        return error.__cause__ if error.gb_type == _WRONG_TYPE else None
    around = error.__cause__ or error.__context__
    return around.__cause__ if around is not None else None


def _variable(tx: Any, node: Node) -> TensorVariable:
    fake = node.meta["example_value"]
    return TensorVariable(tx.output.current_tracer.proxy(node), **TensorVariable.specialize(fake))


def _described(node: Node) -> tuple[Callable[..., Any], Part, list[Node]] | None:
    """The function, the description of its arguments (runtime/effects.py) and their tensors.

    None where it is given numbers that depend on data.
    """
    if node.op not in ("call_function", "call_method"):
        return None
    nodes: list[Node] = []
    try:
        args = _part(list(node.args), nodes)
        kwargs = _part(dict(node.kwargs), nodes)
    except ValueError:
        return None
    function = node.target if callable(node.target) else getattr(torch.Tensor, str(node.target), None)
    return None if function is None else (function, ("tuple", tuple, (args, kwargs)), nodes)


def _part(value: Any, nodes: list[Node]) -> Part:
    if isinstance(value, Node):
        fake = value.meta.get("example_value")
        if isinstance(fake, torch.SymInt) and not has_free_unbacked_symbols(fake):
            return ("const", int(fake))  # with a guard: another number may not fail
        if not isinstance(fake, torch.Tensor):
            raise ValueError("not known to fail")
        nodes.append(value)
        return ("tensor", False, False, fake.ndim)
    if isinstance(value, (list, tuple)):
        kind = list if isinstance(value, list) else tuple
        return (kind.__name__, kind, tuple(_part(one, nodes) for one in value))
    if isinstance(value, dict):
        return ("dict", tuple(value), tuple(_part(one, nodes) for one in value.values()))
    if isinstance(value, slice) and any(isinstance(one, Node) for one in (value.start, value.stop, value.step)):
        raise ValueError("not known to fail")
    return ("const", value)
