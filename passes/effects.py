"""Calls for their effect on the world, and exceptions under a tensor test, become effects of the graph, in order.

    print(f"loss {loss:.3f}")              ag.effect(print, ag.text("loss {:.3f}", loss))
    warnings.warn("big")                   ag.effect(warnings.warn, "big")
    if bad.any(): raise ValueError("x")    if bad.any(): return ag.fail(ValueError, "x")     (in the branch's function)
    assert ok.all(), "not ok"              if ag.not_(ok.all()): ag.fail(AssertionError, "not ok")

Left alone: exceptions with a cause or with keywords.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.scopes import SCOPES
from autograph_torch.source.nodes import derive, name, place, rebuild, replace
from autograph_torch.source.templates import constant, parameter, runtime_call, thunk

_LOG_METHODS = frozenset(("debug", "info", "warning", "error", "critical", "log", "warn"))


def lower_effects(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite prints, warnings, log calls and asserts on tensors."""

    wanted = facts.handles_tensors()

    def lower(node: gast.AST) -> gast.AST:
        if isinstance(node, SCOPES) or facts.is_skipped(node):
            return node
        if isinstance(node, gast.Assert) and facts.may_be_tensor(node.test):
            return _assertion(node, facts)
        if wanted and isinstance(node, gast.Expr) and isinstance(node.value, gast.Call) and is_host_call(node.value):
            return derive(node, value=_host_call(node.value, facts))
        return rebuild(node, lower)

    return rebuild(function, lower)


def is_host_call(node: gast.Call) -> bool:
    """`print`, `warnings.warn` and the methods of loggers, as long as the arguments are written out."""
    if any(isinstance(argument, gast.Starred) for argument in node.args) or any(k.arg is None for k in node.keywords):
        return False
    function = node.func
    if isinstance(function, gast.Name):
        return function.id == "print"
    if not isinstance(function, gast.Attribute):
        return False
    owner = _owner(function)
    if owner == "warnings" and function.attr == "warn":
        return True
    return function.attr in _LOG_METHODS and owner.lower().lstrip("_") in ("log", "logger", "logging")


def _owner(function: gast.Attribute) -> str:
    """The last name before the method: `logger` in `self.logger.info`."""
    base = function.value
    return base.id if isinstance(base, gast.Name) else base.attr if isinstance(base, gast.Attribute) else ""


def _host_call(node: gast.Call, facts: Facts) -> gast.expr:
    facts.report("AG110", node, "a call for its effect becomes an effect of the graph")
    arguments = [_argument(argument, facts) for argument in node.args]
    new = runtime_call("effect", _host_function(node.func), *arguments)
    new.keywords = node.keywords
    return replace(node, new)


def _host_function(function: gast.expr) -> gast.expr:
    """The function to call; a logger's method as a function, because the tracer does not take it for a constant."""
    of_module = isinstance(function, gast.Attribute) and _owner(function) == "warnings"
    if isinstance(function, gast.Attribute) and not of_module:
        call = gast.Call(
            func=function,
            args=[gast.Starred(value=name("args"), ctx=gast.Load())],
            keywords=[gast.keyword(arg=None, value=name("kwargs"))],
        )
        made = thunk(call)
        made.args.vararg, made.args.kwarg = parameter("args"), parameter("kwargs")
        return made
    return function


def _argument(node: gast.expr, facts: Facts) -> gast.expr:
    """A formatted string with tensors in it is put together when the graph runs."""
    if not isinstance(node, gast.JoinedStr) or not _formats_data(node, facts):
        return node
    template, values = "", []
    for part in node.values:
        if isinstance(part, gast.Constant):
            template += str(part.value).replace("{", "{{").replace("}", "}}")
            continue
        spec = _format_spec(part)
        if spec is None:
            return node
        conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
        template += "{" + conversion + (f":{spec}" if spec else "") + "}"
        values.append(part.value)
    return replace(node, runtime_call("text", constant(template), *values))


def _formats_data(node: gast.JoinedStr, facts: Facts) -> bool:
    return any(facts.kinds.of(p.value) not in (Kind.PYTHON,) for p in node.values if not isinstance(p, gast.Constant))


def _format_spec(part: gast.FormattedValue) -> str | None:
    if part.format_spec is None:
        return ""
    pieces = part.format_spec.values
    return "".join(str(p.value) for p in pieces) if all(isinstance(p, gast.Constant) for p in pieces) else None


def _assertion(node: gast.Assert, facts: Facts) -> gast.stmt:
    arguments = [_argument(node.msg, facts)] if node.msg is not None else []
    failure = gast.Expr(value=runtime_call("fail", name("AssertionError"), *arguments))
    negated = isinstance(node.test, gast.UnaryOp) and isinstance(node.test.op, gast.Not)
    test = node.test.operand if negated else runtime_call("not_", node.test)
    facts.report("AG111", node, "an assertion about tensors becomes a check in the graph")
    return replace(node, place(gast.If(test=test, body=[failure], orelse=[]), node))


def failure_of(node: gast.Raise, facts: Facts) -> gast.expr | None:
    """`raise E(args)` as an expression; None for what cannot be raised from the graph."""
    if node.exc is None or node.cause is not None:
        return None
    if isinstance(node.exc, gast.Call):
        if node.exc.keywords or any(isinstance(argument, gast.Starred) for argument in node.exc.args):
            return None
        return runtime_call("fail", node.exc.func, *(_argument(argument, facts) for argument in node.exc.args))
    if isinstance(node.exc, (gast.Name, gast.Attribute)) and _is_class_name(node.exc):
        return runtime_call("fail", node.exc)
    return None


def _is_class_name(node: gast.Name | gast.Attribute) -> bool:
    text = node.id if isinstance(node, gast.Name) else node.attr
    return text[:1].isupper()
