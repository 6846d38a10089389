"""What generated programs have beside numbers and tensors: containers, objects, cells, views, functions, handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from tests.features_memory import Tracker
from tests.grammar import Feature
from tests.harness import scalar, vec


class Box:
    """An object that programs read and write: attributes, methods that write to it, a property with a setter."""

    def __init__(self) -> None:
        self.t = scalar(0.5)
        self.v = vec(1.0, -0.5, 0.25)
        self.n = 1
        self.log: list[Any] = []

    def step(self, by: Any) -> None:
        self.t = self.t + by
        self.n += 1

    def twice(self) -> Any:
        return self.v * 2

    @property
    def half(self) -> Any:
        return self.v / 2

    @half.setter
    def half(self, value: Any) -> None:
        self.v = value * 2


STATE_FEATURES: dict[str, Feature] = {
    "list": Feature(
        parameters={"xs": "list"},
        expressions={"vector": ("xs[0]", "xs[-1]", "torch.stack(xs).sum(0)", "sum(xs)"), "int": ("len(xs)",)},
        statements=(
            "xs[0] = {vector}",
            "xs[-1] = xs[0]",
            "xs[1] = {vector}",
            "xs.append({vector})",
            "xs = [{vector}, *xs]",
        ),
        walks=(
            ("{first} in xs", {"first": "vector"}),
            ("{first}, {second} in enumerate(xs)", {"first": "int", "second": "vector"}),
            ("{first} in reversed(xs)", {"first": "vector"}),
            ("{first}, {second} in zip(xs, {vector})", {"first": "vector", "second": "scalar"}),
            ("{first} in xs[:2]", {"first": "vector"}),
        ),
    ),
    "dict": Feature(
        parameters={"d": "dict"},
        expressions={"vector": ("d['a']", "d.get('a')"), "scalar": ("d['b']",), "int": ("d['k']", "len(d)")},
        statements=(
            "d['a'] = {vector}",
            "d['b'] = {scalar}",
            "d['k'] += {int}",
            "d.update(a={vector})",
            "d['new'] = {scalar}",
            "d = {**d, 'b': {scalar}}",
        ),
    ),
    "box": Feature(
        parameters={"o": "box"},
        expressions={
            "vector": ("o.v", "o.twice()", "o.half"),
            "scalar": ("o.t", "torch.stack([*o.log, {scalar}]).sum()"),
            "int": ("o.n", "len(o.log)"),
        },
        statements=(
            "o.v = {vector}",
            "o.t = {scalar}",
            "o.n += 1",
            "o.n = {int}",
            "o.step({scalar})",
            "o.half = {vector}",
            "o.log.append({scalar})",
        ),
    ),
    "pair": Feature(
        parameters={"pair": "pair"},  # one box twice, in some calls
        expressions={
            "vector": ("pair[0].v", "pair[1].v", "pair[1].twice()"),
            "scalar": ("pair[0].t", "pair[1].t"),
            "int": ("pair[0].n", "pair[1].n", "len(pair[1].log)", "{pair[0]: 1}.get(pair[1], 2)"),
            "test": ("pair[0] is pair[1]", "pair[0] == pair[1]"),
        },
        statements=(
            "pair[0].v = {vector}",
            "pair[1].v = {vector}",
            "pair[0].n += 1",
            "pair[1].n = {int}",
            "pair[1].step({scalar})",
            "pair[0].log.append({scalar})",
        ),
    ),
    "method": Feature(
        parameters={"self": "box"},
        expressions={"vector": ("self.v", "self.twice()"), "scalar": ("self.t",), "int": ("self.n",)},
        statements=("self.v = {vector}", "self.t = {scalar}", "self.n += 1", "self.n += {int}", "self.v += {float}"),
        no_gradients=True,
    ),
    "table": Feature(
        locals={"q": "table"},
        prelude=("q = torch.stack([x, y, x - y])",),
        expressions={"vector": ("q[0]", "q.sum(0)", "q[{index} % 3]"), "scalar": ("q.sum()", "q[1, 2]")},
        statements=(
            "q[1] = {vector}",
            "q[2] += {float}",
            "q[:, 0] = {scalar}",
            "q *= 0.5",
            "q[{index} % 3] = {vector}",
        ),
        walks=(
            ("{first} in q", {"first": "vector"}),
            ("{first}, {second} in enumerate(q)", {"first": "int", "second": "vector"}),
            ("{first}, {second} in zip(q, x)", {"first": "vector", "second": "scalar"}),
            ("{first}, {second} in zip(range(3), q)", {"first": "int", "second": "vector"}),
            ("{first} in q.unbind(1)", {"first": "vector"}),
            ("{first} in (y + {first} for {first} in q)", {"first": "vector"}),
        ),
        no_gradients=True,
    ),
    "cell": Feature(
        cells={"p": "vector", "q": "int"},
        enclosing=("p = torch.ones(3)", "q = 1"),
        statements=("p = {vector}", "q += {int}", "q = {int}"),
        no_gradients=True,
    ),
    "view": Feature(
        locals={"r": "view"},
        prelude=("r = x[1:]",),
        expressions={"scalar": ("r.sum()", "r[0]")},
        statements=(
            "r = y[:2]",
            "r = {vector}[:2]",
            "r += {float}",
            "r.mul_({scalar} + 0.5)",
            "r[0] = {scalar}",
            "x.copy_({vector})",
        ),
        no_gradients=True,
    ),
    "none": Feature(
        locals={"u": "maybe"},
        prelude=("u = None",),
        expressions={"vector": ("{vector} if u is None else u",), "test": ("u is None",)},
        statements=("u = {vector}", "u = None", "u = u if u is None else u * {float}"),
    ),
    "function": Feature(
        locals={"h": "function"},
        prelude=("h = torch.tanh",),
        expressions={"vector": ("h({vector})", "(lambda z: z + x)({vector})")},
        statements=("h = torch.abs", "h = lambda z: z * {float}", "h = lambda z: z + x"),
    ),
    "print": Feature(
        statements=("print('int', {int})", 'print(f"float {{float}:.3f}")', "print('index', {index}, end=';')"),
    ),
    "growing": Feature(
        locals={"rows": "rows"},
        prelude=("rows = [x * 1.0]",),
        expressions={"vector": ("rows[0]", "rows[-1]", "torch.stack(rows).sum(0)"), "int": ("len(rows)",)},
        statements=("rows.append({vector})", "rows += [{vector}]", "rows[0] = {vector}"),
    ),
    "nested": Feature(
        parameters={"e": "nested"},
        expressions={"vector": ("e['in']['v']", "e['rows'][0]", "e['rows'][-1]"), "int": ("len(e['rows'])",)},
        statements=(
            "e['in']['v'] = {vector}",
            "e['in'] = dict(v={vector}, n={int})",
            "e['in']['n'] += 1",
            "e['rows'][0] = {vector}",
            "e['rows'].append({vector})",
            "if len(e['rows']) > 1: e['rows'].pop()",
        ),
    ),
    "tuple": Feature(
        locals={"a": "tuple", "z": "named"},
        enclosing=("from collections import namedtuple", "State = namedtuple('State', 'v n')"),
        prelude=("a = (x, 1)", "z = State(y, 0)"),
        expressions={"vector": ("a[0]", "z.v"), "int": ("a[1]", "z.n")},
        statements=(
            "a = ({vector}, {int})",
            "z = State({vector}, {int})",
            "z = z._replace(v={vector})",
            "z = z._replace(n=z.n + 1)",
            "v, k = a",
        ),
    ),
    "helper": Feature(
        enclosing=(
            "def shrunk(q, limit=0.5):",
            "    if q.sum() > limit:",
            "        return q * 0.5",
            "    return q",
            "def counted(q, by):",
            "    c = 0",
            "    while q.sum() > 1 and c < 3:",
            "        q, c = q - by, c + 1",
            "    return q, c",
        ),
        expressions={
            "vector": ("shrunk({vector})", "shrunk({vector}, {float})", "counted({vector}, {scalar})[0]"),
            "int": ("counted({vector}, 0.3)[1]",),
        },
        statements=("v, k = counted({vector}, {float})",),
    ),
    "dtypes": Feature(
        locals={"i": "ints", "l": "doubles"},
        prelude=("i = (x * 2).long()", "l = y.double()"),
        expressions={
            "vector": ("{ints} / 2", "{doubles}.float()", "{vector} * {ints}"),
            "scalar": ("{ints}.sum() * 0.5", "{doubles}[0].float()"),
            "index": ("{ints}.max()", "{ints}[0]"),
        },
        statements=("i = {ints}", "l = {doubles}"),
    ),
    "layer": Feature(
        parameters={"net": "layer"},
        expressions={"vector": ("net({vector})", "net.weight[0]"), "scalar": ("net.bias.sum()",)},
        statements=("with torch.no_grad(): v = net({vector})", "v = net({vector}).detach()"),
    ),
    "caught": Feature(
        statements=(
            "try:\n    assert {test}\n    v = {vector}\nexcept AssertionError:\n    v = {vector}",
            "try:\n    if {test}: raise ValueError({int})\nexcept ValueError as error:\n    w = x - error.args[0]",
            "try:\n    w = {vector}\nfinally:\n    v = {vector}",
            "try:\n    for _ in range(2):\n        x = x + 1\n        if {test}: raise KeyError('k')\n"
            "    y = {vector}\nexcept KeyError:\n    x = x - {int}",
            "try:\n    if {test}: raise ValueError({int})\n    if {test}: raise TypeError\n    y = {vector}\n"
            "except (ValueError, TypeError):\n    y = {vector}\nfinally:\n    k += 1",
            "try:\n    y = {vector}\n    if {test}:\n        if {test}: raise ValueError('v')\n        x = {vector}\n"
            "    s = {scalar}\nexcept ValueError as error:\n    print(error)\n    x = {vector}",
        ),
    ),
    "text": Feature(
        locals={"label": "text"},
        prelude=("label = 'a'",),
        expressions={"test": ("label == 'a'",), "int": ("len(label)",)},
        statements=("label = 'b'", "label += 'c'", "print(label, {int})"),
    ),
    "flow": Feature(
        statements=("x, y = y, x", "s, k = {scalar}, {int}", "assert {test}, 'assertion'", "v = w = {vector}"),
    ),
}


def further_argument(name: str, one_twice: bool) -> Any:
    """A fresh value of a parameter that a feature adds."""
    made: dict[str, Callable[[], Any]] = {
        "xs": lambda: [vec(1.0, 2.0, 3.0), vec(-1.0, 0.5, 0.0)],
        "o": Box,
        "self": Box,
        "pair": lambda: [Box()] * 2 if one_twice else [Box(), Box()],
        "d": lambda: {"a": vec(0.5, 0.0, -2.0), "b": scalar(1.5), "k": 2},
        "e": lambda: {"in": {"v": vec(0.2, -0.4, 1.0), "n": 1}, "rows": [vec(1.0, 0.0, -0.5)]},
        "net": layer,
        "stat": Tracker,
    }
    return made[name]()


def layer() -> nn.Module:
    """The same weights each time."""
    made = nn.Linear(3, 3)
    with torch.no_grad():
        made.weight.copy_(torch.arange(9.0).reshape(3, 3) / 10 - 0.35)
        made.bias.copy_(vec(0.1, -0.2, 0.3))
    return made
