"""What a block has bound when an exception leaves it is bound in the function that the block stands in.

    try:                                     def step(n, it, loop):
        while True:                              v = next(it)         StopIteration leaves `step` and `while_steps`:
            v = next(it)                         if v > 9:            `n` and `v` are bound around the call, before
            if v > 9:                                return loop.stop(n, it)              the handler reads them
                break                            n += v
            n += v                               return loop.next(n, it)
    except StopIteration:                    n, it = ag.while_steps(lambda n, it: True, step, (n,), reads=(it,))
        return n

The passes make functions of blocks, which hand back what they bind; one that an exception leaves hands back nothing.
While the tracer unwinds, the frames of such functions, and of the loops of the runtime, tell what they have bound, the
innermost first. It is bound when the exception has come to the frame of the function around. In the body of an operator
the runtime ends the exception before (runtime/branch.py), and nothing is bound.

Private: exception_handler of Dynamo's translators, which a frame asks when something is raised in it (to stand around
its calls costs Python 3.12.1 depth), their `symbolic_locals` and `parent`, and the cells of `SideEffects`.
tests/capture/test_left_blocks.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import contextlib
import types
from collections.abc import Iterator
from typing import Any

from torch._dynamo.exc import ObservedException
from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables.misc import NullVariable

from autograph_torch.capture.dynamo_names import raised_exception
from autograph_torch.capture.patching import patched
from autograph_torch.codeobject import is_block
from autograph_torch.runtime import loop, steps

_BOUND = "_autograph_bound"  # of the tracer's variable for an exception: what is to be bound, in which frame

# Functions of the runtime that go through the trips of a loop: the name of the function that is a trip, and how many
# parameters that has before the state.
_LOOPS: dict[types.CodeType, tuple[str, int]] = {
    loop.while_loop.__code__: ("body_fn", 0),
    loop.for_loop.__code__: ("body_fn", 1),
    steps.while_steps.__code__: ("step", 0),
    steps._python_for.__code__: ("step", 1),
    steps.remaining.__code__: ("step", 1),
    steps._joined.__code__: ("step", 1),
}


@contextlib.contextmanager
def left_blocks() -> Iterator[None]:
    """While this is in force, handlers see what blocks have bound."""
    handle = InstructionTranslatorBase.exception_handler

    def exception_handler(self: Any, raised: Any) -> None:
        _bind(self)
        try:
            handle(self, raised)
        except ObservedException:  # no handler of this frame
            _tell(self)
            raise

    with patched(InstructionTranslatorBase, exception_handler=exception_handler):
        yield


def _tell(frame: Any) -> None:
    """Note with the exception what a frame that it leaves has bound; what a frame inside has told is newer."""
    if is_block(frame.f_code):
        code, bound = frame.f_code, dict(_locals_of(frame))
    elif frame.f_code in _LOOPS:
        code, bound = _state_of(frame, *_LOOPS[frame.f_code])
    else:
        return
    around = _frame_around(frame, code)
    if around is not None:
        told = vars(raised_exception(frame)).setdefault(_BOUND, {}).setdefault(around, {})
        told.update({name: value for name, value in bound.items() if name not in told})


def _bind(frame: Any) -> None:
    code, cells = frame.f_code, frame.output.side_effects
    for name, value in vars(raised_exception(frame)).get(_BOUND, {}).pop(frame, {}).items():
        if name in code.co_cellvars:
            cells.store_cell(frame.symbolic_locals[name], value)
        elif name in code.co_varnames:
            frame.symbolic_locals[name] = value


def _locals_of(frame: Any) -> Iterator[tuple[str, Any]]:
    """The variables of a frame that are its own, and bound."""
    code, cells = frame.f_code, frame.output.side_effects
    for name, value in frame.symbolic_locals.items():
        if name in code.co_cellvars:
            if cells.has_pending_mutation_of_attr(value, "cell_contents"):
                yield name, cells.load_cell(value)
        elif name in code.co_varnames and not isinstance(value, NullVariable):  # left by a comprehension, from 3.12 on
            yield name, value


def _state_of(frame: Any, trip: str, before: int) -> tuple[types.CodeType, dict[str, Any]]:
    """The code of a loop's trips, and the state behind the last one, by the names that its parameters have."""
    bound = dict(_locals_of(frame))
    code: types.CodeType = bound[trip].realize().get_code()
    values = bound["state"].realize().items if "state" in bound else []  # not while the operands are looked at
    return code, dict(zip(code.co_varnames[before : code.co_argcount], values, strict=False))


def _frame_around(frame: Any, code: types.CodeType) -> Any:
    """The innermost frame whose function has a function of this code in it."""
    wanted = code.co_name, code.co_firstlineno
    around = frame.parent
    while around is not None:
        inner = (constant for constant in around.f_code.co_consts if isinstance(constant, types.CodeType))
        if any((one.co_name, one.co_firstlineno) == wanted for one in inner):
            return around
        around = getattr(around, "parent", None)
    return None
