"""What numbers that data decide are in the call under way: the graph as it is so far runs on the tensors of the call.

It runs in a thread of its own, where only the modes of the graph are in force, and its effects are for nobody. What it
gives is a forecast, which need not hold: inputs that share memory do not do so here, for instance. It ends where other
processes take part (`dist.all_reduce`): they may not be at this point.

Private names: the example of a GraphArg; OutputGraph.nn_modules.
tests/capture/test_observed_data.py fails clearly when torch changes them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch.fx import Node
from torch.fx.node import map_arg

from autograph_torch.capture.graph_writes import Storage, storage_at
from autograph_torch.capture.graph_writes import written as written_by
from autograph_torch.capture.parameters_made import argument_of, is_made, new_parameter
from autograph_torch.runtime import performing
from autograph_torch.runtime.performing import Settings

_COLLECTIVES = "_c10d_functional"  # the names of torch's operators that all processes of a group run


class Forecast:
    """The values of the graph that is being built, as far as they have been asked for."""

    def __init__(self) -> None:
        self._records = torch.is_grad_enabled()  # the trace has not begun
        self._output: Any = None
        self._begin(None)

    def _begin(self, output: Any) -> None:
        self._output = output  # another one when the trace begins again
        self._forget()
        self._symbols: dict[sympy.Symbol, sympy.Integer] = {}
        self._looked_at: set[Node] = set()
        self._written: set[Storage | None] = set()  # the memory that nodes write to

    def _forget(self) -> None:
        self._values: dict[Node, Any] = {}
        self._failed: dict[Node, Exception] = {}  # where it ends
        self._drawn: torch.Tensor | None = None  # the state of the generator behind what has been drawn
        # It ends with the last use of it.
        self._thread = ThreadPoolExecutor(1, initializer=torch.set_grad_enabled, initargs=(self._records,))

    def symbols(self, output: Any) -> dict[sympy.Symbol, sympy.Integer]:
        """The numbers that the graph has come to: of those behind a call that fails, none are known.

        output: Dynamo's OutputGraph.
        """
        self._go_on(output)
        return self._symbols

    def value(self, output: Any, node: Node) -> Any:
        """What a node of the graph gives; None when the graph does not come to it."""
        self._go_on(output)
        return self._values.get(node)

    def failure(self, output: Any, node: Node) -> Exception | None:
        """What a node of the graph raises; None when the graph does not come to it, or it does not fail."""
        self._go_on(output)
        return self._failed.get(node)

    def error(self, output: Any) -> Exception | None:
        """What the graph, as it is so far, raises on the tensors of the call."""
        self._go_on(output)
        return next(iter(self._failed.values()), None)

    def _go_on(self, output: Any) -> None:
        if output is not self._output:
            self._begin(output)
        new = [node for node in output.graph.nodes if node not in self._looked_at]
        written = {storage_at(target) for node in new for target in written_by(node)} - {None}
        self._looked_at.update(new)
        if not written <= self._written:  # the tensors of the caller stay as they are
            self._forget()
            self._written |= written
        self._thread.submit(self._run, output).result()

    def _run(self, output: Any) -> None:
        with performing.session(Settings()) as ahead, torch.random.fork_rng():
            ahead.forecast = True
            self._failed = {}  # a node that has failed may be gone: the trace has raised what it raises
            if self._drawn is not None:
                torch.set_rng_state(self._drawn)
            try:
                for node in output.graph.nodes:
                    if node not in self._values:
                        self._values[node] = value = self._of(node, output)
                        self._bind(node.meta.get("example_value"), value)
            except Exception as error:
                self._failed = {node: error.with_traceback(None)}
                return
            finally:
                self._drawn = torch.get_rng_state()

    def _of(self, node: Node, output: Any) -> Any:
        if node.op == "placeholder" and is_made(node):
            return _made(node.meta["example_value"])
        if node.op == "placeholder":
            argument = argument_of(node)
            given = _input(node) if argument is None else _like(node, self._values[argument])
            return self._own(node, given)
        if node.op == "get_attr":
            return self._own(node, output.nn_modules[node.target])
        if str(node.target).startswith(_COLLECTIVES):
            raise RuntimeError("not for this process alone")
        args: Any = map_arg(node.args, self._values.__getitem__)
        kwargs: Any = map_arg(node.kwargs, self._values.__getitem__)
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **kwargs)
        function: Any = output.nn_modules[node.target] if node.op == "call_module" else node.target
        return function(*args, **kwargs)

    def _own(self, node: Node, given: Any) -> Any:
        """A tensor of the program, which the graph does not write to here."""
        if not isinstance(given, torch.Tensor):
            return given
        own = given.detach().clone() if storage_at(node) in self._written else given.detach()
        own.requires_grad_(given.requires_grad)
        return own if given.is_leaf else own.clone()  # a leaf must not be written to

    def _bind(self, known: Any, value: Any) -> None:
        """Take the numbers from a value whose form is known."""
        if isinstance(known, (tuple, list)):
            for one, part in zip(known, value, strict=False):
                self._bind(one, part)
        elif isinstance(known, torch.Tensor) and isinstance(value, torch.Tensor):
            self._bind(tuple(known.size()), tuple(value.size()))
        elif isinstance(known, torch.SymInt) and isinstance(known.node.expr, sympy.Symbol):
            self._symbols[known.node.expr] = sympy.Integer(int(value))
        elif isinstance(known, torch.SymBool) and isinstance(known.node.expr, sympy.Eq):
            symbol, one = known.node.expr.args
            if isinstance(symbol, sympy.Symbol) and one == 1:  # the symbol of a flag
                self._symbols.setdefault(symbol, sympy.Integer(int(value)))


def _like(node: Node, argument: torch.Tensor) -> torch.nn.Parameter:
    """A parameter that is made of an argument."""
    return torch.nn.Parameter(argument, node.meta["example_value"].requires_grad)


def _made(fake: torch.Tensor) -> torch.nn.Parameter:
    """A parameter like the one that the graph puts into the memory of a tensor."""
    return new_parameter(tuple(fake.shape), fake.stride(), fake.dtype, fake.device, fake.requires_grad)


def _input(node: Node) -> Any:
    argument = node.meta["grapharg"]
    if isinstance(argument.example, torch.SymInt):
        return int(argument.example)
    return torch.as_tensor(argument.example) if argument.pass_arg_as_tensor else argument.example
