"""Hooks of all modules that are registered or removed between calls count in the next one.

    handle = register_module_forward_hook(lambda module, given, result: result.clamp(max=1))

Where there are none, Dynamo goes to the `forward` of a module, and asks later calls nothing; in plain torch.compile,
too (torch 2.13). Here they have to agree on the numbers of the hooks, of which no two are the same.

Private: UnspecializedNNModuleVariable.call_function, InstructionTranslator.nn_modules_globals_vt, the dicts themselves.
tests/capture/test_hooks_of_all_modules.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import UnspecializedNNModuleVariable

from autograph_torch.capture.dict_keys import guard_keys
from autograph_torch.capture.dynamo_names import get_attribute
from autograph_torch.capture.patching import patched

_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks", "_global_backward_pre_hooks")


@contextlib.contextmanager
def hooks_of_all_modules() -> Iterator[None]:
    """While this is in force, they do."""
    call = UnspecializedNNModuleVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        for name in _HOOKS:
            guard_keys(get_attribute(tx.nn_modules_globals_vt, tx, name).realize())
        return call(self, tx, args, kwargs)

    with patched(UnspecializedNNModuleVariable, call_function=call_function):
        yield
