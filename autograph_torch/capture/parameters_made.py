"""Parameters, and modules with parameters, that the function makes.

    w = nn.Parameter(torch.zeros(3))        w = placed_in(torch.zeros(3), parameter)
    layer = nn.Linear(3, 1)

torch has a switch for them, and makes each in front of the graph, which then puts the memory of the tensor into it: so
the parameter may be returned, and results that depend on it have a gradient. What torch does that with
(`tracable_create_parameter`, an autograd.Function) refuses writes to the parameter, with which `nn.Linear` begins; here
nothing stands between the parameter and its memory, which it shares with the tensor as in eager. Of an argument
(`nn.Parameter(x)`) torch makes it of the argument itself, in front of the graph.

Where the function computes gradients itself, torch has no `.grad` for such parameters. There each is a view of the
tensor that is told to record its gradient (capture/leaves_made.py): it may be a result, what depends on it may not.

Left out: parameters that a branch or loop on data makes, sizes that data decide, `w.data = ...` and
`w.requires_grad_(False)` on a parameter that is made; and on backends that compile, writes to the tensor where
gradients are recorded, or to a parameter that is made of a view of an argument.

Private: TorchInGraphFunctionVariable.call_nn_parameter, OutputGraph.synthetic_graph_input, SyntheticLocalSource, and
GuardsSet.add.
tests/capture/test_parameters_made.py shows the error without this, and fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch._dynamo import config
from torch._dynamo.source import ChainedSource, SyntheticLocalSource
from torch._dynamo.variables import torch as torch_variables
from torch._dynamo.variables.builder import wrap_fx_proxy
from torch._dynamo.variables.torch import TorchInGraphFunctionVariable
from torch._guards import GuardsSet
from torch.fx import GraphModule, Node

from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import storage_at, written
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import raise_refusal

_MADE_OF = "made_of"  # an argument


def new_parameter(
    size: tuple[int, ...], stride: tuple[int, ...], dtype: torch.dtype, device: torch.device, requires_grad: bool
) -> nn.Parameter:
    """A parameter without values, made in front of the graph."""
    return nn.Parameter(torch.empty_strided(size, stride, dtype=dtype, device=device), requires_grad)


def placed_in(data: Tensor, parameter: nn.Parameter) -> nn.Parameter:
    """The parameter, which is in the memory of a tensor from here on."""
    with torch.no_grad():
        parameter.set_(data.detach())  # type: ignore[call-overload]
    return parameter


def is_made(node: Node) -> bool:
    """Whether an input of a graph is such a parameter."""
    return any(user.target is placed_in and user.args[1] is node for user in node.users)


def argument_of(node: Node) -> Node | None:
    """The argument of the function that an input of a graph is a parameter of."""
    return node.meta.get(_MADE_OF)


@contextlib.contextmanager
def parameters_made() -> Iterator[None]:
    """While this is in force, parameters can be made."""
    add: Any = GuardsSet.add
    make: Any = TorchInGraphFunctionVariable.call_nn_parameter

    def make_parameter(_: type, tx: Any, data: Any = None, requires_grad: Any = True) -> Any:
        return _make(make, tx, data, requires_grad)

    def add_guard(self: Any, guard: Any, **kwargs: Any) -> None:
        if not _is_of_made(guard.originating_source):  # which the call does not have when guards are asked
            add(self, guard, **kwargs)

    with (
        config.patch(graph_break_on_nn_param_ctor=False),
        patched(torch_variables, can_convert_to_tracable_parameter=lambda: True),  # in constructors, too
        patched(TorchInGraphFunctionVariable, call_nn_parameter=classmethod(make_parameter)),
        patched(GuardsSet, add=add_guard),
    ):
        yield


def _is_of_made(source: Any) -> bool:
    if isinstance(source, ChainedSource):
        return _is_of_made(source.base)
    return isinstance(source, SyntheticLocalSource)


def _make(make: Callable[..., Any], tx: Any, data: Any, requires_grad: Any) -> Any:
    """`nn.Parameter(data, requires_grad)`. make: how torch does it."""
    data = data.realize() if data is not None else None
    records = requires_grad if isinstance(requires_grad, bool) else _constant(requires_grad)
    is_plain = data is not None and data.is_tensor() and data.class_type in (Tensor, nn.Parameter)
    if tx.export:
        return make(tx, data, requires_grad)  # which refuses it
    if not is_plain or records is None:
        raise_refusal("AG320", "a parameter is made of what is no plain tensor", "make it outside of the function")
    if tx.output.current_tracer.parent is not None:
        raise_refusal(
            "AG320", "a branch or loop on data makes a parameter", "make it before, and choose between values"
        )
    if config.trace_autograd_ops and records:
        return _in_the_graph(tx, data)
    if data.source and not isinstance(data.source, SyntheticLocalSource):
        made = make(tx, data, records)
        made.as_proxy().node.meta[_MADE_OF] = data.as_proxy().node
        return made
    return _in_front_of_the_graph(tx, data, records)


def _constant(variable: Any) -> bool | None:
    found = variable.as_python_constant() if variable.is_python_constant() else None
    return found if isinstance(found, bool) else None


def _in_the_graph(tx: Any, data: Any) -> Any:
    made = data.call_method(tx, "detach", [], {})
    made.class_type = nn.Parameter
    return made.call_method(tx, "requires_grad_", [], {})


def _in_front_of_the_graph(tx: Any, data: Any, requires_grad: bool) -> Any:
    fake = data.as_proxy().node.meta["example_value"]
    size, stride = (tuple(int(one) for one in sizes) for sizes in (fake.shape, fake.stride()))
    given = (size, stride, fake.dtype, fake.device, requires_grad)
    parameter = tx.output.synthetic_graph_input(new_parameter, given)
    operands = (data.as_proxy(), parameter.as_proxy())
    proxy = tx.output.create_proxy("call_function", placed_in, operands, {})
    result: Any = wrap_fx_proxy(tx, proxy, source=parameter.source)  # a result of the function is the parameter itself
    result.class_type = nn.Parameter
    tx.output.leaf_var_creation_order.append(result)
    return result


def check_writes_beside(graph: GraphModule) -> None:
    """Stop at a write to the memory of a parameter that compilers do not pass on to the other tensors there.

    Raises:
        CaptureError: AG320, at the write's line.
    """
    given = {storage_at(node) for node in graph.graph.find_nodes(op="placeholder") if not is_made(node)}
    memory, records = set(), torch.is_grad_enabled()
    for node in graph.graph.nodes:
        if node.target is placed_in:
            memory.add(storage_at(node))
        elif node.target is torch._C._set_grad_enabled:
            records = bool(node.args[0])
        elif memory & {storage_at(target) for target in written(node)} & (memory if records else given):
            raise capture_error_at(
                node,
                "AG320",
                "the memory of a parameter that the function makes is written to, which other tensors share",
                "write to the parameter under `torch.no_grad()`, or make it of a copy (`.clone()`)",
            )


def make_inside(graph: GraphModule) -> None:
    """Make the parameters in the graph, whose inputs are then those of the program alone."""
    first = next(node for node in graph.graph.nodes if node.op != "placeholder")
    for node in graph.graph.find_nodes(op="placeholder"):
        argument, fake = argument_of(node), node.meta.get("example_value")
        if not is_made(node) and argument is None:
            continue
        like = (tuple(fake.shape), fake.stride(), fake.dtype, fake.device)
        with graph.graph.inserting_before(first):
            if argument is None:
                made = graph.graph.call_function(new_parameter, (*like, fake.requires_grad))
            else:
                made = graph.graph.call_function(nn.Parameter, (argument, fake.requires_grad))
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        graph.graph.erase_node(node)
    graph.recompile()
