"""Who else reads or writes an attribute for which a local variable stands (passes/attributes.py).

    self_n = self.n                       the property `more` reads `self.n`, which is not what `self_n` is by now
    if x.sum() > 0:
        self_n = self_n + 1
        y = x + self.more
    ag.write(self, "n", self_n)           here it is known, and refused: the attribute stays one (capture/attempts.py)

The text shows calls, but no properties, operators, `with` blocks and descriptors, and none of what these call. So each
use is noted with the frame that it is in.

Private: how the variables of getattr, setattr, delattr and vars are called, the `f_code` and `parent` of a translator.
tests/capture/test_attribute_uses.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.variables import BuiltinVariable, LazyVariableTracker, UserDefinedObjectVariable

from autograph_torch.capture.dynamo_names import GETATTR, SETATTR
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import attributes, tracing
from autograph_torch.runtime.places import in_runtime_folder

_WHOLE = "__dict__"  # a use of all attributes
# What gets, sets and registers one attribute of a module looks there for it; its use is noted where that is called.
_OF_MODULES = torch.nn.Module.__setattr__.__code__.co_filename


@contextlib.contextmanager
def noted_uses() -> Iterator[None]:
    """While this is in force, uses of attributes are noted."""
    with contextlib.ExitStack() as stack:
        for kind in dict.fromkeys((GETATTR, SETATTR, BuiltinVariable)):
            stack.enter_context(patched(kind, call_function=_noting(kind.call_function)))
        yield


def _noting(call: Callable[..., Any]) -> Callable[..., Any]:
    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        try:
            return call(self, tx, args, kwargs)
        finally:  # that there is none is also something to be seen
            function = getattr(self, "fn", getattr)
            if function is vars and len(args) == 1:
                _note(tx, args[0], _WHOLE)
            elif function in (getattr, setattr, delattr) and len(args) > 1 and args[1].is_python_constant():
                _note(tx, args[0], args[1].as_python_constant())

    return call_function


def _note(tx: Any, item: Any, name: str) -> None:
    if isinstance(item, LazyVariableTracker) and item.is_realized():
        item = item.realize()
    if not isinstance(item, UserDefinedObjectVariable) or (name == _WHOLE and tx.f_code.co_filename == _OF_MODULES):
        return
    frame = id(tx.parent if tx.f_code is attributes.read.__code__ else tx)
    frames = _uses().setdefault((id(item), name), {})
    frames.pop(frame, None)  # it is the last one now
    frames[frame] = None


def used_by_others(tx: Any, item: Any, name: str) -> bool:
    """Whether others have used an attribute since the function did that calls the runtime (in `tx`)."""
    frame = _frame_of_program(tx)
    frames = list(_uses().get((id(item), name), ()))
    since = frames[frames.index(frame) + 1 :] if frame in frames else frames
    return bool(since) or used_as_a_whole(tx, item)


def used_as_a_whole(tx: Any, item: Any) -> bool:
    """Whether others have asked for all attributes of an object: they may have kept the dict."""
    frame = _frame_of_program(tx)
    return any(one != frame for one in _uses().get((id(item), _WHOLE), ()))


def _frame_of_program(tx: Any) -> int:
    while tx is not None and in_runtime_folder(tx.f_code.co_filename):
        tx = tx.parent
    return id(tx)


def _uses() -> dict[tuple[int, str], dict[int, None]]:
    """By object and attribute: the frames that have used it, in the order of their last use.

    All by their identity: notes of a trace that held its frames would keep it, and the program's objects, for ever. An
    identity that is used again belongs to nothing that is still running.
    """
    return tracing.notebook().setdefault("uses of attributes", {})  # type: ignore[no-any-return]
