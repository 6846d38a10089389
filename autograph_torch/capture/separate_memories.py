"""Tensors of one memory that have no element in common are, for the trace, tensors of memories of their own.

    relax(rows[0], rows[1])          one graph, which is as good for rows[3] and rows[5], and for two tensors

Dynamo has them share a memory in the trace, too: then torch's operators have to be given one copy of that memory
(runtime/outside.py), at the places where these two lie in it. Only tensors that record no gradient are set apart: what
views are to autograd is for torch to say. Where one that is met later overlaps with two that are, there is another
trace, without this (capture/attempts.py).

Private: builder.wrap_to_fake_tensor_and_record, MetaTensorDescriber, torch._guards.TracingContext.
tests/capture/test_memories_given.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

import torch
from torch._dynamo.source import AttrSource
from torch._dynamo.variables import builder
from torch._guards import TracingContext
from torch._subclasses.meta_utils import MetaTensorDescriber

from autograph_torch.capture.graph_writes import storage_of
from autograph_torch.capture.overlaps import may_overlap
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import raise_refusal

OVERLAPS = "a tensor overlaps with two that have been set apart"

_WRAP = "wrap_to_fake_tensor_and_record"
_Place = tuple[int, int]  # a memory, and which of its parts


@contextlib.contextmanager
def separate_memories() -> Iterator[None]:
    """While this is in force, they are."""
    wrap, describe = getattr(builder, _WRAP), MetaTensorDescriber.describe_tensor

    def wrap_given(e: Any, tx: Any, *, source: Any, **kwargs: Any) -> Any:
        is_base = isinstance(source, AttrSource) and source.member == "_base"  # of a view, for Dynamo's own use
        if type(e) is torch.Tensor and e.layout == torch.strided and not is_base:
            _place(e)
        return wrap(e, tx, source=source, **kwargs)

    def describe_tensor(self: Any, t: torch.Tensor, **kwargs: Any) -> Any:
        description = describe(self, t, **kwargs)
        place = _apart().get(id(t)) if TracingContext.try_get() is not None else None
        if place is None:
            return description
        numbers = self.__dict__.setdefault("_autograph_memories", {})
        if place not in numbers:
            numbers[place], self.next_storage_id = self.next_storage_id, self.next_storage_id + 1
        memory = dataclasses.replace(description.storage, id=numbers[place])  # type: ignore[type-var]
        return dataclasses.replace(description, storage=memory, is_view=False, base=None, view_func=None)

    wrapping: Any = {_WRAP: wrap_given}
    with patched(builder, **wrapping), patched(MetaTensorDescriber, describe_tensor=describe_tensor):
        yield


def _place(tensor: torch.Tensor) -> None:
    """Find out which of the tensors known from its memory a tensor belongs to.

    Raises:
        CaptureError: AG206, it cannot belong to all of them.
    """
    memory = storage_of(tensor)
    parts: list[list[torch.Tensor]] = tracing.notebook().setdefault("memories", {}).setdefault(memory, [])
    met = [k for k, part in enumerate(parts) if any(one is tensor or may_overlap(one, tensor) for one in part)]
    if not met:
        met = [len(parts)]
        parts.append([])
    if len(met) > 1 or (met[0] > 0 and tensor.requires_grad):
        raise_refusal("AG206", OVERLAPS, "clone one of them")
    parts[met[0]].append(tensor)
    if met[0] > 0:
        _apart()[id(tensor)] = (memory, met[0])


def _apart() -> dict[int, _Place]:
    """The tensors that are set apart; `memories` keeps them alive."""
    return tracing.notebook().setdefault("tensors set apart", {})  # type: ignore[no-any-return]
