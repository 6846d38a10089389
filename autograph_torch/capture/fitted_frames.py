"""Code that is compiled in the place of a frame's own, up to Python 3.10.

Where another form of a function is compiled than the frame runs (capture/attempts.py), Dynamo hands the arguments and
cells of the frame on to what it has made. From Python 3.11 on it goes by names; before that by places alone, as many
as the new code has: where the forms have other variables, or other cells, those are taken for each other, or from
beyond the end of the frame. Here the frame gets code with places like its own, which calls what Dynamo has made:

    def step(x, n):              `n` is a cell of the frame, but no cell of what is compiled
        return run((x, n), {}, <globals and closure>)

Private: what `torch._dynamo.convert_frame._compile` returns, skip_code, output_codes, orig_code_map.
tests/capture/test_fitted_frames.py fails clearly when torch changes them.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable
from typing import Any

from torch._dynamo.convert_frame import output_codes
from torch._dynamo.eval_frame import skip_code
from torch._dynamo.types import ConvertFrameReturn
from torch._dynamo.utils import orig_code_map

from autograph_torch.capture.again import Run, entry_of

_GOES_BY_NAMES: bool = sys.version_info >= (3, 11)


def fitted(result: ConvertFrameReturn, frame: types.CodeType, compiled: types.CodeType) -> ConvertFrameReturn:
    """What Dynamo has made of `compiled`, to run in a frame of `frame`."""
    made = result.guarded_code
    if _GOES_BY_NAMES or made is None or _has_places_of(frame, compiled):
        return result
    entry = entry_of(frame, _running(made.code), frame.co_varnames)
    if entry is None:  # the frame of a comprehension, which Python runs
        return ConvertFrameReturn()
    orig_code_map[entry] = compiled  # asked when guards fail
    output_codes.add(entry)
    return dataclasses.replace(result, guarded_code=dataclasses.replace(made, code=entry))


def _has_places_of(frame: types.CodeType, compiled: types.CodeType) -> bool:
    return compiled.co_cellvars == frame.co_cellvars and compiled.co_nlocals >= frame.co_nlocals


def _running(code: types.CodeType) -> Run:
    """What calls it as a function. (Dynamo leaves alone what it has made, but would compile what calls that.)"""

    def run(args: tuple[Any, ...], kwargs: dict[str, Any], around: Callable[[], Any]) -> Any:
        cells = dict(zip(around.__code__.co_freevars, around.__closure__ or (), strict=True))
        closure = tuple(map(cells.__getitem__, code.co_freevars))
        return types.FunctionType(code, around.__globals__, code.co_name, None, closure)(*args, **kwargs)

    skip_code(run.__code__)
    return run
