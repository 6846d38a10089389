"""`functools.lru_cache` around functions that the function makes: what they have given is kept while it is traced.

    @functools.lru_cache(maxsize=None)
    def best(k, room): ...                  called once for each `k` and `room`

Keys are constants, or tensors by what they are. Numbers that data tell are no keys (on one path they are constants),
and in the body of a branch or loop nothing is kept that the next call could find: both are refused, and so is a cached
function that the function gives back.

Private: UserFunctionVariable.call_function, and what a VariableTracker has to have. tests/capture/test_caches.py fails
clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import functools
from collections import OrderedDict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TensorVariable, UserFunctionVariable
from torch._dynamo.variables.base import VariableTracker

from autograph_torch.capture.assumptions import in_body
from autograph_torch.capture.patching import patched
from autograph_torch.capture.replaced_instructions import is_from_data
from autograph_torch.runtime.refusal import raise_refusal

_DEFAULT = 128  # of functools
_BY_DATA = "data tell what a cached function is called with"
_IN_BODY = "a cached function is called in a branch or loop on data"
_GIVEN = "a cached function leaves the function that has made it"


@contextlib.contextmanager
def caches() -> Iterator[None]:
    """While this is in force, such functions are known."""
    call = UserFunctionVariable.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        if self.fn is functools.cache and len(args) == 1 and not kwargs:
            return CachedFunction(args[0], None, False)
        if self.fn is functools.lru_cache:
            given = dict(zip(("maxsize", "typed"), args, strict=False)) | kwargs
            size = given.get("maxsize", ConstantVariable.create(_DEFAULT))
            typed = bool(given["typed"].as_python_constant()) if "typed" in given else False
            if not size.is_python_constant() or callable(size.as_python_constant()):
                return CachedFunction(size, _DEFAULT, typed)
            return _Decorator(size.as_python_constant(), typed)
        return call(self, tx, args, kwargs)

    with patched(UserFunctionVariable, call_function=call_function):
        yield


class _Decorator(VariableTracker):
    """`functools.lru_cache(maxsize=..., typed=...)`."""

    def __init__(self, size: int | None, typed: bool) -> None:
        super().__init__()
        self.size, self.typed = size, typed

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        return CachedFunction(args[0], self.size, self.typed)


class CachedFunction(VariableTracker):
    """A function with what it has given so far."""

    _nonvar_fields = {"found", "size", "typed", "hits", "misses", *VariableTracker._nonvar_fields}

    def __init__(self, function: VariableTracker, size: int | None, typed: bool) -> None:
        super().__init__()
        self.function = function
        self.size = None if size is None else max(0, size)
        self.typed = typed
        self.found: OrderedDict[Hashable, VariableTracker] = OrderedDict()
        self.hits = self.misses = 0

    def python_type(self) -> type:
        return functools._lru_cache_wrapper

    def call_function(self, tx: Any, args: Any, kwargs: Any) -> VariableTracker:
        if in_body() or tx.output.current_tracer.parent is not None:
            raise_refusal("AG320", _IN_BODY, "call it before the branch or loop")
        named = {name: _known(value) for name, value in kwargs.items()}
        key = functools._make_key(tuple(map(_known, args)), named, self.typed)
        if key in self.found:
            self.hits += 1
            self.found.move_to_end(key)
            return self.found[key]
        result = self.function.call_function(tx, args, kwargs)
        self.misses += 1
        self.found[key] = result
        if self.size is not None and len(self.found) > self.size:
            self.found.popitem(last=False)
        return result

    def call_method(self, tx: Any, name: str, args: Any, kwargs: Any) -> VariableTracker:
        if name == "cache_clear" and not args:
            self.found.clear()
            self.hits = self.misses = 0
            return ConstantVariable.create(None)
        if name == "cache_info" and not args:
            counted = functools._CacheInfo(self.hits, self.misses, self.size, len(self.found))  # type: ignore[call-arg]
            return VariableTracker.build(tx, counted)
        return super().call_method(tx, name, args, kwargs)

    def reconstruct(self, codegen: Any) -> None:
        raise_refusal("AG320", _GIVEN, "make it outside of the function")


@dataclass(frozen=True)
class _Tensor:
    """A tensor, as a key."""

    identity: int


def _known(argument: VariableTracker) -> Any:
    """What a function is called with, as Python compares it."""
    value: Any = argument.realize()
    if isinstance(value, TensorVariable):
        return _Tensor(id(value.as_proxy().node.meta["example_value"]))
    return known_constant(value)


def known_constant(value: Any) -> Any:
    """A constant, or a number that no data tell, that a cached function is called with."""
    if isinstance(value, SymNodeVariable) and not is_from_data(value):
        return value.evaluate_expr()
    if not value.is_python_constant():
        raise_refusal("AG321", _BY_DATA, "use a dict whose keys do not depend on data")
    return value.as_python_constant()
