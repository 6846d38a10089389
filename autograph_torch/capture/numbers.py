"""`.item()` in a captured graph: numbers that only tensors need become tensors, others are read as late as possible.

    s = x.sum().item()       s = x.sum().to(float64)      nothing waits for the device
    y = x / s                y = x / s.to(x.dtype)
    return s * 2             return s * 2                 read when the graph has returned

Python numbers are doubles and 64-bit integers, and so are their tensors here. Arithmetic that Python may refuse
(division by zero, `int` of NaN) or that may leave 64 bits (products of integers) is left to Python.
A tensor that stands for a number is a copy: the tensor it was read from may be written to later.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch.fx import Graph, GraphModule, Node

from autograph_torch.capture.computed_of import computed_of

Fate = Literal["vanished", "moved", "stayed"]

_DTYPES: dict[type, torch.dtype] = {bool: torch.bool, int: torch.int64, float: torch.float64}
_ARITHMETIC = (operator.add, operator.sub, operator.mul)
_COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_WITH_TENSORS = frozenset((*_ARITHMETIC, operator.truediv, *_COMPARISONS))
_BOUNDS_OF_BOOL = ((operator.ge, 0), (operator.le, 1))
_SMALL = 2**31  # what counters are counted up by
_TOO_LONG = 2**63
_EXACT = 2**53  # up to here every integer is a double


@dataclass(frozen=True)
class Read:
    """One `.item()` of a program, and what became of it."""

    node: Node
    fate: Fate


def postpone_reads(module: GraphModule) -> list[Read]:
    """Rewrite the graph and the bodies of its operators in place; what became of every `.item()`."""
    found: list[Read] = []
    for inner in module.modules():
        if isinstance(inner, GraphModule):
            reads = _Numbers(inner.graph, module).rewrite()
            if reads:
                inner.recompile()
            found.extend(reads)
    return found


class _Numbers:
    """The numbers of one graph, and the tensors that stand for them."""

    def __init__(self, graph: Graph, root: GraphModule) -> None:
        self._graph = graph
        self._root = root
        self._twins: dict[Node, Node] = {}
        self._made: set[Node] = set()

    def rewrite(self) -> list[Read]:
        items = [node for node in self._graph.nodes if _is_item(node)]
        if not items:
            return []
        for item in items:
            self._drop_range_of_bool(item)
        nodes = list(self._graph.nodes)
        output = nodes[-1]
        for node in nodes:
            self._visit(node)
        returned = {item for item in items if self._is_returned(item, output)}
        gone = set()
        for node in reversed(list(self._graph.nodes)):
            if not node.users and (node in self._twins or node in self._made or node in items):
                self._graph.erase_node(node)
                gone.add(node)
        reads = [Read(item, "moved" if item in returned else "vanished") for item in items if item in gone]
        left = [item for item in items if item not in gone]
        reads += [Read(item, "moved" if self._sink(item, output) else "stayed") for item in left]
        self._graph.lint()
        return reads

    def _drop_range_of_bool(self, item: Node) -> None:
        """torch asserts of a bool that it is 0 or 1, as a number; that would read it at once."""
        numbers = [user for user in item.users if user.target is torch.sym_ite and user.args[1:] == (1, 0)]
        for number in numbers:
            bounds = [user for user in number.users if (user.target, user.args[1]) in _BOUNDS_OF_BOOL]
            for asserted in [user for bound in bounds for user in bound.users]:
                if asserted.target is torch.ops.aten._assert_scalar.default and not asserted.users:
                    self._graph.erase_node(asserted)
            for node in (*bounds, number):
                if not node.users:
                    self._graph.erase_node(node)

    # -- one node -----------------------------------------------------------------------------------------------------

    def _visit(self, node: Node) -> None:
        if _is_item(node):
            kind, tensor = _number_type(node), _tensor(node.args[0])
            if kind is not None and tensor is not None:
                self._twins[node] = self._copy(node, tensor, _DTYPES[kind])
        elif node.op != "call_function":
            return
        elif _number_type(node) is not None:
            self._number(node)
        elif node.target in (torch.scalar_tensor, torch.tensor):
            self._made_tensor(node)
        elif node.target in _WITH_TENSORS and len(node.args) == 2:
            self._with_tensor(node)

    def _copy(self, item: Node, tensor: torch.Tensor, dtype: torch.dtype) -> Node:
        """The tensor that `.item()` reads, of no dimension, without gradient and in memory of its own."""
        source = item.args[0]
        if tensor.requires_grad:
            source = self._call(item, "detach", source)
        if tensor.ndim:
            source = self._call(item, "reshape", source, ())
        return self._call(item, "to", source, dtype, copy=True)

    def _call(self, before: Node, method: str, *arguments: Any, **options: Any) -> Node:
        with self._graph.inserting_before(before):
            made = self._graph.call_method(method, arguments, options)
        made.meta["stack_trace"] = before.meta.get("stack_trace")
        self._made.add(made)
        return made

    def _number(self, node: Node) -> None:
        """Arithmetic of numbers."""
        kinds = [_kind(argument) for argument in node.args]
        inputs = node.all_input_nodes
        if not inputs or None in kinds or node.kwargs or any(one not in self._twins for one in inputs):
            return
        if node.target is torch.sym_float and kinds[0] in (int, float):
            self._twins[node] = self._as(node, node.args[0], torch.float64)
        elif self._is_exact(node, kinds):
            common = _DTYPES[float if float in kinds else int]
            operands = tuple(self._as(node, argument, common) for argument in node.args)
            with self._graph.inserting_before(node):
                twin = self._graph.call_function(node.target, operands)  # type: ignore[arg-type]
            self._twins[node] = twin
            self._made.add(twin)

    def _is_exact(self, node: Node, kinds: list[Any]) -> bool:
        """Whether tensors of 64 bits give what Python gives."""
        if any(isinstance(one, int) and not -_TOO_LONG <= one < _TOO_LONG for one in node.args):
            return False
        if node.target is operator.mul:
            return float in kinds
        if node.target in (operator.add, operator.sub, operator.neg):
            return float in kinds or any(isinstance(one, int) and abs(one) < _SMALL for one in node.args)
        if node.target is operator.truediv:
            divisor = node.args[1]
            return kinds[0] is float and isinstance(divisor, (int, float)) and divisor != 0
        if node.target not in _COMPARISONS:
            return False
        if (float in kinds) == (int in kinds):  # an int against a float
            constants = [argument for argument in node.args if isinstance(argument, (int, float))]
            return bool(constants) and all(abs(constant) < _EXACT for constant in constants)
        return True

    def _as(self, before: Node, argument: Any, dtype: torch.dtype) -> Any:
        """An operand of arithmetic in `dtype`."""
        if not isinstance(argument, Node):
            return float(argument) if dtype == torch.float64 else argument
        twin = self._twins[argument]
        return twin if _DTYPES[_kind(argument)] == dtype else self._call(before, "to", twin, dtype)

    def _made_tensor(self, node: Node) -> None:
        """`torch.scalar_tensor(number)`."""
        number, value = node.args[0], _tensor(node)
        if not isinstance(number, Node) or number not in self._twins or value is None or set(node.kwargs) - {"dtype"}:
            return
        where = () if all(self._takes_any_device(node, user) for user in node.users) else (value.device,)
        # A copy, because bodies of operators may not give back what they were given.
        new = self._call(node, "to", self._twins[number], *where, value.dtype, copy=True)
        new.meta.update(node.meta)
        node.replace_all_uses_with(new)
        self._graph.erase_node(node)

    def _takes_any_device(self, node: Node, user: Node) -> bool:
        """Whether a user of a 0-d tensor does not ask where it is; moving it would wait for the device."""
        if user.op == "output":
            return self._graph.owning_module is self._root
        if user.target == "clone":
            return all(self._takes_any_device(user, following) for following in user.users)
        is_predicate = user.target is torch.ops.higher_order.cond and user.args[0] is node
        return is_predicate or user.target is torch.ops.autograph_torch.effect

    def _with_tensor(self, node: Node) -> None:
        """A tensor and a number: the number in the dtype that torch would compute in."""
        for position, number in enumerate(node.args):
            tensor = _tensor(node.args[1 - position])
            if not isinstance(number, Node) or number not in self._twins or tensor is None:
                continue
            dtype = _computed_in(tensor, _kind(number))
            if dtype is not None and all(device in ("cpu", tensor.device.type) for device in _devices(number)):
                node.update_arg(position, self._call(node, "to", self._twins[number], dtype))

    # -- numbers that Python needs ------------------------------------------------------------------------------------

    def _is_returned(self, item: Node, output: Node) -> bool:
        """Whether the tensor that stands for a number is a result: it is read when the graph has returned."""
        if item not in self._twins:
            return False
        seen, waiting = set(), [self._twins[item]]
        while waiting:
            node = waiting.pop()
            if output in node.users and (_tensor(node) is not None and node.target == "to"):
                return True
            seen.add(node)
            waiting += [u for u in node.users if u not in seen and (u in self._twins.values() or u.target == "to")]
        return False

    def _sink(self, item: Node, output: Node) -> bool:
        """Read a number that only the result needs behind everything else."""
        if any(user is not output and _number_type(user) is None for user in item.users):
            return False
        if any(not set(user.users) <= {output} for user in item.users if user is not output):
            return False
        with self._graph.inserting_before(item):
            kept = self._graph.call_method("clone", (item.args[0],))
        item.update_arg(0, kept)
        for node in (item, *[user for user in item.users if user is not output]):
            output.prepend(node)
        return True


def _is_item(node: Node) -> bool:
    return node.op == "call_method" and node.target == "item" and len(node.args) == 1


def _tensor(node: Any) -> torch.Tensor | None:
    """The (fake) tensor that a node gives."""
    value = node.meta.get("example_value") if isinstance(node, Node) else None
    return value if isinstance(value, torch.Tensor) else None


def _number_type(node: Node) -> type | None:
    """The type of the Python number that a node gives."""
    value = node.meta.get("example_value")
    if isinstance(value, (bool, torch.SymBool)):
        return bool
    if isinstance(value, (int, torch.SymInt)):
        return int
    return float if isinstance(value, (float, torch.SymFloat)) else None


def _kind(argument: Any) -> Any:
    if isinstance(argument, Node):
        return _number_type(argument)
    return type(argument) if type(argument) in _DTYPES else None


def _devices(number: Node) -> set[str]:
    """The devices of the tensors that a number was computed from."""
    reads = [one for one in computed_of(number, _inputs) if _is_item(one)]
    return {tensor.device.type for one in reads if (tensor := _tensor(one.args[0])) is not None}


def _inputs(number: Node) -> list[Node]:
    return [] if _is_item(number) else number.all_input_nodes


def _computed_in(tensor: torch.Tensor, number: Any) -> torch.dtype | None:
    """The dtype in which torch combines a tensor with a Python number; None where a tensor would not do the same."""
    if tensor.dtype in (torch.float32, torch.float64) and number in (int, float):
        return tensor.dtype
    if tensor.dtype in (torch.int64, torch.bool) and number is int:
        return torch.int64
    if tensor.dtype == torch.int64 and number is float:
        return torch.get_default_dtype()
    return None
