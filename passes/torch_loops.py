"""Loops for `--target torch`: torch.while_loop, and what torch (2.13) needs for right gradients.

    while x.norm() > 1:            def body(x, n):
        x = x / 2                      x = x / 2
        n = n + 1                      n = n + 1
                                       return x, n

                                   entered = x.norm() > 1
                                   last_x, n = torch.while_loop(
                                       lambda x, n: x.norm() > 1, body, (x, torch.full((), n)))
                                   x = torch.where(entered, last_x, x)
                                   n = n.item()

Two things for carries that may be differentiated (without them torch's gradients are silently wrong, facts of 2.13):
the gradient of a loop without trips, so torch.where gives back what it began with; and a carry that needs no gradient
at first but gets one from another tensor, so it begins as a torch.where that is linked to that tensor.
And the tracer must not know the value that a carry begins with (`i = torch.tensor(0)`): it would take the result of one
trip for that of the loop.
Refused: such loops inside of a branch or another loop (Inductor overwrites what it has saved), carries that change
their type, and loops over anything but a `range` of data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cached_property

import gast

from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.memory import is_part
from autograph_torch.analysis.metadata import Metadata, Unknown
from autograph_torch.analysis.scopes import binds, free_reads, names_of, parameters, reads, walk_scope
from autograph_torch.analysis.seen import NumberType, OtherType, Site, TensorType, TupleType, Type
from autograph_torch.analysis.writes import written_targets
from autograph_torch.passes.torch_branches import Around, Lowering, PlainPython, Refused, objects_of, written_names
from autograph_torch.passes.torch_encoding import is_fresh, is_known, leaf_of, method, true_of
from autograph_torch.source.nodes import name, place, rebuild, replace, walk
from autograph_torch.source.templates import assign, call, constant, function, returns, runtime_function, thunk

_ARITHMETIC = (gast.Add, gast.Sub, gast.Mult)
_FACTORIES = frozenset("zeros ones full empty arange eye linspace rand randn randint randperm".split())
_PURE_BUILTINS = frozenset("range len int float bool abs min max sum tuple list enumerate zip".split())


def lower_loop(lowering: Lowering, node: gast.Assign, operator: str, around: Around) -> list[gast.stmt]:
    """torch.while_loop in place of an assignment from ag.while_loop or ag.for_loop."""
    loop = _Loop(lowering, node.value, operator, around)
    return loop.lowered()


class _Loop:
    def __init__(self, lowering: Lowering, node: gast.Call, operator: str, around: Around) -> None:
        self.lowering = lowering
        self.facts = lowering.facts
        self.node = node
        self.around = around
        self.site = lowering.site(node)
        self.over_range = operator == "for_loop"
        self.written = lowering.written(node)
        rebound = [part.id for part in node.args[2].elts]
        handed = {k.arg: [part.id for part in k.value.elts] for k in node.keywords}
        self.reads = handed.get("reads", [])
        self.carry = [*rebound, *handed.get("mutated", [])]
        self.item, self.body, self.value = self._taken_apart(node.args[1])
        self.kinds = self._carry_kinds()
        self.memory = lowering.memory(self.site)
        self.leaves = {n: leaf_of(kind, kind, False) for n, kind in self.kinds.items()}
        self._check()
        given = {n for n in parameters(self.facts.function.args) if isinstance(self.site.names.get(n), TensorType)}
        self.data = made_of_data(self.facts.function.body, given)
        self.linked: set[str] = set()
        numbers = [n for n, kind in self.kinds.items() if isinstance(kind, NumberType)]
        self.tensors = frozenset(n for n in numbers if self._counts(n))
        self.unwrapped = [n for n in numbers if n not in self.tensors]

    # -- what is known ------------------------------------------------------------------------------------------------

    def _taken_apart(self, callee: gast.expr) -> tuple[str, list[gast.stmt], list[gast.expr]]:
        """The loop's variable, the statements of a trip, and what they hand on."""
        if isinstance(callee, gast.Lambda):
            names, block, value = parameters(callee.args), [], callee.body
        else:
            definition = self.lowering.pending[callee.id]
            names, block, last = parameters(definition.args), definition.body[:-1], definition.body[-1]
            value = last.value if isinstance(last, gast.Return) else None
        if not isinstance(value, gast.Tuple):
            raise Refused("a trip of the loop ends in several ways", "give the loop one end")
        return names[0] if self.over_range else "", block, value.elts[: len(self.carry)]

    def _carry_kinds(self) -> dict[str, Type]:
        results = self.lowering.knowledge.result(
            self.site, "body", self.body, gast.Tuple(elts=self.value, ctx=gast.Load()), self.facts
        )
        if not isinstance(results, TupleType) or len(results.parts) < len(self.carry):
            raise Refused("the example makes no trip through this loop", "call it with values that do", "AG252")
        found: dict[str, Type] = {}
        for n, after in zip(self.carry, results.parts, strict=False):
            before = self.site.names.get(n)
            if before is None:
                raise Refused(f"`{n}` may be unbound when the loop begins", f"bind `{n}` before the loop")
            self.lowering.check_result(TupleType((before, after)))
            if before != after:
                known = is_known(before) and is_known(after)
                advice = f"begin with {after}" if known else "say what it is with --example"
                code = "AG251" if known else "AG252"
                raise Refused(f"`{n}` begins as {before} and is {after} after a trip", advice, code)
            found[n] = before
        return found

    def _check(self) -> None:
        self.lowering.check_block(self.body)
        self.lowering.check_random([*self.body, *self.value], self.around)
        self.lowering.check_names(self.body, self.value[0] if self.value else constant(None))
        if not self.carry:
            raise Refused("the loop changes nothing that is used later")
        for n in self.written:
            if any(n in binds(node) for node in self.body if not isinstance(node, gast.AugAssign)):
                raise Refused(f"the loop both writes to `{n}` in place and binds it anew", "use two names")
        self.lowering.check_saved(self.node, self.written, self.around)
        for n in self.carry:
            if isinstance(self.kinds[n], TensorType) and n not in self.written and not self.memory.is_alone(n):
                self.lowering.check_written_behind(n, self.node, self.memory)
        floats = [n for n in self.carry if self._is_float(n)]
        if floats and self.around.nested and self.around.differentiable:
            raise Refused(
                f"a loop in a branch or loop carries `{floats[0]}`, whose gradient Inductor (torch 2.13) gets wrong",
                "put the function under @torch.no_grad() if it needs no gradients",
            )
        if self.site.calls and self.around.differentiable:
            raise Refused(
                f"`{self.site.calls[0]}` in a loop: its backward pass would run it again, or it changes a buffer",
                "call it before the loop, or under torch.no_grad()",
            )
        tensors = [n for n in self._outside() if isinstance(self.site.names.get(n), TensorType)]
        if shared := self.facts.aliases.groups(tensors):
            raise Refused(f"`{shared[0]}` may share memory with another tensor of the loop", "clone it before the loop")

    def _is_float(self, n: str) -> bool:
        kind = self.kinds[n]
        return isinstance(kind, TensorType) and kind.may_be_float

    def _outside(self) -> list[str]:
        """Names that the loop reads and does not carry."""
        nodes = [*self.body, *self.value, *([] if self.over_range else [self.node.args[0].body])]
        own = {*self.carry, *binds(self.body), self.item}
        return [n for n in names_of(nodes).reads if n not in own]

    def _counts(self, n: str) -> bool:
        """Whether a number is only counted and compared, so that a tensor does what the number does."""
        if self.kinds[n] != NumberType("int"):
            return False
        test = [] if self.over_range else [self.node.args[0].body]
        if any(runtime_function(inner) in ("cond", "while_loop", "for_loop") for s in self.body for inner in walk(s)):
            return False
        return all(_only_counts(node, n, self._takes_tensor) for node in [*self.body, *test]) and all(
            isinstance(value, gast.Name) or not reads(value) & {n} for value in self.value
        )

    # -- text ---------------------------------------------------------------------------------------------------------

    def lowered(self) -> list[gast.stmt]:
        before: list[gast.stmt] = []
        counter = self._counter(before)
        names = [*([counter] if counter else []), *self.carry]
        test = self._test(counter, names)
        body = self._body(counter, names, before)
        before += self._links()
        init = [*([self._as_tensor(self._start())] if counter else []), *self._init()]
        guarded = [n for n in self.carry if self._is_float(n)] if self.around.differentiable else []
        callable_ = thunk(test, names)
        if guarded:
            self.facts.report("AG112", self.node, "the gradient of this loop needs a setting of Inductor")
            before.append(self._entered(counter, test))
        loop = call(self.lowering.encoder.torch("while_loop"), callable_, body, gast.Tuple(elts=init, ctx=gast.Load()))
        return [*before, *self._finished(loop, names, counter, guarded)]

    def _counter(self, before: list[gast.stmt]) -> str:
        if not self.over_range:
            return ""
        arguments = self._range()
        if self.item in binds(self.body):
            raise Refused(f"`{self.item}` is assigned in the body", "use another name")
        if len(arguments) == 3 and not isinstance(arguments[2], gast.Constant):
            raise Refused("the step of the range is not a constant", "write it as a `while`")
        return self.item if self.item in reads([*self.body, *self.value]) else self.facts.fresh("trip")

    def _range(self) -> list[gast.expr]:
        node = self.node.args[0]
        if runtime_function(node) != "range":
            raise Refused("a loop over rows whose number depends on data", "write it as a `while` over indices")
        kinds = [self.site.names.get(a.id) for a in node.args if isinstance(a, gast.Name)]
        unsure = [a for a in node.args if self.facts.kinds.of(a) == Kind.SYMBOL]
        if not unsure and not any(isinstance(kind, TensorType) for kind in kinds):
            raise PlainPython
        return node.args

    def _start(self) -> gast.expr:
        arguments = self._range()
        return arguments[0] if len(arguments) > 1 else constant(0)

    def _test(self, counter: str, names: list[str]) -> gast.expr:
        if counter:
            arguments = self._range()
            stop = arguments[1] if len(arguments) > 1 else arguments[0]
            if not isinstance(stop, (gast.Name, gast.Constant)) or reads(stop) & set(self.carry):
                raise Refused("the end of the range is an expression", "give it a name before the loop")
            step = arguments[2].value if len(arguments) == 3 else 1
            down = isinstance(step, int) and step < 0
            return gast.Compare(left=name(counter), ops=[gast.Gt() if down else gast.Lt()], comparators=[stop])
        test = self.node.args[0].body
        known = self.site.test
        counted = bool(reads(test) & {*self.tensors, *self.unwrapped})
        around = dataclasses.replace(self.around, names=self.site.names)
        asks = self.lowering.is_logic_of_tensors(test, around)
        if isinstance(known, NumberType) and not (counted or asks or self.facts.kinds.of(test) == Kind.SYMBOL):
            raise PlainPython
        if isinstance(known, OtherType):
            raise Refused(f"the test gives {known}", "compare it with something")
        around = dataclasses.replace(around, nested=True, tensors=self.around.tensors | self.tensors)
        new = self._with_items(self.lowering.test(test, around))
        fresh = is_fresh(new) or isinstance(known, NumberType)
        if isinstance(known, TensorType) and known.rank != 0:
            new = method(new, "reshape", gast.Tuple(elts=[], ctx=gast.Load())) if known.rank else new
        if isinstance(known, TensorType) and known.dtype != "bool" and " " not in known.dtype:
            new = method(new, "bool")
        return new if fresh else method(new, "clone")

    def _with_items(self, node: gast.expr) -> gast.expr:
        """Numbers that are tensors while they are carried, as numbers."""

        def visit(child: gast.AST) -> gast.AST:
            if isinstance(child, gast.Name) and isinstance(child.ctx, gast.Load) and child.id in self.unwrapped:
                return method(child, "item")
            return rebuild(child, visit)

        return visit(node)

    def _body(self, counter: str, names: list[str], before: list[gast.stmt]) -> gast.expr:
        numbers = frozenset(self.tensors | ({counter} if counter and self._counts_item(counter) else set()))
        unwrap = [*self.unwrapped, *([counter] if counter and counter not in numbers else [])]
        around = dataclasses.replace(
            self.around,
            nested=True,
            result=None,
            fresh=frozenset(),
            objects=self.around.objects | objects_of(self.site),
            tensors=(self.around.tensors | numbers) - set(unwrap),
        )
        lead = [assign([n], method(name(n), "item")) for n in unwrap]
        lead += [assign([n], method(name(n), "clone")) for n in self.written if n in written_names(self.body)]
        counted = [_without_augmented(node, self.tensors) for node in self.body]
        block = list(self.lowering.block(counted, around))
        around = self.lowering.with_fresh(around, [*lead, *block])
        results = [self._result(n, value, block, around) for n, value in zip(self.carry, self.value, strict=True)]
        if counter:
            results = [self._next(counter, counter in numbers), *results]
        value = gast.Tuple(elts=results, ctx=gast.Load())
        if not lead and not block:
            return thunk(value, names)
        callee = self.node.args[1]
        identifier = callee.id if isinstance(callee, gast.Name) else self.facts.fresh("body")
        made = function(identifier, names, [*lead, *block, returns(value)])
        source = self.lowering.pending.get(identifier)
        before.append(replace(source, made) if source is not None else place(made, self.node))
        return name(identifier)

    def _result(self, n: str, value: gast.expr, block: list[gast.stmt], around: Around) -> gast.expr:
        leaf = self.leaves[n]
        known = made_of_data(block, self.data | set(self.carry))
        if isinstance(value, gast.Name) and self._may_be_constant(n, value) and value.id not in known:
            return self.lowering.encoder.no_constant(value.id)
        fresh = self.lowering.is_fresh(value, around.objects) or getattr(value, "id", None) in around.fresh
        is_tensor = isinstance(leaf.kind, TensorType) or bool(reads(value) & around.tensors)
        return self.lowering.encoder.encode(self.lowering.expression(value, around), leaf, fresh, is_tensor)

    def _counts_item(self, counter: str) -> bool:
        return all(_only_counts(node, counter, self._takes_tensor) for node in self.body) and not any(
            runtime_function(inner) for s in self.body for inner in walk(s)
        ) and all(_only_counts(value, counter, self._takes_tensor) for value in self.value)  # fmt: skip

    def _takes_tensor(self, operand: gast.expr) -> bool:
        """Whether an operand gives with a tensor of int64 what it gives with a Python integer.

        A float does not: Python computes with it in double precision. Nor does what has fewer digits, or another type.
        """
        if _is_integer(operand):
            return True
        try:
            kind = self._types.of(operand)
        except Unknown:
            return False
        if isinstance(kind, NumberType):
            return kind.name in ("bool", "int")
        return isinstance(kind, TensorType) and kind.dtype in ("float32", "float64", "complex64", "complex128", "int64")

    @cached_property
    def _types(self) -> Metadata:
        return Metadata(self.facts.kinds, self.site.names).after(self.body)

    def _next(self, counter: str, is_tensor: bool) -> gast.expr:
        arguments = self._range()
        step = arguments[2] if len(arguments) == 3 else constant(1)
        new = gast.BinOp(left=name(counter), op=gast.Add(), right=step)
        return new if is_tensor else self._as_tensor(new)

    def _init(self) -> list[gast.expr]:
        groups = self.facts.aliases.groups([*self.carry, *self._outside()])
        found = []
        for n in self.carry:
            is_tensor = isinstance(self.kinds[n], TensorType) or n in self.around.tensors
            if is_tensor and self._may_be_constant(n, name(n)) and n not in self.linked:
                found.append(self._without_constant(n))
            elif is_tensor and n not in groups and n not in self.written:
                found.append(name(n))
            else:
                found.append(self.lowering.encoder.encode(name(n), self.leaves[n], False, is_tensor))
        return found

    def _may_be_constant(self, n: str, value: gast.expr) -> bool:
        """Whether the tracer may know the value: of a tensor of one element that is made of no other."""
        kind = self.kinds[n]
        return isinstance(kind, TensorType) and not reads(value) & self.data

    def _without_constant(self, n: str) -> gast.expr:
        value = self._literal(n)
        if isinstance(value, gast.Call) and self.facts.kinds.torch_path(value.func) == "tensor":
            if len(value.args) == 1 and isinstance(value.args[0], gast.Constant):
                return self.lowering.encoder.full(value.args[0], **{k.arg: k.value for k in value.keywords})
        return self.lowering.encoder.no_constant(n)

    def _literal(self, n: str) -> gast.expr | None:
        """What the block around the loop last binds a name to before the loop, when the text shows it."""
        if self.memory.others(n):
            return None
        for block in _blocks(self.facts.function):
            places = [k for k, node in enumerate(block) if self._is_this(node)]
            lead = block[: places[0]] if places else []
            before = [node for node in lead if n in binds(node) or self._writes(node, n)]
            if before:
                last = before[-1]
                plain = isinstance(last, gast.Assign) and [getattr(t, "id", "") for t in last.targets] == [n]
                return last.value if plain else None
        return None

    def _writes(self, node: gast.stmt, n: str) -> bool:
        """Whether a statement writes to the tensor of a name, which nothing else has."""
        targets = [target for one in walk(node) for target in written_targets(one, self.facts.kinds)]
        return any(is_part(n, place) for target in targets for place in self.memory.places(target))

    def _is_used_later(self, n: str) -> bool:
        """Whether anything but this loop may read a name."""
        function = self.facts.function
        loops = [node for node in walk(function) if isinstance(node, (gast.For, gast.While))]
        begin, end = self.node.lineno, self.node.end_lineno
        if any(loop.lineno < begin and end <= loop.end_lineno for loop in loops) or n in names_of(function.body).outer:
            return True
        found = [node for node in walk(function) if isinstance(node, gast.Name) and node.id == n]
        return any(isinstance(node.ctx, gast.Load) and not begin <= node.lineno <= end for node in found)

    def _is_this(self, node: gast.stmt) -> bool:
        """Whether a statement of the user's is the loop that is lowered."""
        ours = (self.node.lineno, self.node.col_offset, self.node.end_lineno, self.node.end_col_offset)
        return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) == ours

    # -- gradients ----------------------------------------------------------------------------------------------------

    def _links(self) -> list[gast.stmt]:
        """A carry that may need no gradient at first, tied to the tensors from which it may get one."""
        if not self.around.differentiable:
            return []
        floats = [n for n in self.carry if self._is_float(n)]
        if not floats:
            return []
        if hidden := self._hidden():
            raise Refused(
                f"the loop reads `{hidden}`, whose gradient torch (2.13) may lose in a loop",
                "hand its tensors in as variables, or put the function under @torch.no_grad()",
            )
        given = [n for n in self._outside() if _is_float(self.site, n)]
        done = []
        for n in floats:
            reached = self._sources(n)
            sources = [s for s in dict.fromkeys([*given, *floats]) if s != n and s in reached]
            if n in self.written and sources:
                raise Refused(f"the loop writes to `{n}` in place", f"write `{n} = {n} + ...` instead")
            if sources:
                done.append(assign([n], self._linked(n, sources)))
                self.linked.add(n)
        return done

    def _linked(self, n: str, sources: list[str]) -> gast.expr:
        total: gast.expr | None = None
        for source in sources:
            one: gast.expr = method(name(source), "sum")
            if getattr(self.site.names[source], "dtype", "") != getattr(self.kinds[n], "dtype", ""):
                one = method(one, "to", gast.Attribute(value=name(n), attr="dtype", ctx=gast.Load()))
            total = one if total is None else gast.BinOp(left=total, op=gast.Add(), right=one)
        always = method(true_of(n), "bool")
        return call(self.lowering.encoder.torch("where"), always, name(n), total)

    def _sources(self, n: str) -> set[str]:
        """What the value of a carry depends on after any number of trips."""
        depends = {target: {target} for target in self.carry}
        now: dict[str, set[str]] = {}

        def of(node: gast.AST) -> set[str]:
            return {s for read in reads(node) for s in now.get(read, {read})}

        for _ in range(len(self.carry) + 1):
            now = {target: set(found) for target, found in depends.items()}
            for statement in self.body:
                found = of(statement)
                for target in {*binds(statement), *written_names([statement])}:
                    straight = isinstance(statement, gast.Assign)
                    now[target] = found if straight else found | now.get(target, set())
            for target, value in zip(self.carry, self.value, strict=True):
                depends[target] = depends[target] | of(value)
        return depends[n]

    def _hidden(self) -> str:
        """Something in the loop that may hold tensors which are no local variables."""
        definition = self.lowering.pending.get(getattr(self.node.args[1], "id", ""))
        inner = set(free_reads(definition)) if definition is not None else set()
        for n in [*self._outside(), *inner]:
            kind = self.site.names.get(n)
            if isinstance(kind, (TensorType, NumberType)) or n in _PURE_BUILTINS or n in self.carry:
                continue
            if self.facts.kinds.torch_path(name(n)) is not None or n in self.lowering.pending or n == "ag":
                continue
            return n
        return ""

    def _entered(self, counter: str, test: gast.expr) -> gast.stmt:
        """Whether there is a first trip, asked of what the loop begins with; a tensor."""
        tensor_anyway = isinstance(self.site.test, TensorType)
        made: list[gast.expr] = []

        def begin(child: gast.AST) -> gast.AST:
            if isinstance(child, gast.Call) and getattr(child.func, "attr", "") == "item" and not child.args:
                if isinstance(child.func.value, gast.Name) and child.func.value.id in self.unwrapped:
                    return child.func.value
            if isinstance(child, gast.Name) and child.id == counter:
                made.append(self._start() if self._stop_is_tensor() else self._as_tensor(self._start()))
                return made[-1]
            if isinstance(child, gast.Name) and child.id in self.tensors and not tensor_anyway:
                made.append(self._as_tensor(child))
                return made[-1]
            return rebuild(child, begin)

        self.entered = self.facts.fresh("entered")
        value = begin(test)
        if not (made or tensor_anyway or self._is_logic()):
            encoder = self.lowering.encoder
            value = call(encoder.torch("scalar_tensor"), value, dtype=encoder.torch("bool"))
        return assign([self.entered], value)

    def _is_logic(self) -> bool:
        return runtime_function(self.node.args[0].body) in ("and_", "or_", "not_")

    def _as_tensor(self, number: gast.expr) -> gast.expr:
        if isinstance(number, gast.Name) and isinstance(self.site.names.get(number.id), TensorType):
            return method(number, "clone")
        return self.lowering.encoder.full(number)

    def _stop_is_tensor(self) -> bool:
        stop = self._range()[-1] if len(self._range()) < 3 else self._range()[1]
        return isinstance(stop, gast.Name) and isinstance(self.site.names.get(stop.id), TensorType)

    def _finished(self, loop: gast.expr, names: list[str], counter: str, guarded: list[str]) -> list[gast.stmt]:
        last = {n: self.facts.fresh(f"last_{n}") for n in dict.fromkeys([*guarded, *self.written])}
        targets = [self.facts.fresh("_") if n == counter else last.get(n, n) for n in names]
        done = [assign(targets, loop, always_tuple=True)]
        for n in self.carry:
            value: gast.expr = name(last.get(n, n))
            if n in guarded:
                value = call(self.lowering.encoder.torch("where"), name(self.entered), value, name(n))
            if n in self.written:
                done.append(gast.Expr(value=method(name(n), "copy_", value)))
            elif n in guarded:
                done.append(assign([n], value))
            elif self.leaves[n].changes and self._is_used_later(n):
                done.append(assign([n], self.lowering.encoder.decode(name(n), self.leaves[n])))
        return done


def made_of_data(block: list[gast.stmt], data: set[str]) -> set[str]:
    """Names that are bound to nothing but what is made of `data`: the tracer cannot know their values."""
    bindings = [node for node in walk_scope(block) if _binds(node)]
    found = data | {n for node in bindings for n in binds(node)}
    while True:
        wrong = {n for node in bindings if not (reads(node) & found or _creates(node)) for n in binds(node)}
        if not wrong & found:
            return found
        found -= wrong


def _creates(node: gast.AST) -> bool:
    """Whether a new tensor is filled when the graph runs; `torch.tensor(0)` is a constant of the graph."""
    return any(getattr(inner, "attr", "") in _FACTORIES for inner in walk(node))


def _blocks(node: gast.AST) -> Iterator[list[gast.stmt]]:
    """Every block of statements of a function."""
    for inner in walk(node):
        for key in ("body", "orelse", "finalbody"):
            block = getattr(inner, key, None)
            if isinstance(block, list):
                yield block


def _binds(node: gast.AST) -> bool:
    return isinstance(node, (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.NamedExpr)) and bool(binds(node))


def _is_float(site: Site, n: str) -> bool:
    kind = site.names.get(n)
    return isinstance(kind, TensorType) and kind.may_be_float


def _only_counts(node: gast.AST, n: str, takes_tensor: Callable[[gast.expr], bool]) -> bool:
    """Whether a number is only added to, multiplied, compared, and bound to the result of that.

    Args:
        takes_tensor: whether an operand gives with a tensor of an integer what it gives with the integer.
    """
    if isinstance(node, gast.Assign) and n in binds(node):
        plain = len(node.targets) == 1 and isinstance(node.targets[0], gast.Name)
        return (
            plain
            and _is_arithmetic(node.value)
            and n in reads(node.value)
            and _parts_count(node.value, n, takes_tensor)
        )
    if isinstance(node, gast.AugAssign) and n in names_of(node).reads:
        return isinstance(node.op, _ARITHMETIC) and _counts_or_other(node.value, n, takes_tensor)
    if n in binds(node):
        return False
    if isinstance(node, gast.Name):
        return node.id != n
    if isinstance(node, gast.Compare) or _is_arithmetic(node):
        counts = any(_is_count(operand, n) for operand in _operands(node))
        plain = not counts or all(_is_count(one, n) or takes_tensor(one) for one in _operands(node))
        return plain and _parts_count(node, n, takes_tensor)
    return all(_only_counts(child, n, takes_tensor) for child in gast.iter_child_nodes(node))


def _parts_count(node: gast.expr, n: str, takes_tensor: Callable[[gast.expr], bool]) -> bool:
    return all(_counts_or_other(operand, n, takes_tensor) for operand in _operands(node))


def _counts_or_other(node: gast.expr, n: str, takes_tensor: Callable[[gast.expr], bool]) -> bool:
    return isinstance(node, gast.Name) or _only_counts(node, n, takes_tensor)


def _is_arithmetic(node: gast.AST) -> bool:
    return isinstance(node, gast.BinOp) and isinstance(node.op, _ARITHMETIC)


def _operands(node: gast.expr) -> list[gast.expr]:
    return [node.left, node.right] if isinstance(node, gast.BinOp) else [node.left, *node.comparators]


def _is_count(node: gast.expr, n: str) -> bool:
    """Whether it is an integer that is made of the number and of integers of the text."""
    if _is_arithmetic(node):
        parts = [_is_count(operand, n) or _is_integer(operand) for operand in _operands(node)]
        return all(parts) and n in reads(node)
    return isinstance(node, gast.Name) and node.id == n


def _is_integer(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and type(node.value) is int


def _without_augmented(node: gast.stmt, numbers: frozenset[str]) -> gast.stmt:
    """`n += 1` on a number that is a tensor here: the carry itself must not change."""
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and node.target.id in numbers:
        value = gast.BinOp(left=name(node.target.id), op=node.op, right=node.value)
        return replace(node, gast.Assign(targets=[name(node.target.id, store=True)], value=value, type_comment=None))
    return node
