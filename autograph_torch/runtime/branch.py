"""ag.cond: two functions, of which the predicate picks one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.effects import body_effects, current_token, had_effects, put_token, surrounding_effects
from autograph_torch.runtime.fields import read_fields, write_fields
from autograph_torch.runtime.gradients import keep_layouts, keep_saved_buffers, refuse_random_numbers
from autograph_torch.runtime.layout import tensor_grads
from autograph_torch.runtime.memories import Group
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
from autograph_torch.runtime.structure import (
    Pairs,
    Seen,
    content_of,
    copy_in,
    copy_of,
    decode,
    encode,
    fillers,
    is_in,
    lift,
    lower,
    spec_of,
    tensors_in,
    write_back,
)
from autograph_torch.runtime.values import HOLE

_ATTEMPTS = 4  # what a branch writes to is known after its first trace; more only when that makes it take another path


def cond(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] = (),
    mutated: tuple[Any, ...] = (),
    reads: tuple[Any, ...] = (),
) -> Any:
    """`true_fn(*operands, *mutated, *reads)` if `pred` else `false_fn(...)`, as torch.cond where only data can tell.

    Args:
        pred: a Python value, a tensor of one element, or a number that depends on data.
        true_fn, false_fn: what the branches do; they may read anything around them.
        operands: values that a branch both reads and rebinds.
        mutated: objects that a branch writes to in place; the writes are seen through every alias.

        reads: values that the branches only read, but may not close over: numbers that depend on data, and tensors
            that may share memory.

    Raises:
        CaptureError: AG310 when the results have no common static type, AG312 for a name bound on one side only.
    """
    flag = truth(pred)
    if not isinstance(flag, torch.Tensor):
        arguments = (*operands, *mutated, *reads)
        return true_fn(*arguments) if flag else false_fn(*arguments)
    notes.note_site("if", "torch.cond")
    return _staged(flag, true_fn, false_fn, operands, mutated, reads)


def _staged(
    flag: torch.Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...],
    mutated: tuple[Any, ...],
    reads: tuple[Any, ...],
) -> Any:
    site = notes.new_site()
    keep_layouts()
    if torch.is_grad_enabled():
        keep_saved_buffers()
    announce(site, tuple(value for value in mutated if isinstance(value, torch.Tensor)), tensors_in(reads))
    for _ in range(_ATTEMPTS):
        tensors = outside_tensors(site)
        groups = notes.groups(site)
        fields = notes.field_count(site)
        notes.begin_attempt(site)
        done, value = _attempt(site, flag, true_fn, false_fn, operands, mutated, reads, tensors, groups, fields)
        if done:
            return value
        notes.discard_attempt(site)
    return refuse("AG206", "a branch writes to ever more tensors", "write to fewer tensors in the branch")


def _attempt(
    site: int,
    flag: torch.Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...],
    mutated: tuple[Any, ...],
    reads: tuple[Any, ...],
    tensors: tuple[torch.Tensor, ...],
    groups: tuple[Group, ...],
    fields: int,
) -> tuple[bool, Any]:
    """One torch.cond; False when it has turned out that more tensors need stand-ins, or more fields are written to."""
    sources = (*operands, *reads)
    lifted = tuple(lift(value) for value in sources)
    # torch.cond saves what its branches close over: the objects written to afterwards must not be among them.
    memories = copies_outside(tensors, groups)

    outside: Pairs = []
    for value in mutated:
        copy_of(value, outside)
    containers = tuple(original for original, _ in outside)
    elements = tensors_in(containers)
    originals = (*containers, *tensors, *elements)
    outer = surrounding_effects()

    def run(branch: Callable[..., Any], has_effects: bool = False) -> tuple[Any, Any]:
        notes.enter_branch()
        autograph_effects = body_effects(outer)
        own = tuple(memories[k].clone() for k in range(len(memories)))
        stand_ins = put_stand_ins(tensors, groups, own)
        pairs: Pairs = []
        objects = tuple(copy_of(value, pairs) for value in mutated)
        values = tuple(
            copy_in(source, pairs) if is_in(source, containers) else lower(value, source)
            for value, source in zip(lifted, sources, strict=True)
        )
        value = branch(*values[: len(operands)], *objects, *values[len(operands) :])
        chained = has_effects or had_effects(autograph_effects)
        token = current_token(autograph_effects) if chained else HOLE
        contents = (tuple(content_of(copy) for _, copy in pairs), read_fields(site, fields))
        new = tuple(one.clone() for one in written(groups, own))  # a variable of its own knows if it has a gradient
        if torch.is_grad_enabled():
            refuse_random_numbers()
        notes.note_body(site)
        notes.leave_branch()
        copies = tuple((copy,) for _, copy in pairs)
        known = (*copies, *zip(tensors, stand_ins, strict=True), *((element,) for element in elements))
        seen: Seen = []
        described = spec_of(value, known, sources, seen, (0,)), spec_of(contents, known, (), seen, (1,))
        specs = (*described, spec_of(new), spec_of(token))
        return ("tuple", 4, specs), (value, contents, new, token)

    def then() -> tuple[torch.Tensor, ...]:
        spec, result = run(true_fn)
        return tuple(encode(result, notes.note_branch(site, "then", spec), for_branch=True))

    def otherwise() -> tuple[torch.Tensor, ...]:
        spec, result = run(false_fn)
        plan = notes.note_branch(site, "otherwise", spec)
        return tuple(encode(result, plan, for_branch=True) if notes.branches_agree(site) else fillers(plan))

    leaves = torch.cond(flag, then, otherwise, ())
    if not notes.stand_ins_suffice(site):
        return False, None
    travels = notes.agreed_travel(site)
    if not notes.branches_agree(site):
        notes.discard_attempt(site)
        effects = travels[2][3][0] == "tensor"  # then a branch without effects hands the token on
        memories = copies_outside(tensors, groups)
        lifted = tuple(lift(value) for value in sources)
        leaves = torch.cond(
            flag,
            lambda: _by_plan(run(true_fn, effects), travels),
            lambda: _by_plan(run(false_fn, effects), travels),
            (),
        )
    remaining = list(leaves)
    value_plan, content_plan, new_plan, token_plan = notes.agreed_plan(site)[2]
    done: dict[tuple[int, ...], torch.Tensor] = {}
    value = decode(value_plan, remaining, originals, sources, True, done, (0,))
    contents, field_values = decode(content_plan, remaining, originals, (), True, done, (1,))
    new = decode(new_plan, remaining, for_branch=True)
    for original, content in zip(containers, contents, strict=True):
        write_back(original, content)
    write_outside(tensors, groups, new, tensor_grads(new_plan))
    write_fields(site, field_values)
    token = decode(token_plan, remaining, for_branch=True)
    if isinstance(token, torch.Tensor):
        put_token(outer, token)
    return True, value


def _by_plan(described: tuple[Any, Any], plan: Any) -> tuple[torch.Tensor, ...]:
    return tuple(encode(described[1], plan, for_branch=True))
