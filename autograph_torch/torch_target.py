"""`--target torch`: one function through the shared passes and then to torch's own operators.

What the last pass refuses stays as the user wrote it: the passes run once more without those lines, until nothing is
refused.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Imports
from autograph_torch.analysis.seen import Site
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.knowledge import Types
from autograph_torch.passes import Pass
from autograph_torch.passes.branches import lower_branches
from autograph_torch.passes.hidden import keep_hidden_writes
from autograph_torch.passes.jumps import structure_jumps
from autograph_torch.passes.logic import lower_logic
from autograph_torch.passes.loops import lower_loops
from autograph_torch.passes.ternaries import lower_ternaries
from autograph_torch.passes.to_torch import lower_to_torch
from autograph_torch.passes.torch_branches import Refusal
from autograph_torch.rewriting import Rewritten, Surroundings, rewrite_function

# The shared passes, in the order of passes/__init__.py; effects, exits, queries and attributes need the runtime.
SHARED: tuple[Pass, ...] = (
    lower_logic,
    lower_ternaries,
    structure_jumps,
    keep_hidden_writes,
    lower_loops,
    lower_branches,
)

# What a file gets that has a loop with gradients (AG112).
SETTING = (
    "import torch._inductor.config{newline}{newline}"
    "torch._inductor.config.inplace_buffers = False  # else the gradients of loops are wrong (torch 2.13)"
)

_WORDS = {
    "ag.cond": "torch.cond",
    "ag.while_loop": "torch.while_loop",
    "ag.for_loop": "torch.while_loop",
    "becomes a call": "becomes one of torch",
}


def torch_name(imports: Imports) -> str | None:
    """What the file calls torch; None when it does not import it by itself."""
    names = [name for name, path in imports.torch.items() if path == ""]
    return "torch" if "torch" in names else names[0] if names else None


def rewrite_for_torch(
    function: gast.FunctionDef, around: Surroundings, seen: Mapping[str, Site] | None, is_method: bool = False
) -> Rewritten:
    """Rewrite a function to calls of torch.cond and torch.while_loop.

    Args:
        function: the tree, positions kept; never changed.
        around: what is known about its surroundings.
        seen: what an example run has shown of its branches and loops; None without one.
        is_method: whether the first parameter is the object.
    """
    left_alone: dict[int, Diagnostic | None] = {}
    while True:
        refusals: list[Refusal] = []
        last = functools.partial(
            _last_pass,
            types=Types(seen),
            torch=torch_name(around.imports) or "torch",
            refusals=refusals,
            plain=frozenset(line for line, reason in left_alone.items() if reason is None),
        )
        skipped = around.skipped_lines | frozenset(left_alone)
        rewritten = rewrite_function(
            function, replace(around, skipped_lines=skipped, passes=(*SHARED, last)), is_method=is_method
        )
        new = {refusal.line: refusal.diagnostic for refusal in refusals if refusal.line not in skipped}
        if not refusals:
            return Rewritten(function, rewritten.tree, _messages(rewritten.diagnostics, left_alone))
        if not new:  # a construct that goes on asking for the runtime
            return Rewritten(function, function, _messages((), left_alone))
        left_alone |= new


def _last_pass(
    tree: gast.FunctionDef, facts: Facts, types: Types, torch: str, refusals: list[Refusal], plain: frozenset[int]
) -> gast.FunctionDef:
    return lower_to_torch(tree, facts, types, torch, refusals, plain)


def _messages(found: tuple[Diagnostic, ...], left_alone: Mapping[int, Diagnostic | None]) -> tuple[Diagnostic, ...]:
    """The messages of the shared passes in the words of this target, and why other lines are left alone."""
    told = [replace(diagnostic, message=_in_words_of_torch(diagnostic.message)) for diagnostic in found]
    told += [diagnostic for diagnostic in left_alone.values() if diagnostic is not None]
    return tuple(sorted(told, key=lambda d: (d.line, d.column, d.code)))


def _in_words_of_torch(message: str) -> str:
    for old, new in _WORDS.items():
        message = message.replace(old, new)
    return message
