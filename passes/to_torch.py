"""The last pass of `--target torch`: calls of the runtime become torch.cond and torch.while_loop, written out.

    y = ag.cond(p, lambda: x + 1, lambda: x)         y = torch.cond(p, lambda x: x + 1, lambda x: x.clone(), (x,))

    (x, n) = ag.while_loop(                          x, n = torch.while_loop(
        lambda x, n: x.norm() > 1, body, (x, n))         lambda x, n: x.norm() > 1, body, (x, torch.full((), n)))
                                                     n = n.item()

It runs behind the passes that both targets share; branches are in torch_branches.py, loops in torch_loops.py. What it
refuses is left as the user wrote it: the caller runs the passes again without those lines.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.passes.torch_branches import Around, Knowledge, Lowering, Refusal
from autograph_torch.passes.torch_encoding import Encoder
from autograph_torch.passes.torch_loops import lower_loop
from autograph_torch.source.nodes import derive, walk
from autograph_torch.source.templates import RUNTIME

_UNSUPPORTED = {
    "while_steps": ("data decides when this loop is left early", "put the condition into the test of a `while`"),
    "for_steps": ("data decides when this loop is left early", "put the condition into the test of a `while`"),
    "undefined": ("a name may be unbound", "bind it before the `if` or loop, or in every branch"),
    "bound": ("a name may be unbound", "bind it before the `if` or loop, or in every branch"),
    "free": ("a name may be unbound", "bind it before the `if` or loop, or in every branch"),
    "fail": ("a branch raises", "check it before, with torch._assert_async or in Python"),
    "and_then": ("the right operand may fail where it is not asked for", "write two nested `if`s"),
    "or_else": ("the right operand may fail where it is not asked for", "write two nested `if`s"),
    "any_": ("`any` over tensors has no counterpart in torch", "use torch.stack(...).any()"),
    "all_": ("`all` over tensors has no counterpart in torch", "use torch.stack(...).all()"),
    "sum_": ("a filter over tensors has no counterpart in torch", "use torch.where(...).sum()"),
    "not_": ("`not` on a tensor gives a Python bool", "use torch.logical_not"),
}


def lower_to_torch(
    tree: gast.FunctionDef,
    facts: Facts,
    knowledge: Knowledge,
    torch: str,
    refusals: list[Refusal],
    plain: frozenset[int] = frozenset(),
) -> gast.FunctionDef:
    """Replace the runtime's calls in a function.

    Args:
        tree: the function behind the shared passes.
        facts: what is known about it.
        knowledge: the types of its branches and loops.
        torch: the name that the file has for torch.
        refusals: where lines are added that have to stay as they were.
        plain: skipped lines whose tests are Python values.
    """
    lowering = Lowering(facts, knowledge, Encoder(torch), refusals, lower_loop, plain)
    without = any(lowering.is_no_grad(decorator) for decorator in tree.decorator_list)
    body = lowering.block(tree.body, Around(differentiable=not without))
    done = tree if body is tree.body else derive(tree, body=body)
    if not refusals:
        refusals.extend(_left_over(done, facts))
    return done


def _left_over(tree: gast.FunctionDef, facts: Facts) -> Iterator[Refusal]:
    """Calls of the runtime that no rule replaced."""
    for node in walk(tree):
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and node.value.id == RUNTIME:
            message, advice = _UNSUPPORTED.get(node.attr, (f"ag.{node.attr} has no counterpart in torch", ""))
            diagnostic = facts.diagnostic("AG251", node, f"left alone: {message}", advice)
            yield Refusal(diagnostic.line, diagnostic)
