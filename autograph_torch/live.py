"""Converting live functions: what is known about their surroundings, and a cache of the code objects made of them."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from autograph_torch import collector
from autograph_torch.analysis.kinds import BUILTINS, Imports, Kind
from autograph_torch.analysis.told import UNTOLD, Told
from autograph_torch.codeobject import compile_tree, for_python, is_marked, marked
from autograph_torch.diagnostics import Diagnostic
from autograph_torch.rewriting import Rewritten, Surroundings, rewrite_function
from autograph_torch.source.lookup import Located, as_function, locate, skipped_lines

_MISSED = "AG207"  # a statement that stays, since a handler reads what it binds; a trace hands that on


@dataclass(frozen=True)
class Conversion:
    """What became of one code object."""

    code: types.CodeType
    diagnostics: tuple[Diagnostic, ...]
    rewritten: Rewritten | None = None


def convert_code(
    function_code: types.CodeType,
    names: Mapping[str, Any],
    seeds: Mapping[str, Kind],
    effects: frozenset[str] = frozenset(),
    told: Told = UNTOLD,
    for_trace: bool = False,
) -> Conversion:
    """Rewrite the function that a code object belongs to; its own code, marked, when there is nothing to do.

    Args:
        function_code: the code of the function.
        names: globals and closed-over values in reach of it.
        seeds: kinds of its parameters, as far as the caller knows.
        effects: last names of further functions that are called for their effect.
        told: what failed traces have told of its lines.
        for_trace: whether Python never runs what is made.

    Raises:
        SourceError: AG302 when its source cannot be found.
    """
    if is_marked(function_code):
        return Conversion(function_code, ())
    with collector.paused():
        return _converted(function_code, names, seeds, effects, told, for_trace)


def _converted(
    function_code: types.CodeType,
    names: Mapping[str, Any],
    seeds: Mapping[str, Kind],
    effects: frozenset[str],
    told: Told,
    for_trace: bool,
) -> Conversion:
    located = locate(function_code)
    rewritten = rewrite_located(located, names, seeds, effects=effects, told=told, for_trace=for_trace)
    if rewritten.changed:
        code = compile_tree(rewritten.tree, function_code, located.filename, located.owner)
    else:
        code = marked(function_code)
    if not for_trace and any(found.code == _MISSED for found in rewritten.diagnostics):
        code = for_python(code)
    return Conversion(code, rewritten.diagnostics, rewritten)


def rewrite_located(
    located: Located,
    names: Mapping[str, Any],
    seeds: Mapping[str, Kind],
    assume_unknown: bool = True,
    effects: frozenset[str] = frozenset(),
    told: Told = UNTOLD,
    for_trace: bool = False,
) -> Rewritten:
    """Rewrite a function found in its file, with what its live surroundings tell."""
    tree = as_function(located.node)
    around = surroundings_of(located, names, assume_unknown, effects)
    around = replace(around, told=told, for_trace=for_trace)
    if located.node.lineno in around.skipped_lines:
        return Rewritten(tree, tree, ())
    return rewrite_function(tree, around, seeds, is_method=located.owner is not None)


def surroundings_of(
    located: Located, names: Mapping[str, Any], assume_unknown: bool, effects: frozenset[str] = frozenset()
) -> Surroundings:
    """What is known around a live function."""
    used = {node.id for node in ast.walk(located.node) if isinstance(node, ast.Name)}
    return Surroundings(
        filename=located.filename,
        lines=located.lines,
        imports=_imports(names, used),
        outer={name: kind_of(names[name]) for name in used if name in names and not _is_torch(names[name])},
        assume_unknown=assume_unknown,
        skipped_lines=skipped_lines(located.filename, located.lines),
        effects=effects,
    )


def names_in_reach(function: types.FunctionType) -> dict[str, Any]:
    """Globals and closed-over values of a function."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {**function.__globals__, **{name: cell.cell_contents for name, cell in cells if is_filled(cell)}}


def is_filled(cell: types.CellType) -> bool:
    """Whether a variable of an enclosing function is bound."""
    try:
        cell.cell_contents  # noqa: B018 (an empty cell raises)
    except ValueError:
        return False
    return True


_VALUES = ("dtype", "device", "layout", "memory_format")


def kind_of(value: Any) -> Kind:
    """The kind of a live value, found without importing torch."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, type, types.ModuleType)):
        return Kind.PYTHON
    if isinstance(value, (list, tuple, dict, set, frozenset, range)):
        return Kind.CONTAINER
    if callable(value) and isinstance(value, (types.FunctionType, types.BuiltinFunctionType, types.MethodType)):
        return Kind.PYTHON
    if any(base.__name__ == "Tensor" and base.__module__ == "torch" for base in type(value).__mro__):
        return Kind.TENSOR
    if type(value).__module__ == "torch" and type(value).__name__ in _VALUES:
        return Kind.PYTHON
    return Kind.UNKNOWN


def _is_torch(value: Any) -> bool:
    return _torch_path(value) is not None


def _torch_path(value: Any) -> str | None:
    """Where below torch a module, class or function lives; None when it is not torch's, or is an object of torch's."""
    if isinstance(value, types.ModuleType):
        module, attribute = value.__name__, ""
    else:
        module, attribute = str(_attribute(value, "__module__")), _attribute(value, "__name__")
        if attribute is None:
            return None
        if isinstance(value, types.BuiltinFunctionType) and type(value.__self__).__name__ == "type":
            module = "torch" if "torch" in repr(value.__self__) else module
    if module.split(".")[0] != "torch":
        return None
    path = module.removeprefix("torch").lstrip(".").removeprefix("_C._VariableFunctions")
    return ".".join(part for part in (path, attribute) if part)


def _imports(names: Mapping[str, Any], used: set[str]) -> Imports:
    torch = {name: path for name in used if name in names and (path := _torch_path(names[name])) is not None}
    modules = {name for name in used if isinstance(names.get(name), types.ModuleType)} - set(torch)
    origins = {name: path for name in used if name in names and (path := _origin(names[name])) is not None}
    hidden = {name for name in used & BUILTINS if name in names and names[name] is not getattr(builtins, name)}
    return Imports(torch, frozenset(modules), origins, frozenset(hidden))


def _origin(value: Any) -> str | None:
    """Where a live value comes from, as an import statement would name it; "logging.Logger" for a logger."""
    if isinstance(value, types.ModuleType):
        return value.__name__
    if any(
        base.__module__ == "logging" and base.__name__ in ("Logger", "LoggerAdapter") for base in type(value).__mro__
    ):
        return "logging.Logger"
    module, name = _attribute(value, "__module__"), _attribute(value, "__qualname__")
    return f"{module.lstrip('_')}.{name}" if isinstance(module, str) and isinstance(name, str) else None


def _attribute(value: Any, name: str) -> Any:
    """An attribute, or None: what runs code of the program's for one is not asked. (A class has these itself.)"""
    look_ups = _LOOK_UPS[1:] if isinstance(value, type) else _LOOK_UPS
    if any(method in vars(base) for base in _written_by_others(type(value)) for method in look_ups):
        return None
    return getattr(value, name, None)


_LOOK_UPS = ("__getattr__", "__getattribute__")


def _written_by_others(kind: type) -> list[type]:
    """The classes that a class derives from, and itself, without Python's and torch's."""
    return [base for base in kind.__mro__ if base.__module__.partition(".")[0] not in ("builtins", "torch")]
