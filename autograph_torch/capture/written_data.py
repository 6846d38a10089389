"""`w.data -= step`: the data of a tensor, written to in place, are its data already.

    w.data -= 0.1 * w.grad         data = w.data; data -= ...; w.data = data: the last one changes nothing

Dynamo takes it for other data, and refuses that of tensors that the function has made.

    w.data, self.kept = self.kept, w.data        two parameters, or a parameter and what is kept, trade places

What is read of a tensor (`w.data`, `w.real`) Dynamo reads once more behind the graph, where it is stored or given back,
and so stored what `w.data` had become by then.

Private: SetAttrBuiltinVariable, and the sources of what TensorVariable gives.
tests/capture/test_written_data.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import TensorVariable

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE, SETATTR, attribute_set
from autograph_torch.capture.graph_writes import storage_at
from autograph_torch.capture.patching import patched


@contextlib.contextmanager
def written_data() -> Iterator[None]:
    """While this is in force, a tensor may be given the data that it has, and what is read of it is of then."""
    call, read = SETATTR.call_function, getattr(TensorVariable, GET_ATTRIBUTE)

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        tensor, name, data = attribute_set(self, args)
        if name == "data" and _is_one(tensor, data):
            return data
        return call(self, tx, args, kwargs)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        found = read(self, tx, name)
        if name != "grad" and type(found) is TensorVariable:
            found.source = None  # of the graph alone
        return found

    with patched(SETATTR, call_function=call_function), patched(TensorVariable, **{GET_ATTRIBUTE: get_attribute}):
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
