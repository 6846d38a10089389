"""Objects of classes derived from float can be made, as those of classes derived from int and str.

    class Percent(float): ...
    Percent(hits / total)               of what no data tell, or on the path of one call

Dynamo (torch 2.13) has all that it takes, and leaves out `float` where it asks whether it may make one.

Private: SideEffects.cls_supports_mutation_side_effects. tests/capture/test_derived_floats.py shows what torch does
without this.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator

from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import user_defined

from autograph_torch.capture.patching import patched

_IS_KNOWN = float in getattr(user_defined, "_CONSTANT_BASE_TYPES", ())  # not in torch 2.11


@contextlib.contextmanager
def derived_floats() -> Iterator[None]:
    """While converted functions are traced."""
    if not _IS_KNOWN:
        yield
        return
    supports = SideEffects.cls_supports_mutation_side_effects

    def supports_mutation(cls: type) -> bool:
        return supports(cls) or inspect.getattr_static(cls, "__getattribute__", None) is float.__getattribute__

    with patched(SideEffects, cls_supports_mutation_side_effects=staticmethod(supports_mutation)):
        yield
