"""Small random programs as source text, of the words in tests/grammar.py: statements that always terminate."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from hypothesis import strategies as st

from tests.features import STATE_FEATURES, further_argument
from tests.features_memory import MEMORY_FEATURES
from tests.features_objects import OBJECT_FEATURES
from tests.features_python import PYTHON_FEATURES
from tests.grammar import (
    CAUGHT,
    CONSTANTS,
    EXPRESSIONS,
    IN_PLACE,
    NUMBERS,
    PARAMETERS,
    POOL,
    RAISING,
    TENSORS,
    WALKS,
    Feature,
    Names,
    Templates,
)
from tests.harness import Call, Program, Verdict, Way, check, from_text, integer, scalar, vec
from tests.written import of_factory

FEATURES = {**STATE_FEATURES, **PYTHON_FEATURES, **MEMORY_FEATURES, **OBJECT_FEATURES}
FLAT_TESTS = tuple(template for template in EXPRESSIONS["test"] if "{test}" not in template)
HOLE = re.compile(r"(?P<before>^|= |return |, |\(|if | in )?\{(?P<kind>\w+)\}(?P<after>(?=$|[:,)]))?")
SIMPLE = ("assign", "assign", "augment", "return_if", "in_place")
COMPOUND = (*SIMPLE, "if", "if", "while", "for", "for")
IN_LOOP = ("break_if", "continue_if")
ARRAYS = ("vector", "scalar", "index")
IMPORTS = "import math\n\nimport torch\nfrom torch import nn\n\n\n"
JUMPS = ("break", "continue", "return")  # at the end of an arm of a branch in a loop


@dataclass(frozen=True)
class Size:
    """How large a program may be: statements of a block, levels of nesting, levels of an expression."""

    statements: int
    nesting: int
    expression: int


# Mostly small: a thousand small programs meet more pairs of constructs than ten large ones.
SMALL = (Size(2, 1, 1),)
SIZES = (*SMALL * 6, *[Size(3, 2, 1)] * 3, Size(5, 3, 2))


def parameters_with(features: Iterable[Feature]) -> Names:
    """The parameters of a function with these features."""
    return {**PARAMETERS, **{name: kind for feature in features for name, kind in feature.parameters.items()}}


@dataclass(frozen=True)
class Generated:
    """One program: its text, its features, its Python arguments, and whether its gradients are compared."""

    text: str
    features: tuple[str, ...]
    numbers: tuple[int, bool]
    grad: bool

    @property
    def name(self) -> str:
        """The same for the same program with the same arguments."""
        told = f"{self.text}{self.numbers}{self.grad}"
        return hashlib.sha1(told.encode()).hexdigest()[:12]

    @property
    def told(self) -> str:
        """What the text does not tell."""
        return f"numbers={self.numbers}, grad={self.grad}"

    @property
    def file(self) -> str:
        """The text as a file of its own, which has nothing but its annotations to tell what is a tensor."""
        kinds = parameters_with(FEATURES[name] for name in self.features)
        annotated = (f"{name}: torch.Tensor" if kind in ARRAYS else name for name, kind in kinds.items())
        parameters = f"({', '.join(kinds)}):"
        assert parameters in self.text
        return IMPORTS + self.text.replace(parameters, f"({', '.join(annotated)}):", 1)

    def program(self) -> Program:
        """What the harness runs."""
        filename = f"<generated {self.name}>"
        inputs = tuple(partial(self.arguments, *row) for row in TENSORS)
        return Program("generated", "generated", from_text(self.text, "make", filename), inputs, self.grad)

    def arguments(self, x: tuple[float, ...], y: tuple[float, ...], s: float, n: int) -> Call:
        """Fresh arguments of one call."""
        names = (name for feature in self.features for name in FEATURES[feature].parameters)
        further = (further_argument(name, one_twice=x[0] < 0) for name in names)
        return Call((vec(*x), vec(*y), scalar(s), integer(n), *self.numbers, *further))


@dataclass(frozen=True)
class Scope:
    """Where a statement stands: the names bound on every path to it, and what may be written there."""

    names: Names
    returns: str
    expressions: Templates
    statements: tuple[str, ...]
    walks: tuple[tuple[str, Names], ...]
    size: Size
    in_place: bool
    depth: int = 0
    in_loop: bool = False
    in_branch: bool = False
    in_try: bool = False
    reserved: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Block:
    """Lines of text, the names bound after them, and whether control never reaches the line after."""

    lines: tuple[str, ...]
    names: Names
    ends: bool = False


WALKED = re.compile(r" in (enumerate\()?(?P<name>\w+)\)?$")  # the list that a loop runs over to its end


@st.composite
def generated(draw: st.DrawFn, sizes: tuple[Size, ...] = SIZES) -> Generated:
    """A function of PARAMETERS, and those of its features, that returns a tuple of fixed kinds."""
    grad = draw(st.booleans())
    allowed = sorted(name for name, feature in FEATURES.items() if not (grad and feature.no_gradients))
    chosen = tuple(draw(st.lists(st.sampled_from(allowed), max_size=3, unique=True)))
    features = [FEATURES[name] for name in chosen]
    returned_kinds = draw(st.lists(st.sampled_from(tuple(POOL)), min_size=1, max_size=3))
    results = [f"{{{kind}}}" for kind in returned_kinds] + [one for feature in features for one in feature.results]
    parameters = parameters_with(features)
    cells = {name: kind for feature in features for name, kind in feature.cells.items()}
    bound = {name: kind for feature in features for name, kind in feature.locals.items()}
    scope = Scope(
        {**parameters, **cells, **bound},
        f"return {', '.join(results)}",
        {kind: EXPRESSIONS[kind] + further(features, kind) for kind in EXPRESSIONS},
        tuple(template for feature in features for template in feature.statements),
        WALKS + tuple(walk for feature in features for walk in feature.walks),
        draw(st.sampled_from(sizes)),
        in_place=not grad and draw(st.booleans()),
    )
    body = [f"nonlocal {', '.join(cells)}"] if cells else []
    body += [line for feature in features for line in feature.prelude]
    body += program_lines(draw, scope)
    made = [f"def generated({', '.join(parameters)}):", *indented(body)]
    enclosing = [line for feature in features for line in feature.enclosing]
    module = [line for feature in features for line in feature.module]
    text = "\n".join([*module, "def make():", *indented([*enclosing, *made, "return generated"])]) + "\n"
    return Generated(text, chosen, draw(st.sampled_from(NUMBERS)), grad)


def further(features: list[Feature], kind: str) -> tuple[str, ...]:
    """The expressions of a kind that the features add."""
    return tuple(template for feature in features for template in feature.expressions.get(kind, ()))


def program_lines(draw: st.DrawFn, scope: Scope) -> tuple[str, ...]:
    """Some statements, among them a branch or a loop, and a return."""
    before = block(draw, scope, most=scope.size.statements) if draw(st.booleans()) else Block((), scope.names)
    if before.ends:
        return before.lines
    maker = draw(st.sampled_from((branch, branch, while_loop, for_loop, handled)))
    middle = maker(draw, replace(scope, names=before.names))
    if middle.ends:
        return before.lines + middle.lines
    scope = replace(scope, names=middle.names)
    after = block(draw, scope, most=scope.size.statements) if draw(st.booleans()) else Block((), scope.names)
    last = () if after.ends else (returned(draw, replace(scope, names=after.names)),)
    return before.lines + middle.lines + after.lines + last


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
    choices = (SIMPLE if scope.depth >= scope.size.nesting else COMPOUND) + (IN_LOOP if scope.in_loop else ())
    choices += ("feature",) * 4 if scope.statements else ()
    choices += () if scope.in_try or scope.depth >= scope.size.nesting else ("try",)
    choices += JUMPS if scope.in_branch and scope.in_loop else ()
    makers = {"if": branch, "while": while_loop, "for": for_loop, "try": handled}
    makers |= {"augment": augmented, "in_place": in_place}
    chosen = draw(st.sampled_from(choices))
    if chosen in makers:
        return makers[chosen](draw, scope)
    if chosen == "assign":
        return assigned(draw, scope)
    if chosen == "feature":
        template = draw(st.sampled_from(scope.statements))
        return Block(tuple(filled(draw, scope, template).splitlines()), scope.names)
    leaving = returned(draw, scope) if chosen.startswith("return") else chosen.removesuffix("_if")
    if not chosen.endswith("_if"):
        return Block((leaving,), scope.names, ends=True)
    test = filled(draw, scope, "{test}")
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
    inner = replace(scope, depth=scope.depth + 1, in_branch=True)
    headers = ["if {test}:"] + ["elif {test}:"] * draw(st.integers(0, 1)) + ["else:"] * draw(st.integers(0, 1))
    most = 3 if scope.in_try else 2
    arms = [(filled(draw, scope, header), block(draw, inner, most)) for header in headers]
    lines = [line for header, arm in arms for line in (header, *indented(arm.lines))]
    reaching = [arm.names for _, arm in arms if not arm.ends] + ([] if headers[-1] == "else:" else [scope.names])
    if not reaching:
        return Block(tuple(lines), scope.names, ends=True)
    common = {name: kind for name, kind in reaching[0].items() if all(name in names for names in reaching)}
    return Block(tuple(lines), common)


def handled(draw: st.DrawFn, scope: Scope) -> Block:
    """A branch or loop in which Python may raise, and a handler that goes on with what it has bound until then."""
    inner = replace(scope, in_try=True, statements=scope.statements + RAISING)
    body = draw(st.sampled_from((branch, while_loop, for_loop)))(draw, inner)
    handler = block(draw, replace(scope, depth=scope.depth + 1), most=2)
    lines = ["try:", *indented(body.lines), f"except {CAUGHT}:", *indented(handler.lines)]
    if not body.ends and draw(st.booleans()):
        lines += ["finally:", *indented(augmented(draw, scope).lines)]
    names = [one.names for one in (body, handler) if not one.ends]
    common = {name: kind for name, kind in scope.names.items() if all(name in bound for bound in names)}
    return Block(tuple(lines), common, ends=not names)


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
    """A for over a range with a tensor or a Python bound, or over what holds elements."""
    template, kinds = draw(st.sampled_from(scope.walks))
    own = {"first": f"i{scope.depth}", "second": f"e{scope.depth}"}
    for place, name in own.items():
        template = template.replace(f"{{{place}}}", name)
    bound = {own[place]: kind for place, kind in kinds.items()}
    walked = WALKED.search(template)
    ends = scope if walked is None else replace(scope, statements=without_growth(scope.statements, walked["name"]))
    return Block((filled(draw, scope, f"for {template}:"), *loop_body(draw, ends, bound)), scope.names)


def without_growth(statements: tuple[str, ...], name: str) -> tuple[str, ...]:
    """The statements that do not make a list longer: a loop over the list itself would never end."""
    return tuple(one for one in statements if not one.startswith(f"{name}.append("))


def loop_body(draw: st.DrawFn, scope: Scope, bound: Names) -> tuple[str, ...]:
    """The indented body; the names in `bound` are its own."""
    inner = replace(scope, names={**scope.names, **bound}, depth=scope.depth + 1, in_loop=True, in_branch=False)
    return indented(block(draw, replace(inner, reserved=scope.reserved | set(bound)), most=2).lines)


def returned(draw: st.DrawFn, scope: Scope) -> str:
    """A return of the kinds that the program returns."""
    return filled(draw, scope, scope.returns)


def indented(lines: Iterable[str]) -> tuple[str, ...]:
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
    if kind == "return":
        return returned(draw, scope), True
    names = sorted(name for name, bound in scope.names.items() if bound == kind)
    leaves = (*names, *names, CONSTANTS[kind]) if kind in CONSTANTS else ()
    templates = scope.expressions[kind] if depth < scope.size.expression else () if leaves else FLAT_TESTS
    chosen = draw(st.sampled_from((*leaves, *templates)))
    if chosen in leaves:
        return chosen, True
    if lone := HOLE.fullmatch(chosen):
        return expression(draw, scope, lone["kind"], depth + 1)
    return filled(draw, scope, chosen, depth + 1), " " not in re.sub(r"\(.*\)", "", chosen)


def judge(made: Generated, ways: tuple[Way, ...] = ("converted", "any graph"), seconds: int = 60) -> Verdict:
    """The first verdict that is not equal. As it is, a program is run of the file that is written of it."""
    for way in ways:
        if way.startswith("as it is"):
            pair = of_factory(made.program(), made.file)
            verdict = check(pair[0], way, seconds, pair[1]) if pair is not None else Verdict("equal")
        else:
            verdict = check(made.program(), way, seconds)
        if verdict.kind != "equal":
            return replace(verdict, reason=f"{way}: {verdict.reason}")
    return Verdict("equal")
