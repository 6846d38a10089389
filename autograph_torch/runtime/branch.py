"""ag.cond: two functions, of which the predicate picks one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes
from autograph_torch.runtime.codec import decode, encode
from autograph_torch.runtime.effects import body_effects, current_token, had_effects, put_token, surrounding_effects
from autograph_torch.runtime.gradients import keep_layouts, keep_saved_buffers, refuse_random_numbers
from autograph_torch.runtime.layout import Spec
from autograph_torch.runtime.predicate import truth
from autograph_torch.runtime.structure import apart_all, copies_of, lift_all, lower_all, spec_of, write_back
from autograph_torch.runtime.values import HOLE

_NO_TOKEN: Spec = ("hole",)
_NO_CONTENTS: Spec = ("tuple", 0, ())


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
    lifted = lift_all(apart_all(sources) if reads else sources)
    # torch.cond saves what its branches close over: the objects written to afterwards must not be among them.
    targets = copies_of(mutated)
    outer = surrounding_effects()

    def run(which: str, branch: Callable[..., Any]) -> tuple[Any, Any]:
        notes.enter_body(site, which)
        autograph_effects = body_effects(outer)
        copies = copies_of(targets)
        values = lower_all(lifted, sources)
        value = branch(*values[: len(operands)], *copies, *values[len(operands) :])
        contents = _contents(copies)
        token: Any = HOLE
        token_spec = _NO_TOKEN
        # A branch without effects hands the token on when the other one has some.
        if notes.branches_have_effects(site) or had_effects(autograph_effects):
            token = current_token(autograph_effects)
            token_spec = spec_of(token)
        if torch.is_grad_enabled():
            refuse_random_numbers()
        notes.leave_body()
        specs = (spec_of(value, copies, sources), spec_of(contents) if contents else _NO_CONTENTS, token_spec)
        return ("tuple", 3, specs), (value, contents, token)

    def then() -> list[torch.Tensor]:
        spec, result = run("then", true_fn)
        return encode(notes.note_then(site, spec), result)

    def otherwise() -> list[torch.Tensor]:
        spec, result = run("otherwise", false_fn)
        return encode(notes.note_otherwise(site, spec), result)

    def again(which: str, branch: Callable[..., Any]) -> list[torch.Tensor]:
        spec, result = run(which, branch)
        return encode(notes.branch_encoder(site, which, spec), result)

    notes.begin_attempt(site)
    leaves = torch.cond(flag, then, otherwise, ())
    if not notes.agrees(site):
        notes.discard_attempt(site)
        leaves = torch.cond(flag, lambda: again("then", true_fn), lambda: again("otherwise", false_fn), ())
    value, contents, token = decode(notes.branch_decoder(site), leaves, mutated, sources)
    for k in range(len(mutated)):
        write_back(mutated[k], contents[k])
    if isinstance(token, torch.Tensor):
        put_token(outer, token)
    return value


def _contents(copies: tuple[Any, ...]) -> tuple[Any, ...]:
    """What is in the objects that were written to; nothing for values that cannot be written to."""
    contents: tuple[Any, ...] = ()
    for k in range(len(copies)):
        contents += (copies[k] if isinstance(copies[k], (torch.Tensor, list, dict)) else None,)
    return contents
