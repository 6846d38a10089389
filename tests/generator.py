"""Small random programs as source text: a grammar of typed expressions, and statements that always terminate.

Every name keeps one kind for life, so that the two sides of a branch always agree on what it is.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from hypothesis import strategies as st

from tests.harness import Call, Program, Verdict, Way, check, from_text, integer, scalar, vec

Names = Mapping[str, str]

# kind -> templates, the simplest first; {kind} stands for an expression of that kind.
EXPRESSIONS: dict[str, tuple[str, ...]] = {
    "vector": (
        "{vector} + {vector}",
        "{vector} * {float}",
        "{vector} - {scalar}",
        "{vector} + {int}",
        "torch.tanh({vector})",
        "{vector}.abs().clamp(max=3.0)",
        "torch.where({vector} > 0.3, {vector}, {vector})",
        "{vector} if {test} else {vector}",
    ),
    "scalar": (
        "{vector}.sum()",
        "{vector}[1]",
        "{scalar} + {float}",
        "{scalar} * {scalar}",
        "{index} * 0.5",
        "torch.tanh({scalar})",
        "{scalar} or {scalar}",
        "{scalar} if {test} else {scalar}",
    ),
    "index": (
        "{index} + 1",
        "{index} % 3",
        "({vector} > 0.2).sum()",
        "{index} + {int}",
        "{vector}.argmax()",
        "{index} if {test} else {index}",
    ),
    "int": ("{int} + 1", "{int} % 5", "len({vector}.nonzero())", "int({index})", "{int} if {test} else {int}"),
    "float": ("{float} * 0.5", "{int} / 4", "{scalar}.item()", "{float} if {test} else {float}"),
    "bool": ("not {test}", "{int} > 1", "bool({test})"),
    "test": (
        "{scalar} > 0.37",
        "{index} % 2 == 0",
        "{vector}.sum() > {scalar}",
        "({vector} > 0.1).any()",
        "{int} > 1",
        "{float} < 0.83",
        "{bool}",
        "{index}",
        "not {test}",
        "{test} and {test}",
        "{test} or {test}",
        "-0.45 < {scalar} < 1.3",
        "{scalar}.item() > 0.21",
        "len({vector}.nonzero()) > 1",
    ),
}
CONSTANTS = {
    "vector": "torch.ones(3)",
    "scalar": "torch.tensor(0.25)",
    "index": "torch.tensor(2)",
    "int": "1",
    "float": "0.7",
    "bool": "True",
}
FLAT_TESTS = tuple(template for template in EXPRESSIONS["test"] if "{test}" not in template)
HOLE = re.compile(r"(?P<before>^|= |return |, |\(|if | in )?\{(?P<kind>\w+)\}(?P<after>(?=$|[:,)]))?")
# The names that a statement may assign, by kind; parameters among them.
POOL = {
    "vector": ("x", "y", "v", "w"),
    "scalar": ("s", "t"),
    "index": ("n", "m"),
    "int": ("k", "j"),
    "float": ("f", "g"),
    "bool": ("b", "c"),
}
PARAMETERS = {"x": "vector", "y": "vector", "s": "scalar", "n": "index", "k": "int", "b": "bool"}
IN_PLACE = ("{name} += {vector}", "{name} *= 0.5", "{name}.add_({scalar})", "{name}[0] = {scalar}", "{name}[1:] -= 0.3")
SIMPLE = ("assign", "assign", "augment", "return_if", "in_place")
COMPOUND = (*SIMPLE, "if", "if", "while", "for", "for")
IN_LOOP = ("break_if", "continue_if")

# x, y, s and n of each call: many trips, one trip, none.
TENSORS = (
    ((0.5, -1.2, 2.0), (0.1, 0.2, -0.6), 0.9, 2),
    ((-1.0, -0.3, 0.2), (1.5, 0.0, 0.4), -0.7, 1),
    ((0.0, 0.0, 0.0), (-2.0, 0.7, -0.1), 0.0, 0),
)
# k and b of all calls: torch.compile compiles anew when a Python value changes.
NUMBERS = ((2, True), (0, False))


@dataclass(frozen=True)
class Generated:
    """One program: its text, its Python arguments, and whether its gradients are compared."""

    text: str
    numbers: tuple[int, bool]
    grad: bool

    def program(self) -> Program:
        """What the harness runs."""
        filename = f"<generated {hashlib.sha1(self.text.encode()).hexdigest()[:12]}>"
        subject = from_text(self.text, "generated", filename)
        inputs = tuple(partial(self.arguments, *row) for row in TENSORS)
        return Program("generated", "generated", lambda: subject, inputs, self.grad)

    def arguments(self, x: tuple[float, ...], y: tuple[float, ...], s: float, n: int) -> Call:
        """Fresh arguments of one call."""
        return Call((vec(*x), vec(*y), scalar(s), integer(n), *self.numbers))


@dataclass(frozen=True)
class Scope:
    """Where a statement stands: the names bound on every path to it, and what may be written there."""

    names: Names
    returns: tuple[str, ...]
    in_place: bool
    depth: int = 0
    in_loop: bool = False
    reserved: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Block:
    """Lines of text, the names bound after them, and whether control never reaches the line after."""

    lines: tuple[str, ...]
    names: Names
    ends: bool = False


@st.composite
def generated(draw: st.DrawFn) -> Generated:
    """A function of PARAMETERS that returns a tuple of fixed kinds."""
    grad = draw(st.booleans())
    returns = draw(st.lists(st.sampled_from(tuple(POOL)), min_size=1, max_size=3).map(tuple))
    scope = Scope(PARAMETERS, returns, in_place=not grad and draw(st.booleans()))
    body = block(draw, scope, most=5)
    lines = body.lines if body.ends else (*body.lines, returned(draw, replace(scope, names=body.names)))
    text = f"def generated({', '.join(PARAMETERS)}):\n" + "".join(f"    {line}\n" for line in lines)
    return Generated(text, draw(st.sampled_from(NUMBERS)), grad)


def block(draw: st.DrawFn, scope: Scope, most: int) -> Block:
    """One to `most` statements."""
    lines: tuple[str, ...] = ()
    for _ in range(draw(st.integers(1, most))):
        made = statement(draw, scope)
        lines += made.lines
        scope = replace(scope, names=made.names)
        if made.ends:
            return Block(lines, scope.names, ends=True)
    return Block(lines, scope.names)


def statement(draw: st.DrawFn, scope: Scope) -> Block:
    """One statement; compound ones only three levels deep."""
    choices = (SIMPLE if scope.depth >= 3 else COMPOUND) + (IN_LOOP if scope.in_loop else ())
    makers = {"if": branch, "while": while_loop, "for": for_loop, "augment": augmented, "in_place": in_place}
    chosen = draw(st.sampled_from(choices))
    if chosen in makers:
        return makers[chosen](draw, scope)
    if chosen == "assign":
        return assigned(draw, scope)
    test = filled(draw, scope, "{test}")
    leaving = returned(draw, scope) if chosen == "return_if" else chosen.removesuffix("_if")
    return Block((f"if {test}:", f"    {leaving}"), scope.names)


def assigned(draw: st.DrawFn, scope: Scope) -> Block:
    """name = expression."""
    kind = draw(st.sampled_from(tuple(POOL)))
    name = draw(st.sampled_from([name for name in POOL[kind] if name not in scope.reserved]))
    return Block((f"{name} = {filled(draw, scope, f'{{{kind}}}')}",), {**scope.names, name: kind})


def augmented(draw: st.DrawFn, scope: Scope) -> Block:
    """Augmented arithmetic on a Python number."""
    numbers = [name for name, kind in scope.names.items() if kind in ("int", "float") and name not in scope.reserved]
    name = draw(st.sampled_from(sorted(numbers)))
    operators = ("+= {int}", "-= 1") if scope.names[name] == "int" else ("*= 0.5", "+= {float}")
    return Block((f"{name} {filled(draw, scope, draw(st.sampled_from(operators)))}",), scope.names)


def in_place(draw: st.DrawFn, scope: Scope) -> Block:
    """A write that every alias of a vector sees; plain arithmetic where the program has none."""
    if not scope.in_place:
        return assigned(draw, scope)
    name = draw(st.sampled_from(sorted(name for name, kind in scope.names.items() if kind == "vector")))
    template = draw(st.sampled_from(IN_PLACE)).replace("{name}", name)
    return Block((filled(draw, scope, template),), scope.names)


def branch(draw: st.DrawFn, scope: Scope) -> Block:
    """if, perhaps with elif and else."""
    inner = replace(scope, depth=scope.depth + 1)
    headers = ["if {test}:"] + ["elif {test}:"] * draw(st.integers(0, 1)) + ["else:"] * draw(st.integers(0, 1))
    arms = [(filled(draw, scope, header), block(draw, inner, most=2)) for header in headers]
    lines = [line for header, arm in arms for line in (header, *indented(arm.lines))]
    reaching = [arm.names for _, arm in arms if not arm.ends] + ([] if headers[-1] == "else:" else [scope.names])
    common = {name: kind for name, kind in reaching[0].items() if all(name in names for names in reaching)}
    return Block(tuple(lines), common)


def while_loop(draw: st.DrawFn, scope: Scope) -> Block:
    """A while that a counter bounds, in its test or by a break."""
    name, start, kind = draw(st.sampled_from((("step", "torch.tensor(0)", "index"), ("trip", "0", "int"))))
    count = f"{name}{scope.depth}"
    end = f"{count} >= {draw(st.integers(1, 3))}"
    tested: tuple[str, ...] = (f"while {{test}} and not {end}:",)
    broken = ("while True:", f"    if not {{test}} or {end}:", "        break")
    head = [filled(draw, scope, line) for line in (tested if draw(st.booleans()) else broken)]
    body = loop_body(draw, scope, {count: kind})
    return Block((f"{count} = {start}", *head, f"    {count} = {count} + 1", *body), scope.names)


def for_loop(draw: st.DrawFn, scope: Scope) -> Block:
    """A for over a range with a tensor or a Python bound, or over the elements of a vector."""
    item = f"i{scope.depth}"
    iterable, kind = draw(
        st.sampled_from(
            (("range(3)", "int"), ("range({index} % 4)", "int"), ("{vector}", "scalar"), ("range(2)", "int"))
        )
    )
    header = filled(draw, scope, f"for {item} in {iterable}:")
    return Block((header, *loop_body(draw, scope, {item: kind})), scope.names)


def loop_body(draw: st.DrawFn, scope: Scope, bound: Names) -> tuple[str, ...]:
    """The indented body; the names in `bound` are its own."""
    inner = replace(scope, names={**scope.names, **bound}, depth=scope.depth + 1, in_loop=True)
    return indented(block(draw, replace(inner, reserved=scope.reserved | set(bound)), most=2).lines)


def returned(draw: st.DrawFn, scope: Scope) -> str:
    """A return of the kinds that the program returns."""
    return filled(draw, scope, "return " + ", ".join(f"{{{kind}}}" for kind in scope.returns))


def indented(lines: tuple[str, ...]) -> tuple[str, ...]:
    """One level deeper."""
    return tuple(f"    {line}" for line in lines)


def filled(draw: st.DrawFn, scope: Scope, template: str, depth: int = 0) -> str:
    """The template with expressions in place of its kinds, parenthesised where what is around them asks for it."""

    def fill(match: re.Match[str]) -> str:
        text, atomic = expression(draw, scope, match["kind"], depth)
        delimited = match["before"] is not None and match["after"] is not None
        return (match["before"] or "") + (text if atomic or delimited else f"({text})")

    return HOLE.sub(fill, template)


def expression(draw: st.DrawFn, scope: Scope, kind: str, depth: int) -> tuple[str, bool]:
    """A name, a constant, or a template filled in; and whether it needs no parentheses anywhere."""
    names = sorted(name for name, bound in scope.names.items() if bound == kind)
    leaves = (*names, *names, CONSTANTS[kind]) if kind in CONSTANTS else ()
    templates = EXPRESSIONS[kind] if depth < 2 else () if leaves else FLAT_TESTS
    chosen = draw(st.sampled_from((*leaves, *templates)))
    if chosen in leaves:
        return chosen, True
    if lone := HOLE.fullmatch(chosen):
        return expression(draw, scope, lone["kind"], depth + 1)
    return filled(draw, scope, chosen, depth + 1), " " not in re.sub(r"\(.*\)", "", chosen)


def judge(made: Generated, ways: tuple[Way, ...] = ("converted", "eager"), seconds: int = 20) -> Verdict:
    """The first verdict that is not equal."""
    for way in ways:
        verdict = check(made.program(), way, seconds)
        if verdict.kind != "equal":
            return replace(verdict, reason=f"{way}: {verdict.reason}")
    return Verdict("equal")
