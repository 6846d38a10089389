"""Branches for `--target torch`: ag.cond becomes torch.cond with explicit operands.

    y = ag.cond(p, lambda: x + 1, lambda: x)         y = torch.cond(p, lambda x: x + 1, lambda x: x.clone(), (x,))

The tensors that a branch reads are its operands; everything else is closed over. Every result is a tensor of its own
(torch_encoding.py). What the runtime decides when it runs must be known here: each branch and loop has a type, from the
text or from an example run (`Knowledge`).
Refused: results without one static type, effects in a branch, random numbers under gradients.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import gast

from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.later_writes import may_be_saved, written_behind
from autograph_torch.analysis.liveness import EMPTY, live_before
from autograph_torch.analysis.memory import Memory
from autograph_torch.analysis.metadata import Metadata, Unknown
from autograph_torch.analysis.scopes import SCOPES, binds, free_reads, parameters, reads
from autograph_torch.analysis.seen import NumberType, OtherType, Site, TensorType, TupleType, Type
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.passes.torch_encoding import (
    Encoder,
    Leaf,
    as_parts,
    first_untransportable,
    freshly_bound,
    is_fresh,
    is_fresh_call,
    is_known,
    leaf_of,
    method,
)
from autograph_torch.source.nodes import derive, name, place, rebuild, replace, walk
from autograph_torch.source.templates import (
    assign,
    call,
    constant,
    function,
    is_generated,
    is_runtime_call,
    returns,
    runtime_function,
    signature,
    thunk,
)

ROLES = ("then", "otherwise")
_LOGIC = ("and_", "or_", "not_", "and_then", "or_else")
_BLOCKS = ("body", "orelse", "finalbody")
NO_GRAD = ("no_grad", "inference_mode", "autograd.no_grad", "autograd.inference_mode")
_GRAD = ("enable_grad", "set_grad_enabled", "autograd.enable_grad", "autograd.set_grad_enabled")
_BOOL_METHODS = frozenset("any all isnan isinf isfinite logical_and logical_or logical_not eq ne lt le gt ge".split())


class Knowledge(Protocol):
    """Where the types of branches and loops come from. `result` raises `Refused` when it knows nothing of an arm."""

    def site(self, node: gast.Call, facts: Facts) -> Site | None: ...

    def result(self, site: Site, role: str, block: list[gast.stmt], value: gast.expr, facts: Facts) -> Type: ...


@dataclass(frozen=True)
class Refusal:
    """A line that stays as the user wrote it, and why; without a reason, where it is plain Python after all."""

    line: int
    diagnostic: Diagnostic | None


class LeftAlone(Exception):
    """A branch or loop that stays; `node` is the call of the runtime that it had become."""

    node: gast.AST | None = None


class Refused(LeftAlone):
    """Torch's operators cannot express it."""

    def __init__(self, message: str, advice: str = "", code: str = "AG251") -> None:
        super().__init__(message)
        self.message, self.advice, self.code = message, advice, code


class PlainPython(LeftAlone):
    """Its test turns out to be a Python value."""


@dataclass(frozen=True)
class Around:
    """Where in the function a node stands."""

    nested: bool = False  # inside a branch or the body of a loop
    differentiable: bool = True
    result: Type | None = None  # what the branch around gives: its `return` is encoded so
    fresh: frozenset[str] = frozenset()  # names whose tensors share memory with nothing
    tensors: frozenset[str] = frozenset()  # Python numbers of the user that are tensors here
    objects: frozenset[str] = frozenset()  # names of what is neither a tensor nor a number
    names: Mapping[str, Type] = field(default_factory=dict)  # of the branch or loop whose test this is


@dataclass(frozen=True)
class Arm:
    """One of the two functions of a branch."""

    block: list[gast.stmt]
    value: gast.expr  # what it gives at its end
    function: gast.FunctionDef | None  # None for a lambda
    taken: tuple[str, ...]  # names that it both reads and binds


LowerLoop = Callable[["Lowering", gast.Assign, str, Around], "list[gast.stmt]"]


@dataclass
class Lowering:
    """The state of one run of the pass over a function; loops are lowered by torch_loops.py."""

    facts: Facts
    knowledge: Knowledge
    encoder: Encoder
    refusals: list[Refusal]
    lower_loop: LowerLoop
    plain: frozenset[int] = frozenset()  # lines that an example has shown to be Python's business
    pending: dict[str, gast.FunctionDef] = field(default_factory=dict)

    # -- statements ---------------------------------------------------------------------------------------------------

    def block(self, block: list[gast.stmt], around: Around) -> list[gast.stmt]:
        done: list[gast.stmt] = []
        for statement in block:
            done.extend(self.statement(statement, around))
        return block if _same(block, done) else done

    def statement(self, node: gast.stmt, around: Around) -> list[gast.stmt]:
        if isinstance(node, gast.FunctionDef) and is_generated(node):
            self.pending[node.name] = node
            return []
        if isinstance(node, SCOPES):
            return [node]
        operator = runtime_function(getattr(node, "value", None))
        try:
            if operator == "cond" and (isinstance(node, (gast.Return, gast.Expr)) or _binds_names(node)):
                return [replace(node, new) for new in self._cond_statement(node, around)]
            if operator in ("while_loop", "for_loop") and isinstance(node, gast.Assign):
                return [replace(node, new) for new in self.lower_loop(self, node, operator, around)]
            if isinstance(node, gast.Return) and around.result is not None:
                value = node.value if node.value is not None else constant(None)
                return [derive(node, value=self.result(value, around.result, around.result, around))]
            return [self._inside(node, around)]
        except LeftAlone as reason:
            self.refuse(getattr(node, "value", None) or node, reason)
            return [node]

    def _inside(self, node: gast.AST, around: Around) -> gast.AST:
        for item in node.items if isinstance(node, gast.With) else ():
            if self._is_call_of(item.context_expr, (*NO_GRAD, *_GRAD)):
                around = dataclasses.replace(around, differentiable=self._is_call_of(item.context_expr, _GRAD))
        changes: dict[str, object] = {}
        for key, value in gast.iter_fields(node):
            if isinstance(value, list):
                items = self.block(value, around) if key in _BLOCKS else [self._item(item, around) for item in value]
                changes.update({} if _same(items, value) else {key: items})
            elif isinstance(value, gast.expr):
                new = self.test(value, around) if key == "test" else self.expression(value, around)
                changes.update({} if new is value else {key: new})
        return derive(node, **changes) if changes else node

    def _item(self, item: object, around: Around) -> object:
        """An element of a list that is no block: an expression, a handler, a case, an item of `with`."""
        if isinstance(item, gast.expr):
            return self.expression(item, around)
        return self._inside(item, around) if isinstance(item, gast.AST) else item

    def is_no_grad(self, node: gast.expr) -> bool:
        """Whether a decorator or context manager turns gradients off."""
        return self._is_call_of(node, NO_GRAD)

    def _is_call_of(self, node: gast.expr, paths: tuple[str, ...]) -> bool:
        return self.facts.kinds.torch_path(node.func if isinstance(node, gast.Call) else node) in paths

    def refuse(self, node: gast.AST, reason: LeftAlone) -> None:
        diagnostic, node = None, reason.node or node
        if isinstance(reason, Refused):
            diagnostic = self.facts.diagnostic(reason.code, node, f"left alone: {reason.message}", reason.advice)
        self.refusals.append(Refusal(getattr(node, "lineno", 0), diagnostic))

    # -- expressions --------------------------------------------------------------------------------------------------

    def expression(self, node: gast.AST, around: Around) -> gast.AST:
        """An expression whose value counts."""
        if isinstance(node, SCOPES):
            return node
        if runtime_function(node) == "cond":
            try:
                encoded, kind = self.cond(node, around, None)
                leaf = self._only_leaf(kind, around)
                return self.encoder.decode(encoded, leaf)
            except LeftAlone as reason:
                self.refuse(node, reason)
                return node
        return rebuild(node, lambda child: self.expression(child, around))

    def test(self, node: gast.expr, around: Around) -> gast.expr:
        """An expression of which only the truth counts, as a tensor."""
        logic = runtime_function(node)
        if logic in ("and_", "or_"):
            operands = [node.args[0], *(argument.body for argument in node.args[1:])]
            return self._joined(logic, operands, around)
        if logic == "not_":
            operand = self.test(node.args[0], around)
            self._must_be_tensor(node.args[0], around)
            return replace(node, call(self.encoder.torch("logical_not"), operand))
        return self.expression(node, around)

    def _joined(self, logic: str, operands: list[gast.expr], around: Around) -> gast.expr:
        tests = [self.test(operand, around) for operand in operands]
        symbol = gast.BitAnd() if logic == "and_" else gast.BitOr()
        whole = tests[0]
        booleans = all(_gives_bool(operand) for operand in operands)
        for operand, test in zip(operands[1:], tests[1:], strict=True):
            if booleans:
                whole = gast.BinOp(left=whole, op=symbol, right=test)
            else:
                self._must_be_tensor(operands[0], around)
                self._must_be_tensor(operand, around)
                whole = call(self.encoder.torch("logical_" + logic.rstrip("_")), whole, test)
        return replace(operands[0], whole)

    def _must_be_tensor(self, node: gast.expr, around: Around) -> None:
        if not self.asks_tensor(node, around):
            raise Refused("a test mixes tensors with Python values", "write two nested `if`s")

    def is_logic_of_tensors(self, node: gast.expr, around: Around) -> bool:
        """Whether a test is an `and`, `or`, `not` of tensors. Raises `Refused` where only the runtime has it."""
        if runtime_function(node) not in _LOGIC or not self.asks_tensor(node, around):
            return False
        if runtime_function(node) in ("and_then", "or_else"):
            raise Refused("the right operand may fail where it is not asked for", "write two nested `if`s")
        return True

    def asks_tensor(self, node: gast.expr, around: Around) -> bool:
        """Whether a test, or an operand of `and`, `or`, `not` in it, is a tensor."""
        if runtime_function(node) in _LOGIC:
            parts = [argument.body if isinstance(argument, gast.Lambda) else argument for argument in node.args]
            return any(self.asks_tensor(part, around) for part in parts)
        if self.facts.kinds.of(node) in (Kind.TENSOR, Kind.DYNAMIC) or reads(node) & around.tensors:
            return True
        try:
            return isinstance(Metadata(self.facts.kinds, around.names).of(node), TensorType)
        except Unknown:
            return False

    # -- branches -----------------------------------------------------------------------------------------------------

    def _cond_statement(self, node: gast.Assign | gast.Return | gast.Expr, around: Around) -> list[gast.stmt]:
        before: list[gast.stmt] = []
        if isinstance(node, gast.Expr):
            if any(runtime_function(inner) == "fail" for inner in walk(node)):
                raise Refused("a branch raises", "check it before, with torch._assert_async or in Python")
            raise Refused("a branch is taken for its effect", "give the effect a result, or move it out of the branch")
        if isinstance(node, gast.Return):
            if self.written(node.value):
                raise Refused("a branch writes to an object and returns", "write to it before the branch")
            encoded, kind = self.cond(node.value, around, before, around.result)
            return [*before, *(self._returned(encoded, kind, around) if around.result is None else [returns(encoded)])]
        targets = [part.id for part in getattr(node.targets[0], "elts", [node.targets[0]])]
        encoded, kind = self.cond(node.value, around, before)
        written = self.written(node.value)
        self._check_copies(node.value, targets, written, kind)
        self.check_saved(node.value, written, around)
        if not written:
            return [*before, *self.unpacked(targets, encoded, kind, around)]
        return [*before, *self._written_back(targets, written, encoded, kind, around)]

    def _check_copies(self, node: gast.Call, targets: list[str], written: list[str], kind: Type) -> None:
        """Where a result may be a tensor from before, torch.cond gives a copy: nothing may be written to it later."""
        kinds = kind.parts if isinstance(kind, TupleType) and len(targets) > 1 else (kind,)
        for position, (target, one) in enumerate(zip(targets, kinds, strict=True)):
            if not isinstance(one, NumberType) and target not in written:
                if not self._gives_new(node, position, len(targets)):
                    self.check_written_behind(target, node, self.memory(self.site(node)))

    def memory(self, site: Site) -> Memory:
        """What may share memory in the function, as far as the types at a branch or loop tell what is a tensor."""
        objects = objects_of(site)
        return Memory(self.facts.function, self.facts.kinds, lambda value: self.is_fresh(value, objects))

    def check_written_behind(self, target: str, node: gast.Call, memory: Memory) -> None:
        """Refuse where the text shows a write behind a branch or loop that the tensor of a result would see."""
        facts = self.facts
        numbers = [n for n, kind in self.site(node).names.items() if isinstance(kind, NumberType)]
        later = written_behind(target, node, facts.function, memory, facts.kinds, numbers)
        if later is not None:
            raise Refused(
                f"`{target}` may be a tensor that was there before, and `{later}` is written to behind it",
                f"write `{later} = {later} + ...` there, or clone it before",
            )

    def check_saved(self, node: gast.Call, written: list[str], around: Around) -> None:
        """Refuse writes to what a backward pass may need: a copy is written on the paths that change nothing, too."""
        for n in written if around.differentiable else ():
            kind = self.site(node).names[n]
            if isinstance(kind, TensorType) and kind.may_be_float and may_be_saved(n, node, self.facts.function):
                raise Refused(
                    f"a branch or loop writes to `{n}` in place, which a backward pass may need as it was",
                    f"write `{n} = {n} + ...`, or put the function under @torch.no_grad() if it needs no gradients",
                )

    def _gives_new(self, node: gast.Call, position: int, count: int) -> bool:
        """Whether both arms give a tensor of its own in this position, in eager Python."""
        objects = objects_of(self.site(node))

        def is_new(value: gast.expr) -> bool:
            if runtime_function(value) == "cond":
                return self._gives_new(value, 0, 1)
            return self.is_fresh(value, objects)

        for arm in (self._arm(argument) for argument in node.args[1:3]):
            if count > 1 and runtime_function(arm.value) == "cond":
                if not self._gives_new(arm.value, position, count):
                    return False
                continue
            parts = getattr(arm.value, "elts", []) if count > 1 else [arm.value]
            if len(parts) != count:
                return False
            fresh = freshly_bound(arm.block, is_new)
            if not (is_new(parts[position]) or getattr(parts[position], "id", None) in fresh):
                return False
        return True

    def is_fresh(self, value: gast.expr, objects: frozenset[str]) -> bool:
        """Whether an expression gives a tensor in memory of its own; `model.norm(x)` may give `x`."""
        if not is_fresh_call(value) or runtime_function(value):
            return is_fresh(value)
        tensors = self._locals - objects
        return all(n in tensors or self.facts.kinds.torch_path(name(n)) is not None for n in reads(value.func))

    @cached_property
    def _locals(self) -> frozenset[str]:
        function = self.facts.function
        return frozenset({*parameters(function.args), *binds(function.body)})

    def _written_back(
        self, targets: list[str], written: list[str], encoded: gast.expr, kind: Type, around: Around
    ) -> list[gast.stmt]:
        """Objects that a branch writes to in place: every alias of them sees the write."""
        if targets == written and len(targets) == 1:
            value = self.encoder.decode(encoded, self._only_leaf(kind, around))
            return [gast.Expr(value=method(name(targets[0]), "copy_", value))]
        temporary = [self.facts.fresh(f"new_{n}") if n in written else n for n in targets]
        back = [
            gast.Expr(value=method(name(n), "copy_", name(t)))
            for n, t in zip(targets, temporary, strict=True)
            if n in written
        ]
        return [*self.unpacked(temporary, encoded, kind, around), *back]

    def unpacked(self, targets: list[str], encoded: gast.expr, kind: Type, around: Around) -> list[gast.stmt]:
        """`a, b = encoded`, and what brings each into its own type."""
        if len(targets) == 1:
            return [assign(targets, self.encoder.decode(encoded, self._only_leaf(kind, around)))]
        assert isinstance(kind, TupleType)
        done = [assign(targets, encoded)]
        for target, part in zip(targets, kind.parts, strict=True):
            leaf = leaf_of(part, kind, around.differentiable)
            done += [assign([target], self.encoder.decode(name(target), leaf))] if leaf.changes else []
        return done

    def _returned(self, encoded: gast.expr, kind: Type, around: Around) -> list[gast.stmt]:
        if not isinstance(kind, TupleType):
            return [returns(self.encoder.decode(encoded, self._only_leaf(kind, around)))]
        if any(isinstance(part, TupleType) for part in kind.parts):
            if all(not leaf.changes for leaf in self._leaves(kind, kind, around)):
                return [returns(encoded)]
            raise Refused("a result holds Python numbers in a tuple of a tuple", "give them one by one")
        parts = [leaf_of(part, kind, around.differentiable) for part in kind.parts]
        if not any(leaf.changes for leaf in parts):
            return [returns(encoded)]
        names = [self.facts.fresh("result") for _ in parts]
        values = [self.encoder.decode(name(n), leaf) for n, leaf in zip(names, parts, strict=True)]
        return [assign(names, encoded), returns(gast.Tuple(elts=values, ctx=gast.Load()))]

    def _leaves(self, kind: Type, whole: Type, around: Around) -> list[Leaf]:
        if isinstance(kind, TupleType):
            return [leaf for part in kind.parts for leaf in self._leaves(part, whole, around)]
        return [leaf_of(kind, whole, around.differentiable)]

    def _only_leaf(self, kind: Type, around: Around) -> Leaf:
        if isinstance(kind, TupleType):
            if all(not leaf.changes for leaf in self._leaves(kind, kind, around)):
                return Leaf(TensorType("", 0), False)  # a tuple of tensors as it is
            raise Refused("an expression gives a tuple with Python numbers", "write it as an `if` statement")
        return leaf_of(kind, kind, around.differentiable)

    def cond(
        self, node: gast.Call, around: Around, before: list[gast.stmt] | None, wanted: Type | None = None
    ) -> tuple[gast.expr, Type]:
        """torch.cond in place of ag.cond, still encoded, and the type of what it gives.

        `before` takes the functions; it is None where only an expression may stand. `wanted` is the type that the
        branch around gives, when this is its result.
        """
        try:
            return self._cond(node, around, before, wanted)
        except LeftAlone as reason:
            reason.node = reason.node or node
            raise

    def _cond(
        self, node: gast.Call, around: Around, before: list[gast.stmt] | None, wanted: Type | None
    ) -> tuple[gast.expr, Type]:
        site = self.site(node)
        test = self._predicate(node.args[0], site, around)
        if len(node.args) < 3:
            raise Refused("a branch is taken for its effect", "give the effect a result, or move it out of the branch")
        arms = [self._arm(argument) for argument in node.args[1:3]]
        written = self.written(node)
        self._check(node, arms, site, around)
        kind = self._joint(site, arms)
        if wanted is not None and kind != wanted:
            raise Refused(f"a branch gives {kind} here and {wanted} around it", "give both the same type")
        operands = self._operands(arms, site, written, around)
        self._check_operands(arms, site, written)
        objects = around.objects | objects_of(site)
        inside = dataclasses.replace(around, nested=True, result=kind, fresh=frozenset(), objects=objects)
        callables = [
            self._callable(arm, role, operands, written, kind, inside, before, site)
            for arm, role in zip(arms, ROLES, strict=True)
        ]
        given = [method(name(n), "clone") if self._needs_copy(n, operands, written) else name(n) for n in operands]
        return call(self.encoder.torch("cond"), test, *callables, gast.Tuple(elts=given, ctx=gast.Load())), kind

    def site(self, node: gast.Call) -> Site:
        found = self.knowledge.site(node, self.facts)
        if found is None:
            raise Refused("the example never comes here", "call it with values that come here", "AG252")
        return found

    def _predicate(self, node: gast.expr, site: Site, around: Around) -> gast.expr:
        around = dataclasses.replace(around, names=site.names)
        test = self.test(node, around)
        if isinstance(site.test, TensorType) or self.is_logic_of_tensors(node, around):
            return test
        if self.facts.kinds.of(node) == Kind.SYMBOL or reads(node) & around.tensors:
            return call(self.encoder.torch("scalar_tensor"), test, dtype=self.encoder.torch("bool"))
        if isinstance(site.test, NumberType) or site.test == OtherType("None"):
            raise PlainPython
        raise Refused(f"the test gives {site.test}", "", "AG252" if "type" in str(site.test) else "AG251")

    def _arm(self, node: gast.expr) -> Arm:
        if isinstance(node, gast.Lambda):
            return Arm([], node.body, None, ())
        definition = self.pending[node.id]
        last = definition.body[-1]
        value = last.value if isinstance(last, gast.Return) and last.value is not None else constant(None)
        if not isinstance(last, gast.Return):
            raise Refused("a branch ends in a way that has no single result")
        block = definition.body[:-1]
        if block and _hands_on(block[-1], value):
            block, value = block[:-1], block[-1].value
        return Arm(block, value, definition, tuple(parameters(definition.args)))

    def written(self, node: gast.Call) -> list[str]:
        """Tensors that the branches write to in place; `n += 1` on a Python number only binds it anew."""
        known = self.site(node).names
        names = [part.id for keyword in node.keywords if keyword.arg == "mutated" for part in keyword.value.elts]
        for n in names:
            if not isinstance(known.get(n), (TensorType, NumberType)):
                raise Refused(f"a branch or loop writes to `{n}` in place", "build a new object instead")
        return [n for n in names if isinstance(known[n], TensorType)]

    def _check(self, node: gast.Call, arms: list[Arm], site: Site, around: Around) -> None:
        """What must not be in a branch."""
        self.check_random([part for arm in arms for part in (*arm.block, arm.value)], around)
        if site.calls and (around.differentiable or not set(site.calls) <= RANDOM):
            raise Refused(
                f"`{site.calls[0]}` in a branch: its backward pass would run it again, or it changes a buffer",
                "call it before the branch or loop, or under torch.no_grad()",
            )
        for arm in arms:
            self.check_block(arm.block)
            if arm.function is not None:
                self.check_names(arm.block, arm.value)

    def check_random(self, nodes: list[gast.AST], around: Around) -> None:
        """Calls that draw random numbers, also on paths that the example does not take."""
        for node in nodes:
            for inner in walk(node):
                called = getattr(inner.func, "attr", "") if isinstance(inner, gast.Call) else ""
                if around.differentiable and called in RANDOM:
                    raise Refused(
                        f"`{called}` in a branch or loop: its backward pass would draw other numbers",
                        "call it before the branch or loop, or under torch.no_grad()",
                    )

    def check_block(self, block: list[gast.stmt]) -> None:
        """Only statements that bind names may run in a branch."""
        for node in block:
            if isinstance(node, gast.FunctionDef) and is_generated(node):
                continue
            is_text = isinstance(node, gast.Expr) and isinstance(node.value, gast.Constant)
            plain = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Pass, gast.Return, gast.If, gast.For)
            if not isinstance(node, plain) and not is_text and not _writes_in_place(node):
                raise Refused(
                    f"line {node.lineno} inside it is not an assignment", "move what has an effect out of the branch"
                )
            for inner in walk(node):
                line = getattr(inner, "lineno", None)
                if line in self.facts.skipped_lines and line not in self.plain and _asks(inner):
                    raise Refused(f"line {inner.lineno} inside it is left alone")
            if isinstance(node, (gast.If, gast.For)):
                self.check_block([*node.body, *node.orelse])
            for target in getattr(node, "targets", [getattr(node, "target", None)]):
                if target is not None and any(isinstance(part, gast.Attribute) for part in walk(target)):
                    raise Refused("an attribute is written under a tensor test", "write it after the branch or loop")

    def check_names(self, block: list[gast.stmt], value: gast.expr) -> None:
        """Python's own jumps inside of a branch have been returns of a step or of the function."""
        for node in block:
            if not (isinstance(node, gast.FunctionDef) and is_generated(node)):
                if any(isinstance(inner, gast.Return) for inner in walk(node)):
                    raise Refused("a branch returns in the middle", "return at its end")

    def _joint(self, site: Site, arms: list[Arm]) -> Type:
        """The one type that both branches give."""
        then, otherwise = (
            self.knowledge.result(site, role, arm.block, arm.value, self.facts)
            for role, arm in zip(ROLES, arms, strict=True)
        )
        self.check_result(then)
        self.check_result(otherwise)
        if then != otherwise:
            known = is_known(then) and is_known(otherwise)
            raise Refused(
                f"the branches give {then} and {otherwise}",
                "give both the same type" if known else "say what they are with --example",
                "AG251" if known else "AG252",
            )
        return then

    @staticmethod
    def check_result(kind: Type) -> None:
        bad = first_untransportable(kind)
        if bad is not None:
            raise Refused(f"a branch or loop gives {bad}", "give tensors, Python numbers, or tuples of them")

    def _operands(self, arms: list[Arm], site: Site, written: list[str], around: Around) -> list[str]:
        """The tensors that the branches read, in the order of the text."""
        found: dict[str, None] = {}
        for arm in arms:
            for n in self._read(arm):
                kind = site.names.get(n)
                if isinstance(kind, TensorType) or n in around.tensors:
                    found[n] = None
                elif (
                    kind is not None and self.facts.kinds.may_be_fraction(n) and self.facts.kinds.name(n) == Kind.SYMBOL
                ):
                    raise Refused(f"a branch reads `{n}`, a Python number that depends on data", "read it as a tensor")
                elif isinstance(kind, OtherType) and kind.name.startswith("the type"):
                    raise Refused(f"{kind.name} is not known", "say what it is with --example", "AG252")
        return [*(n for n in found if n not in written), *(n for n in written if n in found)]

    def _check_operands(self, arms: list[Arm], site: Site, written: list[str]) -> None:
        """A branch works on copies: what it writes to must not be read under another name."""
        read = [n for arm in arms for n in self._read(arm)] if written else []
        for n in written:
            together = {place.partition(".")[0] for place in self.memory(site).others(n)}
            if shared := next((one for one in read if one in together), None):
                raise Refused(f"a branch writes to `{n}`, which may share memory with `{shared}`", "use one of them")

    def _read(self, arm: Arm) -> list[str]:
        """What a branch reads from around it, in the order of the text."""
        needed = {**free_reads(thunk(arm.value)), **dict.fromkeys(arm.taken)}
        if arm.function is not None:
            needed = {**dict.fromkeys(arm.taken), **free_reads(arm.function)}
        return [*needed, *self._read_by_inner(arm)]

    def _read_by_inner(self, arm: Arm) -> list[str]:
        """What functions of inner branches, still to be placed, read."""
        found: dict[str, None] = {}
        names = reads([*arm.block, arm.value])
        for n in [n for n in self.pending if n in names]:
            found.update(dict.fromkeys(parameters(self.pending[n].args)))
            found.update(free_reads(self.pending[n]))
        return [n for n in found if n not in binds(arm.block)]

    def _needs_copy(self, operand: str, operands: list[str], written: list[str]) -> bool:
        """Operands that may share memory, and those that are written to afterwards, which torch.cond has saved."""
        return operand in written or operand in self.facts.aliases.groups(operands)

    def _callable(
        self,
        arm: Arm,
        role: str,
        operands: list[str],
        written: list[str],
        kind: Type,
        around: Around,
        before: list[gast.stmt] | None,
        site: Site,
    ) -> gast.expr:
        if arm.function is None:
            value = self.result(arm.value, kind, kind, around)
            return thunk(value, operands)
        assert before is not None
        needed = live_before([*arm.block, returns(arm.value)], EMPTY)
        own = [n for n in arm.taken if n not in operands and n in binds(arm.block) and n in needed]
        body = self.arm_body(arm, written, kind, around)
        made = function(arm.function.name, [*operands, *own], body)
        if own:  # numbers that the branch binds anew: Python's defaults hand them in
            made.args = signature([*operands, *own])
            made.args.defaults = [name(n) for n in own]
        before.append(replace(arm.function, made))
        return name(arm.function.name)

    def arm_body(self, arm: Arm, written: list[str], kind: Type, around: Around) -> list[gast.stmt]:
        for n in written:
            if any(n in binds(node) for node in arm.block if not isinstance(node, gast.AugAssign)):
                raise Refused(f"a branch both writes to `{n}` in place and binds it anew", "use two names")
        copies = [assign([n], method(name(n), "clone")) for n in written if n in written_names(arm.block)]
        block = list(self.block(arm.block, around))
        around = self.with_fresh(around, [*copies, *block])
        final = returns(self.result(arm.value, kind, kind, around, block))
        return [*(place(c, arm.function) for c in copies), *block, place(final, arm.value)]

    def with_fresh(self, around: Around, block: list[gast.stmt]) -> Around:
        """`around`, with the names that a block binds to tensors in memory of their own."""
        found = freshly_bound(block, lambda value: self.is_fresh(value, around.objects))
        return dataclasses.replace(around, fresh=frozenset(found))

    def result(
        self, value: gast.expr, kind: Type, whole: Type, around: Around, before: list[gast.stmt] | None = None
    ) -> gast.expr:
        """What a branch returns for `value`; functions that it needs go to `before`."""
        if isinstance(kind, TupleType):
            parts = as_parts(value, kind)
            if parts is None and runtime_function(value) == "cond":
                return self.cond(value, around, before, kind)[0]
            if parts is None:
                raise Refused("a branch gives a tuple that is not written out", "write its elements one by one")
            elts = []
            for part, k in zip(parts, kind.parts, strict=True):
                elts.append(self.result(part, k, whole, around, before))
                given = frozenset({part.id} if isinstance(part, gast.Name) else ())  # a second time it is a copy
                around = dataclasses.replace(around, fresh=around.fresh - given)
            return derive(value, elts=elts) if not _same(elts, value.elts) else value
        leaf = leaf_of(kind, whole, around.differentiable)
        if runtime_function(value) == "cond" and kind == whole:
            return self.cond(value, around, before, kind)[0]
        is_name = isinstance(value, gast.Name)
        fresh = self.is_fresh(value, around.objects) or (is_name and value.id in around.fresh)
        is_tensor = isinstance(leaf.kind, TensorType) or bool(reads(value) & around.tensors)
        new = self.expression(value, around)
        return self.encoder.encode(new, leaf, fresh, is_tensor)


RANDOM = frozenset(
    "rand randn randint rand_like randn_like randint_like randperm bernoulli multinomial normal poisson bernoulli_ "
    "uniform_ normal_ exponential_ random_ geometric_ cauchy_ log_normal_ rrelu dropout alpha_dropout "
    "feature_alpha_dropout dropout1d dropout2d dropout3d".split()
)


def objects_of(site: Site) -> frozenset[str]:
    """Names of what is neither a tensor nor a number at a branch or loop."""
    return frozenset(n for n, kind in site.names.items() if isinstance(kind, OtherType))


def _binds_names(node: gast.stmt) -> bool:
    """`a, b = ...`, which may take several values out of a branch."""
    if not isinstance(node, gast.Assign) or len(node.targets) > 1:
        return False
    return all(isinstance(part, gast.Name) for part in getattr(node.targets[0], "elts", node.targets))


def _hands_on(last: gast.stmt, value: gast.expr) -> bool:
    """Whether an arm only hands on what a branch inside of it has given: `y, n = ag.cond(...)`, `return y, n`."""
    if not (isinstance(last, gast.Assign) and is_runtime_call(last.value, "cond") and not last.value.keywords):
        return False
    given = [getattr(part, "id", None) for part in getattr(last.targets[0], "elts", [last.targets[0]])]
    return given == [getattr(part, "id", "") for part in getattr(value, "elts", [value])]


def _asks(node: gast.AST) -> bool:
    return isinstance(node, (gast.If, gast.While, gast.For, gast.IfExp, gast.BoolOp, gast.Assert))


def _gives_bool(node: gast.expr) -> bool:
    """Whether `&` means what `and` does: the value is a truth value."""
    if runtime_function(node) in ("and_", "or_", "not_"):
        return True
    if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute):
        return node.func.attr in _BOOL_METHODS
    return isinstance(node, gast.Compare) and len(node.ops) == 1


def _writes_in_place(node: gast.stmt) -> bool:
    """`x.add_(1)` as a statement."""
    value = node.value if isinstance(node, gast.Expr) else None
    func = value.func if isinstance(value, gast.Call) else None
    return isinstance(func, gast.Attribute) and func.attr.endswith("_") and isinstance(func.value, gast.Name)


def written_names(block: list[gast.stmt]) -> set[str]:
    found = set()
    for statement in block:
        for node in walk(statement):
            if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name):
                found.add(node.target.id)
            elif isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store):
                found.update(n.id for n in walk(node.value) if isinstance(n, gast.Name))
            elif isinstance(node, gast.Expr) and _writes_in_place(node):
                found.add(node.value.func.value.id)
    return found


def _same(new: list[Any], old: list[Any]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
