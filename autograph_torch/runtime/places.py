"""Places of calls in the user's source, and calling a function so that it seems to be called from there."""

from __future__ import annotations

import ast
import functools
import os
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import torch

_RUNTIME = os.path.dirname(__file__) + os.sep
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_OPERATORS = os.path.join(_TORCH, "_higher_order_ops") + os.sep


@dataclass(frozen=True, eq=False)
class Place:
    """A line of a function of the user's that was being executed (or traced)."""

    filename: str
    function: str
    line: int
    globals: dict[str, Any]


@dataclass(frozen=True)
class Frame:
    """A frame of the stack, real or traced."""

    code: types.CodeType
    line: int
    globals: dict[str, Any]


def places_of(frames: Iterable[Frame]) -> tuple[Place, ...]:
    """The user's places on a stack, innermost first.

    A function that a pass has made of a branch or loop body belongs to the function around it: only the line counts.
    So does one that a body of the same function calls through the runtime (the next trip, in a branch of this one).
    """
    found: list[tuple[tuple[types.CodeType, ...], Place]] = []  # the codes of one function, and where it is
    through_runtime = False
    for frame in reversed(list(frames)):
        if is_runtime(frame.code.co_filename):
            through_runtime = True
            continue
        if through_runtime and found and any(frame.code in around.co_consts for around in found[-1][0]):
            codes, outer = found.pop()
            place = Place(outer.filename, outer.function, frame.line, outer.globals)
            found.append(((*codes, frame.code), place))
        else:
            place = Place(frame.code.co_filename, frame.code.co_name, frame.line, frame.globals)
            found.append(((frame.code,), place))
        through_runtime = False
    return tuple(place for _, place in reversed(found))


def real_frames(frame: types.FrameType | None) -> Iterator[Frame]:
    """The stack below a frame, innermost first."""
    while frame is not None:
        yield Frame(frame.f_code, frame.f_lineno, frame.f_globals)
        frame = frame.f_back


def is_runtime(filename: str) -> bool:
    """Whether a file belongs to this package, or to the operators of torch that it calls."""
    return filename.startswith((_PACKAGE, _OPERATORS))


def in_runtime_folder(filename: str) -> bool:
    """Whether a file belongs to the runtime alone: what rewritten functions call."""
    return filename.startswith(_RUNTIME)


def called_from(places: Sequence[Place], function: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
    """`function(*args, **kwargs)` from frames that look like those of the places, innermost first."""
    action: Callable[[], Any] = functools.partial(function, *args, **(kwargs or {}))
    for place in places:
        action = functools.partial(_frame(_CALL, place), action)
    return action()


def raised_from(places: Sequence[Place], error: BaseException) -> NoReturn:
    """`raise error` from frames that look like those of the places, innermost first; without any, from here."""
    if not places:
        raise error
    action: Callable[[], Any] = functools.partial(_frame(_RAISE, places[0]), error)
    for place in places[1:]:
        action = functools.partial(_frame(_CALL, place), action)
    action()
    raise AssertionError("unreachable")


def _frame(template: types.CodeType, place: Place) -> types.FunctionType:
    code = template.replace(co_filename=place.filename, co_name=place.function, co_firstlineno=place.line)
    if sys.version_info >= (3, 11):
        code = code.replace(co_qualname=place.function)
    return types.FunctionType(code, place.globals)


def _template(text: str) -> types.CodeType:
    """The code of a function of one line, without columns, which tracebacks would underline."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt, ast.arg)):
            node.col_offset = node.end_col_offset = -1
    code = compile(tree, "<place>", "exec")
    return next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))


_CALL = _template("def place(action): return action()")
_RAISE = _template("def place(error): raise error")


def hidden_frames(root: Place) -> int:
    """How many frames lie below the caller, itself included, until the next one that eager Python would have.

    They are this package's and torch's, and that of the compiled function itself when its graph is running.
    """
    frame: types.FrameType | None = sys._getframe(1)
    count = 0
    while frame is not None and _is_hidden(frame.f_code, root):
        count += 1
        frame = frame.f_back
    return count


def _is_hidden(code: types.CodeType, root: Place) -> bool:
    filename = code.co_filename
    generated = filename.startswith(("<eval_with_key>", "<string>")) or "torchinductor" in filename
    return (
        generated
        or filename.startswith((_PACKAGE, _TORCH))
        or (filename, code.co_name) == (root.filename, root.function)
    )
