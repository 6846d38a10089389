"""Which nodes of a graph are results of our operators, also as our own code hands them on.

    getitem = cond[0]; detach = getitem.detach()      the first result of `cond`, without its gradient

What the program does with a result may look the same, and is not: `y.detach()` is another tensor than `y`. Therefore
the runtime leaves notes with what it has made (runtime/memories.py, runtime/reordering.py).
"""

from __future__ import annotations

from typing import Any, TypeGuard

from torch._higher_order_ops.wrap import TagActivationCheckpoint
from torch.fx import Node

from autograph_torch.capture.graph_writes import argument, arguments_of, name_of
from autograph_torch.runtime.memories import HANDED_ON, OURS
from autograph_torch.runtime.reordering import is_reordered


def result_of(node: Node) -> tuple[Node, int] | None:
    """The operator, and the position of the result of it that a node is; also as our own code hands it on.

    That is (runtime/codec.py, runtime/staged.py): without a gradient; as the integers that have travelled as floats;
    where there has been a trip; with its dimensions back in their order; and hidden from Dynamo, which would take its
    value for known.
    """
    first, second = argument(node, 0), argument(node, 1)
    if calls(node, "getitem"):
        return (first, second) if OURS in first.meta else None
    if has_note(node, HANDED_ON) or is_reordered(node):
        return result_of(first)
    if hides_value(node):
        return result_of(second)
    if calls(node, "where") and calls(second, "getitem"):
        found = result_of(second)
        if found is not None and name_of(found[0]) == "while_loop":
            return found if argument(node, 2) is arguments_of(found[0])[2][found[1]] else None
    return None


def has_note(node: Node, note: str) -> bool:
    """Whether the runtime has left a note with what a node computes.

    (The inputs of a branch have all notes of what they stand for: torch shares `meta`.)
    """
    return note in node.meta and node.op != "placeholder"


def result_of_block(node: Node) -> tuple[Node, int] | None:
    """The checkpoint, and the position of the result of its block that a node is."""
    arguments = arguments_of(node)
    is_one = calls(node, "getitem") and isinstance(arguments[0].target, TagActivationCheckpoint)
    return (arguments[0], arguments[1]) if is_one else None


def hides_value(node: Node) -> bool:
    """Whether it is `where(True, leaf, leaf)`."""
    if not calls(node, "where") or len(node.args) < 3 or node.args[1] is not node.args[2]:
        return False
    condition = node.args[0]
    return calls(condition, "full") and arguments_of(condition)[:2] == ((), True)


def calls(node: Any, name: str) -> TypeGuard[Node]:
    """Whether it is a node that calls the function or method of this name."""
    return isinstance(node, Node) and node.op in ("call_function", "call_method") and name_of(node) == name
