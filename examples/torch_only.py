"""Code that needs only torch: a fixed-point iteration written out with torch.while_loop and torch.cond.

`to_source(..., target="torch")` gives the text; the example call tells it the types. For files the command does the
same: `autograph-torch convert --target torch --example module:function`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import torch

from autograph_torch import to_source


def square_root(a, guess):
    rounds = 0
    while (guess * guess - a).abs() > 1e-4 and rounds < 20:
        guess = (guess + a / guess) / 2
        rounds += 1
    if guess.isnan():
        guess = torch.zeros_like(guess)
    return guess, rounds


INPUTS = [(torch.tensor(value), torch.tensor(1.0)) for value in (2.0, 1.0, 49.0)]


def call_it() -> None:
    for a, guess in INPUTS:
        square_root(a, guess)


def imported(text: str) -> ModuleType:
    """The text as a module of its own, which imports torch and nothing else."""
    path = Path(tempfile.mkdtemp()) / "torch_only_text.py"
    path.write_text(f"import torch._inductor.config\n\ntorch._inductor.config.inplace_buffers = False\n\n\n{text}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # where torch looks for the names of a function that it traces
    spec.loader.exec_module(module)
    return module


def main() -> None:
    text = to_source(square_root, target="torch", example=call_it)
    print(text)
    written_out = imported(text).square_root
    backend = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")
    compiled = torch.compile(written_out, fullgraph=True, backend=backend)
    for a, guess in INPUTS:
        expected, rounds = square_root(a, guess)
        for function in (written_out, compiled):
            root, counted = function(a, guess)
            torch.testing.assert_close(root, expected)
            assert counted == rounds
        print(f"sqrt({a:.0f}) = {expected:.4f} after {rounds} rounds: the same written out, and compiled")


if __name__ == "__main__":
    main()
