"""What is in a list, tuple, dict or object of a trace.

{"a": x, "b": [y]}      0: x, 1: [y]
Node(x)                 value: x        where the trace has made it
rows                    somewhere: all that is in what a list may hold of which data tell the length
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import BaseListVariable, ConstDictVariable, TupleVariable, UserDefinedObjectVariable
from torch._dynamo.variables.base import AttributeMutationNew

from autograph_torch.capture.choices import ChosenVariable, alternatives
from autograph_torch.capture.held import held
from autograph_torch.capture.open_contents import is_open

SOMEWHERE = "somewhere"  # the place of all that is in an open list or dict


def parts(variable: Any, effects: Any) -> list[tuple[Any, Any]] | None:
    """What is in it; None where it is nothing that can be written to."""
    if is_open(variable):
        contents = (part for content in held(variable).content() for part in _contents(content, effects))
        return [(SOMEWHERE, part) for part in contents]
    if isinstance(variable, BaseListVariable):
        return list(enumerate(variable.items))
    if isinstance(variable, ConstDictVariable):
        return list(enumerate(variable.items.values()))
    if isinstance(variable, UserDefinedObjectVariable):
        if not isinstance(variable.mutation_type, AttributeMutationNew):
            return []
        return list(effects.store_attr_mutations.get(variable, {}).items())
    return None


def picked_from(value: Any, effects: Any) -> list[Any] | None:
    """What Python picks a value from, in a body or behind the graph; None for others."""
    return value.values if isinstance(value, ChosenVariable) else alternatives(value, effects)


def _contents(content: Any, effects: Any) -> Iterator[Any]:
    """What is in one of the contents of an open list or dict, or in those that it may be."""
    content = content.realize()
    values = picked_from(content, effects)
    if values is None and isinstance(content, TupleVariable):
        values = content.items
    if values is None:
        yield from (part for _, part in parts(content, effects) or ())
    else:
        for one in values:
            yield from _contents(one, effects)
