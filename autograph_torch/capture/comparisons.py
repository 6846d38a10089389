"""Comparisons (`a < b`, `operator.eq(a, b)`) as calls of a function that may answer them in Dynamo's place.

Private: BuiltinVariable.call_function, and symbolic_convert.compare_op_handlers, which holds bound methods of it.
tests/capture/test_sequence_order.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo import symbolic_convert
from torch._dynamo.variables.builtin import BuiltinVariable

from autograph_torch.capture.patching import patched

Comparison = Callable[[Any, Any], Any]
ORDER: dict[str, Comparison] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
COMPARISONS: dict[str, Comparison] = {**ORDER, "==": operator.eq, "!=": operator.ne}


@contextlib.contextmanager
def answering_comparisons(answer: Callable[[Any, Comparison, Any], Any]) -> Iterator[None]:
    """While this is in force, `answer(tx, comparison, operands)` is asked first; None leaves it to what was there."""
    built_in, handlers = BuiltinVariable.call_function, symbolic_convert.compare_op_handlers

    def call_builtin(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        given = answer(tx, self.fn, args) if self.fn in COMPARISONS.values() and len(args) == 2 else None
        return built_in(self, tx, args, kwargs) if given is None else given

    def comparing(comparison: Comparison, before: Callable[..., Any]) -> Callable[..., Any]:
        def compare(tx: Any, operands: Any, kwargs: Any) -> Any:
            given = answer(tx, comparison, operands)
            return before(tx, operands, kwargs) if given is None else given

        return compare

    own = {symbol: comparing(comparison, handlers[symbol]) for symbol, comparison in COMPARISONS.items()}
    with (
        patched(BuiltinVariable, call_function=call_builtin),
        patched(symbolic_convert, compare_op_handlers={**handlers, **own}),
    ):
        yield
