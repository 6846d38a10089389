"""Tensors from around a branch or loop that its body writes to, however it reaches them.

    row = table[0]                         a view
    if p: row.add_(1)                      and so do modules write to buffers, helpers to arguments, `out=`, methods

torch's operators refuse such writes (and two tensors of one memory). So a body is traced once to learn what it writes
to, and again with *stand-ins*: wherever the body meets one of these tensors, by another name, in a container or as an
attribute, it finds a copy. What the copies hold at the end is a result, written back in place behind the operator,
where every alias sees it. Views of one memory stand for views of one copy.

The empty functions are filled in by the tracer when it reaches them (capture/standing_in.py).
"""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime.memories import Group
from autograph_torch.runtime.notes import note_written_back

Tensors = tuple[torch.Tensor, ...]


def announce(site: str, mutated: Tensors, reads: Tensors) -> None:
    """Say what bodies write to and read, as far as the text shows. (Filled in by the tracer.)"""


def outside_tensors(site: str, found: Tensors = ()) -> Tensors:
    """The tensors that need stand-ins, as far as is known. (Filled in by the tracer.)"""
    return found


def hand_out(site: str, tensors: Tensors) -> None:
    """Say which tensors the result of a body is made of: those from around it are used, too. (Noted by the tracer.)"""


def stand_in(tensor: torch.Tensor, copy: torch.Tensor) -> None:
    """In the body that is being traced, `copy` takes the place of `tensor`. (Filled in by the tracer.)"""


INSIDE = " inside"  # behind a site: the objects in the lists and dicts that the trips write to


def remember(site: str, values: tuple[Any, ...]) -> None:
    """The objects in these values were there before the bodies of a loop. (Noted by the tracer.)"""


def note_same(site: str, initial: tuple[Any, ...], before: tuple[Any, ...], after: tuple[Any, ...]) -> None:
    """Say what a loop begins with, and what a trip begins with and ends with, in the same order.

    (The tracer notes which tensors a trip ends with that it began with, or that the loop began with.)
    """


def keep(objects: tuple[Any, ...]) -> None:
    """From here on in this body, trips of a loop write to these objects, and keep them. (Noted by the tracer.)"""


def kept(found: Tensors = ()) -> Tensors:
    """Tensors that the trips around this point write to: who gives one back means that very object. (Filled in.)"""
    return found


def written_containers(site: str, found: tuple[Any, ...] = ()) -> tuple[Any, ...]:
    """Lists and dicts that bodies write to, beside those that the text shows. (Filled in by the tracer.)"""
    return found


def share(originals: tuple[Any, ...], copies: tuple[Any, ...]) -> None:
    """In the body that is being traced, lists and dicts hold what their copies hold. (Done by the tracer.)"""


def is_shared(value: Any, found: bool = False) -> bool:
    """Whether a body writes to a list or dict in a value. (Filled in by the tracer.)"""
    return found


def parted(leaves: list[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a body, at its end: from here on, lists and dicts hold their own again. (Done by the tracer.)"""
    return leaves


def copies_outside(tensors: Tensors, groups: tuple[Group, ...]) -> Tensors:
    """A copy of each memory, for bodies to start from."""
    copies: Tensors = ()
    for k in range(len(groups)):
        copies += (_memory(tensors, groups[k]).clone(),)
    return copies


def clones_of(memories: Tensors) -> Tensors:
    """A copy of each, for one body."""
    clones: Tensors = ()
    for k in range(len(memories)):
        clones += (memories[k].clone(),)
    return clones


def put_stand_ins(tensors: Tensors, groups: tuple[Group, ...], memories: Tensors) -> Tensors:
    """Put `memories`, or views of them, in the place of the tensors; the stand-ins, in the order of the tensors."""
    if not groups:
        return ()
    made: dict[int, torch.Tensor] = {}
    for k in range(len(groups)):
        whole, members, _ = groups[k]
        for index, size, stride, offset, same in members:
            if same != index:
                made[index] = made[same]
            else:
                made[index] = memories[k] if whole < 0 else memories[k].as_strided(size, stride, offset)
            stand_in(tensors[index], made[index])
    return tuple([made[index] for index in range(len(tensors))])


def written(groups: tuple[Group, ...], memories: Tensors) -> Tensors:
    """Those of the memories that bodies write to."""
    changing: Tensors = ()
    for k in range(len(groups)):
        if groups[k][2]:
            changing += (memories[k],)
    return changing


def write_outside(
    tensors: Tensors,
    groups: tuple[Group, ...],
    contents: tuple[torch.Tensor, ...],
    grads: tuple[bool, ...],
    leaves: tuple[bool, ...],
) -> None:
    """Write the new contents of the memories that bodies write to.

    grads: which of them have a gradient. leaves: which of the tensors are leaves, to be written to under no_grad.
    """
    changed = [groups[k] for k in range(len(groups)) if groups[k][2]]
    for k in range(len(changed)):
        # All results of an operator require a gradient as soon as one input does: a buffer must not take it on.
        content = contents[k] if grads[k] else contents[k].detach()
        whole, members, _ = changed[k]
        if whole < 0 and leaves[members[0][0]]:
            with torch.no_grad():
                tensors[members[0][0]].copy_(content.detach())
            note_written_back()
            continue
        if whole < 0:
            tensors[members[0][0]].copy_(content)
            note_written_back()
            continue
        # View by view: compilers refuse writes to what as_strided makes of a view. One that is all of it comes first.
        first = tensors[members[0][0]]
        for index, size, stride, offset, _ in members[:1] if first.numel() == whole else members:
            tensors[index].copy_(content.as_strided(size, stride, offset))
            note_written_back()


def _memory(tensors: Tensors, group: Group) -> torch.Tensor:
    """The memory of a group as one tensor."""
    root: Any = tensors[group[1][0][0]]
    return root if group[0] < 0 else root.as_strided((group[0],), (1,), 0)
