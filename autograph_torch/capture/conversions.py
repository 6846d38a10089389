"""What becomes of the code of a function that the tracer reaches: converted once, for what is known of its arguments.

converted(code, ...)        a function below a converted one
rewritten_for(attempt, ...) the function that is compiled, when a failed trace has told something of its own lines, or
                            when more of it is rewritten than for Python to run
frame_of_its_own(code, ...) a function that Dynamo compiles by itself, behind a break
"""

from __future__ import annotations

import types
import weakref
from typing import Any

from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols

from autograph_torch.analysis.kinds import Kind
from autograph_torch.analysis.told import Told
from autograph_torch.capture.attempts import Attempt, attempt_under_way
from autograph_torch.codeobject import follows_calls, is_for_python, marked, origin_of, with_origin
from autograph_torch.diagnostics import SourceError
from autograph_torch.live import convert_code, is_filled
from autograph_torch.runtime import performing

# Code objects that were reached -> what became of them, by what is known of their arguments. An entry lives as long as
# the function's code does; until then its globals are alive anyway.
_conversions: weakref.WeakKeyDictionary[types.CodeType, dict[Any, tuple[types.CodeType, Any]]] = (
    weakref.WeakKeyDictionary()
)


def converted(code: types.CodeType, symbolic_locals: dict[str, Any], function: Any) -> types.CodeType:
    seeds = []
    for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        kind = _kind(symbolic_locals.get(name))
        if kind is not None:
            seeds.append((name, kind))
    attempt = attempt_under_way()
    told = attempt.told_of(code.co_filename) if attempt else Told()
    if told:
        told = told.within(frozenset(line for *_, line in code.co_lines() if line is not None))
    return _conversion(code, frozenset(seeds), function.get_globals(), told)


def converted_again(code: types.CodeType, symbolic_locals: dict[str, Any], function: Any) -> types.CodeType:
    """The code of a converted function that is reached below another frame, written anew when it is concerned."""
    attempt, origin = attempt_under_way(), origin_of(code)
    told = attempt is not None and bool(attempt.told_of(code.co_filename))
    if origin is None or not (told or is_for_python(code)):
        return code
    return _another_form(converted(origin, symbolic_locals, function), code, origin)


def rewritten_for(attempt: Attempt, code: types.CodeType, whole: bool, globals_: Any, *args: Any) -> types.CodeType:
    """The code of the function that is compiled, written anew when its own lines are concerned.

    whole: whether there is to be one graph. Between several Python runs what it is given.
    """
    origin = origin_of(code)
    told = attempt.told_of(code.co_filename)
    if origin is None or not (told or (whole and is_for_python(code))):
        return code
    new = convert_code(origin, _names(code, globals_, args[2]), {}, _named_effects(), told, for_trace=whole).code
    return _another_form(new, code, origin)


def _another_form(new: types.CodeType, code: types.CodeType, origin: types.CodeType) -> types.CodeType:
    """`new` in the place of a converted code of the same origin, if the cells of that will do for it."""
    new = with_origin(marked(new, follow=follows_calls(code)), origin)
    return new if new.co_freevars == code.co_freevars else code


def frame_of_its_own(code: types.CodeType, globals_: Any, *args: Any) -> types.CodeType:
    try:
        new = marked(convert_code(code, _names(code, globals_, args[2]), {}, _named_effects()).code, follow=True)
    except SourceError:
        return code
    return new if new.co_freevars == code.co_freevars else code


def _conversion(
    code: types.CodeType,
    seeds: frozenset[tuple[str, Kind]],
    globals_: dict[str, Any],
    told: Told,
) -> types.CodeType:
    known = _conversions.setdefault(code, {})
    effects = _named_effects()
    key = (seeds, id(globals_), told, effects)
    if key not in known:
        try:
            new = convert_code(code, globals_, dict(seeds), effects, told, for_trace=True).code
        except SourceError:
            new = marked(code)  # no source: traced as it is
        known[key] = new, globals_
    return known[key][0]


def _named_effects() -> frozenset[str]:
    """The last names of further functions that the user wants called for their effect."""
    chosen = performing.settings()
    return chosen.names if chosen is not None else frozenset()


def _kind(variable: Any) -> Kind | None:
    """What the tracer knows of an argument."""
    if variable is None:
        return None
    if variable.is_tensor():
        return Kind.DYNAMIC if not _is_lazy(variable) and _from_data(variable) else Kind.TENSOR
    if variable.is_python_constant() and not _is_lazy(variable):
        return Kind.PYTHON
    if type(variable).__name__ == "SymNodeVariable" and _from_data(variable):
        return Kind.SYMBOL
    return None


def _from_data(variable: Any) -> bool:
    """Whether a number, or a size of a tensor, is known only when the graph runs."""
    return has_free_unbacked_symbols(variable.as_proxy().node.meta["example_value"])


def _is_lazy(variable: Any) -> bool:
    """A value that Dynamo has not looked at yet: looking would add guards."""
    return type(variable).__name__ == "LazyVariableTracker" and not variable.is_realized()


def _names(code: types.CodeType, globals_: dict[str, Any], closure: Any) -> dict[str, Any]:
    cells = zip(code.co_freevars, closure or (), strict=True)
    return {**globals_, **{name: cell.cell_contents for name, cell in cells if is_filled(cell)}}
