"""What torch's functions ask of sizes that depend on data, and what nothing answers.

    rows = x[mask]
    F.scaled_dot_product_attention(rows, rows, rows)      "Could not guard on data-dependent expression Eq(u0, 0)"

Some functions treat tensors without elements apart, sizes of 1, which broadcast, or ask whether two sizes are the same.
When nothing else has been of use (capture/attempts.py), the trace goes on with what holds for most data: a size is
neither 0 nor 1, and two that are compared are the same. The graph checks it, and refuses what is different. What the
program asks itself (`if len(rows) == 0`) is no such question: that is a branch.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

import sympy  # type: ignore[import-untyped]
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from autograph_torch.capture.checked_facts import answering_calls, assume

ASKED = re.compile(r"Could not guard on data-dependent expression (Eq|Ne)\(")
_OTHER_SIZES = "sizes that depend on data are 0, 1 or different here, where the graph takes them for others"
_ADVICE = "test the size before the call (`if x.shape[0] == 0`); under @autograph such a call runs in Python"


def assumed_sizes() -> contextlib.AbstractContextManager[None]:
    """While this is in force, such questions are answered, and the graph checks the answers."""
    return answering_calls(_answer)


def _answer(tx: Any, asked: GuardOnDataDependentSymNode) -> bool:
    """Go on with what is likely of the sizes that a call has asked about; whether the graph can check that."""
    found = sorted(asked.cond.atoms(sympy.Eq, sympy.Ne), key=str)
    if not found or asked.cond.atoms(sympy.core.relational.Relational) - set(found):
        return False
    return all(assume(tx, _likely(*one.args), _OTHER_SIZES, _ADVICE) for one in found)


def _likely(one: Any, other: Any) -> Any:
    return sympy.Ne(one, other) if {one, other} & {0, 1} else sympy.Eq(one, other)
