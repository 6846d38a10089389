"""Where a function has as many graphs as torch makes of one, and a call needs another.

    self.names.append(name)     each call finds a longer list, and a graph is for one length

torch ends with "Hard failure due to fullgraph=True". Here the caller learns of it in time to run the call in Python.

Private: what torch counts the graphs of a frame by, and the reasons it tells for a new one.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import Any

from torch._dynamo import config
from torch._dynamo.cache_size import exceeds_recompile_limit
from torch._dynamo.guards import get_and_maybe_log_recompilation_reasons

from autograph_torch.capture.errors import user_frame
from autograph_torch.diagnostics import CaptureError
from autograph_torch.runtime.refusal import refusal_at


class TooManyGraphs(CaptureError):
    """A call for which there is no graph, and none will be made."""


def refuse_beyond_limit(code: types.CodeType, given: Mapping[str, Any]) -> None:
    """Raise TooManyGraphs where torch is about to fail; `given` are the arguments of its `_compile`."""
    exceeded, limit = exceeds_recompile_limit(given["cache_size"], given["compile_id"])
    if not exceeded:
        return
    reasons = _reasons(given)
    fact = reasons.partition(":")[2].partition("#")[0].strip()
    message = f"there are {getattr(config, limit)} graphs, and none is for this call"
    if fact:
        message = f"{message}: the last is for calls with {fact}"
    advice = f"keep what differs from call to call in tensors, or set torch._dynamo.config.{limit}"
    at = f'File "{code.co_filename}", line {code.co_firstlineno}, in {code.co_name}\n'
    raise TooManyGraphs(refusal_at(*user_frame(at + reasons), "AG328", message, advice).diagnostic)


def _reasons(given: Mapping[str, Any]) -> str:
    """What the last graph was made for that does not hold in this call, and the lines that ask for it."""
    entries = given.get("cache_entries_for_reasons", given["cache_entry"])  # the latter in torch 2.11
    nothing: Any = None  # what compiles
    return "".join(get_and_maybe_log_recompilation_reasons(entries, given["frame"], nothing, skip_logging=True)[:1])
