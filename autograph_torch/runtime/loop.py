"""ag.while_loop and ag.for_loop: loops that end by their test or their length alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.runtime import notes, staged
from autograph_torch.runtime.carried import plain_containers
from autograph_torch.runtime.growing import is_among, run_filling
from autograph_torch.runtime.grown import Grows
from autograph_torch.runtime.iteration import Sequence, elements
from autograph_torch.runtime.iteration import staged as staged_sequence
from autograph_torch.runtime.outside import is_shared, keep
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.structure import (
    has_numbers,
    lift_all,
    lower_all,
    refuse_sets,
    same_object,
    tensors_in,
)
from autograph_torch.runtime.values import HOLE

State = tuple[Any, ...]


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., State], carry: State, mutated: State = (), reads: State = ()
) -> State:
    """`while cond_fn(*state): state = body_fn(*state)`, as torch.while_loop where only data can tell.

    Args:
        cond_fn: the test, of the carry and the mutated objects.
        body_fn: one trip; gives the new carry and the mutated objects as one tuple.
        carry: names that the body rebinds.
        mutated: objects that the body writes to in place; the writes are seen through every alias.
        reads: values that the loop only reads but may not close over; handed through unchanged.

    Returns:
        The final state: carry, mutated objects, reads.

    Raises:
        CaptureError: AG311 when a trip changes the shape or dtype of a value.
    """
    state = (*carry, *mutated, *reads)
    while True:
        flag = truth(cond_fn(*state))
        if isinstance(flag, torch.Tensor):
            notes.note_site("while", "torch.while_loop")
            return run_with_writes(lambda s: cond_fn(*s), lambda s: body_fn(*s), state, len(carry), len(reads), flag)
        if not flag:
            return state
        state = body_fn(*state)


def for_loop(
    iterable: Any, body_fn: Callable[..., State], carry: State, mutated: State = (), reads: State = ()
) -> State:
    """`for item in iterable: state = body_fn(item, *state)`; a torch.while_loop when the length depends on data."""
    state = (*carry, *mutated, *reads)
    sequence = staged_sequence(iterable)
    if sequence is None or sequence.known:
        for item in iterable if isinstance(iterable, torch.Tensor) else elements(iterable):
            state = body_fn(item, *state)
        return state
    notes.note_site("for", "torch.while_loop")
    return _staged_for(sequence, body_fn, state, len(carry), len(reads))


def _staged_for(sequence: Sequence, body_fn: Callable[..., State], state: State, rebound: int, fixed: int) -> State:
    length = sequence.length
    entered = truth(length > 0)
    if entered is False:
        return state

    def trip(numbered: State) -> State:
        k = numbered[0]
        return (k + 1, *body_fn(sequence.item(k), *numbered[1:]))

    final = run_with_writes(lambda s: s[0] < length, trip, (0, *state), rebound + 1, fixed, entered)
    return final[1:]


def run_with_writes(
    test: Callable[[State], Any],
    trip: Callable[[State], State],
    state: State,
    rebound: int,
    fixed: int,
    entered: bool | torch.Tensor,
    pure: bool = False,
) -> State:
    """A staged loop over `state`: `rebound` values, then objects written to in place, then `fixed` values to read.

    The values to read are closed over; numbers that depend on data as tensors, which are numbers again inside.
    """
    count = len(state) - fixed
    mutated, given = state[rebound:count], state[count:]
    if is_among(mutated):
        return run_filling(run_with_writes, test, trip, state, rebound, fixed, entered, pure=pure)
    refuse_sets(mutated)
    # Tensors that are written to have stand-ins inside; lists and dicts hold what copies of them hold.
    containers = plain_containers(mutated)
    changing = (*state[:rebound], *[HOLE if _stays(value) else value for value in mutated])
    numbers = has_numbers(given)
    lifted = lift_all(given) if numbers else given

    def whole(before: State) -> State:
        objects: State = ()
        for k in range(len(mutated)):
            objects += (mutated[k] if _stays(mutated[k]) else before[rebound + k],)
        values = lower_all(lifted, given) if numbers else given
        read = tuple([given[k] if is_shared(given[k]) else values[k] for k in range(len(given))])
        return (*before[:rebound], *objects, *read)

    def trip_on_copies(before: State) -> State:
        state = whole(before)
        keep(mutated)
        after = trip(state)
        _check_same_objects(state[rebound:count], after[rebound:count])
        pairs = zip(mutated, after[rebound:count], strict=True)
        return (*after[:rebound], *[HOLE if _stays(one) else value for one, value in pairs])

    tensors = tuple(value for value in mutated if isinstance(value, torch.Tensor))
    # `if log: log["err"].append(e)`, where `log` may be False
    flags = tuple([rebound + k for k in range(len(mutated)) if _is_known_flag(mutated[k])])
    read = tensors_in(given)
    final = staged.run(
        lambda s: test(whole(s)), trip_on_copies, changing, entered, tensors, containers, read, pure, flags
    )
    if isinstance(final, Grows):
        return run_filling(run_with_writes, test, trip, state, rebound, fixed, entered, final.lists, pure)
    objects = []
    for original, value in zip(mutated, final[rebound:], strict=True):
        objects.append(original if _stays(original) else value)
    return (*final[:rebound], *objects, *given)


def _stays(value: Any) -> bool:
    """Whether an object that is written to is the same one in the body; numbers (`n += 1`) are carried."""
    return isinstance(value, (torch.Tensor, list, dict, tuple, deque))


def _is_known_flag(value: Any) -> bool:
    return isinstance(value, bool) and has_static_value(value)


def _check_same_objects(objects: State, values: State) -> None:
    """What is written to in place must still be the object that it was when the trip ends."""
    for one, value in zip(objects, values, strict=True):
        if _stays(one) and not same_object(value, one):
            refuse(
                "AG206",
                "a loop both writes to an object in place and rebinds its name",
                "use a name of its own for the new object",
            )
