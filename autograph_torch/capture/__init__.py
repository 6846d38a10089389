"""Handing rewritten functions to torch's tracer, and reading what came of it."""

import autograph_torch.runtime  # noqa: F401  (first: it needs parts of this package, and ends by loading them)
