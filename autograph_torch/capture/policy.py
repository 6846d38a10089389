"""What conversion does not enter, in one place, with the reasons."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import sysconfig
import types

import torch

from autograph_torch.runtime import lexicographic, membership, ordered_lists

_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STDLIB = os.path.abspath(sysconfig.get_paths()["stdlib"]) + os.sep

LIBRARIES = sys.stdlib_module_names | {"torch"}  # modules, by their first names, whose classes Dynamo knows or refuses

# Parts of torch whose Python implements the tracer and its operators: they ask about types, never about data.
_TORCH_INTERNALS = tuple(
    _TORCH + part
    for part in (
        "_dynamo", "_higher_order_ops", "_functorch", "_inductor", "_ops.py", "_subclasses", "_prims", "_refs",
        "_decomp", "fx", "utils", "overrides.py", "_library", "library.py", "_tensor.py", "_jit_internal.py", "jit",
        "_meta_registrations.py", "export", "_export", "compiler", "_guards.py", "nn/modules/module.py",
        "nn/modules/container.py", "nn/parameter.py", "nn/functional.py", "autograd", "cuda", "backends", "amp",
    )
)  # fmt: skip

# What Dynamo traces in the place of functions in C; of these `any` and `all` ask about what they are given.
_DYNAMO = _TORCH + "_dynamo" + os.sep
POLYFILLS = _DYNAMO + "polyfills" + os.sep
_BUILTINS = POLYFILLS + "builtins.py"
_ASKING = ("any", "all")

# Functions of torch that are an operator to Dynamo and ask about data.
ASKING_FUNCTIONS = frozenset({torch.nn.functional.gaussian_nll_loss})
_ASKING_CODE = frozenset(function.__code__ for function in ASKING_FUNCTIONS)

# Of this package: what compares elements as Python's own functions do (capture/sequence_order.py).
_COMPARING = frozenset(
    os.path.abspath(function.__code__.co_filename)
    for function in (lexicographic.compared, membership.is_found_in, ordered_lists.heappush)
)


@functools.lru_cache(maxsize=8192)
def may_enter(code: types.CodeType) -> bool:
    """Whether a function that is reached below a converted one may be rewritten.

    Not entered: this package; the standard library (no tensors in its own code, and Dynamo models much of it); the
    parts of torch that implement tracing; what users have named.
    """
    filename = os.path.abspath(code.co_filename) if code.co_filename[:1] != "<" else code.co_filename
    if filename == _BUILTINS and code.co_name in _ASKING:
        return True
    if code in _ASKING_CODE or filename in _COMPARING:
        return True
    if filename.startswith((_PACKAGE, *_TORCH_INTERNALS, *_modules_left_out)):
        return False
    if filename.startswith(_STDLIB) and "site-packages" not in filename:
        return False
    return code not in _do_not_convert


def is_dynamo(filename: str) -> bool:
    """Whether a file belongs to the part of torch that traces."""
    return filename.startswith(_DYNAMO)


def is_torch(code: types.CodeType) -> bool:
    """Whether a function belongs to torch itself."""
    return code.co_filename.startswith(_TORCH)


_do_not_convert: set[types.CodeType] = set()
_modules_left_out: list[str] = []  # their files, or folders


def leave_out(function: types.FunctionType) -> None:
    """Never rewrite this function when it is reached."""
    _do_not_convert.add(function.__code__)
    may_enter.cache_clear()


def leave_out_module(name: str) -> None:
    """Never rewrite the functions of a module, or of a package and what is below it.

    Raises:
        ModuleNotFoundError: there is none of this name.
    """
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"no module named {name!r}", name=name)
    folders = [os.path.abspath(folder) + os.sep for folder in spec.submodule_search_locations or ()]
    files = [os.path.abspath(spec.origin)] if spec.origin and not folders else []
    _modules_left_out.extend(folders + files)
    may_enter.cache_clear()
