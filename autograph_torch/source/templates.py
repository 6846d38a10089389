"""The new syntax that passes put in: calls of the runtime, lambdas, local functions. One place for how it looks."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from autograph_torch.source.nodes import name

RUNTIME = "ag"


def runtime_call(function: str, *arguments: gast.expr, **keywords: gast.expr) -> gast.Call:
    """`ag.function(arguments...)`."""
    callee = gast.Attribute(value=name(RUNTIME), attr=function, ctx=gast.Load())
    return call(callee, *arguments, **keywords)


def runtime_function(node: gast.AST | None) -> str:
    """`cond` for a call of `ag.cond`; empty for what is no call of the runtime."""
    func = node.func if isinstance(node, gast.Call) else None
    if isinstance(func, gast.Attribute) and isinstance(func.value, gast.Name) and func.value.id == RUNTIME:
        return func.attr
    return ""


def is_runtime_call(node: gast.AST | None, function: str) -> bool:
    return runtime_function(node) == function


def call(callee: gast.expr, *arguments: gast.expr, **keywords: gast.expr) -> gast.Call:
    named = [gast.keyword(arg=key, value=value) for key, value in keywords.items()]
    return gast.Call(func=callee, args=list(arguments), keywords=named)


def constant(value: object) -> gast.Constant:
    return gast.Constant(value=value, kind=None)


def tuple_of(names: Sequence[str], store: bool = False) -> gast.Tuple:
    return gast.Tuple(elts=[name(n, store) for n in names], ctx=gast.Store() if store else gast.Load())


def packed(names: Sequence[str], store: bool = False) -> gast.expr:
    """How several results travel: one name alone, several as a tuple."""
    return name(names[0], store) if len(names) == 1 else tuple_of(names, store)


def parameter(identifier: str) -> gast.Name:
    return gast.Name(id=identifier, ctx=gast.Param(), annotation=None, type_comment=None)


def signature(names: Sequence[str]) -> gast.arguments:
    parameters = [parameter(n) for n in names]
    return gast.arguments(
        args=parameters, posonlyargs=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )


def thunk(value: gast.expr, parameters: Sequence[str] = ()) -> gast.Lambda:
    """`lambda parameters: value`, marked as ours."""
    node = gast.Lambda(args=signature(parameters), body=value)
    node._generated = True
    return node


def one_trip(identifier: str, body: list[gast.stmt]) -> gast.For:
    """`for identifier in ag.once(): body`: a block that is run once, and may be left by a jump."""
    target = name(identifier, store=True)
    return gast.For(target=target, iter=runtime_call("once"), body=body, orelse=[], type_comment=None)


def function(identifier: str, parameters: Sequence[str], body: list[gast.stmt]) -> gast.FunctionDef:
    """`def identifier(parameters): body`, marked as ours: later passes enter it as part of the user's function."""
    fields = {
        "name": identifier,
        "args": signature(parameters),
        "body": body or [gast.Pass()],
        "decorator_list": [],
        "returns": None,
    }
    node = gast.FunctionDef(**fields, type_comment=None, type_params=[])
    node._generated = True
    return node


def is_generated(node: gast.AST) -> bool:
    """Whether a function was made by a pass (`then`, `body`, `step`) rather than written by the user."""
    return getattr(node, "_generated", False)


def returns(value: gast.expr | None) -> gast.Return:
    return gast.Return(value=value)


def assign(names: Sequence[str], value: gast.expr, always_tuple: bool = False) -> gast.stmt:
    """`a, b = value`; with no names the value stands alone for its effects."""
    if not names:
        return gast.Expr(value=value)
    target = tuple_of(names, store=True) if always_tuple else packed(names, store=True)
    return gast.Assign(targets=[target], value=value, type_comment=None)
