"""A dict of the caller that is written back as a whole: in later calls it has the same keys, in the same order.

    del table[k]; table.pop(k)      behind the graph Dynamo clears the dict, and puts everything back in the order that
    k, v = table.popitem()          the first call has found; and which key is the last, it asks no later call
    cache.move_to_end(k)            Dynamo (torch 2.13) writes nothing back
    cache.popitem(last=n > 1)       takes what it does not know for True

In plain torch.compile, too. An OrderedDict is always written as a whole.

Private: SideEffects.codegen_update_mutated, `should_reconstruct_all`, the methods of the variables of OrderedDicts.
tests/capture/test_dicts_written.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import BuiltinVariable, ConstantVariable, ConstDictVariable, SymNodeVariable, user_defined
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.capture.dict_keys import dict_in, guard_keys
from autograph_torch.capture.patching import method_of, patched
from autograph_torch.runtime.refusal import raise_refusal

_ORDERED: Any = getattr(user_defined, "OrderedDictVariable", ConstDictVariable)  # or torch 2.11
_ENDS = {"popitem": 0, "move_to_end": 1}  # methods, and where they take `last`


@contextlib.contextmanager
def dicts_written() -> Iterator[None]:
    """While this is in force, later calls agree on such dicts, and what is moved stays moved."""
    write_back, call = SideEffects.codegen_update_mutated, method_of(_ORDERED, "call_method")

    def codegen_update_mutated(self: Any, *args: Any, **kwargs: Any) -> None:
        for variable in self._get_modified_vars():
            if _is_written_whole(variable):
                guard_keys(variable)
        write_back(self, *args, **kwargs)

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in _ENDS:
            first = _ENDS[name]
            args = [*args[:first], *(_known_flag(tx, one) for one in args[first:])]
            kwargs = {key: _known_flag(tx, one) if key == "last" else one for key, one in kwargs.items()}
        found = call(self, tx, name, args, kwargs)
        if name == "move_to_end":
            dict_in(self).should_reconstruct_all = True
        return found

    changed: Any = {"call_method": call_method}
    with patched(SideEffects, codegen_update_mutated=codegen_update_mutated), patched(_ORDERED, **changed):
        yield


def _known_flag(tx: Any, variable: Any) -> Any:
    """At which end: Dynamo takes what it does not know for the last one.

    Raises:
        CaptureError: data tell.
    """
    flag = BuiltinVariable(bool).call_function(tx, [variable.realize()], {})
    if flag.is_python_constant():
        return flag
    if not isinstance(flag, SymNodeVariable) or has_free_unbacked_symbols(flag.sym_num):
        raise_refusal("AG320", "data tell at which end of an OrderedDict something is", "write two calls under an `if`")
    return ConstantVariable.create(bool(flag.evaluate_expr()))


def _is_written_whole(variable: Any) -> bool:
    contents = dict_in(variable)
    if not isinstance(contents, ConstDictVariable) or not contents.source:
        return False
    return contents.should_reconstruct_all and all(map(_is_literal, contents.original_items))


def _is_literal(key: Any) -> bool:
    """Whether a key is compared by its value: Dynamo's guards on others are those that it has for them in any case."""
    key = getattr(key, "vt", key)
    return key.is_python_constant() and ConstantVariable.is_literal(key.as_python_constant())
