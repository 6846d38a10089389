"""`w.data -= step`: the data of a tensor, written to in place, are its data already.

    w.data -= 0.1 * w.grad         data = w.data; data -= ...; w.data = data: the last one changes nothing

Dynamo takes it for other data, and refuses that of tensors that the function has made.

    w.data, self.kept = self.kept, w.data        two parameters, or a parameter and what is kept, trade places

What is read of a tensor (`w.data`, `w.real`) Dynamo reads once more behind the graph, where it is stored or given back,
and so stored what `w.data` had become by then.

    y = w if p else w * 2
    w.data = v                  in eager `y` has other data, too, where it is `w`; in the graph it has not

This is refused (AG314): the next trace may tell the paths apart (capture/attempts.py). So is `w.data = v` in a branch
or loop, where `v` has a name: behind it the two would have to be one memory.

Private: SetAttrBuiltinVariable, and the sources of what TensorVariable gives.
tests/capture/test_written_data.py fails clearly when torch changes it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch._dynamo.variables import TensorVariable
from torch.fx import GraphModule, Node

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE, SETATTR, attribute_set
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import Storage, arguments_of, is_operator, name_of, storage_at, storage_of
from autograph_torch.capture.leaves_of_bodies import leaves_of
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import tracing
from autograph_torch.runtime.memories import STAND_IN_OF
from autograph_torch.runtime.refusal import raise_refusal

_SHARED = "a tensor gets data (`x.data = y`) in a branch or loop that another variable has, too"
_GIVEN = "a tensor gets other data (`x.data = ...`), and what this gives may be that tensor"


@contextlib.contextmanager
def written_data() -> Iterator[None]:
    """While this is in force, a tensor may be given the data that it has, and what is read of it is of then."""
    call, read = SETATTR.call_function, getattr(TensorVariable, GET_ATTRIBUTE)

    def call_function(self: Any, tx: Any, args: Any, kwargs: Any) -> Any:
        tensor, name, data = attribute_set(self, args)
        if name == "data" and _is_one(tensor, data):
            return data
        if name == "data" and isinstance(tensor, TensorVariable):
            _refuse_shared(tx, data)
            _refuse_given(tx.output, tensor.as_proxy().node)
        return call(self, tx, args, kwargs)

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        found = read(self, tx, name)
        if name != "grad" and type(found) is TensorVariable:
            found.source = None  # of the graph alone
        return found

    with patched(SETATTR, call_function=call_function), patched(TensorVariable, **{GET_ATTRIBUTE: get_attribute}):
        yield


def _refuse_shared(tx: Any, data: Any) -> None:
    """In a body, refuse data that another variable has, too: behind it, the two would have to be one memory."""
    if not tracing.in_a_body() or not isinstance(data, TensorVariable):
        return
    frames = [tx]
    while frames[-1].parent is not None:
        frames.append(frames[-1].parent)
    has_name = any(one is data for frame in frames for one in frame.symbolic_locals.values())
    if has_name or not _is_made_in_this_body(data.as_proxy().node):
        raise_refusal("AG314", _SHARED, "write to it in place (`copy_`), or give it the data of an expression")


def _is_made_in_this_body(node: Node) -> bool:
    here = tracing.nodes()
    alike = [one for one in here if storage_at(one) == storage_at(node)]
    return node in here and not any(one.op == "placeholder" or STAND_IN_OF in one.meta for one in alike)


def _refuse_given(output: Any, node: Node) -> None:
    """Refuse other data for a tensor that an operator may have handed out: another variable may be the same object."""
    graphs = [node.graph, *(one.graph for one in output.nn_modules.values() if isinstance(one, GraphModule))]
    operators = [one for graph in graphs for one in graph.nodes if is_operator(one)]
    results = [(one, result) for one in operators for result in one.users if name_of(result) == "getitem"]
    found, before = {storage_at(node)}, 0
    while len(found) > before:
        before = len(found)
        for operator, result in results:
            leaves = leaves_of(operator, arguments_of(result)[1], output.nn_modules)
            if storage_at(result) not in found and any(_storage_outside(leaf) in found for leaf in leaves):
                found.add(storage_at(result))
                if result.graph is node.graph:
                    raise capture_error_at(operator, "AG314", _GIVEN, "write to it in place (`copy_`)")


def _storage_outside(leaf: Node) -> Storage | None:
    original = leaf.meta.get(STAND_IN_OF)
    return storage_at(leaf) if original is None else storage_of(original)


def _is_one(tensor: Any, data: Any) -> bool:
    """Whether both lie in the same elements of the same memory."""
    if not isinstance(tensor, TensorVariable) or not isinstance(data, TensorVariable):
        return False
    places = []
    for node in (tensor.as_proxy().node, data.as_proxy().node):
        fake = node.meta["example_value"]
        places.append((storage_at(node), fake.dtype, fake.storage_offset(), *fake.shape, *fake.stride()))
    return places[0][0] is not None and places[0] == places[1]
