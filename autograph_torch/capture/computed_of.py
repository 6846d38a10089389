"""What a node of a graph is computed of, each node once.

a, b = n, 1
for _ in range(60):        # unrolled: as many ways lead from b to n as the 60th Fibonacci number says
    a, b = b, a + b
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch.fx import Node


def computed_of(node: Node, parts: Callable[[Node], Sequence[Node]]) -> list[Node]:
    """A node and what it is computed of, in the order in which a walk from its first input on meets them.

    Args:
        parts: gives the inputs of a node that are to be followed.
    """
    met: dict[Node, None] = {}
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one not in met:
            met[one] = None
            waiting.extend(reversed(parts(one)))
    return list(met)
