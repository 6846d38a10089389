"""Printing a new expression around old text.

`ast.unparse` knows where parentheses are needed, but knows no source text. So every sub-expression whose text is
already decided is replaced by a *stand-in*, an expression of unmistakable names that binds exactly as strongly; the
whole is unparsed, and the decided texts take the place of the stand-ins:

    ag.cond(p, lambda: <x+10>)   ->   ag.cond(p, lambda: _ag0_ + _ag0_)   ->   ag.cond(p, lambda: x+10)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import gast

from autograph_torch.source.nodes import name

Choice = Callable[[Any], "gast.expr | None"]

_BELOW_HEADER: dict[str, list[Any]] = {"orelse": [], "finalbody": [], "handlers": [], "cases": []}


def stand_in(node: gast.expr, number: int) -> gast.expr:
    """An expression that needs parentheses wherever `node` does."""
    it = name(f"_ag{number}_")
    if isinstance(node, gast.BinOp):
        return gast.BinOp(it, node.op, it)
    if isinstance(node, gast.UnaryOp):
        return gast.UnaryOp(node.op, it)
    if isinstance(node, gast.BoolOp):
        return gast.BoolOp(node.op, [it, it])
    if isinstance(node, gast.Compare):
        return gast.Compare(it, [gast.Eq()], [it])
    if isinstance(node, gast.IfExp):
        return gast.IfExp(it, it, it)
    if isinstance(node, gast.Lambda):
        return gast.Lambda(gast.arguments([], [], None, [], [], None, []), it)
    if isinstance(node, gast.NamedExpr):
        return gast.NamedExpr(it, it)
    if isinstance(node, (gast.Await, gast.Yield, gast.YieldFrom)):
        return type(node)(it)
    return it


def is_thunk(node: gast.AST) -> bool:
    """A lambda without parameters, which Python 3.10 would print as `lambda : x`."""
    return isinstance(node, gast.Lambda) and not any(gast.iter_child_nodes(node.args))


def is_plain(arguments: gast.arguments) -> bool:
    """Nothing but names: no defaults, annotations or stars."""
    others = (arguments.posonlyargs, arguments.vararg, arguments.kwonlyargs, arguments.kwarg, arguments.defaults)
    return not any(others) and not any(node.annotation for node in arguments.args)


def skeleton(node: Any, choose: Choice) -> Any:
    """A copy of `node` in which every sub-expression that `choose` has a substitute for is substituted."""
    if isinstance(node, list):
        return [skeleton(item, choose) for item in node]
    if not isinstance(node, gast.AST):
        return node
    if isinstance(node, gast.expr) and (chosen := choose(node)) is not None:
        return chosen
    return node if isinstance(node, gast.JoinedStr) else inside(node, choose)


def inside(node: Any, choose: Choice) -> Any:
    """As `skeleton`, but `node` itself stays."""
    fields = {field: skeleton(getattr(node, field, None), choose) for field in node._fields}
    if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Constant):
        fields["value"] = node.value  # 1 .real and (1).real are printed right, but 1.real is not
    return type(node)(**fields)


def header_only(node: Any) -> Any:
    """A compound statement without what is below its header; other nodes as they are."""
    changes: dict[str, Any] = {}
    if isinstance(getattr(node, "body", None), list):
        changes["body"] = [gast.Pass()]
    changes.update({field: empty for field, empty in _BELOW_HEADER.items() if hasattr(node, field)})
    if not changes or isinstance(node, (gast.expr, gast.mod)):
        return node
    fields = {field: getattr(node, field, None) for field in node._fields}
    return type(node)(**{**fields, **changes})


def unparse(node: gast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(node)))


def substitute(text: str, texts: dict[str, str]) -> str:
    """Put the decided texts in the place of the stand-ins, all at once."""
    if not texts:
        return text
    pattern = "|".join(re.escape(key) for key in sorted(texts, key=len, reverse=True))
    return re.sub(pattern, lambda match: texts[match.group()], text)


def stand_in_text(node: gast.expr, number: int) -> str:
    """How a stand-in looks between the parentheses that it may get."""
    text = unparse(stand_in(node, number))
    return text[1:-1] if text.startswith("(") else text


def binds_weaker(parent: Any, child: gast.expr) -> bool:
    """`child` needs parentheses where it stands in `parent`."""
    if not isinstance(parent, (gast.expr, gast.stmt)) or isinstance(parent, gast.FormattedValue):
        return not isinstance(stand_in(child, 0), gast.Name)
    outline = header_only(parent)

    def printed(inner: gast.expr) -> str:
        return unparse(inside(outline, lambda node: inner if node is child else name("_")))

    plain = printed(name("_ag0_"))
    return substitute(printed(stand_in(child, 0)), {stand_in_text(child, 0): "_ag0_"}) != plain
