"""What is written to a list or dict right before a loop is left moves behind the loop.

    info = {}                              info = {}
    while n < 10:                          exit_ = 0
        if slope(x) < tol:                 while n < 10:
            info["at"] = n                     if slope(x) < tol:
            break                                  exit_ = 1
        x = step(x)                                break
    return x, info                             x = step(x)
                                           if exit_ == 1:
                                               info["at"] = n
                                           return x, info

So does a `return` behind such a write. Nothing runs between it and what follows the loop: the order of events is the
same. A loop of the graph gives its state one form; behind it both sides keep their own (passes/splits.py). A trace has
shown which loops these are (capture/attempts.py).

Left alone: a `break` in `with` or `try`, which may have more to do, and statements that are not written one by one.
"""

from __future__ import annotations

import gast

from autograph_torch.analysis.facts import Fresh
from autograph_torch.analysis.scopes import SCOPES, SUSPENDS, parameters
from autograph_torch.source.nodes import derive, name, place, rebuild, walk
from autograph_torch.source.templates import assign, constant

_SIMPLE = (gast.Assign, gast.AnnAssign, gast.AugAssign, gast.Expr)
_METHODS = frozenset("append extend insert add update setdefault pop popitem remove discard clear appendleft".split())


def move_exits(function: gast.FunctionDef, lines: frozenset[int], skipped: frozenset[int]) -> gast.FunctionDef:
    """Rewrite the loops of a function in which a trace has failed on one of these lines, but for those left alone.

    (Before the passes: behind it other names may be unbound where they are read.)
    """
    if not lines:
        return function
    taken = {node.id for node in walk(function) if isinstance(node, gast.Name)}
    fresh = Fresh(taken | set(parameters(function.args)))

    def move(node: gast.AST) -> gast.AST | list[gast.stmt]:
        if isinstance(node, SCOPES) or getattr(node, "lineno", None) in skipped:
            return node
        done = rebuild(node, move)
        if not isinstance(node, (gast.While, gast.For)) or lines.isdisjoint(_lines(node)):
            return done
        return _Exits(fresh).moved(done)

    return rebuild(function, move)


def _lines(loop: gast.AST) -> set[int | None]:
    return {getattr(node, "lineno", None) for node in walk(loop)}


class _Exits:
    """The ways out of one loop; `behind`: what moves behind it, for each of them."""

    def __init__(self, fresh: Fresh) -> None:
        self._fresh = fresh
        self._flag = ""
        self._behind: list[list[gast.stmt]] = []

    def moved(self, loop: gast.While | gast.For) -> gast.AST | list[gast.stmt]:
        body = self._block(loop.body)
        if not self._behind:
            return loop
        tests = [
            place(gast.If(test=_is(self._flag, number), body=block, orelse=[]), block[0])
            for number, block in enumerate(self._behind, 1)
        ]
        return [place(assign([self._flag], constant(0)), loop), derive(loop, body=body), *tests]

    def _block(self, block: list[gast.stmt]) -> list[gast.stmt]:
        if isinstance(block[-1], (gast.Break, gast.Return)):
            return self._left(block)
        return [
            derive(node, body=self._block(node.body), orelse=self._block(node.orelse) if node.orelse else [])
            if isinstance(node, gast.If)
            else node
            for node in block
        ]

    def _left(self, block: list[gast.stmt]) -> list[gast.stmt]:
        """The block without what it writes to containers at its end."""
        first = next((k for k, node in enumerate(block) if _writes(node)), None)
        *before, last = block
        if first is None or not all(_is_simple(node) for node in before[first:]):
            return block
        self._flag = self._flag or self._fresh("exit_")
        self._behind.append(block[first:] if isinstance(last, gast.Return) else before[first:])
        noted = place(assign([self._flag], constant(len(self._behind))), last)
        return [*before[:first], noted, place(gast.Break(), last)]


def _is(flag: str, number: int) -> gast.Compare:
    return gast.Compare(left=name(flag), ops=[gast.Eq()], comparators=[constant(number)])


def _is_simple(node: gast.stmt) -> bool:
    return isinstance(node, _SIMPLE) and not any(isinstance(inner, SUSPENDS) for inner in walk(node))


def _writes(node: gast.stmt) -> bool:
    """Whether it may write to a list or dict."""
    if isinstance(node, gast.Expr):
        method = getattr(node.value, "func", None)
        return isinstance(method, gast.Attribute) and method.attr in _METHODS
    targets = node.targets if isinstance(node, gast.Assign) else [getattr(node, "target", None)]
    return isinstance(node, _SIMPLE) and any(isinstance(target, gast.Subscript) for target in targets)
