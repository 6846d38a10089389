"""How the tracer gives results whose type depends on data (runtime/picking.py).

Private: a VariableTracker of our own, whose `reconstruct` writes the bytecode that runs behind the graph; the chain of
frames that are being traced (InstructionTranslatorBase.parent, .instructions, .instruction_pointer; capture/ahead.py).
tests/capture/test_choices.py fails clearly when torch changes what this leans on.
"""

from __future__ import annotations

import contextlib
import contextvars
import os
import re
import types
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.variables import ConstantVariable, UserDefinedObjectVariable
from torch._dynamo.variables.base import VariableTracker

from autograph_torch.capture.ahead import ahead
from autograph_torch.runtime import picking

Locals = dict[str, Any]
# What follows a call whose result is returned, out of any number of `with` blocks; Python 3.10, and those after it.
_RETURNS = re.compile(
    r"(?P<blocks>"
    r"((POP_BLOCK ROT_TWO LOAD_CONST DUP_TOP DUP_TOP CALL_FUNCTION|SWAP( LOAD_CONST){3}( PRECALL)? CALL) POP_TOP )*"
    r")RETURN_VALUE"
)
_FAR_ENOUGH = 64
# Instructions that give what the function they call gives; others (`in`, `not`, an f-string) make something of it.
_CALLS = re.compile("CALL|PRECALL|LOAD_(ATTR|METHOD)|BINARY_|COMPARE_OP|UNARY_(NEGATIVE|POSITIVE|INVERT)")
# Methods whose result Python looks at before it goes on.
_CONVERTED = frozenset(
    "__bool__ __contains__ __float__ __format__ __hash__ __index__ __int__ __len__ __repr__ __str__".split()
)
# Functions of the runtime that hand on what the branch (or the step, out of a branch) gives, though not by `return`.
_RUNTIME = os.path.dirname(picking.__file__)
_HANDS_ON = {
    (os.path.join(_RUNTIME, filename), name)
    for filename, names in (
        ("branch.py", "_staged _attempt run then otherwise again <lambda>"),
        ("steps.py", "remaining _unrolled"),
    )
    for name in names.split()
}


_one_type: contextvars.ContextVar[bool] = contextvars.ContextVar("autograph_torch_one_type", default=False)


class ChosenVariable(VariableTracker):
    """A value that exists behind the graph only."""

    def __init__(self, which: VariableTracker, values: list[VariableTracker], **options: Any) -> None:
        super().__init__(**options)
        self.which = which
        self.values = values

    def python_type(self) -> type:
        return picking.Choice

    def reconstruct(self, codegen: Any) -> None:
        self.write(codegen)

    def write(self, codegen: Any) -> None:
        """The same for `reconstruct` of classes below (one that calls the one above, torch 2.11 takes for endless)."""
        codegen.add_push_null(lambda: codegen.load_import_from(picking.__name__, picking.pick.__name__))
        codegen(self.which)
        codegen.foreach(self.values)
        codegen.extend_output(create_call_function(1 + len(self.values), False))


def alternatives(variable: Any, effects: Any) -> list[Any] | None:
    """What a value may be of which data pick the type, as a branch has given it to a body; None for others."""
    if not isinstance(variable, UserDefinedObjectVariable) or variable.value_type is not picking.Choice:
        return None
    return list(effects.load_attr(variable, "values").realize().items)


def _chosen(parent: Any, given: Locals) -> Locals:
    values = given["values"].realize()
    return {"found": ChosenVariable(given["which"].realize(), list(values.items))}


@contextlib.contextmanager
def of_one_type() -> Iterator[None]:
    """While this is in force, what a function returns has one type: the graph is wanted without what runs behind it."""
    token = _one_type.set(True)
    try:
        yield
    finally:
        _one_type.reset(token)


def is_of_one_type() -> bool:
    """Whether the graph is wanted without what runs behind it."""
    return _one_type.get()


def _ending(parent: Any, given: Locals) -> Locals:
    ways = {_way_out(frame) for frame in _frames(parent)}
    found = "" if is_of_one_type() or "" in ways else "value" if "value" in ways else "all"
    return {"found": ConstantVariable.create(found)}


def _leaves_the_graph(parent: Any, given: Locals) -> Locals:
    ways = {_way_out(frame) for frame in _frames(parent)[2:]}
    return {"found": ConstantVariable.create(not is_of_one_type() and "" not in ways)}


def _frames(frame: Any) -> list[Any]:
    """The frames that are being traced, from the inside out, down to the one that is compiled."""
    found = []
    while frame is not None:
        found.append(frame)
        frame = getattr(frame, "parent", None)
    return found


def _way_out(frame: Any) -> picking.Ending:
    """How a frame returns the result of the call that it is at: at once ("all"), out of blocks ("value"), or not."""
    code = frame.f_code
    if (code.co_filename, code.co_name) in _HANDS_ON:
        return "all"
    if code.co_name in _CONVERTED or not _CALLS.match(frame.instructions[frame.instruction_pointer - 1].opname):
        return ""
    found = _RETURNS.match(" ".join(one.opname for one in islice(ahead(frame), _FAR_ENOUGH)))
    return "" if found is None else "value" if found["blocks"] else "all"


CHOICES: dict[types.CodeType, Callable[[Any, Locals], Locals]] = {
    picking.chosen.__code__: _chosen,
    picking.ending.__code__: _ending,
    picking.leaves_the_graph.__code__: _leaves_the_graph,
}
