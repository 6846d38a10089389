"""A repair of Dynamo without which results would be silently wrong (torch 2.13; not in 2.11).

After an operator with a body (torch.cond, torch.while_loop), Dynamo goes on with a copy of its table of side effects.
The proxy of an object's `__dict__` keeps the table it was made with: an attribute that was set before the operator and
is set again after it keeps its first value. Here the proxy asks for the table in force.

    self.steps = 1
    y = torch.cond(...)
    self.steps = 2          # torch 2.13: lost

tests/capture/test_torch_fixes.py shows the error without the repair, and fails when torch no longer needs it.
"""

from __future__ import annotations

from typing import Any

from torch._dynamo.variables import dicts


def repair_attribute_writes() -> None:
    """Let the proxies of `__dict__` follow the table of side effects that is in force."""
    proxy = getattr(dicts, "SideEffectsProxyDict", None)
    if proxy is None or isinstance(proxy.__dict__.get("side_effects"), property):
        return

    def current(self: Any) -> Any:
        return self._autograph_output().side_effects

    def remember(self: Any, table: Any) -> None:
        self._autograph_output = table.output_graph_weakref

    proxy.side_effects = property(current, remember)
