"""What rewritten code calls. Outside a trace everything is plain Python, exactly as the original was written.

    import autograph_torch.runtime as ag
    y = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1)

While torch traces, a predicate that is a tensor, or a number that depends on data, becomes torch.cond or
torch.while_loop; all others stay Python.
"""

import importlib

from autograph_torch.runtime import math
from autograph_torch.runtime.attributes import read, write
from autograph_torch.runtime.binding import bound, free
from autograph_torch.runtime.bounded import (
    added,
    as_grown,
    bounded,
    discarded,
    emptied,
    height,
    holds,
    inserted,
    item_of,
    popped,
    pushed,
    put,
)
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import choice, effect, fail, joined, percent, repeated, text
from autograph_torch.runtime.extremes import place_of_extreme
from autograph_torch.runtime.following import followed
from autograph_torch.runtime.growing import (
    backwards,
    concatenated,
    copied,
    copied_backwards,
    element,
    elements_of,
    growing_list,
    length,
    listed,
    part,
    stacked,
    tensor_of,
)
from autograph_torch.runtime.iteration import enumerate_ as enumerate
from autograph_torch.runtime.iteration import numbers, once, rolled
from autograph_torch.runtime.iteration import range_ as range
from autograph_torch.runtime.iteration import reversed_ as reversed
from autograph_torch.runtime.iteration import zip_ as zip
from autograph_torch.runtime.logic import all_, and_, and_then, and_value, any_, not_, or_, or_else, or_value, unlike
from autograph_torch.runtime.loop import for_loop, while_loop
from autograph_torch.runtime.nothing import is_nothing, known, nothing, optional, some
from autograph_torch.runtime.open_calls import first, is_first, last, opened, others
from autograph_torch.runtime.positions import (
    called_at,
    element_at,
    element_there,
    is_position,
    key_there,
    last_element,
    last_key,
    position_in,
)
from autograph_torch.runtime.queries import allclose, equal, in_, index, is_nonzero, shown_list, tolist
from autograph_torch.runtime.steps import for_steps, never, while_steps
from autograph_torch.runtime.sums import sum_
from autograph_torch.runtime.totals import (
    all_hold,
    largest,
    listed_map,
    listed_map_of_tuples,
    mapped,
    smallest,
    some_hold,
    total,
)
from autograph_torch.runtime.values import undefined, unread

__all__ = [
    "added",
    "all_",
    "all_hold",
    "allclose",
    "and_",
    "and_then",
    "and_value",
    "any_",
    "as_grown",
    "backwards",
    "bound",
    "bounded",
    "called_at",
    "choice",
    "concatenated",
    "cond",
    "copied",
    "copied_backwards",
    "discarded",
    "effect",
    "element",
    "element_at",
    "element_there",
    "elements_of",
    "emptied",
    "enumerate",
    "equal",
    "fail",
    "first",
    "followed",
    "for_loop",
    "for_steps",
    "free",
    "growing_list",
    "height",
    "holds",
    "in_",
    "index",
    "inserted",
    "is_first",
    "is_nonzero",
    "is_nothing",
    "is_position",
    "item_of",
    "joined",
    "key_there",
    "known",
    "largest",
    "last",
    "last_element",
    "last_key",
    "length",
    "listed",
    "listed_map",
    "listed_map_of_tuples",
    "mapped",
    "math",
    "never",
    "not_",
    "nothing",
    "numbers",
    "once",
    "opened",
    "optional",
    "or_",
    "or_else",
    "or_value",
    "others",
    "part",
    "percent",
    "place_of_extreme",
    "popped",
    "position_in",
    "pushed",
    "put",
    "range",
    "read",
    "repeated",
    "reversed",
    "rolled",
    "shown_list",
    "smallest",
    "some",
    "some_hold",
    "stacked",
    "sum_",
    "tensor_of",
    "text",
    "tolist",
    "total",
    "undefined",
    "unlike",
    "unread",
    "while_loop",
    "while_steps",
    "write",
    "zip",
]

# Effects in an emitted file need the tracer's hooks, too.
importlib.import_module("autograph_torch.capture.inlining").install(required=False)
