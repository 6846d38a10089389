"""Without the decorator, too, a call whose graph raises is run once more in Python.

What `convert` gives, and a function of a file that it has written, are compiled by whoever asks for it, so there is no
wrapper of ours around the call. But Dynamo lets a hook replace the code that it makes for a frame. Where the graph may
raise, the frame gets code that calls both:

    @torch.compile(fullgraph=True)         def step(x, n):
    def step(x, n):                            return run((x, n), {}, <globals and closure>)
        if x.sum() > n:
            raise ValueError(n)            run: what Dynamo has made, in a session (runtime/performing.py);
        ...                                when its graph raises, the user's code (capture/failures.py)

Not so under `fullgraph=False`, where Python runs between the graphs, nor where a program is exported.

Private: `torch._dynamo.convert_frame.register_bytecode_hook`, `torch._dynamo.utils.get_traced_code`.
tests/capture/test_again.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import ast
import contextlib
import contextvars
import dis
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._dynamo.convert_frame import register_bytecode_hook
from torch._dynamo.utils import get_traced_code

from autograph_torch.codeobject import unmarked
from autograph_torch.runtime import performing
from autograph_torch.runtime.performing import Settings
from autograph_torch.runtime.places import is_runtime

# What is handed the arguments of a call, by place and by name, and a function with its globals and cells.
Run = Callable[[tuple[Any, ...], dict[str, Any], Callable[[], Any]], Any]


@dataclass
class Frame:
    """A frame that is compiled as one graph, without the decorator.

    code: of the function as it is called.
    may_raise: whether its graph, once it is made, may come to an exception that Python could handle or show better.
    """

    code: types.CodeType
    may_raise: bool = False


_frame: contextvars.ContextVar[Frame | None] = contextvars.ContextVar("autograph_torch_frame", default=None)


@contextlib.contextmanager
def compiling_frame(code: types.CodeType, one_graph: bool) -> Iterator[Frame | None]:
    """While a frame is compiled. It is None where a call that raises cannot, or need not, be run again from here."""
    frame = Frame(code) if one_graph and performing.settings() is None and not performing.is_looking() else None
    token = _frame.set(frame)
    try:
        yield frame
    finally:
        _frame.reset(token)


def frame_under_way() -> Frame | None:
    """The frame that is compiled right now, if a call of it that raises can be run again."""
    return _frame.get()


def install_hook() -> None:
    """Have Dynamo ask for the code of each frame that it has compiled (once for the process)."""
    register_bytecode_hook(_with_another_run)


def handles_exceptions() -> bool:
    """Whether some function of the trace that is under way has a `try`: what torch raises may be for its handlers."""
    return any(has_handlers(code) for code in get_traced_code() or ())


def has_handlers(code: types.CodeType, managers: bool = False) -> bool:
    """Whether a function of the user's has a `try`; `managers`: or a `with`, whose manager may swallow exceptions."""
    if is_runtime(code.co_filename) or code.co_filename.startswith(torch.__path__[0]):
        return False
    names = [instruction.opname for instruction in dis.get_instructions(code)]
    if sys.version_info < (3, 11):
        return "SETUP_FINALLY" in names or (managers and "SETUP_WITH" in names)
    after = zip(names, [*names[1:], ""], strict=True)
    return any(name == "PUSH_EXC_INFO" and (managers or following != "WITH_EXCEPT_START") for name, following in after)


def _with_another_run(code: types.CodeType, new_code: types.CodeType) -> types.CodeType | None:
    """The hook: what runs in the place of a frame; None to leave it as Dynamo has made it."""
    frame = _frame.get()
    if frame is None or not frame.may_raise:
        return None
    more = max(0, _own_cells(frame.code) - _own_cells(code))
    undisturbed = torch.compiler.disable(_Runs(new_code, unmarked(frame.code)))  # else Dynamo would compile these
    return entry_of(code, undisturbed, [f"{_UNUSED}{k}" for k in range(more)])


def _own_cells(code: types.CodeType) -> int:
    """How many cells a frame has behind its arguments.

    From Python 3.11 on, an argument is its own cell; from 3.12 on so is the variable of a comprehension, which the
    frame of the function has.
    """
    arguments = () if sys.version_info < (3, 11) else _Parameters.of(code).all
    return len([name for name in code.co_cellvars if name not in arguments])


@dataclass(frozen=True)
class _Runs:
    """The two ways to run a call: as Dynamo has compiled it, and as the user wrote it."""

    compiled: types.CodeType
    plain: types.CodeType

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any], around: Callable[[], Any]) -> Any:
        """What the call gives. `around` has the globals of the function, and its cells."""
        cells = dict(zip(around.__code__.co_freevars, around.__closure__ or (), strict=True))
        compiled, plain = (_function(code, around.__globals__, cells) for code in (self.compiled, self.plain))
        return performing.in_session(Settings(), compiled, plain, args, kwargs)


def run_in_python(code: types.CodeType, globals_: dict[str, Any], given: Mapping[str, Any], closure: Any) -> Any:
    """A call as the user wrote it. `given`: the arguments by name, as a frame has them."""
    plain = unmarked(code)
    cells = dict(zip(code.co_freevars, closure or (), strict=True))
    names = _Parameters.of(code)
    args = (*(given[name] for name in names.positional), *(given[names.rest] if names.rest else ()))
    kwargs = {name: given[name] for name in names.by_name} | (given[names.others] if names.others else {})
    return _function(plain, globals_, cells)(*args, **kwargs)


def _function(code: types.CodeType, globals_: dict[str, Any], cells: Mapping[str, Any]) -> types.FunctionType:
    return types.FunctionType(code, globals_, code.co_name, None, tuple(cells[name] for name in code.co_freevars))


@dataclass(frozen=True)
class _Parameters:
    positional: tuple[str, ...]
    by_name: tuple[str, ...]
    rest: str | None
    others: str | None

    @classmethod
    def of(cls, code: types.CodeType) -> _Parameters:
        names, count = code.co_varnames, code.co_argcount
        behind = count + code.co_kwonlyargcount
        rest = names[behind] if code.co_flags & 0x04 else None
        others = names[behind + (rest is not None)] if code.co_flags & 0x08 else None
        return cls(names[:count], names[count:behind], rest, others)

    @property
    def all(self) -> tuple[str, ...]:
        return (*self.positional, *self.by_name, *(name for name in (self.rest, self.others) if name is not None))


def entry_of(code: types.CodeType, runs: Run, more: Sequence[str]) -> types.CodeType | None:
    """The code of a function with the parameters and cells of `code` that hands all its arguments to `runs`.

    more: further variables, for what the frame has more (it may be that of an earlier attempt, which has made other
    functions).

    None where that cannot be written: the frame of a comprehension has parameters without names of their own.
    """
    if not all(name.isidentifier() for name in _Parameters.of(code).all):
        return None
    entry = _inner(_inner(compile(_factory(code, more), code.co_filename, "exec")))
    if (entry.co_cellvars, entry.co_freevars) != (code.co_cellvars, code.co_freevars):
        return None
    constants = tuple(runs if constant == _RUN else constant for constant in entry.co_consts)
    entry = entry.replace(co_consts=constants, co_name=code.co_name, co_firstlineno=code.co_firstlineno)
    return entry.replace(co_qualname=code.co_qualname) if sys.version_info >= (3, 11) else entry


_UNUSED = "autograph_torch_unused_"
_RUN = "autograph_torch: run"  # where the code has the function that runs both


def _factory(code: types.CodeType, more: Sequence[str]) -> ast.Module:
    """The text of `entry_of`, in a function that has the free variables. Without columns, which tracebacks underline.

    It has the cells of `code`: Dynamo hands the frame's on, from the last backwards, and where the frame has more there
    have to be variables, lest they take the places of arguments. `if 0` leaves nothing behind but a variable.
    """
    names = _Parameters.of(code)
    args = [f"{name}, " for name in names.positional] + ([f"*{names.rest}, "] if names.rest else [])
    kwargs = [f"{name!r}: {name}" for name in names.by_name] + ([f"**{names.others}"] if names.others else [])
    shared = "".join(f"{name}, " for name in (*code.co_cellvars, *code.co_freevars))
    text = ["def factory():"]
    text += [f"    {name} = None" for name in code.co_freevars]
    text += [f"    def entry({_signature(names, code.co_posonlyargcount)}):"]
    unused = (*(name for name in code.co_cellvars if name not in names.all), *more)
    text += [f"        if 0: {name} = None" for name in unused]
    text += [f"        return {_RUN!r}.__call__(({''.join(args)}), {{{', '.join(kwargs)}}}, lambda: ({shared}))"]
    tree = ast.parse("\n".join(text))
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt, ast.arg)):
            node.lineno = node.end_lineno = code.co_firstlineno
            node.col_offset = node.end_col_offset = -1
    return tree


def _signature(names: _Parameters, positional_only: int) -> str:
    listed = list(names.positional)
    if positional_only:
        listed.insert(positional_only, "/")
    if names.rest or names.by_name:
        listed.append(f"*{names.rest or ''}")
    return ", ".join([*listed, *names.by_name, *([f"**{names.others}"] if names.others else [])])


def _inner(code: types.CodeType) -> types.CodeType:
    return next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
