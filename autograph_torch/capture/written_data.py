"""`w.data -= step`: the data of a tensor, written to in place, are its data already.

    w.data -= 0.1 * w.grad         data = w.data; data -= ...; w.data = data: the last one changes nothing

Dynamo takes it for other data, and refuses that of tensors that the function has made.

Private: SetAttrBuiltinVariable. tests/capture/test_written_data.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import TensorVariable

from autograph_torch.capture.dynamo_names import SETATTR, attribute_set
from autograph_torch.capture.graph_writes import storage_at
from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def written_data() -> Iterator[None]:
    """While this is in force, a tensor may be given the data that it has."""
    call = SETATTR.call_function

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        tensor, name, data = attribute_set(self, args)
        if name == "data" and _is_one(tensor, data):
            return data
        return call(self, tx, args, kwargs)

    with patched(SETATTR, call_function=call_function):
        yield


def _is_one(tensor: Any, data: Any) -> bool:
    """Whether both lie in the same elements of the same memory."""
    if not isinstance(tensor, TensorVariable) or not isinstance(data, TensorVariable):
        return False
    places = []
    for node in (tensor.as_proxy().node, data.as_proxy().node):
        fake = node.meta["example_value"]
        places.append((storage_at(node), fake.dtype, fake.storage_offset(), *fake.shape, *fake.stride()))
    return places[0][0] is not None and places[0] == places[1]
