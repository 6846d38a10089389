"""Handing rewritten functions to torch's tracer, and reading what came of it."""

import autograph_torch.runtime  # noqa: F401  (first: it imports the hooks, which import most of this package)
