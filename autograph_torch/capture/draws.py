"""Which calls of a graph draw random numbers: what torch's operators say, of all that a function of torch calls.

    F.gumbel_softmax(x)      one node of the graph; on tensors without data it is seen to call `exponential_`

A name tells it of few: most functions that draw are made of others, and dropout draws only where it is told to.
Recurrent layers are known by their names: without data torch runs them without their dropout.

Private: torch._dynamo.variables.builder.get_fake_value and FakeTensorMode's `__torch_dispatch__`.
tests/capture/test_draws.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.variables import builder
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensorMode

from autograph_torch.capture.graph_writes import given_by_schema
from autograph_torch.capture.patching import patched
from autograph_torch.runtime.gradients import DRAWS, RECURRENT, called


@contextlib.contextmanager
def noted_draws() -> Iterator[None]:
    """While this is in force, a node that draws says which operator it draws by."""
    get_fake_value, dispatch = builder.get_fake_value, FakeTensorMode.__torch_dispatch__
    watched: list[Any] = []  # the nodes that are tried on tensors without data

    def fake_value(node: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(node.target, HigherOrderOperator):  # its bodies have nodes of their own
            return get_fake_value(node, tx, *args, **kwargs)
        watched.append(node)
        try:
            return get_fake_value(node, tx, *args, **kwargs)
        finally:
            watched.pop()
            if called(node) in RECURRENT and _drops_between_layers(node):
                node.meta[DRAWS] = "dropout"

    def dispatched(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if watched and torch.Tag.nondeterministic_seeded in func.tags and _draws(func, args, kwargs or {}):
            watched[-1].meta.setdefault(DRAWS, func.overloadpacket.__name__)
        return dispatch(self, func, types, args, kwargs)

    with patched(builder, get_fake_value=fake_value), patched(FakeTensorMode, __torch_dispatch__=dispatched):
        yield


def _draws(func: Any, args: Any, kwargs: Any) -> bool:
    """Whether an operator that may draw does so: some are told not to."""
    given = {one.name: one.default_value for one in func._schema.arguments if one.has_default_value()}
    given |= given_by_schema(func, args, kwargs)
    is_used = given.get("train", given.get("training")) is not False
    return is_used and given.get("dropout_p", given.get("dropout")) != 0


def _drops_between_layers(node: Any) -> bool:
    """Of a recurrent layer: (..., dropout, training, ...)."""
    place = next((k for k, value in enumerate(node.args) if isinstance(value, float)), None)
    return place is not None and bool(node.args[place] != 0 and node.args[place + 1])
