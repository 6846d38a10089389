"""What a node of a graph is computed of, each node once.

    a, b = n, 1
    for _ in range(60):
        a, b = b, a + b

Unrolled, as many ways lead from `b` to `n` as the 60th Fibonacci number says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch.fx import Node


def computed_of(node: Node, parts: Callable[[Node], Sequence[Node]]) -> dict[Node, Sequence[Node]]:
    """A node and all that it is computed of, each behind its own parts, with these.

    Args:
        parts: gives the inputs of a node that are to be followed.
    """
    found: dict[Node, Sequence[Node]] = {}
    waiting: list[tuple[Node, Sequence[Node] | None]] = [(node, None)]
    while waiting:
        one, inputs = waiting.pop()
        if inputs is not None:
            found[one] = inputs
        elif one not in found:
            inputs = parts(one)
            waiting.append((one, inputs))
            waiting.extend((part, None) for part in reversed(inputs))
    return found
