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
from autograph_torch.runtime.gradients import anchored, keep_layouts, keep_saved_buffers, refuse_random_numbers
from autograph_torch.runtime.layout import Plan
from autograph_torch.runtime.operators import while_loop as torch_while_loop
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.structure import decode, encode, spec_of
from autograph_torch.runtime.values import HOLE

State = tuple[Any, ...]
_ROUNDS = 4  # int -> float -> tensor -> tensor with gradient: no value changes its type more often


def run(
    test: Callable[[State], Any],
    trip: Callable[[State], State],
    state: State,
    entered: bool | torch.Tensor,
) -> State:
    """Run `state = trip(state)` while `test(state)`.

    Args:
        test: the predicate of a state.
        trip: one trip; may change types on its first run, shapes never.
        state: the initial state.
        entered: whether there is a first trip: True, or a 0-d bool tensor.
    """
    site = notes.new_site()
    keep_layouts()
    outer = surrounding_effects()
    state = (HOLE, *state)  # in front: the token of the effects, should there be any
    plan = notes.carry_plan(site, spec_of(state, handed=state))
    for _ in range(_ROUNDS):
        notes.begin_attempt(site)
        init = _initial(state, plan)
        leaves = _attempt(site, plan, test, trip, init, state, not isinstance(entered, torch.Tensor))
        if notes.trips_agree(site):
            token, *final = decode(plan, _for_no_trip(leaves, init, entered), handed=state)
            if isinstance(token, torch.Tensor):
                put_token(outer, token)
            return tuple(final)
        notes.discard_attempt(site)
        plan = notes.agreed_plan(site)
        if plan[2][0][0] == "tensor" and state[0] is HOLE:
            state = (current_token(outer), *state[1:])
    return refuse("AG311", "a loop changes the type of a value on every trip", "give it one type before the loop")


def _attempt(
    site: int,
    plan: Plan,
    test: Callable[[State], Any],
    trip: Callable[[State], State],
    init: list[torch.Tensor],
    begin: State,
    sure: bool,
) -> list[torch.Tensor]:
    outer = surrounding_effects()

    def cond_fn(*leaves: torch.Tensor) -> Any:
        flag = truth(test(decode(plan, list(leaves), handed=begin)[1:]))
        return flag.clone() if isinstance(flag, torch.Tensor) else flag

    def body_fn(*leaves: torch.Tensor) -> tuple[torch.Tensor, ...]:
        notes.enter_branch()
        before = decode(plan, list(leaves), handed=begin)
        autograph_effects = body_effects(outer)
        if before[0] is not HOLE:
            put_token(autograph_effects, before[0])
        after = trip(before[1:])
        token = current_token(autograph_effects) if had_effects(autograph_effects) else HOLE
        state = (token, *after)
        if torch.is_grad_enabled():
            refuse_random_numbers()
        notes.leave_branch()
        if notes.note_trip(site, spec_of(state, handed=begin), sure):
            return tuple(encode(state, plan))
        return tuple(leaf.clone() for leaf in leaves)

    leaves = list(torch_while_loop(cond_fn, body_fn, tuple(init)))
    for k in range(len(leaves)):
        forget_constant(leaves[k])
    return leaves


def forget_constant(tensor: torch.Tensor) -> None:
    """Keep `.item()` of a result from being folded: the tracer takes it for what one trip makes of a constant.

    (torch 2.13: `i = torch.tensor(0)`, then a loop of three trips `i = i + 1`, then `i.item()` gave 1.) The tracer does
    it (capture/hosts.py).
    """


def _initial(state: State, plan: Plan) -> list[torch.Tensor]:
    leaves = encode(state, plan)
    if not torch.is_grad_enabled():
        return leaves
    wants_grad = tensor_grads(plan)
    if any(wants_grad):
        keep_saved_buffers()
    return [anchored(leaf) if wants else leaf for leaf, wants in zip(leaves, wants_grad, strict=True)]


def tensor_grads(plan: Plan) -> list[bool]:
    """For every leaf of a plan, whether it takes part in differentiation."""
    if plan[0] in ("tuple", "list", "named", "dict"):
        return [wants for part in plan[2] for wants in tensor_grads(part)]
    if plan[0] == "maybe":
        return [False, *tensor_grads(plan[2][0])]
    if plan[0] == "tensor":
        return [plan[4]]
    return [False] if plan[0] == "number" else []


def _for_no_trip(
    leaves: list[torch.Tensor], init: list[torch.Tensor], entered: bool | torch.Tensor
) -> list[torch.Tensor]:
    if not isinstance(entered, torch.Tensor):
        return leaves
    return [torch.where(entered, new, old) if new.requires_grad else new for new, old in zip(leaves, init, strict=True)]
