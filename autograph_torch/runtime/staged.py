"""One torch.while_loop for a state of any structure, with the gaps of torch's operator closed.

- Python numbers in the state travel as 0-d tensors and are Python numbers inside the body.
- A tensor that loses rows travels in a buffer of as many as it begins with (shrinking.py).
- A value that changes its type on the first trip (`total = 0`, then `total + x.sum()`) starts as what it becomes.
- Every result is cloned and contiguous; the predicate never aliases the state. Names that are one tensor before the
  loop and after every trip travel as one, and are one behind it.
- Gradients (torch 2.13): an initial value that needs no gradient but becomes part of a differentiable state is
  anchored, else only the last trip's gradient survives (facts S2); a loop without trips gives its initial values, else
  the body's gradient is applied once all the same (S1); Inductor may not reuse buffers in place, else it overwrites
  saved states (S3); and it hands a kernel for the GPU the saved states of a number on the CPU ("invalid argument",
  2.11), so that numbers travel on the device of what has a gradient.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value

from autograph_torch.runtime import notes
from autograph_torch.runtime.carried import (
    begin_test,
    begin_trip,
    check_apart,
    end_loop,
    end_trip,
    note_handed_on,
    note_kept,
    outermost,
    plain_inside,
    write_back_carried,
)
from autograph_torch.runtime.codec import decode, encode
from autograph_torch.runtime.effects import body_effects, current_token, had_effects, put_token, surrounding_effects
from autograph_torch.runtime.fields import read_fields, write_fields
from autograph_torch.runtime.gradients import (
    anchored,
    body_draws,
    keep_gradients,
    keep_layouts,
    recorded,
    refuse_random_numbers,
    unrecorded,
)
from autograph_torch.runtime.grown import Grows, lists_that_grow, note_longer
from autograph_torch.runtime.instances import note_handed, note_results, own_attributes
from autograph_torch.runtime.layout import Spec
from autograph_torch.runtime.memories import Group
from autograph_torch.runtime.operators import while_loop as torch_while_loop
from autograph_torch.runtime.outside import (
    INSIDE,
    announce,
    copies_outside,
    hand_out,
    note_same,
    outside_tensors,
    parted,
    put_stand_ins,
    remember,
    share,
    write_outside,
    written,
    written_containers,
)
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.shrinking import buffered, of_size, resized
from autograph_torch.runtime.structure import Seen, copies_of, is_of_a_trip, spec_of, tensors_in
from autograph_torch.runtime.values import HOLE, Hole

State = tuple[Any, ...]
_STATE, _CARRIED = (0,), (1,)  # paths to the two parts of what travels


def run(
    test: Callable[[State], Any],
    trip: Callable[[State], State],
    state: State,
    entered: bool | torch.Tensor,
    mutated: tuple[torch.Tensor, ...] = (),
    containers: tuple[Any, ...] = (),
    reads: tuple[torch.Tensor, ...] = (),
    pure: bool = False,
    flags: tuple[int, ...] = (),
) -> State | Grows:
    """Run `state = trip(state)` while `test(state)`; or say which lists grow in it.

    Args:
        test: the predicate of a state.
        trip: one trip; may change types on its first run, shapes never.
        state: the initial state.
        entered: whether there is a first trip: True, or a 0-d bool tensor.
        mutated, containers: tensors, and lists and dicts, from around the loop that trips write to, as far as is known.
        reads: tensors from around the loop that trips read, as far as is known.
        pure: whether it is to write nothing: it will be run again.
        flags: the positions of Python truth values that trips may only seem to write to.
    """
    site = notes.new_site()
    notes.assume_same(site, flags)
    keep_layouts()
    outer = surrounding_effects()
    announce(site, mutated, reads)
    state = (HOLE, *state)  # in front: the token of the effects, should there be any
    remember(site, () if notes.takes_apart(site) else state)
    handed = _handed(site, state)
    spec, seen = _described(site, state, handed)
    sure = not isinstance(entered, torch.Tensor)
    for _ in range(notes.most_rounds()):
        if state[0] is HOLE and notes.carry_has_effects(site):
            state = (current_token(outer), *state[1:])
            spec = ("tuple", len(state), (spec_of(state[0]), *spec[2][1:]))
        notes.begin_attempt(site)
        around = _around(site, containers)
        attributes = read_fields(site, around.fields)
        check_apart(around.containers, (*state, *attributes))
        remember(site + INSIDE, around.containers)
        carried = (*written(around.groups, around.memories), *around.containers, *attributes)
        carried_spec = spec_of(carried, seen=[*seen], path=_CARRIED)
        notes.note_memories(site, carried_spec)
        same = notes.same_tensors(site)
        passes = notes.carries_gradients(site)
        init = recorded(passes, _initial, site, ("tuple", 2, (spec, carried_spec)), (_changing(state, same), carried))
        leaves = _attempt(site, test, trip, init, state, handed, around, sure, passes)
        if notes.stand_ins_suffice(site) and not lists_that_grow(site) and notes.agrees(site):
            ends = recorded(passes, _ends, site, leaves, init, entered)
            decoder = notes.carry_decoder(site)
            final, contents = recorded(passes, decode, decoder, ends, plain_inside(around.containers), handed)
            final = _whole(final, state, same)
            if isinstance(final[0], torch.Tensor):
                put_token(outer, final[0])
            if pure:
                return tuple(final[1:])
            _write_back(site, around, contents)
            behind = len(contents) - around.fields
            held = contents[behind:]
            note_kept(site, sure, (state, attributes), (final, held))
            note_results(site, (tuple(final[1:]), held), held=contents[behind - len(around.containers) : behind])
            end_loop(site)
            return tuple(final[1:])
        notes.discard_attempt(site)
        if notes.stand_ins_suffice(site) and lists_that_grow(site):
            return Grows(lists_that_grow(site))
        if notes.takes_apart(site) or notes.holds_others(site, same):
            if notes.takes_apart(site):
                remember(site, ())
            handed = _handed(site, state)
            spec, seen = _described(site, state, handed)
    return refuse("AG311", "a loop changes the type of a value on every trip", "give it one type before the loop")


class _Around(NamedTuple):
    """What trips use from around them, as far as earlier attempts have told. It is carried behind the state.

    tensors, groups: tensors that need stand-ins, and how they lie in memory; memories: a copy of each.
    containers: lists and dicts that trips write to.
    fields: how many attributes of objects they write to.
    """

    tensors: tuple[torch.Tensor, ...]
    groups: tuple[Group, ...]
    memories: tuple[torch.Tensor, ...]
    containers: tuple[Any, ...]
    fields: int


def _around(site: str, containers: tuple[Any, ...]) -> _Around:
    tensors = outside_tensors(site)
    groups = notes.groups(site)
    memories = copies_outside(tensors, groups)
    carriers = outermost((*containers, *written_containers(site)))
    return _Around(tensors, groups, memories, carriers, notes.field_count(site))


def _write_back(site: str, around: _Around, contents: State) -> None:
    """Behind the loop: what it has carried behind its state, to where it came from."""
    behind = len(contents) - around.fields
    count = behind - len(around.containers)
    gradients = notes.memory_gradients(site)[:count]
    write_outside(around.tensors, around.groups, contents[:count], gradients, notes.leaves_at(site))
    write_back_carried(site, around.containers, contents[count:behind])
    write_fields(site, contents[behind:])


def _attempt(
    site: str,
    test: Callable[[State], Any],
    trip: Callable[[State], State],
    init: list[torch.Tensor],
    initial: State,
    handed: State,
    around: _Around,
    sure: bool,
    passes: bool,
) -> list[torch.Tensor]:
    outer = surrounding_effects()
    decoder, count, same = notes.carry_decoder(site), len(init), notes.same_tensors(site)
    tensors, groups, memories, containers, fields = around
    originals = plain_inside(containers)

    def entered_with(leaves: list[torch.Tensor]) -> tuple[State, tuple[torch.Tensor, ...], State]:
        """The state at the start of a trip or a test, and the memories and containers that it may write to."""
        changing, carried = decode(decoder, _where_they_were(site, leaves, init), originals, handed)
        state = _whole(changing, initial, same)
        if not groups and not fields and not containers:
            return state, (), ()
        own = list(memories)
        changing = [k for k in range(len(groups)) if groups[k][2]]
        for position in range(len(changing)):
            own[changing[position]] = carried[position].clone()
        put_stand_ins(tensors, groups, tuple(own))
        behind = len(carried) - fields
        copies = copies_of(carried[behind - len(containers) : behind], [])
        share(containers, copies)
        write_fields(site, carried[behind:])
        return state, written(groups, tuple(own)), copies

    def cond_fn(*leaves: torch.Tensor) -> Any:
        notes.enter_body(site, "test")
        state, _, _ = entered_with(list(leaves))
        notes.enter_test()
        begin_test(initial, state)
        autograph_effects = body_effects(outer)
        flag = truth(unrecorded(passes, test, state[1:]))
        # It runs once more than the body, and before the loop as well.
        if had_effects(autograph_effects) or notes.test_has_written() or body_draws():
            refuse(
                "AG206",
                "the test of a loop prints, raises, draws random numbers, or writes to an attribute or outer variable",
                "do that before the loop and at the end of its body",
            )
        notes.note_body(site)
        notes.leave_body()
        parted([])
        return flag.clone() if isinstance(flag, torch.Tensor) else flag

    def body_fn(*leaves: torch.Tensor) -> list[torch.Tensor]:
        notes.enter_body(site, "trip")
        written_to = notes.written_leaves(site)
        before, own, objects = entered_with(
            [leaves[k].clone() if k in written_to else leaves[k] for k in range(len(leaves))]
        )
        autograph_effects = body_effects(outer)
        if before[0] is not HOLE:
            put_token(autograph_effects, before[0])
        begin_trip(site, objects, initial, before)
        copies = plain_inside(objects)
        after = unrecorded(passes, trip, before[1:])
        note_handed_on(site, ((HOLE, *after), read_fields(site, fields)))
        whole, after = after, _changing((HOLE, *after), same)[1:]
        if objects:  # what the loop begins without (a value to return) is not read by the next trip
            carry = tuple([after[k] for k in range(len(after)) if not isinstance(handed[k + 1], Hole)])
            end_trip(site, objects, (*carry, *read_fields(site, fields)))
        note_handed(site, (after, read_fields(site, fields)), held=objects)
        token = current_token(autograph_effects) if had_effects(autograph_effects) else HOLE
        contents = tuple(own[k].clone() for k in range(len(own)))  # a variable of its own knows whether it has a grad
        state = ((token, *after), (*contents, *objects, *read_fields(site, fields)))
        if torch.is_grad_enabled() and not passes:
            refuse_random_numbers()
        hand_out(site, tensors_in(after))
        note_longer(site)
        notes.note_body(site)
        note_same(site, initial[1:], before[1:], whole)
        notes.leave_body()
        if lists_that_grow(site):
            return parted([leaves[k].clone() for k in range(len(leaves))])
        known = tuple([(originals[k], copies[k]) for k in range(len(originals))])
        seen: Seen = []
        state_spec = spec_of(state[0], known, handed, seen, _STATE)
        spec = ("tuple", 2, (state_spec, spec_of(state[1], handed=handed, seen=seen, path=_CARRIED)))
        if notes.note_trip(site, spec, sure):
            new = _together(encode(notes.carry_encoder(site, spec), state), init)
            rows = notes.buffers(site)
            new = [buffered(new[k], leaves[k]) if rows[k] else new[k] for k in range(len(new))]
            other = resized(new, leaves, notes.dimensions_of_rows(site))
            if not other or not notes.note_resized(site, other):
                new = [of_size(new[k], leaves[k]) for k in range(len(new))]
                return parted([*new, *[leaf.clone() for leaf in leaves[count:]]])
        return parted([leaves[k].clone() for k in range(len(leaves))])

    begin = init if init else [torch.zeros(())]  # torch's gradient of a loop needs something to carry
    results = list(recorded(passes, torch_while_loop, cond_fn, body_fn, tuple(begin)))[:count]
    notes.note_loop(site)
    return results


def _described(site: str, state: State, handed: State) -> tuple[Spec, Seen]:
    """What the state looks like before the first trip, and the tensors in it."""
    seen: Seen = []
    spec = spec_of(_changing(state, notes.same_tensors(site)), handed=handed, seen=seen, path=_STATE)
    notes.note_carry(site, spec)
    return spec, seen


def _handed(site: str, state: State) -> State:
    """The values of the initial state that may be handed through as the objects that they are."""
    if not notes.takes_apart(site):
        return state
    return tuple(HOLE if own_attributes(state[k]) is not None else state[k] for k in range(len(state)))


def _changing(state: State, same: tuple[int, ...]) -> State:
    """The state without the tensors that trips hand on as the objects that they are: bodies close over those."""
    return tuple([HOLE if k - 1 in same else state[k] for k in range(len(state))]) if same else state


def _whole(changing: State, initial: State, same: tuple[int, ...]) -> State:
    """The state with them."""
    return tuple([initial[k] if k - 1 in same else changing[k] for k in range(len(initial))]) if same else changing


def _initial(site: str, spec: Spec, begin: tuple[State, tuple[torch.Tensor, ...]]) -> list[torch.Tensor]:
    leaves = [_no_constant(leaf) for leaf in encode(notes.carry_encoder(site, spec), begin)]
    wants_grad = notes.carry_gradients(site)
    if torch.is_grad_enabled() and True in wants_grad:
        keep_gradients()
        leaves = [anchored(leaves[k]) if wants_grad[k] else leaves[k] for k in range(len(leaves))]
    return _together(leaves, leaves)


def _together(leaves: list[torch.Tensor], init: list[torch.Tensor]) -> list[torch.Tensor]:
    """All leaves on the GPU where one of those that the loop begins with has a gradient, if there is such a one."""
    device = _gradient_device(init)
    return leaves if device == "cpu" else [leaf.to(device) if leaf.device.type == "cpu" else leaf for leaf in leaves]


def _where_they_were(site: str, leaves: list[torch.Tensor], init: list[torch.Tensor]) -> list[torch.Tensor]:
    """The leaves that are tensors on the CPU for the program on the CPU again."""
    if _gradient_device(init) == "cpu":
        return leaves
    on_cpu = notes.carry_on_cpu(site)
    return [leaves[k].cpu() if on_cpu[k] else leaves[k] for k in range(len(leaves))]


def _gradient_device(init: list[torch.Tensor]) -> str:
    for k in range(len(init)):
        if init[k].requires_grad and init[k].device.type != "cpu":
            return str(init[k].device)
    return "cpu"


def _no_constant(leaf: torch.Tensor) -> torch.Tensor:
    """The same tensor, but none whose value the tracer knows.

    It knows that of `torch.tensor(0)` and of what is computed from it, and would take the result of the one trip that
    it traces for the result of the loop.
    """
    if not all(has_static_value(size) and size == 1 for size in leaf.shape):
        return leaf
    return _hidden(leaf)


def _hidden(leaf: torch.Tensor) -> torch.Tensor:
    """The same tensor, as the result of an operation."""
    return torch.where(torch.full((), True, device=leaf.device), leaf, leaf)


def _ends(
    site: str, leaves: list[torch.Tensor], init: list[torch.Tensor], entered: bool | torch.Tensor
) -> list[torch.Tensor]:
    """What the loop ends with: what it began with, and with its gradient, when there has been no trip.

    The tracer cannot hand to a body what lies at a place in its memory that data tell.
    """
    ends = _for_no_trip(leaves, init, entered)
    return _where_they_were(site, [_hidden(one) if is_of_a_trip(one) else _no_constant(one) for one in ends], init)


def _for_no_trip(
    leaves: list[torch.Tensor], init: list[torch.Tensor], entered: bool | torch.Tensor
) -> list[torch.Tensor]:
    if not isinstance(entered, torch.Tensor):
        return leaves
    pairs = zip(leaves, init, strict=True)
    return [torch.where(entered, new, old) if _has_gradient(new, old) else new for new, old in pairs]


def _has_gradient(new: torch.Tensor, old: torch.Tensor) -> bool:
    return torch.is_grad_enabled() and (new.requires_grad or old.requires_grad)
