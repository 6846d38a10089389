"""Rewritten trees for the tests of the emitter, built by hand as passes build them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import gast

from autograph_torch.source.edits import apply
from autograph_torch.source.emit import function_edits
from autograph_torch.source.file import SourceFile
from autograph_torch.source.nodes import name, parse_expression, rebuild, replace

Rewrite = Callable[[Any], Any]


def call(function: str, *arguments: gast.expr) -> gast.Call:
    return gast.Call(parse_expression(function), list(arguments), [])


def parameters(*names: str) -> gast.arguments:
    return gast.arguments([gast.Name(it, gast.Param(), None, None) for it in names], [], None, [], [], None, [])


def function(title: str, body: list[Any], *names: str) -> gast.FunctionDef:
    return gast.FunctionDef(title, parameters(*names), body, [], None, None, [])


def thunk(body: gast.expr, *names: str) -> gast.Lambda:
    return gast.Lambda(parameters(*names), body)


def names(*identifiers: str, store: bool = False) -> gast.Tuple:
    context = gast.Store() if store else gast.Load()
    return gast.Tuple([name(identifier, store) for identifier in identifiers], context)


def assign(target: gast.expr, value: gast.expr) -> gast.Assign:
    return gast.Assign([target], value, None)


def functions_in(source: SourceFile) -> list[Any]:
    """The functions at the top level of a file and of its classes."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    inside = [it for node in source.tree.body if isinstance(node, ast.ClassDef) for it in node.body]
    return [gast.ast_to_gast(node) for node in [*source.tree.body, *inside] if isinstance(node, kinds)]


def rewritten(text: str | bytes, rewrite: Rewrite) -> str:
    """The file after `rewrite` of its first function."""
    source = SourceFile.read(text.encode() if isinstance(text, str) else text, "t.py")
    original = functions_in(source)[0]
    out = apply(source, function_edits(source, original, rewrite(original)))
    return out.decode(source.codec)


def statements(change: Rewrite) -> Rewrite:
    """Apply `change` to every statement, the innermost ones first."""

    def visit(node: Any) -> Any:
        if not isinstance(node, (gast.stmt, gast.ExceptHandler, gast.match_case)):
            return node
        node = rebuild(node, visit)
        return change(node) if isinstance(node, gast.stmt) else node

    return lambda root: rebuild(root, visit)


def if_to_functions(node: Any) -> Any:
    """`if p: A else: B` -> two nested functions and a call, as for branches of several statements."""
    if not isinstance(node, gast.If):
        return node
    branches = [replace(node, function("if_true", [*node.body, gast.Return(names("x", "y"))]))]
    if node.orelse:
        branches.append(replace(node, function("if_false", [*node.orelse, gast.Return(names("x", "y"))])))
    value = call("ag.cond", node.test, *(name(branch.name) for branch in branches))
    return [*branches, replace(node, assign(names("x", "y", store=True), value))]


def if_to_lambdas(node: Any) -> Any:
    """`if p: return a else: return b` -> `return ag.cond(p, lambda: a, lambda: b)`."""
    if not isinstance(node, gast.If):
        return node
    sides = [thunk(block[0].value) for block in (node.body, node.orelse)]
    return replace(node, gast.Return(call("ag.cond", node.test, *sides)))


def logic_to_calls(root: Any) -> Any:
    """`and`, `or`, `not` and `a if p else b` -> calls, wherever they stand."""

    def visit(node: Any) -> Any:
        if isinstance(node, (gast.JoinedStr, gast.pattern)):
            return node
        node = rebuild(node, visit)
        if isinstance(node, gast.BoolOp):
            result = node.values[0]
            for value in node.values[1:]:
                result = call("ag.or_" if isinstance(node.op, gast.Or) else "ag.and_", result, thunk(value))
            return replace(node, result)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return replace(node, call("ag.not_", node.operand))
        if isinstance(node, gast.IfExp):
            return replace(node, call("ag.cond", node.test, thunk(node.body), thunk(node.orelse)))
        return node

    return visit(root)


def loop_to_functions(node: Any) -> Any:
    """`for` and `while` -> a function for the body and a call."""
    if not isinstance(node, (gast.For, gast.While)):
        return node
    body = replace(node, function("body", [*node.body, gast.Return(names("x", "y"))], "i", "x", "y"))
    if isinstance(node, gast.For):
        value = call("ag.for_loop", node.iter, name("body"), names("x", "y"))
    else:
        value = call("ag.while_loop", thunk(node.test, "x", "y"), name("body"), names("x", "y"))
    return [body, replace(node, assign(names("x", "y", store=True), value)), *node.orelse]
