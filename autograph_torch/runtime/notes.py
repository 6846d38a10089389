"""What one part of a trace tells another.

The functions of a torch.cond are traced one after the other and may hand out nothing but tensors, and its results must
match. So each branch leaves a note of what its result looks like, the second reads the first's, and the caller reads
both. The functions here run in real Python while Dynamo traces (`torch.compiler.assume_constant_result`): arguments and
results are constants to it. Notes live as long as the trace that wrote them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from autograph_torch.diagnostics import CaptureError, Diagnostic
from autograph_torch.runtime import alternatives, layout, memories, performing, tracing
from autograph_torch.runtime.codec import Written, has_float_leaf, write_decoder, write_encoder
from autograph_torch.runtime.gradients import keep_bits
from autograph_torch.runtime.performing import HostCall
from autograph_torch.runtime.picking import Ending
from autograph_torch.runtime.refusal import raise_refusal

# What a branch gives: its value, the contents of containers and of memories that it writes to, attributes, the token.
_PARTS_OF_A_BRANCH, _MEMORIES = 5, 2
FORM = "the form of the elements of a list is told by the first"
_MOST_ROWS, _LEAST_ROWS, _MOST_BYTES = 1024, 16, 2**24  # of a list that data make longer and shorter
_ROUNDS = 6  # int -> float -> tensor -> tensor with gradient: no value changes its type more often


@torch.compiler.assume_constant_result
def new_site() -> str:
    """A name for one traced branch or loop: the bodies around it, and its number among those of the innermost body.

    A body that is traced again gives its sites their names again, so that they find what they had agreed on.
    """
    _refuse_transforms()
    _refuse_late()
    bodies = _bodies()
    body, count = bodies[-1]
    bodies[-1] = (body, count + 1)
    site = f"{body}/{count}"
    memories.recall(site)
    tracing.recall_fields(site)
    return site


def _refuse_transforms() -> None:
    """Stop where a transform of torch.func is under way, which Dynamo enters while it traces."""
    transform = tracing.transform()
    if transform is not None:
        batched = transform == "Vmap"
        raise_refusal(
            "AG327",
            f"a test that data decides inside {'torch.vmap' if batched else 'a derivative of torch.func'}",
            "write it as torch.where" if batched else "use torch.autograd.grad instead, or torch.where in the function",
        )


TOO_LONG = "a graph for all data takes too long to find"


def _refuse_late() -> None:
    """Stop where a graph for one path is the next to try, and it is time for it."""
    until = tracing.known().until
    if until is not None and time.process_time() > until:
        raise_refusal("AG320", TOO_LONG, "nest fewer branches and loops that write to what is around them")


@torch.compiler.assume_constant_result
def enter_body(site: str, which: str) -> int:
    """The tracer goes into a function of torch.cond or torch.while_loop."""
    body = f"{site}.{which}"
    tracing.enter_body(body)
    _bodies().append((body, 0))
    return 0


@torch.compiler.assume_constant_result
def leave_body() -> int:
    _bodies().pop()
    return 0


@torch.compiler.assume_constant_result
def body_depth() -> int:
    """How many functions of torch.cond or torch.while_loop are being traced around this point."""
    return len(_bodies()) - 1


@torch.compiler.assume_constant_result
def enter_step() -> int:
    """From here on, the ways through a step of a loop meet at its end."""
    notes = tracing.notebook()
    notes["steps"] = notes.get("steps", 0) + 1
    return 0


@torch.compiler.assume_constant_result
def leave_step() -> int:
    """The end of such a step."""
    tracing.notebook()["steps"] -= 1
    return 0


@torch.compiler.assume_constant_result
def in_step() -> bool:
    """Whether the ways from here on meet at the end of a step: each leaves its writes where the others do."""
    return tracing.notebook().get("steps", 0) > 0


def _bodies() -> list[tuple[str, int]]:
    """The bodies around the point that is being traced, and how many sites each has had so far."""
    bodies: list[tuple[str, int]] = tracing.notebook().setdefault("bodies", [("", 0)])
    return bodies


@torch.compiler.assume_constant_result
def note_ending(site: str, ending: Ending, may_stay_open: bool) -> int:
    """Remember what of a branch's results nobody looks at before the compiled function ends: Python may pick types.

    may_stay_open: whether it may pick what is in lists and dicts, too (open_contents.py).
    """
    tracing.notebook()[site, "ending"] = ending, may_stay_open
    return 0


@torch.compiler.assume_constant_result
def note_then(site: str, spec: Any) -> Written:
    """Remember what the first branch gives; the code that takes it apart.

    When it is what it was in an earlier trace of the same branch, it travels as the two branches agreed on then.
    """
    notes = tracing.notebook()
    notes[site, "then"] = spec
    notes[site, "first"] = layout.travel(_known_plan(site, spec))
    return _branch_encoder(spec, notes[site, "first"])


def _plans(site: str) -> dict[str, Any]:
    """By the form of what the first branch gives: what both have agreed on, in this or an earlier trace of them."""
    return tracing.notebook().setdefault((site, "plans"), {})  # type: ignore[no-any-return]


def _known_plan(site: str, spec: Any) -> Any:
    """What both branches have agreed on when the first gave this; more memories may be written to than then."""
    plan = _plans(site).get(_form(spec))
    if plan is None:
        return spec
    memories_written = spec[2][_MEMORIES]
    if layout.unaliased(plan[2][_MEMORIES]) == layout.unaliased(memories_written):
        return plan
    return ("tuple", _PARTS_OF_A_BRANCH, (*plan[2][:_MEMORIES], memories_written, *plan[2][_MEMORIES + 1 :]))


def _form(spec: Any) -> str:
    """A result's form, whichever of its parts are known to be objects from around the branch, without the memories."""
    parts = (part for k, part in enumerate(spec[2]) if k != _MEMORIES)
    return repr([layout.unaliased(part) for part in parts])


@torch.compiler.assume_constant_result
def note_otherwise(site: str, spec: Any) -> Written:
    """Remember what the second branch gives; the code that makes of it what the first one gave.

    When the leaves that the first travels as do not suit both, the attempt is given up, and fillers do.
    """
    notes = tracing.notebook()
    try:
        plan = alternatives.join_results(notes[site, "then"], spec, *notes[site, "ending"])
    except layout.Mismatch as mismatch:
        raise_refusal(mismatch.code, mismatch.message, mismatch.advice)
    notes[site, "plan"], first = plan, notes[site, "first"]
    _plans(site)[_form(notes[site, "then"])] = plan
    notes[site, "agrees"] = layout.same_form(layout.travel(plan), first)
    notes[site, "constants"] = frozenset(layout.numbers_of_constants(notes[site, "then"], spec))
    if _passes(layout.gradients(layout.travel(plan))):
        notes[site, "hands on"] = True
    return _branch_encoder(spec if notes[site, "agrees"] else ("hole",), first)


@torch.compiler.assume_constant_result
def give_up(site: str) -> Written:
    """The second branch need not be traced, for the attempt will be discarded: fillers in the place of its result."""
    return _branch_encoder(("hole",), tracing.notebook()[site, "first"])


@torch.compiler.assume_constant_result
def agrees(site: str) -> bool:
    """Whether the two branches, or all trips of a loop, gave the same leaves."""
    return bool(tracing.notebook()[site, "agrees"])


@torch.compiler.assume_constant_result
def branch_encoder(site: str, which: str, spec: Any) -> Written:
    """The code that makes of a branch's result what both have agreed on."""
    tracing.notebook()[site, which] = spec
    return _branch_encoder(spec, layout.travel(tracing.notebook()[site, "plan"]))


@torch.compiler.assume_constant_result
def branch_decoder(site: str) -> Written:
    """The code that makes the result of either branch of what has travelled: that of the newest torch.cond."""
    memories.mark_operator("cond")
    notes = tracing.notebook()
    plan = notes[site, "plan"]
    as_float, picks = _as_float(layout.travel(plan)), len(_bodies()) == 1
    return write_decoder(plan, as_float, for_branch=True, picks=picks, constants=notes[site, "constants"])


@torch.compiler.assume_constant_result
def hands_on_gradients(site: str) -> bool:
    """Whether a branch is known to hand on a tensor with a gradient where none are recorded."""
    return not torch.is_grad_enabled() and (site, "hands on") in tracing.notebook()


@torch.compiler.assume_constant_result
def carries_gradients(site: str) -> bool:
    """Whether a loop carries a tensor with a gradient where none are recorded: it may make no trip, or hand it on."""
    return _passes(layout.gradients(tracing.notebook()[site, "plan"]))


def _passes(given: tuple[bool, ...]) -> bool:
    """Whether one of these leaves has a gradient where none are recorded.

    Raises:
        CaptureError: AG206 in inference mode, which cannot be left for an operator alone.
    """
    if torch.is_grad_enabled() or not any(given):
        return False
    if tracing.in_inference_mode():
        raise_refusal(
            "AG206",
            "a branch or loop in inference mode hands on a tensor whose gradient is recorded",
            "use torch.no_grad(), or `detach()` the tensor before",
        )
    return True


@torch.compiler.assume_constant_result
def is_outermost() -> bool:
    """Whether what is being traced is in no body of an operator."""
    return len(_bodies()) == 1


@torch.compiler.assume_constant_result
def branches_have_effects(site: str) -> bool:
    """Whether a branch is known to have effects: the last part of both results is a token."""
    plan = tracing.notebook().get((site, "plan"))
    return plan is not None and bool(layout.travel(plan)[2][-1][0] == "tensor")


def _branch_encoder(spec: Any, plan: Any) -> Written:
    return write_encoder(spec, plan, _as_float(plan))


def _as_float(plan: Any) -> bool:
    """Whether integers have to travel as floats: gradients are recorded, and something has one."""
    disguised = torch.is_grad_enabled() and has_float_leaf(plan)
    if disguised:
        keep_bits()
    return disguised


@torch.compiler.assume_constant_result
def note_carry(site: str, spec: Any) -> int:
    """Remember the carry of a loop as the initial values have it, unless an earlier trace of the loop knew better.

    The plan is that of (carry, memories that trips write to).
    """
    notes = tracing.notebook()
    if repr(notes.get((site, "init"))) != repr(spec):
        notes[site, "plan"] = layout.within_reach(("tuple", 2, (layout.carry_plan(spec), ("tuple", 0, ()))))
    notes[site, "init"] = spec
    return 0


@torch.compiler.assume_constant_result
def note_memories(site: str, spec: Any) -> int:
    """Remember the memories that trips write to, as they are before the loop, unless the plan has them already."""
    notes = tracing.notebook()
    carry, known = notes[site, "plan"][2]
    added = layout.carry_plan(spec)
    notes[site, "plan"] = layout.within_reach(("tuple", 2, (carry, known if known[1] == added[1] else added)))
    return 0


@torch.compiler.assume_constant_result
def note_trip(site: str, spec: Any, sure: bool) -> bool:
    """Remember what a trip makes of the carry; whether it suits the plan. `sure`: there is at least one trip."""
    notes = tracing.notebook()
    if notes.pop((site, "others inside"), False):
        notes[site, "plan"], notes[site, "agrees"] = ("tuple", 2, (notes[site, "plan"][2][0], ("tuple", 0, ()))), False
        return False
    if layout.takes_apart(notes[site, "plan"], spec):
        notes[site, "apart"], notes[site, "agrees"] = True, False
        return False
    try:
        plan = layout.within_reach(layout.join_carry(notes[site, "plan"], spec, sure))
    except layout.Mismatch as mismatch:
        raise_refusal(mismatch.code, mismatch.message, mismatch.advice)
    agrees = bool(plan == notes[site, "plan"])
    if layout.count(plan) != layout.count(notes[site, "plan"]):
        tracing.written_leaves(site).clear()
    notes[site, "plan"], notes[site, "agrees"] = plan, agrees
    return agrees


@torch.compiler.assume_constant_result
def most_rounds() -> int:
    """How often a loop may be traced until no trip changes the type of a value, or adds a constant that data pick."""
    return _ROUNDS + (layout.MOST_PICKED if tracing.known().picks else 0)


@torch.compiler.assume_constant_result
def note_resized(site: str, leaves: tuple[int, ...]) -> bool:
    """Remember which leaves of a loop's carry have another number of rows after a trip; whether that is new."""
    notes = tracing.notebook()
    carry, memories_written = notes[site, "plan"][2]
    try:
        shrunk = layout.shrinking(carry, notes[site, "init"], leaves)
    except layout.Mismatch as mismatch:
        raise_refusal(mismatch.code, mismatch.message, mismatch.advice)
    if shrunk == carry:
        return False
    notes[site, "plan"], notes[site, "agrees"] = ("tuple", 2, (shrunk, memories_written)), False
    tracing.written_leaves(site).clear()
    return True


@torch.compiler.assume_constant_result
def buffers(site: str) -> tuple[bool, ...]:
    """For every leaf of a loop's carry, whether it is the buffer of a tensor that loses rows."""
    return layout.buffers(tracing.notebook()[site, "plan"])


@torch.compiler.assume_constant_result
def dimensions_of_rows(site: str) -> tuple[int, ...]:
    """For every leaf of a loop's carry, which of its dimensions, as it travels, is that of the rows."""
    return layout.dimensions_of_rows(tracing.notebook()[site, "plan"])


@torch.compiler.assume_constant_result
def note_written_back() -> int:
    """The newest write of the graph is what bodies have written to a tensor from around them."""
    memories.mark_written_back()
    return 0


@torch.compiler.assume_constant_result
def takes_apart(site: str) -> bool:
    """Whether the objects that a loop begins with are taken apart: a trip has put others in their place."""
    return (site, "apart") in tracing.notebook()


@torch.compiler.assume_constant_result
def carry_encoder(site: str, spec: Any) -> Written:
    """The code that takes a carry of this form apart."""
    return write_encoder(spec, tracing.notebook()[site, "plan"])


@torch.compiler.assume_constant_result
def carry_decoder(site: str) -> Written:
    """The code that puts the carry together again."""
    return write_decoder(tracing.notebook()[site, "plan"])


@torch.compiler.assume_constant_result
def carry_gradients(site: str) -> tuple[bool, ...]:
    """For every leaf of the carry and of the memories, whether it takes part in differentiation."""
    return layout.gradients(tracing.notebook()[site, "plan"])


@torch.compiler.assume_constant_result
def carry_on_cpu(site: str) -> tuple[bool, ...]:
    """For every leaf of the carry and of the memories, whether it is a tensor on the CPU."""
    return layout.on_cpu(tracing.notebook()[site, "plan"])


@torch.compiler.assume_constant_result
def memory_gradients(site: str) -> tuple[bool, ...]:
    """For every memory that the bodies of a branch or loop write to, whether its new content has a gradient."""
    parts = tracing.notebook()[site, "plan"][2]
    return layout.gradients(parts[_MEMORIES if len(parts) == _PARTS_OF_A_BRANCH else -1])


@torch.compiler.assume_constant_result
def leaves_at(site: str) -> tuple[bool, ...]:
    """For every tensor that has a stand-in, whether it is a leaf whose gradient is recorded, a parameter say."""
    return memories.leaves_at(site)


@torch.compiler.assume_constant_result
def carry_has_effects(site: str) -> bool:
    """Whether the loop is known to have effects: the first value of the carry is a token."""
    plan = tracing.notebook().get((site, "plan"))
    return plan is not None and bool(plan[2][0][2][0][0] == "tensor")


@torch.compiler.assume_constant_result
def note_body(site: str) -> int:
    """Remember what the body that is being traced has used from around it, and written to."""
    memories.note_body(site)
    tracing.note_fields(site)
    return 0


@torch.compiler.assume_constant_result
def enter_test() -> int:
    """The test of a loop begins; what has been written so far is the state that it is asked about."""
    tracing.note_state()
    return 0


@torch.compiler.assume_constant_result
def test_has_written() -> bool:
    """Whether the test of a loop has written to attributes, cells or containers."""
    return bool(tracing.written_fields()) or tracing.has_written_to_containers()


@torch.compiler.assume_constant_result
def field_count(site: str) -> int:
    """How many attributes and closure cells the bodies write to, as far as is known."""
    notes = tracing.notebook()
    notes[site, "found"] = tracing.found_at(site)
    return len(tracing.fields_of(site))


@torch.compiler.assume_constant_result
def replaced(site: str) -> tuple[tuple[Any, ...], ...]:
    """The places of inner lists and dicts that trips of a loop have put others in (see carried.py)."""
    return tuple(tracing.notebook().get((site, "replaced"), ()))


@torch.compiler.assume_constant_result
def written_leaves(site: str) -> tuple[int, ...]:
    """Which tensors of a loop's carry its trips write to in place."""
    return tuple(tracing.written_leaves(site))


@torch.compiler.assume_constant_result
def assume_same(site: str, positions: tuple[int, ...]) -> int:
    """Take it that the trips of a loop hand on these values of its state unchanged, until one does not."""
    for position in positions:
        tracing.same_tensors(site).setdefault(position, True)
    return 0


@torch.compiler.assume_constant_result
def same_tensors(site: str) -> tuple[int, ...]:
    """Which tensors and truth values of a loop's state its trips hand on as the objects that they are."""
    return tuple(position for position, same in tracing.same_tensors(site).items() if same)


@torch.compiler.assume_constant_result
def holds_others(site: str, same: tuple[int, ...]) -> bool:
    """Whether other tensors stay the objects that they are than was known before. (torch 2.11 traces no `!=` of it.)"""
    return same_tensors(site) != same


@torch.compiler.assume_constant_result
def new_list() -> str:
    """A name for a list that grows in a loop."""
    lists = tracing.notebook().setdefault("lists", {})
    name = f"list {len(lists)}"
    lists[name] = None
    return name


@torch.compiler.assume_constant_result
def on_one_path() -> bool:
    """Whether the trace follows the path of one call: data answer every test."""
    return tracing.known().one_path


@torch.compiler.assume_constant_result
def lists_numbers() -> bool:
    """Whether `tolist` of a vector whose length data tell gives a list of that length."""
    return tracing.known().listed


@torch.compiler.assume_constant_result
def begin_numbers(name: str, dtype: torch.dtype) -> torch.dtype:
    """Remember that the elements of a list are the numbers in a tensor of this dtype; the dtype they travel in."""
    kind = "bool" if dtype == torch.bool else "float" if dtype.is_floating_point else "int"
    travels = layout.NUMBER_DTYPES[kind]
    tracing.notebook()["lists"][name] = ("number", kind)
    tracing.notebook().setdefault("columns", {})[name] = (((), travels, "cpu"),)
    return travels


@torch.compiler.assume_constant_result
def recall_list(name: str) -> bool:
    """A list of this name begins (bounded.py); whether an earlier trace has told the form of its elements."""
    notes = tracing.notebook()
    notes["begins"] = True  # until `list_has_begun`
    known = tracing.known().forms.setdefault(name, None)
    notes.setdefault("lists", {}).setdefault(name, known and known[0])
    if known:
        notes.setdefault("columns", {}).setdefault(name, known[1])
    return is_known_row(name)


@torch.compiler.assume_constant_result
def list_has_begun() -> int:
    """What such a list begins with has been put into it."""
    tracing.notebook()["begins"] = False
    return 0


@torch.compiler.assume_constant_result
def begin_with_form(name: str) -> int:
    """A list that has begun without the form of its elements gets the first: the next trace begins with it."""
    tracing.known().forms[name] = row_plan(name), columns_of(name)
    raise_refusal("AG311", f"{FORM}: {name}", "begin the list with an element")


@torch.compiler.assume_constant_result
def room_of(name: str) -> int:
    """How many elements a list that data make longer and shorter has room for."""
    sizes = [math.prod(shape) * dtype.itemsize for shape, dtype, _ in columns_of(name)]
    return min(_MOST_ROWS, max(_LEAST_ROWS, _MOST_BYTES // max(1, sum(sizes))))


@torch.compiler.assume_constant_result
def check_comparable(name: str) -> int:
    """Refuse to look for an element that is not made of numbers.

    Raises:
        CaptureError: AG311, for tensors: Python asks whether they are the same object first.
    """
    if not layout.is_of_numbers(row_plan(name)):
        raise_refusal("AG311", "a list or set of tensors is asked for an element", "put numbers into it, by `.item()`")
    return 0


@torch.compiler.assume_constant_result
def may_be_full(name: str) -> bool:
    """Whether such a list may have no room for one more. As long as no loop adds to it, it has what has been added."""
    put = tracing.notebook().setdefault("put", {})
    in_loop = any(body.endswith(".trip") for body, _ in _bodies())
    put[name] = math.inf if in_loop else put.get(name, 0) + 1
    return bool(put[name] > room_of(name))


@torch.compiler.assume_constant_result
def row_encoder(name: str, spec: Any) -> Written:
    """The code that takes an element of such a list apart, and a note of its form, which is that of all."""
    lists = tracing.notebook()["lists"]
    try:
        plan = layout.row_plan(spec)
    except layout.Mismatch as mismatch:
        raise_refusal(mismatch.code, mismatch.message, mismatch.advice)
    if layout.count(plan) == 0:
        message = "a list that grows in a loop on data takes elements without tensors and numbers"
        raise_refusal("AG311", message, "count them, or append the number of the trip, too")
    if any(layout.gradients(layout.unaliased(spec))) and not torch.is_grad_enabled():
        message = "a list that grows in a loop on data takes a tensor whose gradient is recorded, under torch.no_grad()"
        raise_refusal("AG311", message, "append `detach()` of it, or its number")
    if lists[name] not in (None, plan):
        _refuse_row(" and ".join(map(layout.describe, layout.difference(lists[name], plan))))
    lists[name] = plan
    return write_encoder(spec, plan)


@torch.compiler.assume_constant_result
def note_columns(name: str, columns: Any) -> int:
    """Remember the sizes, dtype and device of every tensor that an element travels as."""
    known = tracing.notebook().setdefault("columns", {})
    if known.setdefault(name, columns) != columns:
        _refuse_row("tensors of different sizes")
    return 0


def _refuse_row(found: str) -> None:
    message = f"a list that grows in a loop on data takes elements of different types or sizes: {found}"
    raise_refusal("AG311", message, "give all of them one form, dtype and shape")


@torch.compiler.assume_constant_result
def is_known_row(name: str) -> bool:
    """Whether a list has had an element yet."""
    return tracing.notebook()["lists"][name] is not None


@torch.compiler.assume_constant_result
def begin_windows(names: tuple[str, ...]) -> int:
    """A loop is about to be traced that fills these lists: remember where, and what it is given of them."""
    notes = tracing.notebook()
    notes[names, "mark"] = tracing.last_node()
    for name in names:
        _windows()[name] = max(asked(name), 0) if is_known_row(name) else -1
    return 0


@torch.compiler.assume_constant_result
def windows_suffice(names: tuple[str, ...]) -> bool:
    """Whether the loop has asked for nothing more; else it is taken back, to be traced again."""
    if all(asked(name) <= _windows()[name] or not is_known_row(name) for name in names):
        return True
    tracing.discard_after(tracing.notebook()[names, "mark"])
    return False


@torch.compiler.assume_constant_result
def ask(name: str, count: int) -> int:
    """A trip asks for that many of the last elements of a list that it fills; or for their number alone."""
    asked_for = tracing.notebook().setdefault("asked", {})
    asked_for[name] = max(asked_for.get(name, -1), count)
    return 0


@torch.compiler.assume_constant_result
def asked(name: str) -> int:
    """How many of the last elements of a list the trips that fill it are known to ask for; -1: not even its length."""
    return int(tracing.notebook().get("asked", {}).get(name, -1))


@torch.compiler.assume_constant_result
def provided(name: str) -> int:
    """How many of them they are given in this attempt."""
    return _windows()[name]


def _windows() -> dict[str, int]:
    return tracing.notebook().setdefault("windows", {})  # type: ignore[no-any-return]


@torch.compiler.assume_constant_result
def row_decoder(name: str) -> Written:
    """The code that puts an element together again."""
    return write_decoder(row_plan(name))


def note_builder(name: str, number: int) -> None:
    """The number by which a list's elements are built behind the graph (rows.py)."""
    tracing.notebook().setdefault("builders", {})[number] = name


def row_plan(name: str) -> Any:
    """How the elements of a list travel."""
    return tracing.notebook()["lists"][name]


@torch.compiler.assume_constant_result
def columns_of(name: str) -> tuple[tuple[tuple[int, ...], torch.dtype, str], ...]:
    """Sizes, dtype and device of every tensor that an element travels as."""
    found: tuple[tuple[tuple[int, ...], torch.dtype, str], ...] = tracing.notebook()["columns"][name]
    return found


@torch.compiler.assume_constant_result
def rows_are_numbers(name: str) -> bool:
    return bool(row_plan(name)[0] == "number")


@torch.compiler.assume_constant_result
def rows_are_tensors(name: str) -> bool:
    return bool(row_plan(name)[0] == "tensor")


@torch.compiler.assume_constant_result
def first_trips_in_graph() -> bool:
    """Whether a loop makes its first trip in the graph's loop, too: a list grows in it, in a branch."""
    return tracing.known().first_trips


@torch.compiler.assume_constant_result
def mute(whether: bool) -> int:
    """From here on effects are left out, or not: a loop that has had them is run again."""
    notes = tracing.notebook()
    notes["muted"] = notes.get("muted", 0) + (1 if whether else -1)
    return 0


@torch.compiler.assume_constant_result
def is_muted() -> bool:
    """Whether effects are left out."""
    return bool(tracing.notebook().get("muted", 0))


@torch.compiler.assume_constant_result
def note_loop(site: str) -> int:
    """The newest torch.while_loop of the graph is that of the site."""
    memories.mark_loop(site)
    return 0


@torch.compiler.assume_constant_result
def groups(site: str) -> Any:
    """The tensors from around the bodies that have stand-ins in this attempt (see outside.py)."""
    return tracing.notebook()[site, "groups"]


@torch.compiler.assume_constant_result
def stand_ins_suffice(site: str) -> bool:
    """Whether no other tensor has turned out to need a stand-in, and no other attribute or list to be written to."""
    notes = tracing.notebook()
    return bool(tracing.found_at(site) == notes[site, "found"] and memories.groups_of(site) == notes[site, "groups"])


@torch.compiler.assume_constant_result
def begin_attempt(site: str) -> int:
    """Remember where an attempt starts to write into the graph."""
    tracing.notebook()[site, "mark"] = tracing.last_node()
    return 0


@torch.compiler.assume_constant_result
def discard_attempt(site: str) -> int:
    """Take back an attempt whose results did not fit together."""
    tracing.discard_after(tracing.notebook()[site, "mark"])
    return 0


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
def forget_token() -> int:
    tracing.notebook().pop("token", None)
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


@torch.compiler.assume_constant_result
def is_made_of_its_arguments(kind: type[BaseException]) -> bool:
    """Whether exceptions of a type keep all that their constructor is given: the user's own ones may not."""
    return not any("__init__" in names or "__new__" in names for names in _own_names(kind))


@torch.compiler.assume_constant_result
def shows_its_arguments(kind: type[BaseException]) -> bool:
    """Whether the texts of exceptions of a type tell their arguments, and nothing more."""
    plain = (kind.__str__, kind.__repr__) == (BaseException.__str__, BaseException.__repr__)
    return plain and not any("__new__" in names or "__format__" in names for names in _own_names(kind))


def _own_names(kind: type[BaseException]) -> Iterator[Mapping[str, Any]]:
    return (vars(parent) for parent in kind.__mro__ if parent.__module__ != "builtins")


@torch.compiler.assume_constant_result
def is_shown_as_dict(kind: type[dict[Any, Any]]) -> bool:
    """Whether what a dict shows of itself is what is in it: a Counter and the like say more."""
    return kind.__repr__ is dict.__repr__


def shown_objects() -> list[Any]:
    """The objects that effects of this trace show, as the tracer knows them."""
    found: list[Any] = tracing.notebook().setdefault("shown", [])
    return found


def new_effect(call: HostCall) -> int:
    """A number for one place of a traced program that calls a host function or raises."""
    _effects.append(call)
    return len(_effects) - 1


def effect_of(number: int) -> HostCall:
    """The call of an effect."""
    return _effects[number]


def diagnostic_of(number: int) -> Diagnostic:
    """Of an effect that raises an exception of ours."""
    return _effects[number].function.diagnostic  # type: ignore[no-any-return]


def is_failure(number: int) -> bool:
    """Whether an effect is an exception."""
    return _effects[number].raises


def failure_of(number: int) -> Any:
    """The exception of an effect that is one."""
    return _effects[number].function


def perform(number: int, values: list[torch.Tensor]) -> None:
    """Run an effect, when the graph has come to it."""
    performing.do(_effects[number], values)


@torch.compiler.assume_constant_result
def note_site(construct: str, outcome: str) -> int:
    """For `explain`: what a place in the source became."""
    tracing.record_site(construct, outcome)
    return 0


@torch.compiler.assume_constant_result
def refused_when_run(code: str, message: str, advice: str) -> int:
    """The number of an effect that refuses what the data have led to, at the line under trace."""
    filename, line, text = tracing.user_line()
    column = len(text) - len(text.lstrip()) + 1
    error = CaptureError(Diagnostic(code, filename, line, column, line, message, advice, text))
    return new_effect(HostCall(error, ("tuple", tuple, (("tuple", tuple, ()), ("dict", (), ()))), (), raises=True))
