"""Where a tensor that stands for a Python number on some paths (runtime/either.py) is used as only a tensor can be.

    penalty = 0
    if p: penalty = x.norm()
    y = x + penalty            the same for either, where x is of torch.float32
    z = counts + penalty       integers with the number, floats with the tensor: the paths are told apart
    penalty.item()             raises on the path of the number

What such a value gives with others is computed with a number in its place, too. Where that has another type, or raises,
where Python divides by zero, and where an attribute or method is asked for, the trace stops at the branch: the next one
follows the two apart (capture/attempts.py). What is computed of numbers alone in the type of the tensor may differ in
its last digit.

Private: `get_fake_value`, which tries each call on tensors without data; enable_python_dispatcher; how the variables of
getattr, hasattr and setattr are called.
tests/capture/test_number_or_tensor.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.variables import builder, tensor
from torch.fx import Node
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from autograph_torch.capture.dynamo_names import GETATTR, HASATTR, SETATTR
from autograph_torch.capture.graph_writes import name_of, writes_in_place, written
from autograph_torch.capture.patching import patched
from autograph_torch.capture.settling import (
    has_numbers,
    is_tensor,
    keeps_numbers,
    kind_of_value,
    kinds_of,
    refuse_question_of_type,
    refuse_use,
)
from autograph_torch.runtime.number_kinds import example, holds, type_name
from autograph_torch.runtime.places import is_runtime

_DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, operator.itruediv)
_ATTRIBUTES: tuple[tuple[Any, Callable[..., Any]], ...] = ((GETATTR, getattr), (HASATTR, hasattr), (SETATTR, setattr))


@contextlib.contextmanager
def number_or_tensor() -> Iterator[None]:
    """While this is in force, such uses stop the trace."""
    get_fake_value = builder.get_fake_value

    def fake_value(node: Node, tx: Any, *args: Any, **kwargs: Any) -> Any:
        value = get_fake_value(node, tx, *args, **kwargs)
        if has_numbers() and not is_runtime(tx.f_code.co_filename):
            _check(node, tx, value)
        return value

    with contextlib.ExitStack() as stack:
        stack.enter_context(patched(builder, get_fake_value=fake_value))
        stack.enter_context(patched(tensor, get_fake_value=fake_value))  # `x[i] = v`
        for kind, function in _ATTRIBUTES:
            stack.enter_context(patched(kind, call_function=_asking(kind.call_function, function)))
        yield


def _asking(call: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """`getattr`, also of the instructions that get an attribute, and the like."""

    def called(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if getattr(self, "fn", function) is function and len(args) > 1 and args[1].is_python_constant():
            refuse_question_of_type(args[0], tx, f"`.{args[1].as_python_constant()}`")
        return call(self, tx, args, kwargs)

    return called


def _check(node: Node, tx: Any, value: Any) -> None:
    """Stop where a call gives something else with a number in the place of a tensor that may be one."""
    tracer = tx.output.current_tracer
    kinds = {one: kinds_of(one, tracer) for one in node.all_input_nodes if is_tensor(one)}
    numbers = [one for one, found in kinds.items() if found]
    if not numbers or not _is_call(node):
        return
    gives_number = len(numbers) == len(kinds) and keeps_numbers(node)
    choices = [(None, *sorted(kinds[one])) for one in numbers]
    # The first one is `value`. What takes many of them (torch.stack) takes no number, which shows at once.
    for chosen in itertools.islice(itertools.product(*choices), 1, None):
        given = {one: kind for one, kind in zip(numbers, chosen, strict=True) if kind is not None}
        if gives_number and len(given) == len(numbers):
            same = _is_the_same_number(node, given, value, tracer)
        elif writes_in_place(node) and written(node)[0] not in given:  # to a tensor, which keeps its type
            same = _is_precise(given, written(node)[0].meta["example_value"].dtype)
        else:
            same = _is_the_same(node, given, value, tx)
        if not same:
            refuse_use(next(iter(given)), tx, f"`{name_of(node)}` gives something else for")


def _is_the_same_number(node: Node, given: dict[Node, str], value: torch.Tensor, tracer: Any) -> bool:
    """Whether what is computed of nothing but numbers is what the tensor holds (but for its last digit)."""
    found = {type_name(kind) for kind in kinds_of(node, tracer)}
    if value.dtype.is_floating_point or value.dtype.is_complex:
        fits = True
    else:
        fits = found <= {"bool"} if value.dtype == torch.bool else value.dtype == torch.int64 and "float" not in found
    return fits and not _may_raise(node) and _is_precise(given, None)


def _may_raise(node: Node) -> bool:
    """Whether Python may raise where torch gives infinity, or have another type of number."""
    if node.target not in (*_DIVISIONS, operator.pow):
        return False
    right = node.args[1]
    if isinstance(right, Node):
        return True
    return bool(right == 0) if node.target in _DIVISIONS else type(right) is not int or right < 0


def _is_call(node: Node) -> bool:
    """Whether a node calls a function or method of torch; what the bodies of operators do with a number, they tell."""
    if isinstance(node.target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return "autograph_torch" not in str(node.target)
    return node.op in ("call_function", "call_method") and not isinstance(node.target, torch._ops.HigherOrderOperator)


def _is_the_same(node: Node, given: dict[Node, str], value: Any, tx: Any) -> bool:
    """Whether a call gives tensors of the same types, as precise, with these kinds of numbers."""

    def operand(one: Node) -> Any:
        return example(given[one]) if one in given else one.meta["example_value"]

    args, kwargs = map_arg(node.args, operand), map_arg(node.kwargs, operand)
    if node.op == "call_method":
        function: Any = getattr(args[0], str(node.target), None)
        args = args[1:]
    else:
        function = node.target
    fresh = tx.output.shape_env.ignore_fresh_unbacked_symbols()
    try:
        with tx.fake_mode, enable_python_dispatcher(), torch.no_grad(), fresh:
            found = function(*args, **kwargs)
    except Exception:  # what torch does not take, or what a number does not have; the tensor was taken
        return False
    computed = _computed_in(node, found, given)
    same_types = _types(found) == _types(value) and computed == _computed_in(node, value, {})
    return same_types and _is_precise(given, computed)


def _types(value: Any) -> list[Any]:
    return [one.dtype if isinstance(one, torch.Tensor) else type(one) for one in pytree.tree_leaves(value)]


def _computed_in(node: Node, value: Any, given: dict[Node, str]) -> torch.dtype | None:
    """The type in which a call that gives `value` is computed: of two operands the one that both become."""
    if node.op == "call_function" and len(node.args) == 2 and keeps_numbers(node):
        return torch.result_type(*(_operand(one, given) for one in node.args))
    return next((one.dtype for one in pytree.tree_leaves(value) if isinstance(one, torch.Tensor)), None)


def _operand(argument: Any, given: dict[Node, str]) -> Any:
    if argument in given:
        return example(given[argument])
    value = argument.meta["example_value"] if isinstance(argument, Node) else argument
    return value if isinstance(value, torch.Tensor) else example(kind_of_value(value))


def _is_precise(given: dict[Node, str], computed: torch.dtype | None) -> bool:
    """Whether the tensors hold the numbers: exactly, or as precisely as the type in which torch computes with them."""
    return all(
        holds(one.meta["example_value"].dtype, kind) or _is_as_precise(one.meta["example_value"].dtype, computed)
        for one, kind in given.items()
    )


def _is_as_precise(stored: torch.dtype, computed: torch.dtype | None) -> bool:
    if computed is None or not stored.is_floating_point or not (computed.is_floating_point or computed.is_complex):
        return False
    needed = torch.float32 if torch.finfo(computed).bits < 32 else computed  # as torch computes those
    return torch.finfo(stored).eps <= torch.finfo(needed).eps
