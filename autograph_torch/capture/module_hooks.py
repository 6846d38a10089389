"""Hooks that a compiled function registers at modules: `module.register_forward_hook(f)`.

Each hook has a number, which torch takes from a counter in a class: Dynamo does not write to classes. Here the counter
goes on while tracing, and the number is a constant of the trace. Where the graph runs again, it meets modules that have
no hook of this number: the keys of the dicts in which a module keeps its hooks are guarded where a hook is registered.
For the rest of a trace Dynamo takes such a dict for one that nobody writes to, and here for what it has become.

Private: how UnspecializedNNModuleVariable gets attributes, SideEffects.
tests/capture/test_module_hooks.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import types
import weakref
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import ConstantVariable, UnspecializedNNModuleVariable, UserDefinedObjectVariable
from torch.nn import Module
from torch.utils.hooks import RemovableHandle

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.patching import patched

_DICTS = (
    "_forward_pre_hooks_with_kwargs",
    "_forward_pre_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_always_called",
)
_REGISTER = frozenset((Module.register_forward_hook.__code__, Module.register_forward_pre_hook.__code__))


def _init(self: Any, hooks_dict: Any, *, extra_dict: Any = None, number: int = 0) -> None:
    self.hooks_dict_ref = weakref.ref(hooks_dict)
    self.id = number
    self.extra_dict_ref = ()
    if isinstance(extra_dict, dict):
        self.extra_dict_ref = (weakref.ref(extra_dict),)
    elif isinstance(extra_dict, list):
        self.extra_dict_ref = tuple(weakref.ref(each) for each in extra_dict)


# What the tracer runs in the place of torch's own; with its globals, of which it needs `weakref`.
HANDLES: dict[types.CodeType, types.CodeType] = {RemovableHandle.__init__.__code__: _init.__code__}


def number_hooks(code: types.CodeType, _: Any, arguments: dict[str, Any]) -> None:
    """Fill in the number of a handle: one that no other has."""
    if code is _init.__code__:
        arguments["number"] = ConstantVariable.create(RemovableHandle.next_id)
        RemovableHandle.next_id += 1


@contextlib.contextmanager
def hooks_of_modules() -> Iterator[None]:
    """While this is in force, dicts of hooks may be written to."""
    original = getattr(UnspecializedNNModuleVariable, GET_ATTRIBUTE)
    of_object = getattr(UserDefinedObjectVariable, GET_ATTRIBUTE)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if name in _DICTS and self.source and (tx.f_code in _REGISTER or getattr(self.value, name) in _known(tx)):
            return of_object(self, tx, name)
        return original(self, tx, name)

    with patched(UnspecializedNNModuleVariable, **{GET_ATTRIBUTE: get_attribute}):
        yield


def _known(tx: Any) -> Any:
    """The objects that the trace may write to."""
    return tx.output.side_effects
