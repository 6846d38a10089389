"""Generators that nobody goes on with: Python runs the rest of their `try` and `with` blocks when it lets go of them.

    def rows(self, x):
        try:
            yield from x
        finally:
            self.closed += 1

    for row in self.rows(x):
        if row.sum() > 1:
            break                      self.closed is one more behind the function

Dynamo forgets such a generator, in plain torch.compile, too (torch 2.13): what its blocks do in the end would be
missing without a word. So it is refused where a generator stands inside of one at the end of the trace. A block that
only handles exceptions of a kind (`except ValueError`) does nothing then.

Private: LocalGeneratorObjectVariable, the instructions of its tracer, OutputGraph.compile_subgraph.
tests/capture/test_left_generators.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from torch._dynamo.output_graph import OutputGraph
from torch._dynamo.variables.functions import LocalGeneratorObjectVariable

from autograph_torch.capture.patching import patched
from autograph_torch.runtime.refusal import refusal_at

_GENERATORS = "_autograph_generators"  # on the output: those of the trace
_CLOSES = ("GeneratorExit", "BaseException")  # what an `except` has to name to see a generator being closed
_IN_A_FILTER = 5  # instructions at the beginning of a handler, among which the one is that compares the exception


@contextlib.contextmanager
def left_generators() -> Iterator[None]:
    """While this is in force, they are refused."""
    begin, finish = LocalGeneratorObjectVariable.__init__, OutputGraph.compile_subgraph

    def init(self: Any, code: Any, f_globals: Any, inline_tracer: Any, **kwargs: Any) -> None:
        begin(self, code, f_globals, inline_tracer, **kwargs)
        inline_tracer.output.__dict__.setdefault(_GENERATORS, []).append(self)

    def compile_subgraph(self: Any, *args: Any, **kwargs: Any) -> Any:
        for generator in self.__dict__.get(_GENERATORS, ()):
            _check(generator.inline_tracer)
        return finish(self, *args, **kwargs)

    with (
        patched(LocalGeneratorObjectVariable, __init__=init),
        patched(OutputGraph, compile_subgraph=compile_subgraph),
    ):
        yield


def _check(tracer: Any) -> None:
    """Stop at a generator that has begun, and is left inside of a block that has an end.

    Raises:
        CaptureError: AG320, at the line where it stands.
    """
    last = tracer.current_instruction
    has_begun = last is not None and last.opname in ("YIELD_VALUE", "YIELD_FROM", "SEND")
    if has_begun and _is_in_a_block(tracer, last):
        message = "a generator is left inside of a `try` or `with`, whose end Python runs when it lets go of it"
        raise refusal_at(tracer.f_code.co_filename, tracer.lineno, "AG320", message, "close it: `generator.close()`")


def _is_in_a_block(tracer: Any, instruction: Any) -> bool:
    """Whether closing a generator that stands at an instruction runs anything."""
    if sys.version_info < (3, 11):  # which has no table of handlers
        return bool(tracer.block_stack)
    while instruction.exn_tab_entry is not None:
        handler = instruction.exn_tab_entry.target
        if handler.opname == "PUSH_EXC_INFO" and not _is_filter(handler, tracer):
            return True
        instruction = handler
    return False


def _is_filter(handler: Any, tracer: Any) -> bool:
    """Whether a handler is of an `except` that does not take the exception by which generators are closed."""
    first = tracer.indexof[handler]
    beginning = tracer.instructions[first : first + _IN_A_FILTER]
    names = [one.argval for one in beginning]
    return any(one.opname == "CHECK_EXC_MATCH" for one in beginning) and not any(name in _CLOSES for name in names)
