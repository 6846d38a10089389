"""Numbers that a branch has picked from constants: where a trace fails on one, the line of the branch is known.

    k = 2 if x.sum() > 0 else 3             torch fails at `dim=k` on the symbol u0,
    return x.chunk(k)                       which is what the first line has given

The next attempt moves what follows into both branches, where the number is a constant (capture/attempts.py).

Private: the names of symbols in the errors of torch, and `sym_num` of SymNodeVariable.
tests/capture/test_chosen_numbers.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from autograph_torch.runtime import picking, tracing

Line = tuple[str, int]

_SYMBOL = re.compile(r"\bz?uf?\d+\b")
_found: list[dict[str, Line]] = []  # of the traces that are under way, the innermost last


@contextlib.contextmanager
def chosen_numbers() -> Iterator[dict[str, Line]]:
    """While a function is traced: by the symbol of a number, the line of the branch that has picked it."""
    _found.append({})
    try:
        yield _found[-1]
    finally:
        _found.pop()


def lines_of_numbers(message: str, chosen: dict[str, Line]) -> list[Line]:
    """The lines of the branches whose numbers an error may be about, the likely ones first.

    Not every error of torch names the symbol: `str(k)` is an operator that it does not know.
    """
    symbols = _SYMBOL.findall(message)
    if not symbols:
        return list(reversed(chosen.values()))
    return [chosen[symbol] for symbol in symbols if symbol in chosen]


def _note(parent: Any, given: dict[str, Any]) -> dict[str, Any]:
    number = getattr(given["number"].realize(), "sym_num", None)
    if _found:
        _found[-1].update(dict.fromkeys(_SYMBOL.findall(str(number)), tracing.user_line()[:2]))
    return {}


CHOSEN_NUMBERS = {picking.of_constants.__code__: _note}
