"""What one part of a trace tells another.

The functions of a torch.cond are traced one after the other and may hand out nothing but tensors, and its results must
match. So each branch leaves a note of what its result looks like, the second reads the first's, and the caller reads
both. The functions here run in real Python while Dynamo traces (`torch.compiler.assume_constant_result`): arguments and
results are constants to it. Notes live as long as the trace that wrote them.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

from autograph_torch.runtime import layout, performing, tracing
from autograph_torch.runtime.performing import HostCall
from autograph_torch.runtime.refusal import raise_refusal

_numbers = itertools.count()


@torch.compiler.assume_constant_result
def new_site() -> int:
    """A number for one traced branch or loop."""
    return next(_numbers)


@torch.compiler.assume_constant_result
def note_branch(site: int, arm: str, spec: Any) -> Any:
    """Remember the shape of a branch's result; the plan after which it is to be handed out."""
    notes = tracing.notebook()
    notes[site, arm] = spec
    if arm == "then":
        notes[site, "first"] = layout.travel(spec)
    return notes[site, "first"]


@torch.compiler.assume_constant_result
def branches_agree(site: int) -> bool:
    """Whether the leaves that the first branch travels as suit both."""
    notes = tracing.notebook()
    try:
        notes[site, "plan"] = layout.join(notes[site, "then"], notes[site, "otherwise"])
    except layout.Mismatch as mismatch:
        raise_refusal(mismatch.code, mismatch.message, mismatch.advice)
    return layout.same_form(layout.travel(notes[site, "plan"]), notes[site, "first"])


@torch.compiler.assume_constant_result
def agreed_plan(site: int) -> Any:
    """What both results have in common."""
    return tracing.notebook()[site, "plan"]


@torch.compiler.assume_constant_result
def agreed_travel(site: int) -> Any:
    """The leaves that suit both branches."""
    return layout.travel(tracing.notebook()[site, "plan"])


@torch.compiler.assume_constant_result
def carry_plan(site: int, spec: Any) -> Any:
    """The plan of a loop's carry as the initial values have it."""
    notes = tracing.notebook()
    notes[site, "init"] = spec
    notes[site, "plan"] = layout.carry_plan(spec)
    return notes[site, "plan"]


@torch.compiler.assume_constant_result
def note_trip(site: int, spec: Any, sure: bool) -> bool:
    """Remember what a trip makes of the carry; whether it suits the plan. `sure`: there is at least one trip."""
    notes = tracing.notebook()
    try:
        plan = layout.join_carry(notes[site, "plan"], spec, sure)
    except layout.Mismatch as mismatch:
        raise_refusal(mismatch.code, mismatch.message, mismatch.advice)
    agrees = bool(plan == notes[site, "plan"])
    notes[site, "plan"], notes[site, "agrees"] = plan, agrees
    return agrees


@torch.compiler.assume_constant_result
def trips_agree(site: int) -> bool:
    return bool(tracing.notebook()[site, "agrees"])


@torch.compiler.assume_constant_result
def begin_attempt(site: int) -> int:
    """Remember where an attempt starts to write into the graph."""
    tracing.notebook()[site, "mark"] = tracing.last_node()
    return 0


@torch.compiler.assume_constant_result
def discard_attempt(site: int) -> int:
    """Take back an attempt whose results did not fit together."""
    tracing.discard_after(tracing.notebook()[site, "mark"])
    return 0


@torch.compiler.assume_constant_result
def enter_branch() -> int:
    return tracing.change_depth(1)


@torch.compiler.assume_constant_result
def leave_branch() -> int:
    return tracing.change_depth(-1)


@torch.compiler.assume_constant_result
def branch_depth() -> int:
    """How many functions of torch.cond or torch.while_loop are being traced around this point."""
    return tracing.change_depth(0)


_effects: list[HostCall] = []


@torch.compiler.assume_constant_result
def has_token() -> bool:
    """Whether an effect of this trace has left a token at the top level; one that is there otherwise is of old."""
    return "token" in tracing.notebook()


@torch.compiler.assume_constant_result
def note_token() -> int:
    tracing.notebook()["token"] = True
    return 0


@torch.compiler.assume_constant_result
def drops_effects() -> bool:
    """Whether the user does not want effects."""
    chosen = performing.settings()
    return chosen is not None and chosen.mode == "drop"


@torch.compiler.assume_constant_result
def asserts() -> bool:
    """Whether exceptions are to be assertions of the graph: it is exported."""
    chosen = performing.settings()
    return chosen is not None and chosen.asserts


def shown_objects() -> list[Any]:
    """The objects that effects of this trace show, as the tracer knows them."""
    found: list[Any] = tracing.notebook().setdefault("shown", [])
    return found


def new_effect(call: HostCall) -> int:
    """A number for one place of a traced program that calls a host function or raises."""
    _effects.append(call)
    return len(_effects) - 1


def is_failure(number: int) -> bool:
    """Whether an effect is an exception."""
    return _effects[number].raises


def perform(number: int, values: list[torch.Tensor]) -> None:
    """Run an effect, when the graph has come to it."""
    performing.do(_effects[number], values)


@torch.compiler.assume_constant_result
def note_site(construct: str, outcome: str) -> int:
    """For `explain`: what a place in the source became."""
    tracing.record_site(construct, outcome)
    return 0
