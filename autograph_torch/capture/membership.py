"""`v in values` of a list, a tuple or the like is a bool, and asks all that the graph knows.

    2.0 in losses                          tensors, or numbers of the graph: each is compared
    n in (4, m + 1)
    ("a", v) in d.items()                  d["a"] is compared with v: Dynamo compares constants, and takes no tensor for
                                           equal to another one
    v in d.values(), v in (f(e) for e in x)    each element is asked whether it is the very object, as Python does first
    xs.index(v, -2)                        the bounds count from behind

Dynamo (torch 2.13) looks for a constant among constants only: `4 in [n]` is False whatever `n` is. What it finds among
tensors is a tensor, and `not in` it refuses. (Dicts and sets: capture/replaced_instructions.py.)

Private: iter_contains of torch._dynamo.utils, which lists.py imports; DictItemsVariable.sq_contains;
polyfills.impl_CONTAINS_OP_fallback and polyfills.index.
tests/capture/test_membership.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from torch._dynamo import polyfills, utils
from torch._dynamo.variables import (
    BaseListVariable,
    ConstantVariable,
    SymNodeVariable,
    TensorVariable,
    TupleVariable,
    UserFunctionVariable,
    dicts,
    lists,
)
from torch._dynamo.variables.dicts import DictItemsVariable, is_hashable

from autograph_torch.capture.element_identity import is_one_element
from autograph_torch.capture.equal_keys import says_what_is_equal
from autograph_torch.capture.identity_of_floats import may_be_no_number
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime.membership import index_of, is_among, is_element, is_found_in


@contextlib.contextmanager
def membership() -> Iterator[None]:
    """While this is in force, elements that are not constants are compared."""
    original = utils.iter_contains

    def contains(items: Any, search: Any, tx: Any, check_tensor_identity: bool = False) -> Any:
        found = [one.realize() for one in items]
        element = search.realize()
        if check_tensor_identity or not any(_varies(one) for one in (*found, element)):
            return original(found, search, tx, check_tensor_identity)
        same: list[Any] = [ConstantVariable.create(is_one_element(tx, one, element)) for one in found]
        among: Any = is_among
        given = [element, TupleVariable(found), TupleVariable(same)]
        return UserFunctionVariable(among).call_function(tx, given, {})

    called = UserFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is is_element:
            return ConstantVariable.create(is_one_element(tx, *args))
        return called(self, tx, args, kwargs)

    with (
        patched(UserFunctionVariable, call_function=call_function),
        patched(polyfills, impl_CONTAINS_OP_fallback=is_found_in, index=index_of),
        patched(utils, iter_contains=contains),
        patched(lists, iter_contains=contains),
        patched(DictItemsVariable, **_in_items(contains)),
    ):
        yield


def _in_items(contains: Callable[..., Any]) -> dict[str, Any]:
    """How the items of a dict are asked for one; torch 2.11 goes through them."""
    if not hasattr(DictItemsVariable, "sq_contains"):
        return {}
    original = method_of(DictItemsVariable, "sq_contains")

    def sq_contains(self: Any, tx: Any, item: Any) -> Any:
        pair = item.realize()
        if type(pair) is not TupleVariable or len(pair.items) != 2 or not is_hashable(pair):
            return original(self, tx, item)
        key, value = (one.realize() for one in pair.items)
        stored = self.dv_dict.items.get(dicts.HashableTracker(key))
        if stored is None or not (_varies(value) or _varies(stored)):
            return original(self, tx, item)
        return contains([stored], value, tx)

    return {"sq_contains": sq_contains}


def _varies(variable: Any) -> bool:
    """Whether a value has parts that are no constants of the graph, NaN, or objects that say what is equal."""
    value = variable.realize()
    if isinstance(value, BaseListVariable):
        return any(_varies(one) for one in value.items)
    is_of_data = isinstance(value, (SymNodeVariable, TensorVariable))
    return is_of_data or may_be_no_number(value) or says_what_is_equal(value)
