"""The words of generated programs: typed expressions, and the form of what a program may have beside them.

Every name keeps one kind for life, so that the two sides of a branch always agree on what it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Names = Mapping[str, str]
Templates = Mapping[str, tuple[str, ...]]

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
    "ints": ("{ints} + {int}", "{ints} * {index}", "({vector} * 3).long()", "{ints} // 2"),
    "doubles": ("{doubles} * {float}", "{doubles} + {vector}", "{vector}.double()"),
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
    "ints": "torch.tensor([1, 0, -2])",
    "doubles": "torch.ones(3, dtype=torch.float64)",
}
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
# What a `for` goes through, and the kinds of {first} and {second}, names of its own.
WALKS: tuple[tuple[str, Names], ...] = (
    ("{first} in range(3)", {"first": "int"}),
    ("{first} in range({index} % 4)", {"first": "int"}),
    ("{first} in {vector}", {"first": "scalar"}),
    ("{first} in range(2)", {"first": "int"}),
    ("{first}, {second} in enumerate({vector})", {"first": "int", "second": "scalar"}),
    ("{first}, {second} in zip({vector}, {vector})", {"first": "scalar", "second": "scalar"}),
    ("{first} in torch.stack([{vector}, {vector}])", {"first": "vector"}),
)
# Arithmetic with a part of the very tensor raises in eager (they share memory); what a graph has written to an argument
# before that is lost, as docs/limits.md says.
IN_PLACE = (
    "{name} += {vector}",
    "{name} *= 0.5",
    "{name}.add_({scalar} * 2.0)",
    "{name}[0] = {scalar}",
    "{name}[1:] -= 0.3",
    "{name}[{index} % 3] = {scalar}",
    "{name}[{name} > 0.4] = {float}",
    "{name}.clamp_(max=1.5)",
)
# What Python, or torch, raises for some numbers, and what a handler catches.
RAISING = (
    "k = 6 // {int}",
    "y = [x, y][{int}]",
    "v = {1: x, 2: y}[{int}]",
    "x = torch.stack([x, y]).reshape(2, 3)[{int} - 1]",
    "s = next(iter([{scalar}] * {int}))",
)
CAUGHT = "(ZeroDivisionError, LookupError, StopIteration)"


@dataclass(frozen=True)
class Feature:
    """What some programs have.

    parameters: further arguments, each with its kind; `arguments` makes their values.
    cells: variables of an enclosing function, with their kinds; `enclosing` binds them there.
    locals: names bound by the first lines (`prelude`), with their kinds.
    module: lines at the top of the module: imports, classes, functions.
    walks: what its loops may go through, as in WALKS.
    results: expressions that every return gives beside its own.
    no_gradients: not for programs whose gradients are compared: tensors are written to, or live on to the next call.
    """

    parameters: Names = field(default_factory=dict)
    cells: Names = field(default_factory=dict)
    locals: Names = field(default_factory=dict)
    module: tuple[str, ...] = ()
    enclosing: tuple[str, ...] = ()
    prelude: tuple[str, ...] = ()
    expressions: Templates = field(default_factory=dict)
    statements: tuple[str, ...] = ()
    walks: tuple[tuple[str, Names], ...] = ()
    results: tuple[str, ...] = ()
    no_gradients: bool = False


# x, y, s and n of each call: many trips, one trip, none.
TENSORS = (
    ((0.5, -1.2, 2.0), (0.1, 0.2, -0.6), 0.9, 2),
    ((-1.0, -0.3, 0.2), (1.5, 0.0, 0.4), -0.7, 1),
    ((0.0, 0.0, 0.0), (-2.0, 0.7, -0.1), 0.0, 0),
)
# k and b of all calls: torch.compile compiles anew when a Python value changes.
NUMBERS = ((2, True), (0, False))
