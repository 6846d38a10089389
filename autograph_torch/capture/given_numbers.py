"""What a tensor of the call holds is data, of whatever type it is.

    if self.step.item() % 10 == 0: ...     for an int64 or float64 of no dimension on the CPU, torch takes the number
    print(self.step.item())                from the call, and guards it: one graph for each, and none for the ninth

Numbers that are arguments themselves stay torch's: it makes tensors of floats for its own use.

Private: FakeTensorConverter.from_real_tensor, item_memo. tests/capture/test_given_numbers.py fails clearly when torch
changes them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.source import FloatTensorSource
from torch._subclasses.fake_tensor import FakeTensorConverter

from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def given_numbers() -> Iterator[None]:
    """While this is in force, `.item()` of such a tensor is a number that the graph reads."""
    convert = FakeTensorConverter.from_real_tensor

    def converted(self: Any, *args: Any, source: Any = None, **kwargs: Any) -> Any:
        made = convert(self, *args, source=source, **kwargs)
        if getattr(made, "item_memo", None) is not None and not isinstance(source, FloatTensorSource):
            made.item_memo = None
        return made

    with patched(FakeTensorConverter, from_real_tensor=converted):
        yield
