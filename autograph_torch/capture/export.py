"""What Dynamo sees of a converted program: its one FX graph, and torch.export's ahead-of-time program."""

from __future__ import annotations

import contextlib
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

import torch
from torch._dynamo.utils import get_traced_code

from autograph_torch.capture.choices import of_one_type
from autograph_torch.capture.errors import translated
from autograph_torch.capture.originals import entry_function, original_of
from autograph_torch.capture.parameters_made import make_inside
from autograph_torch.decorator import convert
from autograph_torch.diagnostics import CaptureError, Diagnostic
from autograph_torch.runtime.performing import Settings, looking, session


class _Captured(Exception):
    """Ends the run when the graph is there: neither the graph nor the program's effects run."""


@dataclass
class Capture:
    """What a trace gives: the graph, and the code objects that went into it."""

    graph: torch.fx.GraphModule | None = None
    codes: list[types.CodeType] = field(default_factory=list)

    def backend(self, graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., NoReturn]:
        """A backend of torch.compile that keeps the graph instead of compiling it."""
        self.graph = graph
        self.codes = list(get_traced_code() or ())

        def stop(*_: Any) -> NoReturn:
            raise _Captured

        return stop


def capture(converted: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Capture:
    """Trace a converted callable, without running it.

    Parameters and buffers become attributes of the graph, so that its inputs are the tensors among the arguments.

    Raises:
        CaptureError: it cannot become one graph.
    """
    captured = Capture()
    compiled = torch.compile(converted, backend=captured.backend, fullgraph=True, dynamic=False)
    parameters_as_attributes = torch._dynamo.config.patch(install_free_tensors=True)
    with parameters_as_attributes, looking(), translated(), contextlib.suppress(_Captured):
        compiled(*args, **kwargs)
    return captured


def trace(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> torch.fx.GraphModule:
    """The one FX graph that Dynamo builds from the converted function. Nothing is executed or changed.

    The graph is called with the tensors that the function reads from its arguments, flattened, in the order in which it
    first reads them; its placeholders are named after them (`l_x_`, `l_args_0_`). It gives a tuple: the tensors of the
    result, then what the function has written to elsewhere. Shapes and Python numbers are those of `args`.

    Args:
        fn: a function, method, nn.Module or other callable, converted or not.
        args, kwargs: arguments to trace it with.

    Raises:
        SourceError: AG302, the source of `fn` cannot be found.
        CaptureError: it cannot become one graph, or does nothing with tensors.
    """
    original = original_of(fn)
    with of_one_type():
        graph = capture(convert(original, refuse_builtins=True), args, kwargs).graph
    if graph is None:
        raise _no_graph(original)
    make_inside(graph)
    return graph


def export(
    model: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    *,
    effects: Literal["drop", "keep"] = "drop",
    **options: Any,
) -> torch.export.ExportedProgram:
    """torch.export.export of the converted module or function.

    Args:
        model: an nn.Module, function, method or other callable, converted or not.
        args, kwargs: example inputs.
        effects: "drop" leaves out what is printed, logged and warned, and exceptions become torch._assert_async;
            "keep" keeps them as operators, which need this package where the program runs.
        options: keywords of torch.export.export, such as dynamic_shapes; `strict` can only be True, because calls are
            converted when Dynamo reaches them.

    Raises:
        ValueError: strict=False was asked for, or something unknown for `effects`.
        SourceError: AG302, the source of a function cannot be found.
        CaptureError: it cannot become one graph.
    """
    if not options.pop("strict", True):
        raise ValueError("export needs strict=True: functions are converted when Dynamo reaches them")
    converted = convert(original_of(model), refuse_builtins=True)
    module = converted if isinstance(converted, torch.nn.Module) else _Called(converted)
    if effects not in ("drop", "keep"):
        raise ValueError(f'effects must be "drop" or "keep"; got {effects!r}')
    chosen = Settings("drop", asserts=True) if effects == "drop" else Settings("immediate")
    with translated(), session(chosen), of_one_type():
        return torch.export.export(module, args, kwargs, strict=True, **options)


class _Called(torch.nn.Module):
    """A module around a function: as an attribute, `forward` shows the function's own signature to torch.export."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        owner = getattr(function, "__self__", None)
        if isinstance(owner, torch.nn.Module):
            self.owner = owner  # parameters that a bound method reads belong to the exported program
        self.forward = function


def _no_graph(fn: Any) -> CaptureError:
    function = entry_function(fn)
    label = getattr(fn, "__qualname__", type(fn).__name__)
    filename, line = (function.__code__.co_filename, function.__code__.co_firstlineno) if function else ("<unknown>", 1)
    message = f"`{label}` computes nothing with tensors, so there is no graph"
    return CaptureError(Diagnostic("AG320", filename, line, 1, line, message, "pass it tensors"))
