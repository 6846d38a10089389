"""`v in values` of a list, a tuple or the like is a bool, and asks all that the graph knows.

    2.0 in losses                          tensors, or numbers of the graph: each is compared
    n in (4, m + 1)

Dynamo (torch 2.13) looks for a constant among constants only: `4 in [n]` is False whatever `n` is. What it finds among
tensors is a tensor, and `not in` it refuses. (Dicts and sets: capture/replaced_instructions.py.)

Private: iter_contains of torch._dynamo.utils, which lists.py imports. tests/capture/test_membership.py fails clearly
when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo import utils
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    SymNodeVariable,
    TensorVariable,
    TupleVariable,
    UserFunctionVariable,
    lists,
)

from autograph_torch.capture.identity import is_same
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.membership import is_among


@contextlib.contextmanager
def membership() -> Iterator[None]:
    """While this is in force, elements that are not constants are compared."""
    original = utils.iter_contains

    def contains(items: Any, search: Any, tx: Any, check_tensor_identity: bool = False) -> Any:
        found = [one.realize() for one in items]
        element = search.realize()
        if check_tensor_identity or not any(_varies(one) for one in (*found, element)):
            return original(found, search, tx, check_tensor_identity)
        same: list[Any] = [ConstantVariable.create(is_same(one, element, tx.output.current_tracer)) for one in found]
        among: Any = is_among
        given = [element, TupleVariable(found), TupleVariable(same)]
        return UserFunctionVariable(among).call_function(tx, given, {})

    with patched(utils, iter_contains=contains), patched(lists, iter_contains=contains):
        yield


def _varies(variable: Any) -> bool:
    """Whether a value has parts that are no constants of the graph."""
    value = variable.realize()
    if isinstance(value, BaseListVariable):
        return any(_varies(one) for one in value.items)
    return isinstance(value, (SymNodeVariable, TensorVariable))
