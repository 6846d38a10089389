"""Where a tensor that stands for a Python number on some paths (runtime/either.py) is used as only a tensor can be.

    penalty = 0
    if p: penalty = x.norm()
    y = x + penalty            the same for either, where x is of torch.float32
    z = counts + penalty       integers with the number, floats with the tensor: the paths are told apart
    penalty.item()             raises on the path of the number

What such a value gives with others is computed with a number in its place, too. Where that has another type, or raises,
and where an attribute or method is asked for, the trace stops at the branch: the next one follows the two apart
(capture/attempts.py).

Private: `get_fake_value`, which tries each call on tensors without data; enable_python_dispatcher; the instructions and
the stack of the tracer.
tests/capture/test_number_or_tensor.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import dis
import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._dynamo.variables import builder, tensor
from torch.fx import Node
from torch.fx.node import map_arg
from torch.utils import _pytree as pytree

from autograph_torch.capture.graph_writes import name_of, writes_in_place
from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import Instruction, replaced
from autograph_torch.capture.settling import (
    NUMBERS,
    has_numbers,
    is_tensor,
    keeps_numbers,
    kinds_of,
    name_of_type,
    refuse_use,
)
from autograph_torch.runtime.places import is_runtime

_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_MANY = 64  # combinations of numbers and tensors that are tried for one call


@contextlib.contextmanager
def number_or_tensor() -> Iterator[None]:
    """While this is in force, such uses stop the trace."""
    get_fake_value = builder.get_fake_value

    def fake_value(node: Node, tx: Any, *args: Any, **kwargs: Any) -> Any:
        value = get_fake_value(node, tx, *args, **kwargs)
        if has_numbers() and not is_runtime(tx.f_code.co_filename):
            _check(node, tx, value)
        return value

    with (
        patched(builder, get_fake_value=fake_value),
        patched(tensor, get_fake_value=fake_value),  # `x[i] = v`
        replaced(**{name: _asking for name in _ATTRIBUTES if name in dis.opmap}),
    ):
        yield


def _asking(original: Instruction) -> Instruction:
    """An instruction that gets an attribute of what is on top of the stack."""

    def get(translator: Any, instruction: Any) -> None:
        if has_numbers() and not is_runtime(translator.f_code.co_filename):
            owner = translator.stack[-1]
            if owner.is_realized() and owner.is_tensor():
                refuse_use(owner.as_proxy().node, translator, f"the program asks for `.{instruction.argval}` of")
        original(translator, instruction)

    return get


def _check(node: Node, tx: Any, value: Any) -> None:
    """Stop where a call gives something else with a number in the place of a tensor that may be one."""
    kinds = {one: kinds_of(one, tx.output.current_tracer) for one in node.all_input_nodes if is_tensor(one)}
    numbers = [one for one, found in kinds.items() if found]
    if not numbers or not _is_call(node):
        return
    gives_number = len(numbers) == len(kinds) and keeps_numbers(node)
    choices = [(None, *sorted(kinds[one])) for one in numbers]
    for chosen in itertools.islice(itertools.product(*choices), 1, _MANY):  # the first one is `value`
        given = {one: kind for one, kind in zip(numbers, chosen, strict=True) if kind is not None}
        if gives_number and len(given) == len(numbers):
            continue
        if not (_keeps_digits(node, given) if _writes(node, given) else _is_the_same(node, given, value, tx)):
            refuse_use(next(iter(given)), tx, f"`{name_of(node)}` gives something else for")


def _writes(node: Node, given: dict[Node, str]) -> bool:
    """Whether a call writes to a tensor, which keeps its type."""
    return writes_in_place(node) and isinstance(node.args[0], Node) and node.args[0] not in given


def _keeps_digits(node: Node, given: dict[Node, str]) -> bool:
    return _is_precise(given, node.args[0].meta["example_value"].dtype)  # type: ignore[union-attr]


def _is_call(node: Node) -> bool:
    """Whether a node calls a function or method of torch; what the bodies of operators do with a number, they tell."""
    if isinstance(node.target, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
        return "autograph_torch" not in str(node.target)
    return node.op in ("call_function", "call_method") and not isinstance(node.target, torch._ops.HigherOrderOperator)


def _is_the_same(node: Node, given: dict[Node, str], value: Any, tx: Any) -> bool:
    """Whether a call gives tensors of the same types, as precise, with these kinds of numbers."""

    def example(one: Node) -> Any:
        return NUMBERS[given[one]] if one in given else one.meta["example_value"]

    args, kwargs = map_arg(node.args, example), map_arg(node.kwargs, example)
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
        return NUMBERS[given[argument]]
    value = argument.meta["example_value"] if isinstance(argument, Node) else argument
    return value if isinstance(value, torch.Tensor) else NUMBERS[name_of_type(value)]


def _is_precise(given: dict[Node, str], computed: torch.dtype | None) -> bool:
    """Whether the tensors keep the digits of the numbers with which torch computes."""
    if computed is None or not (computed.is_floating_point or computed.is_complex):
        return True
    needed = torch.float32 if torch.finfo(computed).bits < 32 else computed  # as torch computes those
    stored = [one.meta["example_value"].dtype for one, kind in given.items() if kind in ("int", "float")]
    return all(torch.finfo(one).eps <= torch.finfo(needed).eps for one in stored if one.is_floating_point)
