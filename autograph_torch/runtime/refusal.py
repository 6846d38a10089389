"""Stopping a trace with a message of ours that shows the user's line."""

from __future__ import annotations

import linecache
from typing import NoReturn

import torch
from torch._dynamo.exc import unimplemented

from autograph_torch.diagnostics import CaptureError, Diagnostic
from autograph_torch.runtime import tracing


@torch.compiler.assume_constant_result
def refuse(code: str, message: str, advice: str) -> NoReturn:
    """Stop the trace with a message that shows the user's line."""
    raise_refusal(code, message, advice)


def raise_refusal(code: str, message: str, advice: str) -> NoReturn:
    """As `refuse`, for code that already runs in real Python. Where graphs may break, the graph breaks here."""
    if tracing.may_break():
        unimplemented(gb_type="autograph-torch", context=code, explanation=message, hints=[advice])
    filename, line, _ = tracing.user_line()
    raise refusal_at(filename, line, code, message, advice)


def refusal_at(filename: str, line: int, code: str, message: str, advice: str) -> CaptureError:
    """A message of ours that shows a line."""
    text = linecache.getline(filename, line).rstrip("\n")
    column = len(text) - len(text.lstrip()) + 1
    return CaptureError(Diagnostic(code, filename, line, column, line, message, advice, text))
