"""Handing rewritten functions to torch's tracer, and reading what came of it."""

# First: the runtime puts the hooks of capture/inlining.py in place, and what they need needs the runtime.
import autograph_torch.runtime  # noqa: F401
