"""Calls for their effect on the world, and exceptions under a tensor test, become effects of the graph, in order.

    print(f"loss {loss:.3f}")              ag.effect(print, ag.text("loss {:.3f}", loss))
    logger.info("loss %s", loss)           ag.effect(logger.info, "loss %s", loss)
    sys.stdout.write(text)                 ag.effect(print, text, end="")
    if bad.any(): raise ValueError("x")    if bad.any(): return ag.fail(ValueError, "x")     (in the branch's function)
    assert ok.all(), "not ok"              if ag.not_(ok.all()): ag.fail(AssertionError, "not ok")

Calls of print (also rich's), warnings.warn, tqdm.write, methods of loggers, and functions that the user names. The
runtime looks once more at what is called: a method `info` of something that is no logger is just called.
Left alone: exceptions with a cause, `raise` alone, log calls that ask for the exception being handled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.scopes import LOOPS, SCOPES, binds, exits, sub_statements, walk_scope
from autograph_torch.passes.text_lists import additions
from autograph_torch.passes.texts import Texts, makes_exception, text_values, texts_of
from autograph_torch.source.nodes import derive, is_none, name, place, rebuild, replace, walk
from autograph_torch.source.templates import constant, returns, runtime_call

_LEVELS = ("debug", "info", "warning", "error", "critical", "log", "warn")
_LOG_METHODS = frozenset((*_LEVELS, *(f"{level}_once" for level in _LEVELS)))  # the latter in many libraries
_FUNCTIONS = frozenset(("builtins.print", "rich.print", "warnings.warn"))
_TRACEBACK_KEYWORDS = frozenset(("exc_info", "stack_info"))
_STREAMS = {"sys.stdout": (), "sys.stderr": ("file",)}
# Last names of all that is called for its effect, but for what the user names.
HOST_WORDS = _LOG_METHODS | {name.rpartition(".")[2] for name in _FUNCTIONS} | {"write", "flush"}


def lower_effects(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite prints, warnings, log calls and asserts on tensors."""
    wanted = facts.handles_tensors()
    made = _exceptions_made_before(function, facts)
    texts = texts_of(function, facts, [*_shown(function, facts), *(node.value for node in made)])
    named = {id(node) for node in (*text_values(function, texts), *made)}
    added = {id(call) for call in additions(function) if call.func.value.id in texts.lists}
    behind = _behind_loops(function, facts)

    def lower(node: gast.AST, under_data: bool = False) -> gast.AST:
        if isinstance(node, SCOPES) or facts.is_skipped(node):
            return node
        under_data = under_data or facts.is_site(node) or _asks_for_texts(node, texts)
        if isinstance(node, gast.Assert) and facts.may_be_tensor(node.test):
            return _assertion(node, facts, texts)
        if wanted and isinstance(node, gast.Expr) and isinstance(node.value, gast.Call):
            written = _written(node.value, facts, texts)
            if written is not None:
                return derive(node, value=written)
        if wanted and isinstance(node, gast.Call) and is_host_call(node, facts):
            return _host_call(node, facts, texts)
        if isinstance(node, gast.Raise) and (under_data or node.lineno > behind):
            return _with_texts(node, texts)
        if id(node) in named:
            return derive(node, value=texts.argument(node.value))
        if texts.is_longer(node):
            return texts.longer(node)
        if id(node) in added:
            return derive(node, args=[texts.argument(argument) for argument in node.args])
        return rebuild(node, lambda child: lower(child, under_data))

    return rebuild(function, lower)


def _behind_loops(function: gast.FunctionDef, facts: Facts) -> float:
    """The line from which on data decides whether anything runs, because a loop above may return."""
    loops = [node for node in walk_scope(function.body) if isinstance(node, LOOPS) and facts.needs_steps(node)]
    return min((node.end_lineno for node in loops if exits(node.body).returns), default=math.inf)


def _shown(function: gast.FunctionDef, facts: Facts) -> Iterator[gast.expr]:
    """Every argument of an exception, and of an effect of the graph."""
    wanted = facts.handles_tensors()
    for node in walk(function):
        if facts.is_skipped(node):
            continue
        if isinstance(node, gast.Assert) and node.msg is not None and facts.may_be_tensor(node.test):
            yield node.msg
        call = node.exc if isinstance(node, gast.Raise) else node
        if not isinstance(call, gast.Call):
            continue
        if call is not node or (wanted and (is_host_call(call, facts) or stream_method(call, facts))):
            yield from [*call.args, *(keyword.value for keyword in call.keywords)]


def _exceptions_made_before(function: gast.FunctionDef, facts: Facts) -> list[gast.Assign]:
    """Assignments of exceptions to names that are only raised, or shown by an effect."""
    nodes = [node for node in walk(function) if not facts.is_skipped(node)]
    raised = [node.exc for node in nodes if isinstance(node, gast.Raise)]
    shown = [arg for node in nodes if isinstance(node, gast.Call) and is_host_call(node, facts) for arg in node.args]
    used = {id(node) for node in (*raised, *shown)}
    elsewhere = {n.id for n in nodes if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load) and id(n) not in used}
    return [
        node
        for node in nodes
        if isinstance(node, gast.Assign) and isinstance(node.targets[0], gast.Name) and len(node.targets) == 1
        if makes_exception(node.value) and node.targets[0].id not in elsewhere
    ]


def _asks_for_texts(node: gast.AST, texts: Texts) -> bool:
    """Whether an `if` asks whether there are texts, which data decide."""
    return isinstance(node, gast.If) and any(isinstance(n, gast.Name) and texts.is_named(n) for n in walk(node.test))


# -- host calls --------------------------------------------------------------------------------------------------------


def is_host_call(node: gast.Call, facts: Facts) -> bool:
    """Whether a call is made for its effect, as far as its text shows."""
    function = node.func
    origin = facts.kinds.origin(function)
    if origin in _FUNCTIONS or (origin or "").endswith("tqdm.write"):
        return True
    last = function.id if isinstance(function, gast.Name) else getattr(function, "attr", "")
    if last in facts.effects:
        return True
    if not isinstance(function, gast.Attribute) or last not in _LOG_METHODS:
        return False
    if any(keyword.arg in _TRACEBACK_KEYWORDS for keyword in node.keywords):
        return False
    owner = facts.kinds.origin(function.value)
    return owner in ("logging", "logging.Logger") or (owner is None and _named_like_a_logger(function.value))


def _named_like_a_logger(owner: gast.expr) -> bool:
    """`logger` in `self.logger.info`."""
    last = owner.id if isinstance(owner, gast.Name) else owner.attr if isinstance(owner, gast.Attribute) else ""
    return last.lower().strip("_") in ("log", "logger")


def _host_call(node: gast.Call, facts: Facts, texts: Texts) -> gast.expr:
    facts.report("AG110", node, "a call for its effect becomes an effect of the graph")
    new = runtime_call("effect", node.func, *(texts.argument(argument) for argument in node.args))
    new.keywords = _keywords(node, texts)
    return replace(node, new)


def _keywords(node: gast.Call, texts: Texts) -> list[gast.keyword]:
    new = []
    for keyword in node.keywords:
        value = texts.argument(keyword.value)
        new.append(keyword if value is keyword.value else derive(keyword, value=value))
    return new


def stream_method(node: gast.Call, facts: Facts) -> str:
    """`write` or `flush` of sys.stdout or sys.stderr."""
    if not isinstance(node.func, gast.Attribute) or facts.kinds.origin(node.func.value) not in _STREAMS:
        return ""
    fits = (node.func.attr, len(node.args), len(node.keywords)) in (("write", 1, 0), ("flush", 0, 0))
    return node.func.attr if fits else ""


def _written(node: gast.Call, facts: Facts, texts: Texts) -> gast.expr | None:
    """A call of `sys.stdout.write` as a print."""
    method = stream_method(node, facts)
    if not method:
        return None
    facts.report("AG110", node, "a call for its effect becomes an effect of the graph")
    options = {"end": constant("")} if method == "write" else {"end": constant(""), "flush": constant(True)}
    if _STREAMS[facts.kinds.origin(node.func.value) or ""]:
        options["file"] = node.func.value
    return replace(node, runtime_call("effect", name("print"), *map(texts.argument, node.args), **options))


# -- exceptions --------------------------------------------------------------------------------------------------------


def _assertion(node: gast.Assert, facts: Facts, texts: Texts) -> gast.stmt:
    arguments = [texts.argument(node.msg)] if node.msg is not None else []
    failure = gast.Expr(value=runtime_call("fail", name("AssertionError"), *arguments))
    negated = isinstance(node.test, gast.UnaryOp) and isinstance(node.test.op, gast.Not)
    test = node.test.operand if negated else runtime_call("not_", node.test)
    facts.report("AG111", node, "an assertion about tensors becomes a check in the graph")
    return replace(node, place(gast.If(test=test, body=[failure], orelse=[]), node))


def _with_texts(node: gast.Raise, texts: Texts) -> gast.Raise:
    """The statement with the texts of its arguments rewritten, when it can be raised from the graph."""
    if not isinstance(node.exc, gast.Call) or failure_of(node) is None:
        return node
    arguments = [texts.argument(argument) for argument in node.exc.args]
    keywords = _keywords(node.exc, texts)
    before = [*node.exc.args, *node.exc.keywords]
    if all(new is old for new, old in zip([*arguments, *keywords], before, strict=True)):
        return node
    return derive(node, exc=derive(node.exc, args=arguments, keywords=keywords))


def failure_of(node: gast.Raise) -> gast.expr | None:
    """`raise E(args)` as an expression; None for what cannot be raised from the graph."""
    from_none = is_none(node.cause)
    if node.exc is None or not (node.cause is None or from_none):
        return None
    if isinstance(node.exc, gast.Call):
        new = runtime_call("fail", node.exc.func, *node.exc.args)
        new.keywords = node.exc.keywords
        return new
    return runtime_call("fail", node.exc) if isinstance(node.exc, (gast.Name, gast.Attribute)) else None


def raise_as_return(node: gast.stmt) -> gast.stmt:
    """`raise E(args)` in a function that a pass makes returns the failure; also in the arms of an `if`."""
    if isinstance(node, gast.Raise) and (failure := failure_of(node)) is not None:
        return replace(node, returns(failure))
    if isinstance(node, gast.If):
        body, orelse = ([raise_as_return(s) for s in arm] for arm in (node.body, node.orelse))
        if any(a is not b for a, b in zip([*body, *orelse], [*node.body, *node.orelse], strict=True)):
            return derive(node, body=body, orelse=orelse)
    return node


def is_missed_by_handlers(
    node: gast.stmt, block: list[gast.stmt], on_raise: frozenset[str], facts: Facts, repeats: bool = False
) -> bool:
    """Whether a handler around reads what the block has bound before an exception: the block's function keeps it.

    A trace hands it on (capture/left_blocks.py). `repeats`: the block runs again, behind the head of a loop.
    """
    lost = [name for name in binds(block) if name in on_raise]
    if facts.for_trace or not lost:
        return False
    if not (repeats and _head_may_raise(node)) and not _raises_behind(block, frozenset(lost), bound=repeats)[0]:
        return False
    facts.report(
        "AG207",
        node,
        f"`{lost[0]}` is bound here, and read where an exception is handled",
        "bind it before the block that may raise",
    )
    return True


def _raises_behind(block: list[gast.stmt], names: frozenset[str], bound: bool) -> tuple[bool, bool]:
    """Whether something may be raised when one of the names has been bound; and whether one may be at the end."""
    for node in block:
        if isinstance(node, gast.If):
            if bound and _may_raise(node.test):
                return True, True
            arms = [_raises_behind(arm, names, bound) for arm in (node.body, node.orelse)]
            if any(raises for raises, _ in arms):
                return True, True
            bound = any(bound_there for _, bound_there in arms)
            continue
        binds_some = not names.isdisjoint(binds(node))
        at_once = bool(sub_statements(node)) or _binds_before_its_end(node)
        if (bound or (binds_some and at_once)) and _may_raise(node):
            return True, True
        bound = bound or binds_some
    return False, bound


def _binds_before_its_end(node: gast.stmt) -> bool:
    """Whether a simple statement goes on behind a name that it has bound: `a = xs[5] = 7`, `a, xs[5] = pair`, `:=`."""
    several = isinstance(node, gast.Assign) and not (len(node.targets) == 1 and isinstance(node.targets[0], gast.Name))
    return several or any(isinstance(inner, gast.NamedExpr) for inner in walk(node))


def _head_may_raise(node: gast.stmt) -> bool:
    """Whether a loop's test, or the iterator that it asks for the next element, may raise."""
    if isinstance(node, gast.For):
        return not (isinstance(node.iter, gast.Call) and getattr(node.iter.func, "id", "") == "range")
    return isinstance(node, gast.While) and _may_raise(node.test)


def _may_raise(node: gast.AST) -> bool:
    """Whether a statement or expression does more than to bind, or compare the identity of, what there is."""
    return any(
        not isinstance(inner, _NEVER_RAISE)
        or (isinstance(inner, (gast.Tuple, gast.List)) and isinstance(inner.ctx, gast.Store))  # unpacks
        for inner in walk(node)
    )


_VALUES = (gast.Name, gast.Constant, gast.Tuple, gast.List, gast.expr_context, gast.Compare, gast.Is, gast.IsNot)
_NEVER_RAISE = (*_VALUES, gast.Assign, gast.Pass, gast.Break, gast.Continue, gast.Return, gast.Expr)
