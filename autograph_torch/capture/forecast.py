"""What numbers that data decide are in the call under way: the graph as it is so far runs on the tensors of the call.

It runs in a thread of its own, where none of the modes of the trace is in force, and its effects are for nobody. What
it gives is a forecast, which need not hold: inputs that share memory do not do so here, for instance.

Private names: the example of a GraphArg; OutputGraph.nn_modules.
tests/capture/test_observed_data.py fails clearly when torch changes them.
"""

from __future__ import annotations

import threading
from typing import Any

import sympy  # type: ignore[import-untyped]
import torch
from torch.fx import Node
from torch.fx.node import map_arg

from autograph_torch.capture.failures import written_inputs
from autograph_torch.runtime import performing
from autograph_torch.runtime.performing import Settings


class Forecast:
    """The values of one graph that is being built, as far as they have been asked for."""

    def __init__(self) -> None:
        self._values: dict[Node, Any] = {}
        self._symbols: dict[sympy.Symbol, sympy.Integer] = {}
        self._written: list[int] = []  # positions of the inputs that the graph writes to

    def symbols(self, output: Any) -> dict[sympy.Symbol, sympy.Integer]:
        """The numbers that the graph has come to: of those behind a call that fails, none are known.

        output: Dynamo's OutputGraph.
        """
        written = written_inputs(output.graph)
        if written != self._written:  # the tensors of the caller stay as they are
            self._values, self._written = {}, written
        thread = threading.Thread(target=self._run, args=(output,))
        thread.start()
        thread.join()
        return self._symbols

    def _run(self, output: Any) -> None:
        inputs = output.graph.find_nodes(op="placeholder")
        written = [inputs[position] for position in self._written]
        with performing.session(Settings()), torch.random.fork_rng(), torch.no_grad():
            try:
                for node in output.graph.nodes:
                    if node not in self._values:
                        value = _input(node, node in written) if node.op == "placeholder" else self._of(node, output)
                        self._bind(node.meta.get("example_value"), value)
                        self._values[node] = value
            except Exception:  # what it is, the call itself will show
                return

    def _of(self, node: Node, output: Any) -> Any:
        if node.op == "get_attr":
            return output.nn_modules[node.target]
        args: Any = map_arg(node.args, self._values.__getitem__)
        kwargs: Any = map_arg(node.kwargs, self._values.__getitem__)
        if node.op == "call_method":
            return getattr(args[0], str(node.target))(*args[1:], **kwargs)
        function: Any = output.nn_modules[node.target] if node.op == "call_module" else node.target
        return function(*args, **kwargs)

    def _bind(self, known: Any, value: Any) -> None:
        """Take the numbers from a value whose form is known."""
        if isinstance(known, (tuple, list)):
            for one, part in zip(known, value, strict=False):
                self._bind(one, part)
        elif isinstance(known, torch.Tensor) and isinstance(value, torch.Tensor):
            self._bind(tuple(known.size()), tuple(value.size()))
        elif isinstance(known, torch.SymInt) and isinstance(known.node.expr, sympy.Symbol):
            self._symbols[known.node.expr] = sympy.Integer(int(value))


def _input(node: Node, is_written: bool) -> Any:
    argument = node.meta["grapharg"]
    example = argument.example
    if isinstance(example, torch.Tensor):
        return example.detach().clone() if is_written else example.detach()
    if isinstance(example, torch.SymInt):
        return int(example)
    return torch.as_tensor(example) if argument.pass_arg_as_tensor else example
