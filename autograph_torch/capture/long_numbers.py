"""A float that many steps have computed gets a symbol of its own: torch writes out what it is computed of each time.

    for _ in range(12):                     x is 1 - f(1 - f(1 - f(...))), twice as long after each trip: torch asks for
        x -= (x * x - goal) / (2 * x)       its bounds, and simplifies it, at every use

In the graph it is computed as before: the symbol stands for what is there. Private: SymNodeVariable.create.
tests/capture/test_long_numbers.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import SymNodeVariable, TensorVariable
from torch._dynamo.variables.builder import wrap_fx_proxy_cls

from autograph_torch.capture.assumptions import in_body
from autograph_torch.capture.patching import patched

_MOST = 50  # operations of an expression


@contextlib.contextmanager
def long_numbers() -> Iterator[None]:
    """While this is in force, no float is a long expression."""
    create = SymNodeVariable.create.__func__  # type: ignore[attr-defined]

    def made(cls: Any, tx: Any, proxy: Any, sym_num: Any = None, **options: Any) -> Any:
        found = create(cls, tx, proxy, sym_num, **options)
        at_the_top = tx.output.current_tracer.parent is None and not in_body() and not tx.output.export
        return _named(tx, found) if at_the_top and _is_long(found) else found

    with patched(SymNodeVariable, create=classmethod(made)):
        yield


def _is_long(variable: Any) -> bool:
    number = getattr(variable, "sym_num", None)
    return isinstance(number, torch.SymFloat) and number.node.expr.count_ops() > _MOST


def _named(tx: Any, variable: Any) -> Any:
    args, kwargs = (variable.as_proxy(),), {"dtype": torch.float64}
    proxy = tx.output.create_proxy("call_function", torch.scalar_tensor, args, kwargs)
    tensor = wrap_fx_proxy_cls(TensorVariable, tx=tx, proxy=proxy)
    return tensor.call_method(tx, "item", [], {})
