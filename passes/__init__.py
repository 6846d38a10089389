"""The compiler's middle: one rewrite a file, in the order below.

Every pass is a function (tree of one function, facts about it) -> new tree. A pass never changes a node in place, never
prints and never reads files; what it refuses it reports as a diagnostic and leaves as it was.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.passes.attributes import lower_attributes
from autograph_torch.passes.branches import lower_branches
from autograph_torch.passes.comprehensions import unroll_filters
from autograph_torch.passes.effects import lower_effects
from autograph_torch.passes.filters import lower_filters
from autograph_torch.passes.growing import lower_growing
from autograph_torch.passes.grown import ask_grown
from autograph_torch.passes.hidden import keep_hidden_writes
from autograph_torch.passes.identities import ask_before_copies
from autograph_torch.passes.indices import lower_indices
from autograph_torch.passes.jumps import structure_jumps
from autograph_torch.passes.later_operands import nest_tests
from autograph_torch.passes.logic import lower_logic
from autograph_torch.passes.loops import lower_loops
from autograph_torch.passes.nones import flag_nones
from autograph_torch.passes.numbers import lower_numbers
from autograph_torch.passes.positions import lower_positions
from autograph_torch.passes.queries import lower_queries
from autograph_torch.passes.splits import make_room
from autograph_torch.passes.starts import has_work, may_have_work
from autograph_torch.passes.ternaries import lower_ternaries

__all__ = ["PASSES", "Pass", "has_work", "may_have_work"]

Pass = Callable[[gast.FunctionDef, Facts], gast.FunctionDef]

PASSES: tuple[Pass, ...] = (
    unroll_filters,  # first: as if the user had written a loop
    flag_nones,  # before the others, as the next three: it looks for what the user wrote
    lower_growing,  # behind flag_nones: a list that begins as None is not bound to a list
    ask_grown,  # behind it: what is asked of local lists is done by now
    lower_positions,  # with them: an element that data pick is a call, which all others then see
    ask_before_copies,  # while the test is what the user wrote
    make_room,  # as if the user had written it so
    nest_tests,  # likewise; each of the tests is then one for the others
    lower_effects,  # before the others: an assertion becomes an `if`, which all others then see
    lower_filters,  # before logic and numbers: a filter becomes a test or an operand, which they then see
    lower_attributes,  # while tests still are what the user wrote; from here on attributes are variables
    lower_numbers,  # while names still have the kinds that the user's text gives them
    lower_queries,  # before logic: what torch answers with a Python bool is an operand for the next
    lower_logic,  # before all that asks whether a test may be a tensor: it must find its final form
    lower_ternaries,  # expressions before statements, so that moved statements carry finished expressions
    structure_jumps,  # after it a jump under a tensor test ends its block, and so does its counterpart
    keep_hidden_writes,  # after jumps: what follows a `return` has moved into branches by now
    lower_loops,  # before branches: `break` and `continue` become returns of a step, which branches can carry
    lower_branches,  # by now every `if` on a tensor either joins values or ends in returns
    lower_indices,  # last: only now it is known what has moved into the body of a branch or loop
)
