"""What the trace has been told of the program's objects, later calls have to agree on: a guard asks them.

Private: guards that are an expression (add_python_lambda_leaf_guard_to_root), and what guards call (_get_closure_vars).
tests/capture/test_equal_constants.py fails clearly when torch changes them.
"""

from __future__ import annotations

import functools
from typing import Any

from torch._dynamo import guards
from torch._dynamo.guards import install_guard


def agree(source: Any, part: str, **names: Any) -> None:
    """Guard the graph by an expression.

    Args:
        source: of one of the objects that are asked.
        part: the expression, with what leads to the objects (`expression_of`).
        names: other names in it, each with its value.
    """
    install_guard(source.make_guard(functools.partial(_ask, part=part, names=names)))


def functions_of_guards() -> dict[str, Any]:
    """What guards have beside the values: `___tuple_iterator_getitem(L['w'].rest, 0)`."""
    return dict(guards._get_closure_vars()) if hasattr(guards, "_get_closure_vars") else {}


def _ask(builder: Any, guard: Any, part: str, names: dict[str, Any]) -> None:
    builder.add_python_lambda_leaf_guard_to_root([part], [part], closure_vars={**functions_of_guards(), **names})
