"""What is asked of a value whose answer the paths of a branch or loop tell differently, and the graph alike.

    y = x * w
    if p: y = y.detach()
    if y.requires_grad: ...        in eager only where p is false; the graph's y always requires a gradient

A tensor that an operator has handed out has one answer for `requires_grad`, `stride()` and the like. Where its bodies
have others, the question is refused at the branch or loop; the next trace may tell its paths apart
(capture/attempts.py). Of `grad_fn` only whether it is None is known. And a hook that a body registers would run on all
paths: it is refused.

Private: how TensorVariable gets attributes, its call_method.
tests/capture/test_asked_properties.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch
from torch._dynamo.variables import BuiltinVariable, LambdaVariable
from torch._dynamo.variables.tensor import TensorVariable
from torch.fx import GraphModule, Node

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.finished import check_at_the_end
from autograph_torch.capture.graph_writes import (
    arguments_of,
    handed_out,
    is_operator,
    name_of,
    storage_at,
    written,
)
from autograph_torch.capture.leaves_of_bodies import carries, input_of, leaves_of
from autograph_torch.capture.patching import patched
from autograph_torch.capture.taken_elements import TORCH
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal, refusal_at

_OF_GRADIENTS = frozenset(("requires_grad", "is_leaf"))
_OF_LAYOUT = frozenset(("is_contiguous", "stride"))
_ADVICE = "ask before the branch or loop, or remember in a flag which path was taken"
_HOOKS = frozenset(("register_hook", "register_post_accumulate_grad_hook"))
_HOOK = "a branch or loop registers a hook: it would run whichever path is taken"
_VERSION = "`_version` in or behind a branch or loop, which counts the writes of every path"
_SET = torch.nn.Module.__setattr__.__code__
_REGISTERS = (_SET.co_filename, _SET.co_name)  # a parameter, or a buffer, or a plain attribute
_UNDER_WAY = object()  # what has been written to a tensor may have been computed from it

Asks = Callable[[torch.Tensor], Any]


@contextlib.contextmanager
def asked_properties() -> Iterator[None]:
    """While this is in force, such questions are answered as in eager, or refused."""
    get, call = getattr(TensorVariable, GET_ATTRIBUTE), TensorVariable.call_method
    call_builtin = BuiltinVariable.call_function

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if name == "requires_grad":
            _look_again(tx, self)
        if name in _OF_GRADIENTS and counts(tx):
            _check(tx, self, name, lambda tensor: tensor.requires_grad)
            if name == "is_leaf":
                _check(tx, self, name, lambda tensor: tensor.is_leaf)
        if name == "_version" and _has_bodies(tx.output) and counts(tx):
            raise_refusal("AG314", _VERSION, "count in a variable of your own")
        if name == "grad_fn" and self.has_grad_fn and counts(tx):
            _check(tx, self, name, lambda tensor: tensor.grad_fn is not None)
            return _Step(_refuse_step)
        return get(self, tx, name)

    def call_method(self: Any, tx: Any, name: str, *args: Any) -> Any:
        if name in _OF_LAYOUT and counts(tx):
            _check(tx, self, name, lambda tensor: tensor.stride())
        if name in _HOOKS and tracing.in_a_body() and counts(tx):
            raise_refusal("AG206", _HOOK, "register it before, and let the hook decide")
        return call(self, tx, name, *args)

    def builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        asked = counts(tx) or (tx.f_code.co_filename, tx.f_code.co_name) == _REGISTERS
        if self.fn in (isinstance, type) and args and isinstance(args[0].realize(), TensorVariable) and asked:
            _check(tx, args[0].realize(), self.fn.__name__, lambda tensor: isinstance(tensor, torch.nn.Parameter))
        return call_builtin(self, tx, args, kwargs)

    with (
        patched(TensorVariable, **{GET_ATTRIBUTE: get_attribute, "call_method": call_method}),
        patched(BuiltinVariable, call_function=builtin),
    ):
        yield


def _look_again(tx: Any, tensor: Any) -> None:
    """A tensor may record since something has been written to it, or to what stands in for it, or to a view of it."""
    value = tracing.resolved(tensor.as_proxy(), tx.output.current_tracer).node.meta.get("example_value")
    if isinstance(value, torch.Tensor) and value.requires_grad and tensor.requires_grad is False:
        tensor.requires_grad = True


class _Step(LambdaVariable):
    """The `grad_fn` of a tensor that has one: it is not None, and that is all that is known of it."""

    def python_type(self) -> NoReturn:
        _refuse_step()

    def var_getattr(self, tx: Any, name: str) -> NoReturn:
        _refuse_step()

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> NoReturn:
        _refuse_step()

    def reconstruct(self, codegen: Any) -> NoReturn:
        _refuse_step()


def _refuse_step(*args: Any, **kwargs: Any) -> NoReturn:
    raise_refusal("AG320", "`grad_fn`, a step of the gradient, is another one in a graph", "ask for `grad_fn is None`")


def counts(tx: Any) -> bool:
    """Whether the program asks, not the runtime, nor torch itself, which chooses between ways to the same result."""
    filename = tx.f_code.co_filename
    return not tracing.is_ours(filename) and not filename.startswith(TORCH)


def _has_bodies(output: Any) -> bool:
    """Whether the trace has come to a branch or loop."""
    return tracing.in_a_body() or any(map(is_operator, output.root_tracer.graph.nodes))


def _check(tx: Any, tensor: Any, name: str, asks: Asks) -> None:
    node = tracing.resolved(tensor.as_proxy(), tx.output.current_tracer).node
    maker = _unsure(tx.output, node, asks, {})
    if maker is not None and maker is not _UNDER_WAY:
        message = f"`{name}` of a tensor that the paths of a branch or loop give differently"
        raise capture_error_at(maker, "AG314", message, _ADVICE)


def _unsure(output: Any, node: Node, asks: Asks, known: dict[Node, Any]) -> Any:
    """The operator that leaves the answer open: the tensor is a result of it, or was computed from one.

    None where the answer is sure; `_UNDER_WAY` where it is that of a tensor that is being looked at.
    """
    if node not in known:
        known[node] = _UNDER_WAY
        known[node] = _opened(output, node, asks, known)
    return known[node]


def _opened(output: Any, node: Node, asks: Asks, known: dict[Node, Any]) -> Any:
    value = node.meta.get("example_value")
    if not isinstance(value, torch.Tensor) or (not value.requires_grad and asks(value) is False):
        return None
    given = input_of(node)
    if given is not None and node.graph is not output.root_tracer.graph:  # of a trip, perhaps
        _asked_of_carries().append((given.meta.get("example_value"), asks(value), asks, tracing.user_line()[:2]))
        check_at_the_end(output, _check_carries)
    result = handed_out(node, ("getitem", "where", "view", "to"))
    if result is not None:
        operator = result.all_input_nodes[0]
        leaves = leaves_of(operator, arguments_of(result)[1], output.nn_modules)
        if _differ(leaves, asks(value), asks):
            return operator
        makers = [*operator.all_input_nodes, *leaves]
    elif asks(value) is not True:  # the layout of what was computed from it is that of the computation
        return None
    else:
        makers = [*_computed_from(node), *_written_to(node)]
    found = [_unsure(output, one, asks, known) for one in makers if _asked(one, asks)]
    told = [one for one in found if one is not _UNDER_WAY]
    opening = next(filter(None, told), None)
    if result is not None:  # one of its paths may hand on what it has been given
        return opening if opening is not None or len(told) == len(found) else _UNDER_WAY
    if found and not told:
        return _UNDER_WAY
    return opening if all(told) else None


def _computed_from(node: Node) -> list[Node]:
    """What a tensor has a gradient towards, if it records one: not what it has its type or values of alone."""
    name = name_of(node)
    return [] if name == "detach" or name.startswith("new_") or name.endswith("_like") else node.all_input_nodes


def _written_to(node: Node) -> list[Node]:
    """What has been written to the tensor, or to what shares its memory: it records a gradient since."""
    place = storage_at(node)
    writes = [one for one in node.graph.nodes if one is not node and place in map(storage_at, written(one))]
    return [given for write in writes for given in write.all_input_nodes if storage_at(given) != place]


def _asked(node: Node, asks: Asks) -> bool:
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and bool(asks(value))


def _differ(leaves: list[Node], answer: Any, asks: Asks) -> bool:
    """Whether another answer holds for one of these tensors."""
    values = [leaf.meta.get("example_value") for leaf in leaves]
    return any(isinstance(one, torch.Tensor) and asks(one) != answer for one in values)


def _asked_of_carries() -> list[tuple[Any, Any, Asks, tuple[str, int]]]:
    """What was asked in this trace of what bodies are given, with the answer, and where."""
    return tracing.notebook().setdefault("asked of carries", [])  # type: ignore[no-any-return]


def _check_carries(module: GraphModule) -> None:
    """Refuse a question whose answer for what a loop carries is not that for what it begins with, or a trip gives."""
    for given, leaves in carries(module):
        for value, answer, asks, line in _asked_of_carries():
            if value is given.meta.get("example_value") and _differ(leaves, answer, asks):
                raise refusal_at(*line, "AG314", "a question about a tensor that the trips of a loop change", _ADVICE)
