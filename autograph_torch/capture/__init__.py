"""Handing rewritten functions to torch's tracer, and reading what came of it."""
