"""What is asked of a dict without keys beside its keys, later calls are asked, too.

    class Registry(dict): ...           with an attribute `scale`
    for v in registry.values(): ...     the order of the keys counts: guards of the dict end where it has none, before
    x * registry.scale                  they come to its attributes: later calls had the `scale` of the first
    counts["z"] += 1                    nor did they ask for the default factory of a dict that is written to

A dict without keys has no order; that it has none is asked where its keys are (DICT_KEYS_MATCH). In plain
torch.compile, too (torch 2.13).

Private: GuardBuilder.key_order_guarded_dict_ids, `guard_on_key_order` of the graph.
tests/capture/test_empty_dicts.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from torch._dynamo.guards import GuardBuilder

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def empty_dicts() -> Iterator[None]:
    """While this is in force, they are."""
    begin = GuardBuilder.__init__

    @functools.wraps(begin)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        ordered = map(self.get, self.check_fn_manager.output_graph.guard_on_key_order)
        self.key_order_guarded_dict_ids.difference_update(id(one) for one in ordered if _is_empty(one))

    with patched(GuardBuilder, __init__=init):
        yield


def _is_empty(value: Any) -> bool:
    return isinstance(value, dict) and not dict.__len__(value)
