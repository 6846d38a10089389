"""ag.cond: two functions, of which the predicate picks one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.effects import body_effects, current_token, had_effects, put_token, surrounding_effects
from autograph_torch.runtime.gradients import keep_layouts, keep_saved_buffers, refuse_random_numbers
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.structure import apart, copy_of, decode, encode, fillers, lift, lower, spec_of, write_back
from autograph_torch.runtime.values import HOLE


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
    sources = (*operands, *reads)
    lifted = tuple(lift(apart(value) if reads else value) for value in sources)
    # torch.cond saves what its branches close over: the objects written to afterwards must not be among them.
    targets = tuple(lift(copy_of(value)) for value in mutated)

    outer = surrounding_effects()

    def run(branch: Callable[..., Any], holds: bool, has_effects: bool = False) -> tuple[Any, Any]:
        notes.enter_branch()
        autograph_effects = body_effects(outer)
        autograph_test = (flag, holds)  # noqa: F841 (what holds here, for runtime/effects.py)
        copies = tuple(copy_of(lower(value, source)) for value, source in zip(targets, mutated, strict=True))
        values = tuple(lower(value, source) for value, source in zip(lifted, sources, strict=True))
        value = branch(*values[: len(operands)], *copies, *values[len(operands) :])
        chained = has_effects or had_effects(autograph_effects)
        token = current_token(autograph_effects) if chained else HOLE
        contents = tuple(_content(copy) for copy in copies)
        if torch.is_grad_enabled():
            refuse_random_numbers()
        notes.leave_branch()
        spec = ("tuple", 3, (spec_of(value, copies, sources), spec_of(contents), spec_of(token)))
        return spec, (value, contents, token)

    def then() -> tuple[torch.Tensor, ...]:
        spec, result = run(true_fn, True)
        return tuple(encode(result, notes.note_branch(site, "then", spec), for_branch=True))

    def otherwise() -> tuple[torch.Tensor, ...]:
        spec, result = run(false_fn, False)
        plan = notes.note_branch(site, "otherwise", spec)
        return tuple(encode(result, plan, for_branch=True) if notes.branches_agree(site) else fillers(plan))

    notes.begin_attempt(site)
    leaves = torch.cond(flag, then, otherwise, ())
    travels = notes.agreed_travel(site)
    if not notes.branches_agree(site):
        notes.discard_attempt(site)
        effects = travels[2][2][0] == "tensor"  # then a branch without effects hands the token on
        leaves = torch.cond(
            flag,
            lambda: _by_plan(run(true_fn, True, effects), travels),
            lambda: _by_plan(run(false_fn, False, effects), travels),
            (),
        )
    remaining = list(leaves)
    value_plan, content_plan, token_plan = notes.agreed_plan(site)[2]
    value = decode(value_plan, remaining, mutated, sources, for_branch=True)
    for original, content in zip(mutated, decode(content_plan, remaining, for_branch=True), strict=True):
        write_back(original, content)
    token = decode(token_plan, remaining, for_branch=True)
    if isinstance(token, torch.Tensor):
        put_token(outer, token)
    return value


def _by_plan(described: tuple[Any, Any], plan: Any) -> tuple[torch.Tensor, ...]:
    return tuple(encode(described[1], plan, for_branch=True))


def _content(copy: Any) -> Any:
    """What is in an object that was written to; nothing for values that cannot be written to."""
    return copy if isinstance(copy, (torch.Tensor, list, dict)) else None
