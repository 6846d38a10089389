"""`super()` that has moved into a function of ours says what it means: Python finds its arguments only in a method.

x = super().forward(x)                 x = super(__class__, self).forward(x)
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.scopes import SCOPES, parameters
from autograph_torch.source.nodes import derive, name, rebuild
from autograph_torch.source.templates import is_generated


def spell_out_super(function: gast.FunctionDef) -> gast.FunctionDef:
    """Give `super()` its arguments in functions and lambdas that passes have made."""
    own = parameters(function.args)
    if not own:
        return function

    def visit(node: gast.AST, moved: bool) -> gast.AST:
        if isinstance(node, (*SCOPES, gast.Lambda)):
            if not is_generated(node):
                return node
            moved = True
        new = rebuild(node, lambda child: visit(child, moved))
        if (
            moved
            and isinstance(new, gast.Call)
            and not new.args
            and isinstance(new.func, gast.Name)
            and new.func.id == "super"
        ):
            return derive(new, args=[name("__class__"), name(own[0])])
        return new

    return rebuild(function, lambda child: visit(child, False))
