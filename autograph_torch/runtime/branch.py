"""ag.cond: two functions, of which the predicate picks one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.codec import decode, encode
from autograph_torch.runtime.effects import (
    body_effects,
    current_token,
    fail_again,
    had_effects,
    put_token,
    surrounding_effects,
)
from autograph_torch.runtime.fields import read_fields, write_fields
from autograph_torch.runtime.gradients import (
    keep_gradients,
    keep_layouts,
    recorded,
    refuse_random_numbers,
    unrecorded,
)
from autograph_torch.runtime.grown import check_given
from autograph_torch.runtime.instances import note_handed, note_results
from autograph_torch.runtime.layout import Spec
from autograph_torch.runtime.memories import Group
from autograph_torch.runtime.open_calls import Opened, goes_into_opened
from autograph_torch.runtime.open_contents import is_open, may_stay_open
from autograph_torch.runtime.outside import (
    announce,
    clones_of,
    copies_outside,
    hand_out,
    kept,
    outside_tensors,
    parted,
    put_stand_ins,
    share,
    write_outside,
    written,
    written_containers,
)
from autograph_torch.runtime.picking import ending
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.refusal import refuse
from autograph_torch.runtime.structure import (
    Pairs,
    Seen,
    containers_in,
    content_of,
    copies_of,
    copy_in,
    copy_of,
    has_numbers,
    lift_all,
    lower_all,
    note_copies,
    refuse_sets,
    scratch_of,
    spec_of,
    tensors_in,
    write_back,
)
from autograph_torch.runtime.values import HOLE

_NO_TOKEN: Spec = ("hole",)
_NOTHING: Spec = ("tuple", 0, ())
_ATTEMPTS = 4  # what a branch writes to is known after its first trace; more only when that makes it take another path


def _nothing(*_: Any) -> None:
    """What an `if` without `else` does otherwise."""


def cond(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any] = _nothing,
    operands: tuple[Any, ...] = (),
    mutated: tuple[Any, ...] = (),
    reads: tuple[Any, ...] = (),
    scratch: tuple[Any, ...] = (),
) -> Any:
    """`true_fn(*operands, *mutated, *scratch, *reads)` if `pred` else `false_fn(...)`.

    As torch.cond where only data can tell.

    Args:
        pred: a Python value, a tensor of one element, or a number that depends on data.
        true_fn, false_fn: what the branches do; they may read anything around them.
        operands: values that a branch both reads and rebinds.
        mutated: objects that a branch writes to in place; the writes are seen through every alias.
        reads: values that the branches only read, but may not close over: numbers that depend on data, and tensors
            that may share memory.
        scratch: objects that a branch writes to, and that nothing behind it uses: each branch has its own. (Behind a
            step of a loop they are used, where its ways meet. And nothing in the graph has what is in an open
            container, to make another of it.)

    Raises:
        CaptureError: AG310 when the results have no common static type, AG312 for a name bound on one side only.
    """
    flag = truth(pred)
    if not isinstance(flag, torch.Tensor):
        arguments = (*operands, *mutated, *scratch, *reads)
        return true_fn(*arguments) if flag else false_fn(*arguments)
    if goes_into_opened():
        return Opened(flag, true_fn, false_fn, (*operands, *mutated, *scratch, *reads))
    notes.note_site("if", "torch.cond")
    if scratch and (notes.in_step() or _has_open(scratch)):
        mutated, scratch = (*mutated, *scratch), ()
    return _staged(flag, true_fn, false_fn, operands, mutated, reads, scratch)


def _staged(
    flag: torch.Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...],
    mutated: tuple[Any, ...],
    reads: tuple[Any, ...],
    scratch: tuple[Any, ...],
) -> Any:
    site = notes.new_site()
    notes.note_ending(site, ending(), may_stay_open())
    refuse_sets(mutated)
    keep_layouts()
    if torch.is_grad_enabled():
        keep_gradients()
    changed = tuple([value for value in mutated if isinstance(value, torch.Tensor)]) if mutated else ()
    announce(site, changed, tensors_in(reads) if reads else ())
    for _ in range(_ATTEMPTS):
        passes = notes.hands_on_gradients(site)
        if passes:
            keep_gradients()
        tensors = outside_tensors(site)
        groups = notes.groups(site)
        fields = notes.field_count(site)
        changing = (*mutated, *_inside(scratch), *written_containers(site))
        notes.begin_attempt(site)
        done, value = _attempt(
            site, flag, true_fn, false_fn, operands, mutated, changing, reads, scratch, tensors, groups, fields, passes
        )
        if done:
            return value
        notes.discard_attempt(site)
    return refuse("AG206", "a branch writes to ever more tensors", "write to fewer tensors in the branch")


def _attempt(
    site: str,
    flag: torch.Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...],
    mutated: tuple[Any, ...],
    changing: tuple[Any, ...],
    reads: tuple[Any, ...],
    scratch: tuple[Any, ...],
    tensors: tuple[torch.Tensor, ...],
    groups: tuple[Group, ...],
    fields: int,
    passes: bool,
) -> tuple[bool, Any]:
    """One torch.cond; False when it has turned out that more tensors need stand-ins, or more is written to.

    `changing`: the mutated objects, and the containers that are known to be written to beside them.
    `passes`: whether a gradient is known to go through although none are recorded here.
    """
    sources = (*operands, *reads)
    numbers = has_numbers(sources)
    lifted = lift_all(sources) if numbers else sources
    # torch.cond saves what its branches close over: the objects written to afterwards must not be among them.
    memories = copies_outside(tensors, groups) if groups else ()
    outside: Pairs = []
    for k in range(len(changing)):
        copy_of(changing[k], outside)
    containers = tuple([outside[k][0] for k in range(len(outside))]) if outside else ()
    elements = (*(tensors_in(containers) if containers else ()), *kept())
    originals = (*containers, *tensors, *elements)
    outer = surrounding_effects()

    def run(which: str, branch: Callable[..., Any]) -> tuple[Any, Any]:
        notes.enter_body(site, which)
        autograph_effects = body_effects(outer)
        autograph_test = (flag, which == "then")  # noqa: F841 (what holds here, for runtime/effects.py)
        own = clones_of(memories) if memories else ()
        stand_ins = put_stand_ins(tensors, groups, own) if groups else ()
        pairs: Pairs = []
        objects = copies_of(changing, pairs) if changing else ()
        if containers:
            share(changing, objects)
        values = lower_all(lifted, sources) if numbers else sources
        if containers:
            values = tuple([copy_in(sources[k], pairs, values[k]) for k in range(len(values))])
        scratches = _scratches(scratch, pairs) if scratch else ()
        try:
            value = branch(*values[: len(operands)], *objects[: len(mutated)], *scratches, *values[len(operands) :])
        except Exception as error:  # whatever the data; the graph will raise it
            value = fail_again(error)
        check_given(value)
        # Clones: a variable of its own knows whether it has a gradient.
        new = clones_of(written(groups, own)) if groups else ()
        attributes = read_fields(site, fields) if fields else ()
        token: Any = HOLE
        token_spec = _NO_TOKEN
        # A branch without effects hands the token on when the other one has some.
        if notes.branches_have_effects(site) or had_effects(autograph_effects):
            token = current_token(autograph_effects)
            token_spec = spec_of(token)
        if torch.is_grad_enabled():
            refuse_random_numbers()
        contents = tuple([content_of(pairs[k][1]) for k in range(len(pairs))]) if pairs else ()
        inside = tuple([pairs[k][1] for k in range(len(pairs))]) if pairs else ()
        note_handed(site, (value, contents, attributes), (*containers, *sources), (*inside, *values))
        hand_out(site, tensors_in((value, contents)))
        notes.note_body(site)
        notes.leave_body()
        known = _known(pairs, tensors, stand_ins, elements) if originals else ()
        seen: Seen = []
        value_spec = spec_of(value, known, sources, seen, (0,))
        contents_spec = spec_of(contents, known, (), seen, (1,)) if pairs else _NOTHING
        fields_spec = spec_of(attributes, known, (), seen, (3,)) if attributes else _NOTHING
        specs = (value_spec, contents_spec, spec_of(new) if new else _NOTHING, fields_spec, token_spec)
        return ("tuple", 5, specs), (value, contents, new, attributes, token)

    def then() -> list[torch.Tensor]:
        spec, result = unrecorded(passes, run, "then", true_fn)
        return parted(encode(notes.note_then(site, spec), result))

    def otherwise() -> list[torch.Tensor]:
        if not notes.stand_ins_suffice(site):
            return encode(notes.give_up(site), None)
        spec, result = unrecorded(passes, run, "otherwise", false_fn)
        return parted(encode(notes.note_otherwise(site, spec), result))

    def again(which: str, branch: Callable[..., Any]) -> list[torch.Tensor]:
        spec, result = unrecorded(passes, run, which, branch)
        return parted(encode(notes.branch_encoder(site, which, spec), result))

    leaves = recorded(passes, torch.cond, flag, then, otherwise, ())
    if not notes.stand_ins_suffice(site) or notes.hands_on_gradients(site) != passes:
        return False, None
    if not notes.agrees(site):
        notes.discard_attempt(site)
        memories = copies_outside(tensors, groups)
        lifted = lift_all(sources) if numbers else sources
        bodies = lambda: again("then", true_fn), lambda: again("otherwise", false_fn)
        leaves = recorded(passes, torch.cond, flag, *bodies, ())
    decoder = recorded(passes, notes.branch_decoder, site)
    value, contents, new, attributes, token = recorded(passes, decode, decoder, leaves, originals, sources)
    for k in range(len(containers)):
        write_back(containers[k], contents[k])
    if new:
        write_outside(tensors, groups, new, notes.memory_gradients(site), notes.leaves_at(site))
    write_fields(site, attributes)
    note_results(site, (value, contents, attributes), flag)
    if isinstance(token, torch.Tensor):
        put_token(outer, token)
    return True, value


def _scratches(scratch: tuple[Any, ...], pairs: Pairs) -> tuple[Any, ...]:
    """A copy of each for the body; a loop around that runs over one of them has to know."""
    known = [*pairs]
    copies = scratch_of(scratch, known)
    note_copies(known)
    return copies


def _has_open(scratch: tuple[Any, ...]) -> bool:
    """Whether one of the containers is open."""
    for k in range(len(scratch)):  # noqa: SIM110  (a generator costs the tracer more)
        if isinstance(scratch[k], (list, dict)) and is_open(scratch[k]):
            return True
    return False


def _inside(scratch: tuple[Any, ...]) -> tuple[Any, ...]:
    """The lists and dicts inside of scratch containers: other names may lead to them."""
    found: tuple[Any, ...] = ()
    for k in range(len(scratch)):
        found += containers_in(list(scratch[k]) if isinstance(scratch[k], deque) else scratch[k])[1:]
    return found


def _known(
    pairs: Pairs, tensors: tuple[torch.Tensor, ...], stand_ins: tuple[torch.Tensor, ...], elements: tuple[Any, ...]
) -> tuple[tuple[Any, ...], ...]:
    """Objects from around the branch, in the order of `originals`, each as the branch may meet it."""
    known: tuple[tuple[Any, ...], ...] = (*pairs, *zip(tensors, stand_ins, strict=True))
    for k in range(len(elements)):
        known += ((elements[k],),)
    return known
