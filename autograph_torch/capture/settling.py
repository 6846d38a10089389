"""Tensors that stand for a Python number on some paths (see runtime/either.py): what the tracer knows of them.

The tracer keeps, for every trace, the nodes of such tensors with their flags. A tensor that is computed of nothing but
such tensors and numbers is a number, too, where they all are. When the graph is there, `settle` finds those that leave
it. The next trace may do without them, where the two are different results (runtime/picking.py); when it cannot, an
operator behind them raises when the flag is set.

Private names: SubgraphTracer.lifted_freevars, the inputs of a body; wrap_fx_proxy.
tests/capture/test_settling.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable
from torch._dynamo.variables.builder import wrap_fx_proxy
from torch.fx import GraphModule, Node

from autograph_torch.capture.computed_of import computed_of
from autograph_torch.diagnostics import CaptureError, Diagnostic
from autograph_torch.runtime import either, notes, tracing
from autograph_torch.runtime.number_kinds import computed, joined, kind_of
from autograph_torch.runtime.performing import HostCall
from autograph_torch.runtime.places import is_runtime

OF_TWO_TYPES = "on this path a result of the function is a Python number, on others a tensor"
_NO_ARGUMENTS = ("tuple", tuple, (("tuple", tuple, ()), ("dict", (), ())))
_SYMBOLS: dict[type, type] = {torch.SymBool: bool, torch.SymInt: int, torch.SymFloat: float}
_ARITHMETIC = frozenset(
    getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow neg pos abs lt le gt ge eq ne iadd isub imul itruediv".split()
)


@dataclass(frozen=True)
class _Number:
    """What is known of a tensor that may stand for a number."""

    flag: Any  # the variable that tells where it does
    failure: int  # the number of the effect that is raised where it leaves the graph
    kinds: frozenset[str]  # of the number (runtime/number_kinds.py)


def fill_in_flags(code: Any, parent: Any, arguments: dict[str, Any]) -> None:
    """Do the work of the empty functions of runtime/either.py when the tracer is about to enter one of them."""
    if code is either.note_number.__code__:
        tensor, flag = arguments["tensor"].realize().as_proxy(), arguments["flag"].realize()
        kinds = frozenset(arguments["kinds"].as_python_constant().split())
        _known()[tensor.node] = _Number(flag, _refusal(), kinds)
    elif code is either.number_flag.__code__ and _known():
        found = _flag_of(arguments["tensor"].realize().as_proxy().node, parent)
        if found is not None:
            arguments["found"] = found
    elif code is either.number_kinds.__code__ and _known():
        node = arguments["tensor"].realize().as_proxy().node
        kinds = kinds_of(node, parent.output.current_tracer)
        arguments["found"] = ConstantVariable.create(" ".join(sorted(kinds)))


def refuse_question_of_type(variable: Any, tx: Any, question: str = "the type") -> None:
    """Stop where the program asks for the type of such a value, or for what numbers do not have."""
    if _known() and not is_runtime(tx.f_code.co_filename) and variable.is_tensor():
        refuse_use(variable.as_proxy().node, tx, f"the program asks for {question} of")


def refuse_use(node: Node, tx: Any, use: str) -> None:
    """Stop where the tensor of a node may stand for a number, and the program uses it as the one or the other.

    That is told at the line of the branch: the next trace follows the two apart (capture/attempts.py).

    Args:
        use: what the program does, as the message begins.

    Raises:
        CaptureError: AG310, at the branch or loop that gives the number or the tensor.
    """
    numbers = _numbers(node, tx.output.current_tracer)
    if numbers:
        message = f"{use} a value that is a Python number on this path, on others a tensor"
        raise CaptureError(replace(notes.failure_of(numbers[0].failure).diagnostic, message=message))


def kinds_of(node: Node, tracer: Any) -> frozenset[str]:
    """The kinds of number that a tensor may stand for (runtime/number_kinds.py); none when it never does."""
    known = _known()
    kinds: dict[Node, frozenset[str]] = {}
    for one, parts in _steps(node, tracer).items():
        kinds[one] = known[one].kinds if one in known else _computed_kinds(one, parts, kinds)
    return kinds.get(node, frozenset())


def _computed_kinds(node: Node, parts: Sequence[Node], kinds: dict[Node, frozenset[str]]) -> frozenset[str]:
    """Of what is computed of numbers, whatever they are."""
    if node.op != "call_function":
        return kinds[parts[0]]
    given = itertools.product(*(_kinds_of_argument(one, kinds) for one in node.args))
    return frozenset(joined(computed(node.target, chosen) for chosen in given))  # type: ignore[arg-type]


def _kinds_of_argument(argument: Any, kinds: dict[Node, frozenset[str]]) -> frozenset[str]:
    if isinstance(argument, Node):
        return kinds[argument] if argument in kinds else frozenset((kind_of_value(argument.meta.get("example_value")),))
    return frozenset((kind_of_value(argument),))


def kind_of_value(number: Any) -> str:
    """The kind of a number, which may be a symbol."""
    symbol = _SYMBOLS.get(type(number))
    return kind_of(number) if symbol is None else symbol.__name__


def has_numbers() -> bool:
    """Whether some tensor of the trace may stand for a Python number."""
    return bool(_known())


def _known() -> dict[Node, _Number]:
    """The nodes of tensors that may stand for numbers."""
    return tracing.notebook().setdefault("numbers", {})  # type: ignore[no-any-return]


def _refusal() -> int:
    """What is raised where the number would leave the graph."""
    filename, line, text = tracing.user_line()
    column = len(text) - len(text.lstrip()) + 1
    advice = "start with a tensor, `torch.zeros(())` for instance; under @autograph such a call runs in Python"
    error = CaptureError(Diagnostic("AG310", filename, line, column, line, OF_TWO_TYPES, advice, text))
    return notes.new_effect(HostCall(error, _NO_ARGUMENTS, (), raises=True))


def _flag_of(node: Node, parent: Any) -> Any:
    """The flag of a tensor, as a variable; made here where the tensor was computed of several."""
    tracer = parent.output.current_tracer
    flags = [number.flag for number in _numbers(node, tracer)]
    if len(flags) < 2:
        return flags[0] if flags else None
    found = flags[0].as_proxy()
    for flag in flags[1:]:
        found = tracer.create_proxy("call_function", torch.logical_and, (found, flag.as_proxy()), {})
        variable = wrap_fx_proxy(parent, found)
    return variable


def _numbers(node: Node, tracer: Any) -> list[_Number]:
    """What must all be numbers for a tensor to be one; none when it never is."""
    known = _known()
    return [known[one] for one in _steps(node, tracer) if one in known]


def _steps(node: Node, tracer: Any) -> Mapping[Node, Sequence[Node]]:
    """How a tensor is computed of nothing but numbers: each step behind its parts; none when there is more in it.

    Args:
        tracer: of the body that the node is in; None for a finished graph, whose inputs are no numbers.
    """
    known = _known()
    steps = computed_of(node, lambda one: [] if one in known else _parts(one, tracer))
    return steps if all(parts or one in known for one, parts in steps.items()) else {}


def _parts(node: Node, tracer: Any) -> list[Node]:
    """The tensors that make a number of a node where they are numbers; none when it never is one."""
    if node.op == "placeholder":
        around = tracing.origin(node, tracer) if tracer is not None else None
        return [around] if around is not None else []
    return [one for one in node.all_input_nodes if is_tensor(one)] if keeps_numbers(node) else []


def keeps_numbers(node: Node) -> bool:
    """Whether numbers in give a number out. (Numbers have no methods of tensors: such a call is the runtime's.)"""
    return (node.op == "call_function" and node.target in _ARITHMETIC) or (
        node.op == "call_method" and node.target in ("detach", "clone")
    )


def is_tensor(node: Node) -> bool:
    return isinstance(node.meta.get("example_value"), torch.Tensor)


def settle(module: GraphModule, refuse: bool) -> None:
    """Put an operator behind every tensor that leaves the graph, or is shown by an effect, and may be a number.

    Raises:
        CaptureError: with `refuse`, when one leaves the graph: AG310, at a branch that gives a number or a tensor.
    """
    if not _known():
        return
    leaving = module.graph.find_nodes(op="output")
    if refuse and any(_numbers(value, None) for value in leaving[0].all_input_nodes):
        raise CaptureError(_first_of_two_types())
    for inner in module.modules():
        if isinstance(inner, GraphModule):
            shown = [node for node in inner.graph.nodes if node.target is torch.ops.autograph_torch.effect]
            settled = [_settle_inputs(node) for node in (*shown, *(leaving if inner is module else ()))]
            if _drop_unused(inner) or any(settled):
                inner.recompile()


def _first_of_two_types() -> Diagnostic:
    """Of the branches that give a number or a tensor, the first that does not have what follows in it yet."""
    found = [notes.diagnostic_of(number.failure) for number in _known().values()]
    apart = tracing.known().splits
    return next((one for one in found if (one.filename, one.line) not in apart), found[0])


def _settle_inputs(user: Node) -> bool:
    """Whether there was something to settle."""
    unsettled = [(value, numbers) for value in user.all_input_nodes if (numbers := _numbers(value, None))]
    for value, numbers in unsettled:
        with user.graph.inserting_before(user):
            flag = numbers[0].flag.as_proxy().node
            for other in numbers[1:]:
                flag = user.graph.call_function(torch.logical_and, (flag, other.flag.as_proxy().node))
            new = user.graph.call_function(torch.ops.autograph_torch.settled, (value, numbers[0].failure, flag))
        new.meta["example_value"] = value.meta["example_value"]
        user.replace_input_with(value, new)
    return bool(unsettled)


def _drop_unused(module: GraphModule) -> bool:
    """Drop flags that nobody has asked for; whether there were some."""
    flags = [number.flag.as_proxy().node for number in _known().values()]
    unused = [node for node in flags if node.graph is module.graph and not node.users and not node._erased]
    for node in unused:
        module.graph.erase_node(node)
    return bool(unused)
