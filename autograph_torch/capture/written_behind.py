"""What is written to objects when a graph has returned, beside what Dynamo writes.

What is written is read before anything is, and each write is made when all that Dynamo writes has been: a set may ask
the hash of a member, which asks its attributes.

Private: SideEffects.codegen_update_mutated, and the instructions that it makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch._dynamo.bytecode_transformation import create_call_function, create_instruction

Write = tuple[Callable[..., None], list[Any]]  # a function of a module of ours, and the variables to call it with


def writing_behind(write_back: Callable[..., None], writes: Callable[[Any], list[Write]]) -> Callable[..., None]:
    """A `codegen_update_mutated` that makes these writes, too; `writes` gives them for the side effects of a trace."""

    def codegen_update_mutated(self: Any, codegen: Any, *args: Any, **kwargs: Any) -> None:
        found = writes(self)
        for function, given in found:
            module, name = function.__module__, function.__name__
            codegen.add_push_null(lambda module=module, name=name: codegen.load_import_from(module, name))
            for one in given:
                codegen(one)
        write_back(self, codegen, *args, **kwargs)
        for _, given in reversed(found):
            codegen.extend_output([*create_call_function(len(given), False), create_instruction("POP_TOP")])

    return codegen_update_mutated
