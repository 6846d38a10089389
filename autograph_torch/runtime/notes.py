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

from autograph_torch.runtime import layout, memories, tracing
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
def memory_plan(site: int, spec: Any) -> Any:
    """The plan of (carry, memories that trips write to), when the memories are what `spec` says."""
    notes = tracing.notebook()
    state = notes[site, "plan"]
    if (site, "memories") not in notes:
        notes[site, "memories"], known = True, ()
    else:
        state, known = state[2][0], state[2][1][2]
    added = layout.carry_plan(spec)[2]
    notes[site, "plan"] = ("tuple", 2, (state, ("tuple", len(added), known if len(known) == len(added) else added)))
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
def note_body(site: int) -> int:
    """Remember what the body that is being traced has used from around it, and written to."""
    memories.note_body(site)
    tracing.note_fields(site)
    return 0


@torch.compiler.assume_constant_result
def field_count(site: int) -> int:
    """How many attributes and closure cells the bodies write to, as far as is known."""
    notes = tracing.notebook()
    notes[site, "field count"] = len(tracing.fields_of(site))
    return int(notes[site, "field count"])


@torch.compiler.assume_constant_result
def groups(site: int) -> Any:
    """The tensors from around the bodies that have stand-ins in this attempt (see outside.py)."""
    return tracing.notebook()[site, "groups"]


@torch.compiler.assume_constant_result
def stand_ins_suffice(site: int) -> bool:
    """Whether no other tensor has turned out to need a stand-in, and no other attribute to be written to."""
    notes = tracing.notebook()
    same_fields = len(tracing.fields_of(site)) == notes[site, "field count"]
    return same_fields and bool(memories.groups_of(site) == notes[site, "groups"])


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
    tracing.enter_body()
    return tracing.change_depth(1)


@torch.compiler.assume_constant_result
def enter_test() -> int:
    """The predicate of a loop is a body, too, but no branch."""
    tracing.enter_body()
    return 0


@torch.compiler.assume_constant_result
def leave_branch() -> int:
    return tracing.change_depth(-1)


@torch.compiler.assume_constant_result
def branch_depth() -> int:
    """How many functions of torch.cond or torch.while_loop are being traced around this point."""
    return tracing.change_depth(0)


_effects: list[HostCall] = []


@torch.compiler.assume_constant_result
def is_first_effect() -> bool:
    """Whether no effect of this trace has left a token at the top level yet."""
    notes = tracing.notebook()
    first = "effects" not in notes
    notes["effects"] = True
    return first


@torch.compiler.assume_constant_result
def new_effect(function: Any, parts: Any, keywords: Any) -> int:
    """A number for one place of a traced program that calls a host function."""
    for part in parts:
        if part[0] == "tensor" and part[1]:
            raise_refusal(
                "AG322",
                "a tensor with a gradient would be printed without its grad_fn",
                "pass tensor.detach(), or a number: tensor.item()",
            )
    _effects.append(HostCall(function, parts, keywords))
    return len(_effects) - 1


@torch.compiler.assume_constant_result
def new_failure(error: Any, parts: Any) -> int:
    """A number for one place of a traced program that raises."""
    _effects.append(HostCall(error, parts, (), raises=True))
    return len(_effects) - 1


def perform(number: int, values: list[torch.Tensor]) -> None:
    """Run an effect, when the graph has come to it."""
    _effects[number].run(values)


@torch.compiler.assume_constant_result
def note_site(construct: str, outcome: str) -> int:
    """For `explain`: what a place in the source became."""
    tracing.record_site(construct, outcome)
    return 0
