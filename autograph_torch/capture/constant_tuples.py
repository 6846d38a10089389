"""A tuple or frozenset of constants that a call leaves in several places is one object there, as in Python.

    key = (1, "left")
    self.last = key
    return key                 `state.last is result`: Dynamo makes a constant of its own for each place

    for key in self.table:     and of a key of a dict that was there before: it is looked up in the dict
        return key

Private: is_safe_constant, by which PyCodegen tells what it makes anew; ConstDictVariable, and how the variables of the
two kinds are made again. tests/capture/test_constant_tuples.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo import codegen as code_generation
from torch._dynamo.bytecode_transformation import create_build_tuple, create_call_function
from torch._dynamo.variables import ConstDictVariable, FrozensetVariable, TupleVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime.lookups import key_of

_KINDS = (TupleVariable, FrozensetVariable)
_DICT = "_autograph_dict"  # where the dict is that a variable is a key of


@contextlib.contextmanager
def constant_tuples() -> Iterator[None]:
    """While this is in force, they are made as other tuples are: once; and keys of dicts are not made at all."""
    is_safe, begin = code_generation.is_safe_constant, ConstDictVariable.__init__

    def is_constant(value: Any) -> bool:
        return is_safe(value) and not (isinstance(value, (tuple, frozenset)) and value)

    def read(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        source = kwargs.get("source")
        for key in self.items if source is not None else ():
            if type(key.vt) in _KINDS and key.vt.source is None:
                setattr(key.vt, _DICT, source)

    with (
        patched(code_generation, is_safe_constant=is_constant),
        patched(ConstDictVariable, __init__=read),
        patched(TupleVariable, reconstruct=_looked_up(TupleVariable.reconstruct)),
        patched(FrozensetVariable, reconstruct=_looked_up(_make_frozenset)),
    ):
        yield


def _make_frozenset(self: Any, codegen: Any) -> None:
    """As Dynamo does, which takes for granted that the function has the name `frozenset` in it."""
    codegen.add_push_null(lambda: codegen.load_import_from("builtins", "frozenset"))
    codegen.foreach([one.vt for one in self.set_items])
    codegen.append_output(create_build_tuple(len(self.set_items)))
    codegen.extend_output(create_call_function(1, False))


def _looked_up(reconstruct: Any) -> Any:
    def make(self: Any, codegen: Any) -> None:
        source = self.__dict__.get(_DICT)
        if source is None:
            reconstruct(self, codegen)
            return
        codegen.add_push_null(lambda: codegen.load_import_from(key_of.__module__, key_of.__name__))
        codegen(source)
        reconstruct(self, codegen)
        codegen.extend_output(create_call_function(2, False))

    return make
