"""Stopping a trace with a message of ours that shows the user's line."""

from __future__ import annotations

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
    filename, line, text = tracing.user_line()
    column = len(text) - len(text.lstrip()) + 1
    raise CaptureError(Diagnostic(code, filename, line, column, line, message, advice, text))
