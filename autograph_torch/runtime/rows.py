"""Elements of lists that grow in a loop on data (growing.py), taken apart into what travels, and put together again.

    hist.append((step, {"x": x}))          a column of numbers and one of tensors
    hist[-1]                               (step, {"x": x}) again, of the last row of each

All elements of a list have one form. They are copies, and so are lists, dicts and dataclasses in them: neither what was
appended nor what is read may be written to from then on, for in eager that would show in the list.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.codec import Written, decode, decode_now, encode, write_decoder
from autograph_torch.runtime.structure import is_record, spec_of

Columns = tuple[torch.Tensor, ...]

_decoders: list[Written] = []


def take_apart(item: Any, name: str) -> Columns:
    """The tensors that an element of a list travels as, when all others are of its form."""
    leaves = encode(notes.row_encoder(name, spec_of(item, seen=[])), item)
    columns: tuple[Any, ...] = ()
    for k in range(len(leaves)):
        sizes = tuple([known_size(leaves[k].shape[d]) for d in range(leaves[k].ndim)])
        columns += ((sizes, leaves[k].dtype, str(leaves[k].device)),)
    notes.note_columns(name, columns)
    return tuple(leaves)


def put_together(leaves: Columns, name: str, ends: bool = False) -> Any:
    """An element of what it has travelled as."""
    return taken(decode(notes.row_decoder(name), [leaves[k].clone() for k in range(len(leaves))]), name, ends)


def taken(item: Any, name: str, ends: bool) -> Any:
    """An element that is a copy. `ends`: it may be one that has not come in a loop."""
    return _noted(item, None, (name, ends), True)


def appended(item: Any, name: str, stays: bool, owner: Any = None) -> Any:
    """An element that has copies. `stays`: it is a row of the list; or that of a copy of all elements.

    owner: what the trip that appends it has made. Lists and dicts in it must be younger.
    """
    return _noted(item, owner, (name, stays), False)


def _noted(item: Any, owner: Any, place: tuple[Any, ...], is_read: bool) -> Any:
    if isinstance(item, torch.Tensor):
        note_copied(item, place, is_read)
        return item
    parts = _parts_of(item)
    if isinstance(item, (list, dict)) or (parts and not isinstance(item, tuple)):
        note_frozen(item, owner)
        if not is_read:
            note_taken(item, place[0])
    for k in range(len(parts)):
        _noted(parts[k], owner, (*place, k), is_read)
    return item


def _parts_of(item: Any) -> Any:
    if isinstance(item, (tuple, list)):
        return item
    if isinstance(item, dict):
        return list(item.values())
    return [getattr(item, one.name) for one in dataclasses.fields(item)] if is_record(item) else ()


def known_size(size: int) -> int:
    """A size as a constant, with a guard on it. (Filled in by the tracer, capture/growing.py.)"""
    return size


def note_copied(item: torch.Tensor, place: tuple[Any, ...], is_read: bool) -> None:
    """An element has copies, or is one: it may not be written to. (Noted by the tracer, capture/growing.py.)

    place: of which list, whether it is one of its rows (or, when read, may be another element), and where it is in it.
    """


def note_frozen(item: Any, owner: Any) -> None:
    """Nor may a list, dict or object in it. (Noted by the tracer, capture/growing.py.)"""


def note_taken(item: Any, name: str) -> None:
    """A list of this name takes a list, dict or object. (Noted by the tracer, capture/growing.py.)"""


def note_read(item: Any, name: str) -> None:
    """The program has read an element of a list of this name. (Noted by the tracer, capture/growing.py.)"""


@torch.compiler.assume_constant_result
def builder(name: str) -> int:
    """The number by which `built` knows the form of a list's elements."""
    _decoders.append(write_decoder(notes.row_plan(name)))
    notes.note_builder(name, len(_decoders) - 1)
    return len(_decoders) - 1


def built(columns: Columns, number: int) -> list[Any]:
    """What runs behind the graph: the elements, of the tensors that the graph gives."""
    written = _decoders[number]
    rows = zip(*[[row.clone() for row in column.unbind(0)] for column in columns], strict=True)
    return [decode_now(written, leaves) for leaves in rows]
