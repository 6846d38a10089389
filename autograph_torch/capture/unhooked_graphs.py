"""Hooks of all modules see those of the program, not the graphs that stand for it.

    register_module_forward_hook(lambda module, given, result: seen.append(type(module).__name__))
    y = linear(x)                                  Linear
    return y * 2 if x.sum() > 0 else y             GraphModule: the branch that runs, and the graph itself

A graph, and the body of each branch and loop in it, is a module for torch: where such hooks are in force, it calls them
for these, too, also while it traces; and takes what they give for what the body has given. Here what is made of the
program while it is compiled goes to its `forward`, and so do copies (the graph of the gradients is one, made where they
are first asked for). The modules that the program calls have their hooks in the graph.

Private: Module._call_impl, and that each GraphModule has a class of its own.
tests/capture/test_unhooked_graphs.py shows what torch does without this, and fails clearly when it changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch.fx import GraphModule

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def unhooked_graphs() -> Iterator[None]:
    """While this is in force, graphs are made that no hook sees."""
    begin = GraphModule.__init__

    def make(self: Any, *args: Any, **kwargs: Any) -> None:
        type(self)._call_impl = _forward
        type(self).__deepcopy__ = _copied
        begin(self, *args, **kwargs)

    with patched(GraphModule, __init__=make):
        yield


def _forward(self: Any, *args: Any, **kwargs: Any) -> Any:
    return self.forward(*args, **kwargs)


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    with unhooked_graphs():
        return GraphModule.__deepcopy__(self, memo)
