"""`and`, `or`, `not`, chained comparisons, `any` and `all` on tensors become calls that keep the right operand lazy.

    if x.any() and not y.all():            if ag.and_(x.any(), lambda: ag.not_(y.all())):
    if x.any() and f(x) > 0:               if ag.and_then(x.any(), lambda: f(x) > 0):
    if 0 < x.sum() < 1:                    if ag.and_(0 < (middle := x.sum()), lambda: middle < 1):
    z = x.sum() or y                       z = ag.cond((left := x.sum()), lambda: left, lambda: y)
    z = (x.sum() > 0 and x) or 1           z = ag.cond(x.sum() > 0, lambda: x or 1, lambda: 1)
    if any(t.isnan().any() for t in ts):   if ag.any_(t.isnan().any() for t in ts):

As a test only the truth of an operand counts; as a value, `a and b` is one of its operands, and `not a` a Python bool.
In front of an `or` only its last operand can be the value, where what follows is short enough to be there twice.
`any` and `all` ask what an element gives for its truth: `ag.and_(b, lambda: c, is_asked=True)` in them is one of the
operands where Python decides, as `b and c` is.
Python operands in front stay as they are: `self.clip and x.norm() > 1` never asks a tensor for its truth.
Left alone: operands that bind a name (walrus) where they would move into a lambda, and a chain whose middle would have
to be bound where Python allows no walrus: in what a comprehension runs over (PEP 572).
"""

from __future__ import annotations

from typing import Any

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.scopes import SCOPES, binds, reads
from autograph_torch.analysis.vocabulary import HARMLESS_METHODS, SIZE_QUESTIONS, SIZED_METHODS
from autograph_torch.source.nodes import derive, name, rebuild, replace, walk
from autograph_torch.source.templates import RUNTIME, call, constant, runtime_call, runtime_function, thunk, tuple_of

_SHORT = 8  # nodes of the syntax tree: `self.bias.sum()` has four


def lower_logic(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Rewrite the logical operators of a function whose operands may be tensors."""
    return rebuild(function, _Logic(facts).value)


class _Logic:
    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._numbers: set[str] = set()  # temporary names of numbers that depend on data
        self._in_iterable = False  # of a comprehension: no name can be bound there

    def value(self, node: gast.AST) -> gast.AST:
        """A node where its value counts. Nested functions have been rewritten before, with facts of their own."""
        if isinstance(node, SCOPES):
            return node
        if self._facts.is_skipped(node):  # what is in its blocks may stand on other lines
            return rebuild(node, lambda child: self.value(child) if isinstance(child, gast.stmt) else child)
        if isinstance(node, gast.comprehension):
            tests, iterable = [self.test(test) for test in node.ifs], self._iterable(node.iter)
            same = iterable is node.iter and all(one is other for one, other in zip(tests, node.ifs, strict=True))
            return node if same else derive(node, iter=iterable, ifs=tests)
        if isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
            test = self.test(node.test)
            changed = node if test is node.test else derive(node, test=test)
            return rebuild(changed, lambda child: child if child is test else self.value(child))
        rewritten = self._logical(node, as_test=False)
        return rebuild(node, self.value) if rewritten is None else rewritten

    def _iterable(self, node: gast.expr) -> gast.AST:
        around, self._in_iterable = self._in_iterable, True
        try:
            return self.value(node)
        finally:
            self._in_iterable = around

    def test(self, node: gast.expr) -> gast.expr:
        """An expression of which only the truth counts."""
        rewritten = self._logical(node, as_test=True)
        if rewritten is not None:
            return rewritten
        inner: Any = self.test if isinstance(node, gast.BoolOp) or _is_not(node) else self.value
        return rebuild(node, inner)

    def _logical(self, node: gast.AST, as_test: bool) -> gast.expr | None:
        if isinstance(node, gast.BoolOp):
            return self._bool_op(node, as_test)
        if _is_not(node):
            return self._negation(node, as_test)
        if _is_negation_of_ours(node):
            return rebuild(node, lambda child: self.test(child) if child in node.args else child)
        if isinstance(node, gast.Compare) and len(node.ops) > 1 and self._facts.may_be_tensor(node):
            return self._chain(node, as_test)
        if runtime_function(node) == "sum_":
            return self._filtered_sum(node)
        if isinstance(node, gast.Call):
            return self._quantifier(node, as_test)
        return None

    def _done(self, old: gast.expr, new: gast.expr) -> gast.expr:
        self._facts.report("AG107", old, "a logical operator on tensors becomes a call")
        return replace(old, new)

    def _negation(self, node: gast.UnaryOp, as_test: bool) -> gast.expr | None:
        operand = self.test(node.operand)
        if not (self._facts.may_be_tensor(node.operand) or self._facts.may_be_tensor(operand)):
            return None
        new = runtime_call("not_", operand)
        return self._done(node, new if as_test else call(name("bool"), new))

    def _bool_op(self, node: gast.BoolOp, as_test: bool) -> gast.expr | None:
        if not as_test and (chosen := self._and_or(node)) is not None:
            return chosen
        # Python asks every operand but the last for its truth value.
        operands = [self.test(v) if as_test else self.value(v) for v in node.values]
        asked = [
            self._facts.may_be_tensor(old) or self._facts.may_be_tensor(new)
            for old, new in zip(node.values[:-1], operands[:-1], strict=True)
        ]
        if not any(asked) or any(binds(operand) for operand in node.values[1:]):
            return None
        return self._done(node, self._joined(node, operands, asked.index(True), as_test))

    def _joined(
        self, node: gast.BoolOp, operands: list[gast.expr], first: int, as_test: bool, **marks: gast.expr
    ) -> gast.expr:
        """The operands joined from the first on that may be a tensor; those in front of it stay Python's."""
        harmless = all(self._is_harmless(operand) for operand in node.values[first + 1 :])
        harmless = harmless and not self._may_fail_for_a_size(node.values)
        joined = self._join(node.op, operands[first:], as_test, harmless, **marks)
        return gast.BoolOp(op=node.op, values=[*operands[:first], joined]) if first else joined

    def _element(self, node: gast.expr, listed: bool) -> gast.expr:
        """What `any` or `all` goes through: it asks each for its truth, those of a list when all of them are there.

        An operand that has decided on an `and` or `or` is asked again. (Tensors and numbers do not see it.)
        """
        if isinstance(node, gast.BoolOp):
            if listed or any(self._facts.kinds.of(operand) == Kind.UNKNOWN for operand in node.values[:-1]):
                return self._asked_operand(node)
        elif listed and not _is_not(node):
            return self.value(node)
        return self.test(node)

    def _asked_operand(self, node: gast.BoolOp) -> gast.expr:
        """The operand that is the value of an `and` or `or`; only its truth counts, which is asked later."""
        operands = [self._element(operand, listed=True) for operand in node.values]
        asked = [self._facts.may_be_tensor(operand) for operand in node.values[:-1]]
        if not any(asked) or any(binds(operand) for operand in node.values[1:]):
            return derive(node, values=operands)
        joined = self._joined(node, operands, asked.index(True), as_test=True, is_asked=constant(True))
        return self._done(node, joined)

    def _and_or(self, node: gast.BoolOp) -> gast.expr | None:
        """`(test and then) or otherwise`: what the test gives is never the value."""
        first, *others = node.values
        if not isinstance(node.op, gast.Or) or not isinstance(first, gast.BoolOp) or not isinstance(first.op, gast.And):
            return None
        *tests, then = first.values
        if len(others) > 1 or not _is_short(others[0]) or any(map(binds, node.values)):
            return None
        if not any(map(self._facts.may_be_tensor, tests)):
            return None
        test = self.test(tests[0] if len(tests) == 1 else derive(first, values=tests))
        operands = [self.value(then), self.value(others[0])]
        asked = self._facts.may_be_tensor(then) or self._facts.may_be_tensor(operands[0])
        value = self._join(node.op, operands, False, False) if asked else gast.BoolOp(op=node.op, values=operands)
        return self._done(node, self._choice(test, value, operands[1], test))

    def _join(
        self, op: gast.boolop, operands: list[gast.expr], as_test: bool, harmless: bool, **marks: gast.expr
    ) -> gast.expr:
        if as_test:
            eager, lazy = ("and_", "and_then") if isinstance(op, gast.And) else ("or_", "or_else")
            return runtime_call(eager if harmless else lazy, operands[0], *map(thunk, operands[1:]), **marks)
        if self._binds_nothing():
            rest = self._rest(op, operands[1:], as_test, harmless)
            return runtime_call("and_value" if isinstance(op, gast.And) else "or_value", operands[0], thunk(rest))
        first, again = self._once(operands[0], "left")
        rest = self._rest(op, operands[1:], as_test, harmless)
        return self._choice(first, *((rest, again) if isinstance(op, gast.And) else (again, rest)), operands[0])

    def _binds_nothing(self) -> bool:
        """Whether values are handed to the runtime: Dynamo does not take what a walrus binds in a comprehension."""
        return self._facts.assume_unknown or self._in_iterable

    def _rest(self, op: gast.boolop, operands: list[gast.expr], as_test: bool, harmless: bool) -> gast.expr:
        return self._join(op, operands, as_test, harmless) if len(operands) > 1 else operands[0]

    def _chain(self, node: gast.Compare, as_test: bool) -> gast.expr | None:
        if any(binds(operand) for operand in node.comparators):
            return None
        links, left = [], self.value(node.left)
        for index, (op, right) in enumerate(zip(node.ops, node.comparators, strict=True)):
            right = self.value(right)
            last = index == len(node.ops) - 1
            now, again = (right, right) if last else self._once(right, "middle")
            if self._in_iterable and binds(now):
                return None
            links.append(gast.Compare(left=left, ops=[op], comparators=[now]))
            left = again
        if len(links) > 2 and any(binds(link) for link in links[1:]):
            return None  # the middle of a later link would be bound inside a lambda
        if as_test:
            operator = "and_" if all(self._is_harmless(link) for link in links[1:]) else "and_then"
            return self._done(node, runtime_call(operator, links[0], *(thunk(link) for link in links[1:])))
        joined = links[-1]
        for link in reversed(links[:-1]):
            if self._binds_nothing():
                joined = runtime_call("and_value", link, thunk(joined))
                continue
            first, again = self._once(link, "left")
            joined = self._choice(first, joined, again, link)
        return self._done(node, joined)

    def _choice(self, test: gast.expr, then: gast.expr, otherwise: gast.expr, asked: gast.expr) -> gast.expr:
        """`then if test else otherwise`; numbers that depend on data may not be closed over."""
        names = [name for name in reads([then, otherwise]) if name in self._numbers or self._facts.handed_over([name])]
        if isinstance(test, gast.NamedExpr) and self._is_number(asked):
            self._numbers.add(test.target.id)
            names.append(test.target.id)
        handed = sorted(set(names))
        groups = {"reads": tuple_of(handed)} if handed else {}
        return runtime_call("cond", test, thunk(then, handed), thunk(otherwise, handed), **groups)

    def _is_number(self, node: gast.expr) -> bool:
        kind = self._facts.kinds.of(node)
        return kind == Kind.SYMBOL or (kind == Kind.UNKNOWN and self._facts.assume_unknown)

    def _once(self, value: gast.expr, base: str) -> tuple[gast.expr, gast.expr]:
        """An expression to be evaluated now, and one to read its value again."""
        if isinstance(value, (gast.Name, gast.Constant)):
            return value, value
        temporary = self._facts.fresh(base)
        return gast.NamedExpr(target=name(temporary, store=True), value=value), name(temporary)

    def _quantifier(self, node: gast.Call, as_test: bool) -> gast.expr | None:
        if not self._facts.kinds.is_builtin(node.func, ("any", "all")) or len(node.args) != 1:
            return None
        argument = node.args[0]
        if not isinstance(argument, (gast.GeneratorExp, gast.ListComp)) or node.keywords:
            return None
        if not self._facts.may_be_tensor(argument.elt):
            return None
        asked = self._element(argument.elt, isinstance(argument, gast.ListComp))
        tested = argument if asked is argument.elt else derive(argument, elt=asked)
        new = runtime_call(node.func.id + "_", rebuild(tested, lambda c: c if c is asked else self.value(c)))
        self._facts.report("AG108", node, f"`{node.func.id}` over tensors becomes ag.{node.func.id}_")
        return replace(node, new if as_test else call(name("bool"), new))

    def _filtered_sum(self, node: gast.Call) -> gast.expr:
        """`ag.sum_((test, value) for ...)`: of the first only the truth counts."""
        pairs = node.args[0]
        first, *others = pairs.elt.elts
        pair = derive(pairs.elt, elts=[self.test(first), *map(self.value, others)])
        return derive(node, args=[rebuild(derive(pairs, elt=pair), lambda c: c if c is pair else self.value(c))])

    def _may_fail_for_a_size(self, operands: list[gast.expr]) -> bool:
        """Whether an operand fails for some sizes of a tensor, and only data tell its size, or another asks for one.

        `len(found) > 0 and found.max() > 1`
        """
        parts = [part for operand in operands for part in walk(operand)]
        called = [part.func for part in parts if isinstance(part, gast.Call) and isinstance(part.func, gast.Attribute)]
        sized = [function for function in called if function.attr in SIZED_METHODS]
        asked = {part.id if isinstance(part, gast.Name) else getattr(part, "attr", "") for part in parts}
        if sized and not asked.isdisjoint(SIZE_QUESTIONS):
            return True
        return any(self._facts.kinds.of(function.value) == Kind.DYNAMIC for function in sized)

    def _is_harmless(self, node: gast.AST) -> bool:
        """Whether evaluating an expression in vain has no effect and cannot fail."""
        if isinstance(node, (gast.Name, gast.Constant)):
            return True
        if isinstance(node, gast.Compare):
            return all(self._is_harmless(part) for part in (node.left, *node.comparators))
        if isinstance(node, gast.BoolOp):
            return all(self._is_harmless(part) for part in node.values)
        if isinstance(node, gast.UnaryOp):
            return self._is_harmless(node.operand)
        if isinstance(node, gast.BinOp):
            safe = isinstance(node.op, (gast.Add, gast.Sub, gast.Mult))
            return safe and self._is_harmless(node.left) and self._is_harmless(node.right)
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
            alone = not node.args and not node.keywords
            return alone and node.func.attr in HARMLESS_METHODS and self._is_harmless(node.func.value)
        if isinstance(node, gast.Attribute):
            if self._facts.kinds.torch_path(node) is not None:  # torch.float16
                return True
            return node.attr in ("shape", "ndim", "dtype", "device") and self._is_harmless(node.value)
        return False


def _is_negation_of_ours(node: gast.AST) -> bool:
    """`ag.not_(test)`, which an assertion has become."""
    if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Attribute):
        return False
    return node.func.attr == "not_" and isinstance(node.func.value, gast.Name) and node.func.value.id == RUNTIME


def _is_not(node: gast.AST) -> bool:
    return isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not)


def _is_short(node: gast.AST) -> bool:
    return len(list(walk(node))) <= _SHORT
