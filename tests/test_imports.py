"""Every name and every module can be the first that a program imports: no import leads back to itself."""

from __future__ import annotations

import subprocess
import sys

EACH_FIRST = """
import importlib, sys, torch
for first in sys.argv[1:]:
    for name in [name for name in sys.modules if name.partition(".")[0] == "autograph_torch"]:
        del sys.modules[name]
    package = importlib.import_module("autograph_torch")
    getattr(package, first) if first in dir(package) else importlib.import_module(f"autograph_torch.{first}")
"""
NAMES = ("autograph", "convert", "do_not_convert", "explain", "export", "to_source", "trace")
MODULES = ("runtime", "runtime.branch", "capture", "capture.errors", "capture.inlining", "capture.modules", "pipeline")


def test_whatever_comes_first() -> None:
    run = subprocess.run([sys.executable, "-c", EACH_FIRST, *NAMES, *MODULES], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
