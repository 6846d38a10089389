"""How tensors are shown is not changed while a function is traced that may show some.

    torch.set_printoptions(precision=2)
    print(x / 3)                             shown when the graph has come to it, or has returned: the options are
    torch.set_printoptions(precision=4)      set behind the graph, to the last of these

A function that sets them is refused, on one path, too.

Private: torch._tensor_str.PRINT_OPTS, SideEffects.id_to_variable.
tests/capture/test_print_options.py fails clearly when torch changes them.
"""

from __future__ import annotations

import torch
from torch._dynamo import symbolic_convert

from autograph_torch.runtime.refusal import raise_refusal


def check_print_options() -> None:
    """Stop when the program has written to them."""
    effects = symbolic_convert.InstructionTranslator.current_tx().output.side_effects
    options = effects.id_to_variable.get(id(torch._tensor_str.PRINT_OPTS))
    if options is not None and effects.store_attr_mutations.get(options):
        message = "`torch.set_printoptions` in a compiled function: texts are made behind the graph"
        raise_refusal("AG324", message, "set them around the compiled function")
