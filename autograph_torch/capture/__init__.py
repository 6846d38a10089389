"""Handing rewritten functions to torch's tracer, and reading what came of it."""

import autograph_torch.runtime  # noqa: F401  first: its hooks are modules of this package and need it complete
