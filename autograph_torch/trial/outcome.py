"""What can be seen of a run: what calls gave and changed, text, exceptions. And how two runs differ."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

import torch

Described = Any  # numbers, text, tensors, and tuples of them that begin with a word for what they describe
_DEPTH = 6


def describe(value: Any, depth: int = _DEPTH) -> Described:
    """A value as it is now, in a form that can be stored and compared: later changes do not show."""
    if isinstance(value, torch.Tensor):
        return ("tensor", value.detach().clone().cpu(), str(value.device))
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return (type(value).__name__, value)
    if isinstance(value, (torch.dtype, torch.device, range, slice)):
        return (type(value).__name__, str(value))
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, types.ModuleType)):
        return ("code", getattr(value, "__qualname__", value.__name__))
    if depth == 0:
        return ("deeper", type(value).__qualname__)
    if isinstance(value, Mapping):
        items = tuple((describe(k, depth - 1), describe(v, depth - 1)) for k, v in value.items())
        return (type(value).__qualname__, *items)
    if isinstance(value, (list, tuple)):
        return (type(value).__qualname__, *(describe(part, depth - 1) for part in value))
    if isinstance(value, (set, frozenset)):
        return (type(value).__qualname__, *sorted(repr(part) for part in value))
    return (type(value).__qualname__, *_state(value, depth))


def _state(value: Any, depth: int) -> Iterable[Described]:
    state = dict(getattr(value, "__dict__", {}))
    if isinstance(value, torch.nn.Module):
        named = {**dict(value.named_parameters()), **dict(value.named_buffers())}
        plain = {n: v for n, v in state.items() if not n.startswith("_") and n != "training"}
        state = {**named, **plain}
    return tuple((("str", n), describe(v, depth - 1)) for n, v in sorted(state.items()))


def difference(expected: Described, actual: Described, path: str) -> str:
    """The first difference of two descriptions; empty when there is none."""
    if isinstance(expected, torch.Tensor) and isinstance(actual, torch.Tensor):
        same = expected.dtype == actual.dtype and expected.shape == actual.shape
        same = same and torch.allclose(expected, actual, rtol=0, atol=0, equal_nan=True)
        return "" if same else f"{path}: {_shown(expected)} became {_shown(actual)}"
    if type(expected) is not type(actual):
        return f"{path}: {_shown(expected)} became {_shown(actual)}"
    if not isinstance(expected, tuple):
        same = expected == actual or (expected != expected and actual != actual)
        return "" if same else f"{path}: {_shown(expected)} became {_shown(actual)}"
    if len(expected) != len(actual) or expected[:1] != actual[:1]:
        return f"{path}: {_shown(expected)} became {_shown(actual)}"
    inner = (difference(one, other, path) for one, other in zip(expected, actual, strict=True))
    return next((text for text in inner if text), "")


def _shown(value: Described) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.flatten()[:8].tolist()} ({value.dtype}, {tuple(value.shape)})"
    if isinstance(value, tuple) and len(value) == 2 and value[0] in ("bool", "int", "float", "str"):
        return f"{value[1]!r} ({value[0]})"
    return _shown(value[1]) if isinstance(value, tuple) and value[:1] == ("tensor",) else repr(value)[:200]


class Calls:
    """Notes calls of certain functions: the arguments as they are when one ends, and what it gives.

    Calls inside of such calls are not noted: inside of torch.cond they are traced and not made.
    """

    def __init__(self, files: Iterable[str], names: frozenset[str]) -> None:
        self.noted: list[Described] = []
        self._files = frozenset(os.path.realpath(file) for file in files)
        self._names = names
        self._known: dict[types.CodeType, str | None] = {}
        self._open: dict[int, tuple[str, dict[str, Any]]] = {}

    def __enter__(self) -> Calls:
        sys.setprofile(self._event)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _event(self, frame: types.FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return") or self._name(frame.f_code) is None:
            return
        if event == "call" and not self._open:
            code = frame.f_code
            stars = bool(code.co_flags & 4) + bool(code.co_flags & 8)
            given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]
            self._open[id(frame)] = (code.co_name, {n: frame.f_locals[n] for n in given if n in frame.f_locals})
        elif event == "return" and id(frame) in self._open:
            name, arguments = self._open.pop(id(frame))
            sys.setprofile(None)  # describing runs code of its own
            self.noted.append((("call", name), describe(arguments), describe(argument)))
            sys.setprofile(self._event)

    def _name(self, code: types.CodeType) -> str | None:
        if code not in self._known:
            wanted = code.co_name in self._names and os.path.realpath(code.co_filename) in self._files
            self._known[code] = code.co_name if wanted else None
        return self._known[code]
