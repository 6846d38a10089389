"""Lets `python -m autograph_torch` stand for the `autograph-torch` command."""

from __future__ import annotations

import sys

from autograph_torch.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
