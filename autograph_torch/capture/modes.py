"""An exception of a graph leaves the modes that the graph has entered, as it leaves `with` blocks in eager Python.

    with torch.no_grad(), torch.autocast("cpu"):        _set_grad_enabled(False); mode = _enter_autocast(...)
        if bad.any():                                   cond(...)  raises: nothing behind it is run
            raise ValueError("bad")                     _exit_autocast(mode); _set_grad_enabled(True)

Private: the operators that Dynamo makes of these blocks, and torch's own names for the state that they change.
tests/capture/test_modes.py fails when torch changes what this leans on.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import attention

from autograph_torch.capture.failures import nodes_of

Compiled = Callable[..., Any]
Undo = Callable[[], object]

_autograd = torch._C._autograd


def leaving_modes(graph: torch.fx.GraphModule, run: Compiled) -> Compiled:
    """`run`, after whose exceptions the modes are those of before; `run` itself when the graph changes none."""
    snapshots = tuple({_SNAPSHOTS[node.target]: None for node in nodes_of(graph) if node.target in _SNAPSHOTS})
    if not snapshots:
        return run

    @functools.wraps(run, updated=())
    def leave(*inputs: Any) -> Any:
        undo = [snapshot() for snapshot in snapshots]
        try:
            return run(*inputs)
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)  # inference mode ends with the object that has entered it
            for step in undo:
                step()
            raise

    return leave


def _autocast() -> Undo:
    settings = [
        (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in _autocast_devices()
    ]
    cached, nesting = torch.is_autocast_cache_enabled(), _autocast_nesting()

    def undo() -> None:
        for device, enabled, dtype in settings:
            torch.set_autocast_enabled(device, enabled)
            torch.set_autocast_dtype(device, dtype)
        torch.set_autocast_cache_enabled(cached)
        while _autocast_nesting() > nesting:
            if torch.autocast_decrement_nesting() == 0:
                torch.clear_autocast_cache()

    return undo


def _autocast_devices() -> list[str]:
    accelerator = torch.accelerator.current_accelerator()
    return ["cpu", "cuda"] if accelerator is None else list({"cpu", "cuda", accelerator.type})


def _autocast_nesting() -> int:
    torch.autocast_increment_nesting()
    return int(torch.autocast_decrement_nesting())


def _grad_mode() -> Undo:
    return functools.partial(torch.set_grad_enabled, torch.is_grad_enabled())


def _saved_tensors_hooks() -> Undo:
    message = _autograd._saved_tensors_hooks_get_disabled_error_message()
    if message is None:
        return _autograd._saved_tensors_hooks_enable
    return functools.partial(_autograd._saved_tensors_hooks_disable, message)


def _attention_backends() -> Undo:
    chosen = attention._cur_sdpa_kernel_backends(with_priority=True)
    return functools.partial(attention._sdpa_kernel, chosen, True)


# What Dynamo puts at the start of a block -> what tells how to undo it.
_SNAPSHOTS: dict[Any, Callable[[], Undo]] = {
    torch._C._set_grad_enabled: _grad_mode,
    torch.amp.autocast_mode._enter_autocast: _autocast,
    torch.autograd.grad_mode._enter_inference_mode: _grad_mode,
    _autograd._saved_tensors_hooks_disable: _saved_tensors_hooks,
    attention._sdpa_kernel: _attention_backends,
}
