"""One torch.while_loop for a state of any structure, with the gaps of torch's operator closed.

- Python numbers in the state travel as 0-d tensors and are Python numbers inside the body.
- A value that changes its type on the first trip (`total = 0`, then `total + x.sum()`) starts as what it becomes.
- Every result is cloned and contiguous; the predicate never aliases the state.
- Gradients (torch 2.13): an initial value that needs no gradient but becomes part of a differentiable state is
  anchored,
  else only the last trip's gradient survives (facts S2); a loop without trips gives its initial values, else the
  body's
  gradient is applied once all the same (S1); Inductor may not reuse buffers in place, else it overwrites saved
  states (S3).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.effects import body_effects, current_token, had_effects, put_token, surrounding_effects
from autograph_torch.runtime.fields import read_fields, write_fields
from autograph_torch.runtime.gradients import anchored, keep_layouts, keep_saved_buffers, refuse_random_numbers
from autograph_torch.runtime.layout import Plan, tensor_grads
from autograph_torch.runtime.memories import Group
from autograph_torch.runtime.operators import while_loop as torch_while_loop
from autograph_torch.runtime.outside import (
    announce,
    copies_outside,
    outside_tensors,
    put_stand_ins,
    write_outside,
    written,
)
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.structure import decode, encode, spec_of
from autograph_torch.runtime.values import HOLE

State = tuple[Any, ...]
Pairs = tuple[tuple[torch.Tensor, torch.Tensor], ...]  # tensors from around a loop, with what stands in for them
_ROUNDS = 6  # int -> float -> tensor -> tensor with gradient: no value changes its type more often


def run(
    test: Callable[[State], Any],
    trip: Callable[[State, Pairs], State],
    state: State,
    entered: bool | torch.Tensor,
    mutated: tuple[torch.Tensor, ...] = (),
    reads: tuple[torch.Tensor, ...] = (),
) -> State:
    """Run `state = trip(state)` while `test(state)`.

    Args:
        test: the predicate of a state.
        trip: one trip, of a state and the stand-ins; may change types on its first run, shapes never.
        state: the initial state.
        entered: whether there is a first trip: True, or a 0-d bool tensor.
        mutated, reads: tensors from around the loop that trips write to and read, as far as is known.
    """
    site = notes.new_site()
    keep_layouts()
    outer = surrounding_effects()
    announce(site, mutated, reads)
    state = (HOLE, *state)  # in front: the token of the effects, should there be any
    notes.carry_plan(site, spec_of(state, handed=state))
    sure = not isinstance(entered, torch.Tensor)
    for _ in range(_ROUNDS):
        notes.begin_attempt(site)
        tensors = outside_tensors(site)
        groups = notes.groups(site)
        memories = copies_outside(tensors, groups)
        # The memories and fields that trips write to are carried behind the state.
        fields = notes.field_count(site)
        carried = (*written(groups, memories), *read_fields(site, fields))
        plan = notes.memory_plan(site, spec_of(carried))
        begin = (state, carried)
        init = _initial(begin, plan)
        leaves = _attempt(site, plan, test, trip, init, begin, tensors, groups, memories, fields, sure)
        if notes.stand_ins_suffice(site) and notes.trips_agree(site):
            final, contents = decode(plan, _for_no_trip(leaves, init, entered), handed=state)
            count = len(contents) - fields
            grads = [wants for part in plan[2][1][2][:count] for wants in tensor_grads(part)]
            write_outside(tensors, groups, contents[:count], grads)
            write_fields(site, contents[count:])
            if isinstance(final[0], torch.Tensor):
                put_token(outer, final[0])
            return tuple(final[1:])
        notes.discard_attempt(site)
        if notes.agreed_plan(site)[2][0][2][0][0] == "tensor" and state[0] is HOLE:
            state = (current_token(outer), *state[1:])
    return refuse("AG311", "a loop changes the type of a value on every trip", "give it one type before the loop")


def _attempt(
    site: int,
    plan: Plan,
    test: Callable[[State], Any],
    trip: Callable[[State, Pairs], State],
    init: list[torch.Tensor],
    begin: tuple[State, tuple[torch.Tensor, ...]],
    tensors: tuple[torch.Tensor, ...],
    groups: tuple[Group, ...],
    memories: tuple[torch.Tensor, ...],
    fields: int,
    sure: bool,
) -> list[torch.Tensor]:
    outer = surrounding_effects()
    handed = begin[0]

    def entered_with(leaves: tuple[torch.Tensor, ...]) -> tuple[State, tuple[torch.Tensor, ...], Pairs]:
        """The state at the start of a trip or a test; the memories; and which tensors they stand for."""
        state, carried = decode(plan, list(leaves), handed=handed)
        own = list(memories)
        changing = [k for k in range(len(groups)) if groups[k][2]]
        for position in range(len(changing)):
            own[changing[position]] = carried[position].clone()
        stand_ins = put_stand_ins(tensors, groups, tuple(own))
        write_fields(site, carried[len(carried) - fields :])
        return state, written(groups, tuple(own)), tuple(zip(tensors, stand_ins, strict=True))

    def cond_fn(*leaves: torch.Tensor) -> Any:
        notes.enter_test()
        state, _, _ = entered_with(leaves)
        flag = truth(test(state[1:]))
        notes.note_body(site)
        return flag.clone() if isinstance(flag, torch.Tensor) else flag

    def body_fn(*leaves: torch.Tensor) -> tuple[torch.Tensor, ...]:
        notes.enter_branch()
        before, own, stand_ins = entered_with(leaves)
        autograph_effects = body_effects(outer)
        if before[0] is not HOLE:
            put_token(autograph_effects, before[0])
        after = trip(before[1:], stand_ins)
        token = current_token(autograph_effects) if had_effects(autograph_effects) else HOLE
        contents = tuple(own[k].clone() for k in range(len(own)))  # a variable of its own knows whether it has a grad
        state = ((token, *after), (*contents, *read_fields(site, fields)))
        if torch.is_grad_enabled():
            refuse_random_numbers()
        notes.note_body(site)
        notes.leave_branch()
        if notes.note_trip(site, spec_of(state, handed=handed), sure):
            return tuple(encode(state, plan))
        return tuple(leaf.clone() for leaf in leaves)

    return list(torch_while_loop(cond_fn, body_fn, tuple(init)))


def _initial(state: Any, plan: Plan) -> list[torch.Tensor]:
    leaves = encode(state, plan)
    if not torch.is_grad_enabled():
        return leaves
    wants_grad = tensor_grads(plan)
    if any(wants_grad):
        keep_saved_buffers()
    return [anchored(leaf) if wants else leaf for leaf, wants in zip(leaves, wants_grad, strict=True)]


def _for_no_trip(
    leaves: list[torch.Tensor], init: list[torch.Tensor], entered: bool | torch.Tensor
) -> list[torch.Tensor]:
    if not isinstance(entered, torch.Tensor):
        return leaves
    return [torch.where(entered, new, old) if new.requires_grad else new for new, old in zip(leaves, init, strict=True)]
