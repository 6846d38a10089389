"""What is walked through where it stands, and not kept for later.

sum(v * n for v in xs); [*d.values()]; max(d, key=d.get)      used up at once
scaled = (v * n for v in xs); keep(v * n for v in xs)         kept, or handed to who may keep it
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

_READERS = frozenset(
    "len sum min max any all list tuple dict set frozenset sorted stack cat join next deque Counter OrderedDict "
    "prod fsum mean fmean median".split()
)
_TAKING = frozenset(("extend", "update", "union", "intersection", "difference"))  # methods that do so with arguments
_VIEWS = frozenset(("items", "keys", "values"))
# Calls whose result walks through their arguments.
_LAZY = frozenset(
    "iter zip enumerate reversed map filter chain islice takewhile dropwhile filterfalse accumulate starmap "
    "groupby pairwise zip_longest product".split()
)


def used_up(node: gast.AST) -> Iterator[gast.expr]:
    """What a node walks through before anything else runs, also by way of views and iterators."""
    if isinstance(node, gast.Call) and (_label(node) in _READERS or is_taking(node)):
        yield from behind([*node.args, *(one.value for one in node.keywords)])
    elif isinstance(node, gast.Starred):
        yield from behind([node.value])
    elif isinstance(node, (gast.ListComp, gast.SetComp, gast.DictComp)):
        yield from behind([one.iter for one in node.generators])
    elif isinstance(node, gast.Compare):
        yield from behind(node.comparators)


def behind(values: list[gast.expr]) -> Iterator[gast.expr]:
    """Expressions, and what walking through them walks through."""
    for value in values:
        yield value
        if isinstance(value, gast.GeneratorExp):
            yield from behind([one.iter for one in value.generators])
        elif isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in _VIEWS:
            yield value.func.value
        elif isinstance(value, gast.Call) and _label(value) in _LAZY:
            yield from behind(value.args)


def is_taking(call: gast.Call) -> bool:
    """Whether it is a method of a container that walks through its arguments."""
    return isinstance(call.func, gast.Attribute) and call.func.attr in _TAKING


def _label(call: gast.Call) -> str:
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))
