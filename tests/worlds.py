"""Small random functions that are called again and again while the world that they read changes between the calls.

    def generated(x, w):              # compiled once
        r0 = w.table.get("a")         # questions: what it reads of its world
        if x.sum() > 0:
            w.items.append(4.0)       # writes: what it does to it
        return r0, len(w.items)

    def before_1(w):                  # changes: what the caller does between the calls
        w.table = {"b": 1.0}

A graph is kept for later calls, so what it was made from has to be asked for anew on each of them.
"""

from __future__ import annotations

import hashlib
import types
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.harness import Outcome, OutOfTime, Verdict, difference, failure, from_text, run, said, time_limit, verdict_of

AROUND = """\
import collections
import enum
import functools
import types

from torch import nn

from autograph_torch import convert


class Mode(enum.Enum):
    MEAN = 1
    SUM = 2


class Box:
    kind = "box"
    made = 0

    def __init__(self, v):
        self.v = v
        self.t = torch.tensor([v, 1.0])

    def scaled(self, x):
        return x * 2

    @property
    def twice(self):
        return self.v * 2


class Twin(Box):
    kind = "twin"

    def scaled(self, x):
        return x * 3 + self.v


class Fallback(Box):
    kind = "fallback"

    def __getattr__(self, name):
        return 6.0 if name == "extra" else object.__getattribute__(self, name)


class Net(nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.steps, self.scale = 0, 1.0
        self.last = None

    def forward(self, x):
        self.steps += 1
        Net.calls += 1
        if x.sum() > self.steps:
            self.last = x * 2
        return x * self.scale if self.training else x


class Pair(collections.namedtuple("Pair", "a b")):
    pass


def doubled(x):
    return x * 2


def halved(x):
    return x / 2


def scaling(factor):
    def scaled(x):
        return x * factor

    return scaled


def noted(w, v):
    w.lines.append(f"{v.item():.1f}")


LEVEL = 1.0
TABLE = {Mode.MEAN: 1.0, Mode.SUM: 2.0}


def world():
    w = types.SimpleNamespace()
    w.box, w.other = Box(1.0), Box(2.0)
    w.boxes = [w.box, Box(3.0)]
    w.items, w.spare = [1.0, 2.0], [3.0]
    w.table = {"a": 1.0, "b": 2.0}
    w.rows = {"a": [1.0]}
    w.seen = {1, 2}
    w.queue = collections.deque([1.0], maxlen=3)
    w.pair = Pair(1.0, 2.0)
    w.step, w.steps = doubled, [doubled, halved]
    w.mode = Mode.MEAN
    w.name = "a"
    w.count = 0
    w.best = None
    w.layer, w.second = nn.Linear(2, 2), nn.Linear(2, 2)
    w.lines = []
    w.grid = torch.arange(6.0).reshape(3, 2)
    w.left = iter(w.items)
    w.net = Net()
    w.fast = convert(w.net)
    return w
"""

# What gives a number: it may meet a tensor in a branch or a loop.
NUMBERS = (
    "w.box.v",
    "w.other.v",
    "w.box.twice",
    "len(w.items)",
    "w.items[-1]",
    "sum(w.items)",
    "max(w.items, default=0.0)",
    "w.items.count(1.0)",
    "len(w.spare)",
    'w.table["a"]',
    'w.table.get("b", 0.0)',
    "w.table[w.name]",
    "sum(w.table.values())",
    "len(w.table)",
    "len(w.rows)",
    'len(w.rows["a"])',
    "len(w.seen)",
    "len(w.queue)",
    "w.queue[0]",
    "w.pair.b",
    "w.pair[0]",
    "len(w.boxes)",
    "w.boxes[-1].v",
    "TABLE[w.mode]",
    "{doubled: 1.0, halved: 2.0}.get(w.step, 0.0)",
    "LEVEL",
    "w.count",
    'getattr(w.box, "extra", 0.0)',
    "next(iter(w.table.values()))",
    "len(vars(w.box))",
    "w.boxes.index(w.box) if w.box in w.boxes else -1",
    "w.mode.value",
    "0.0 if w.best is None else w.best",
    "w.box.extra",
    "len(w.lines)",
    "next(w.left, 0.0)",
    "Box.made",
    "Twin.made",
    "w.box.made",
    "w.boxes[-1].made",
    "type(w.box).made",
    "w.net.steps",
    "w.fast.steps",
    "w.fast.scale",
    "w.net.calls",
)

# What gives a bool: it may stand in a test.
TESTS = (
    "w.box is w.other",
    "w.box == w.other",
    "w.items is w.spare",
    "w.items == w.spare",
    "w.box in w.boxes",
    "w.box is w.boxes[0]",
    "w.step is doubled",
    "w.step is w.steps[0]",
    "w.steps[0] == w.steps[-1]",
    "w.box.t is w.other.t",
    "w.best is None",
    "w.mode is Mode.SUM",
    'w.name == "a"',
    '"a" in w.table',
    "w.name in w.table",
    "3 in w.seen",
    "4.0 in w.items",
    "bool(w.items)",
    "bool(w.table)",
    "not w.spare",
    "not w.queue",
    'hasattr(w.box, "extra")',
    '"extra" in vars(w.box)',
    "isinstance(w.box, Twin)",
    "type(w.box) is Box",
    "type(w.box) is type(w.other)",
    "isinstance(w.box.v, int)",
    "isinstance(w.best, float)",
    "isinstance(w.table, collections.OrderedDict)",
    "w.layer.training",
    "w.layer.weight.requires_grad",
    "w.layer.bias is None",
    "LEVEL > 1.5",
    "callable(w.best)",
    "any(v > 1.5 for v in w.items)",
    "all(b.v > 0 for b in w.boxes)",
    "w.items[0] is w.items[-1]",
    "w.box.scaled == w.other.scaled",
    "w.rows.get(w.name) is w.items",
    "w.queue.maxlen == 3",
    "w.layer.weight is w.second.weight",
    "w.second is w.layer",
    "isinstance(w.box, Fallback)",
    '"made" in vars(w.box)',
    "w.fast.training",
    "w.net.last is None",
)

# Anything else, as it is.
VALUES = (
    "w.box.kind",
    "Box.kind",
    "w.box.t.sum()",
    "w.other.t + 1",
    "w.best",
    "list(w.table)",
    "list(w.table.items())",
    "sorted(w.table)",
    "dict(w.table)",
    "sorted(w.seen)",
    "list(w.items)",
    "w.items",
    "w.table",
    "w.box",
    "w.boxes[:1]",
    "list(w.queue)",
    "tuple(w.pair)",
    "w.pair",
    "w.items[1:]",
    "w.items + w.spare",
    "[b.v for b in w.boxes]",
    "[b.kind for b in w.boxes]",
    "[k for k, v in w.table.items() if v > 1]",
    "list(enumerate(w.items))",
    "list(zip(w.items, w.spare))",
    "sorted(vars(w.box))",
    'getattr(w.box, "extra", None)',
    "type(w.box).__name__",
    "w.step.__name__",
    "w.step(x)",
    "w.steps[-1](x)",
    "[s(x) for s in w.steps]",
    "w.box.scaled(x)",
    "w.layer(w.box.t)",
    "w.layer.bias",
    "functools.reduce(lambda a, s: s(a), w.steps, x)",
    'f"{w.box.v} {w.name} {len(w.items)}"',
    'f"{w.best} {w.table}"',
    "w.name * 2",
    "w.mode",
    "w.mode.name",
    "w.best or 5.0",
    "w.box.v + w.count",
    "w.rows",
    'w.rows.get("b", "none")',
    "list(reversed(w.items))",
    "min(w.boxes, key=lambda b: b.v).v",
    "dict(zip(w.table, w.items))",
    "w.items.index(2.0) if 2.0 in w.items else None",
    "list(w.lines)",
    "w.grid + 0",
    "w.box.t + w.other.t",
    "list(w.left)",
    "w.second(w.box.t)",
    "Mode(w.count)",
    "Mode[w.name.upper()]",
    "[b.made for b in w.boxes]",
    "w.net(x)",
    "w.fast(x)",
    "w.fast.last",
)

WRITES = (
    "w.box.v += 1",
    "w.other.v = 5.0",
    "w.boxes[-1].v = 7.0",
    "w.box.extra = 1.0",
    "w.box.t.add_(1)",
    "w.box.t = w.other.t * 2",
    "w.items.append(4.0)",
    "w.items[0] = 9.0",
    "w.items.insert(0, 8.0)",
    "w.spare.append(6.0)",
    "w.spare.clear()",
    'w.table["c"] = 3.0',
    'w.table["a"] = 4.0',
    'w.table.pop("b", None)',
    "w.table[w.name] = 6.0",
    'w.rows["a"].append(2.0)',
    "w.rows.setdefault(w.name, []).append(3.0)",
    "w.seen.add(3)",
    "w.queue.append(2.0)",
    "w.boxes.append(w.box)",
    "w.count += 1",
    "w.best = 2.0",
    "w.best = None",
    'w.name = "b"',
    "w.mode = Mode.SUM",
    "w.step = halved",
    "w.steps.reverse()",
    "LEVEL = LEVEL + 1",
    "w.pair = w.pair._replace(a=3.0)",
    "TABLE[w.mode] = 5.0",
    "noted(w, x[0])",
    "w.box.t *= 2",
    "w.other.t -= 1",
    "w.grid[1] += x[0]",
    "w.left = iter(w.items)",
    "del w.box.extra",
    "Box.made += 1",
    "Twin.made = 7",
    "type(w.box).made += 1",
    "w.box.made += 10",
    "w.net.steps += 10",
    "w.fast.steps -= 1",
    "w.fast.scale = 3.0",
    "w.net.last = None",
)

# Not in branches: a list or object that is another one on some paths only may be a copy there (docs/limits.md).
REBINDINGS = ("w.items = [5.0]", "w.box = w.other", "w.items = w.spare")

CHANGES = (
    "pass",
    "w.other = w.box",
    "w.other = Box(2.0)",
    "w.box = Box(1.5)",
    "w.box = Twin(1.0)",
    "w.box, w.other = w.other, w.box",
    "w.boxes = [w.other]",
    "w.boxes.append(w.box)",
    "w.boxes.append(Twin(4.0))",
    "w.boxes.reverse()",
    "w.boxes[:] = [w.box, w.box]",
    "w.box.v = 2.5",
    "w.box.v = 3",
    "w.box.v = True",
    "w.box.v = torch.tensor(2.0)",
    "w.box.extra = 2.0",
    'vars(w.box).pop("extra", None)',
    "w.other.t = w.box.t",
    "w.box.t = torch.tensor([3.0, 4.0])",
    "w.box.t = x",
    "w.items = w.spare",
    "w.items = list(w.items)",
    "w.items.append(4.0)",
    "w.items.clear()",
    "w.items[:] = [2.0, 1.0]",
    "w.items[:] = [2, 1]",
    "w.items[0:1] = [1.0, 1.0]",
    "w.items = (1.0, 2.0)",
    "w.spare.append(5.0)",
    "w.spare.clear()",
    'w.table["c"] = 3.0',
    'w.table.pop("a", None)',
    "w.table = dict(reversed(w.table.items()))",
    "w.table.clear()",
    'w.table["a"] = 7.0',
    'w.table["a"] = 7',
    "w.table = collections.OrderedDict(w.table)",
    'w.table = {"b": 1.0, "a": 2.0}',
    'w.rows["b"] = w.rows["a"]',
    'w.rows["b"] = [1.0]',
    "w.rows[w.name] = w.items",
    'w.rows["a"] = []',
    "w.seen = {3}",
    "w.seen.add(3)",
    "w.seen.clear()",
    "w.queue.append(4.0)",
    "w.queue.clear()",
    "w.queue = collections.deque([2.0])",
    "w.pair = Pair(3.0, 4.0)",
    "w.pair = Pair(1, 2)",
    "w.step = halved",
    "w.step = scaling(3.0)",
    "w.step = scaling(4.0)",
    "w.steps = [scaling(2.0), scaling(5.0)]",
    "w.step = functools.partial(torch.mul, other=2)",
    "w.step = w.box.scaled",
    "w.step = w.layer",
    "w.steps.append(w.step)",
    "w.steps.pop()",
    "w.steps[:] = [w.step, w.step]",
    "w.mode = Mode.SUM",
    "w.mode = Mode.MEAN",
    'w.name = "b"',
    'w.name = "z"',
    "w.count = 5",
    "w.count = 0.5",
    "w.best = 1.0",
    "w.best = 0.0",
    "w.best = None",
    "w.best = w.items",
    'w.best = "none"',
    "w.best = torch.tensor(1.0)",
    "w.layer.eval()",
    "w.layer.train()",
    "w.layer.weight.requires_grad_(False)",
    "w.layer = nn.Linear(2, 2, bias=False)",
    "w.layer = nn.Identity()",
    "w.layer.bias = None",
    "LEVEL = 2.0",
    "LEVEL = 2",
    "TABLE[Mode.SUM] = 8.0",
    "TABLE.pop(Mode.MEAN, None)",
    'Box.kind = "other"',
    'w.box.kind = "own"',
    "Box.scaled = lambda self, x: x - 1",
    "Twin.twice = 3.0",
    "Box.extra = 4.0",
    "x.neg_()",
    "w.box = Fallback(1.0)",
    "w.lines = []",
    "w.lines = w.items",
    "w.left = iter([5.0, 6.0])",
    "w.left = iter(w.spare)",
    "w.box.t, w.other.t = w.grid[0], w.grid[1]",
    "w.box.t, w.other.t = w.grid[2], w.grid[2]",
    "w.other.t = w.box.t.flip(0)",
    "w.other.t = w.box.t[:]",
    "w.second.weight = w.layer.weight",
    "w.second = w.layer",
    "w.second.weight.data = w.layer.weight.data",
    "w.count = 2",
    'w.name = "mean"',
    "Box.made = 5",
    "Twin.made = 3",
    'vars(w.box).pop("made", None)',
    "w.net.eval()",
    "w.fast.train()",
    "w.net.scale = 2.0",
    "w.fast.scale = 4.0",
    "w.net.last = x",
    "w.fast = convert(w.net)",
    "w.net = Net()",
    "w.net.forward = doubled",
    "w.fast.register_forward_hook(lambda m, a, y: y + m.scale)",
)

ARGUMENTS = (
    "torch.tensor([1.0, 2.0])",
    "torch.tensor([-1.0, -2.0])",
    "torch.tensor([1.0, -2.0])",
    "torch.tensor([-1.0, 0.5, 2.0])",
    "torch.tensor([1.0, 2.0], requires_grad=True)",
    "torch.tensor([1.0, -3.0], dtype=torch.float64)",
)
DATA_TESTS = ("x.sum() > 0", "x[0] > x[1]", "x.max() > 1.5")


@dataclass(frozen=True)
class World:
    """A program, and how many calls of it there are."""

    text: str
    calls: int

    told = ""  # what the text does not tell

    @property
    def name(self) -> str:
        """The same for the same program."""
        return hashlib.sha1(self.text.encode()).hexdigest()[:12]


@st.composite
def worlds(draw: st.DrawFn, most: int = 5) -> World:
    """A function, its world, and the changes between three to `most` calls."""
    lines, results = ["total = x * 1"], ["total"]
    for _ in range(draw(st.integers(1, 3))):
        made, name = statement(draw, f"r{len(results)}")
        lines += made
        results += [name] if name else []
    calls = draw(st.integers(3, most))
    methods = [f"def generated({draw(st.sampled_from(('x, w', 'w, x')))}):", "    global LEVEL"]
    methods += [f"    {line}" for line in (*lines, f"return {', '.join(results)},")]
    for index in range(calls):
        changes = draw(st.lists(st.sampled_from(CHANGES), max_size=2)) if index else []
        argument = draw(st.sampled_from(ARGUMENTS[:2] * 3 + ARGUMENTS))
        methods += ["", "", f"def before_{index}(w):", "    global LEVEL", f"    x = {argument}"]
        methods += [f"    {change}" for change in changes]
        methods += [f"    return {methods[0][14:-2]}"]
    return World("\n".join([AROUND, "", *methods]) + "\n", calls)


def statement(draw: st.DrawFn, name: str) -> tuple[list[str], str]:
    """Lines, and the name that they bind."""
    form = draw(st.integers(0, 7))
    test, number, write = (draw(st.sampled_from(words)) for words in (TESTS, NUMBERS, WRITES))
    data = draw(st.sampled_from(DATA_TESTS))
    value = draw(st.sampled_from((*NUMBERS, *TESTS, *VALUES, *VALUES)))
    if form == 0:
        return [draw(st.sampled_from((*WRITES, *REBINDINGS)))], ""
    if form == 1:
        return [f"if {data}:", f"    {write}"], ""
    if form == 2:
        return [f"if {data}:", f"    {write}", "else:", f"    {draw(st.sampled_from(WRITES))}"], ""
    if form == 3:
        return [f"if {data}:", f"    total = total + {number}"], ""
    if form == 4:
        return ["for row in x:", f"    if row > 0 and {test}:", f"        total = total * 2 + {number}"], ""
    if form == 5:
        return ["for row in x:", "    if row > 0:", f"        {write}"], ""
    if form == 6:
        return [f"if {test}:", f"    {write}"], ""
    return [f"{name} = {value}"], name


def judge(made: World, seconds: int = 60) -> Verdict:
    """Compare what each call gives and leaves behind with what it does in eager."""
    torch._dynamo.reset()
    try:
        with time_limit(seconds):
            return _judged(made)
    except OutOfTime as error:
        return Verdict("crashed", str(error), error)


def _judged(made: World) -> Verdict:
    from autograph_torch import convert

    plain, other = (loaded(made) for _ in range(2))
    subject = torch.compile(convert(other["generated"]), backend="eager", fullgraph=True)
    worlds = [one["world"]() for one in (plain, other) if torch.manual_seed(0)]
    for index in range(made.calls):
        before = [partial(one[f"before_{index}"], world) for one, world in zip((plain, other), worlds, strict=True)]
        function = plain["generated"]
        try:
            expected = run(function, function, before[0], grad=False)
        except Exception:  # a change that this world does not allow: no program
            return Verdict("equal")
        actual = run(subject, other["generated"], before[1], False, "ignore")
        verdict = compared(expected, actual, worlds, f"call {index}")
        if verdict.kind != "equal":
            return verdict
    return Verdict("equal")


def loaded(made: World) -> dict[str, Any]:
    """The names of a program of its own, for what it does to its classes and globals."""
    return from_text(made.text, "world", f"<generated {made.name}>").__globals__


def compared(expected: Outcome, actual: Outcome, worlds: Iterable[Any], where: str) -> Verdict:
    """The verdict on one call: the result, the exception, what was printed, the argument and the world."""
    if actual.error is not None and type(actual.error) is not type(expected.error):
        return failure(actual.error, where)
    first, second = (picture(one, {}) for one in worlds)
    pairs = (
        ("exception", said(expected.error), said(actual.error)),
        ("result", picture(expected.result, {}), picture(actual.result, {})),
        ("world", first, second),
        ("events", expected.events, actual.events),
    )
    found = (difference(wanted, got, name) for name, wanted, got in pairs)
    return verdict_of(next((text for text in found if text), ""), where)


def picture(value: Any, seen: dict[int, int]) -> Any:
    """A value as plain data, which two programs with classes of their own have in common.

    Objects come with the name of their class, and what is met again is the number of its first meeting.
    """
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)):
        return f"<{value.__name__}>"
    if isinstance(value, Tensor) or value is None or isinstance(value, (int, float, str)):
        return value
    if id(value) in seen:
        return f"<again {seen[id(value)]}>"
    seen[id(value)] = len(seen)
    if isinstance(value, nn.Module):
        return [type(value).__name__, value.training, *(p.requires_grad for p in value.parameters())]
    if isinstance(value, Mapping):
        return [type(value).__name__, *([picture(k, seen), picture(v, seen)] for k, v in value.items())]
    if isinstance(value, (set, frozenset)):
        return [type(value).__name__, *sorted(value)]
    if isinstance(value, (list, tuple, deque)):
        return [type(value).__name__, getattr(value, "maxlen", None), *(picture(one, seen) for one in value)]
    return [type(value).__name__, *([k, picture(v, seen)] for k, v in getattr(value, "__dict__", {}).items())]
