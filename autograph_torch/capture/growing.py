"""How the tracer gives a list whose length depends on data, and what it asks of such lists (runtime/growing.py).

Their elements are copies, made in a loop that runs twice. So eager's list must be told from it by nothing: the loop may
draw no random numbers, and nobody may write in place to an element, by whichever name. The finished graph shows it,
with what is known of the tensors that may be one in eager (capture/shared_results.py).

Private: a VariableTracker of our own, whose `reconstruct` writes the bytecode that runs behind the graph, as in
capture/choices.py.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from torch._dynamo.bytecode_transformation import create_call_function
from torch._dynamo.variables import ConstantVariable, SymNodeVariable, TupleVariable
from torch._dynamo.variables.base import VariableTracker
from torch.fx import Graph, GraphModule
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from autograph_torch.capture.choices import is_of_one_type
from autograph_torch.capture.element_containers import check_containers, note_read, note_taken
from autograph_torch.capture.elements import check_elements, given_elsewhere, note_element
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.graph_writes import Storage, is_operator, name_of, storage_at, written
from autograph_torch.runtime import growing, rows, tracing
from autograph_torch.runtime.gradients import draws_random_numbers
from autograph_torch.runtime.refusal import raise_refusal

Locals = dict[str, Any]
_ELEMENT = "autograph_element"  # in the meta of nodes
_FIRST = "autograph_first"  # of what a list that data make shorter begins with


class UnboundVariable(VariableTracker):
    """A list that exists behind the graph only."""

    def __init__(self, parts: list[VariableTracker], **options: Any) -> None:
        super().__init__(**options)
        self.parts = parts

    def python_type(self) -> type:
        return growing.Growing

    def reconstruct(self, codegen: Any) -> None:
        write_list(codegen, self.parts)


def write_list(codegen: Any, parts: list[Any]) -> None:
    """The bytecode that makes the list of its parts."""
    made_of = parts[:4]
    begin, _, form, more, read, loops = (_realized(part) for part in parts)
    state = (loops.as_python_constant(), len(begin.items), len(more.items))
    entries = [_realized(entry).items for entry in read.items]
    current = [(index, item) for index, then, item in entries if then.as_python_constant() == state]
    placed = given_elsewhere(codegen, form.as_python_constant(), current)
    parts = [*made_of, TupleVariable([TupleVariable([index, item]) for index, item in placed])]
    codegen.add_push_null(lambda: codegen.load_import_from(growing.__name__, growing.unbound.__name__))
    codegen.foreach(parts)
    codegen.extend_output(create_call_function(len(parts), False))


def _realized(part: VariableTracker) -> Any:
    return part.realize()


def _as_list(parent: Any, given: Locals) -> Locals:
    if is_of_one_type():
        message = "a list whose length depends on data cannot be the result of a graph alone"
        raise_refusal("AG311", message, growing.ADVICE)
    tracing.notebook()["list given back"] = True
    return {
        "found": UnboundVariable(
            [given[role].realize() for role in ("begin", "columns", "form", "more", "read", "loops")]
        )
    }


def _note_copied(parent: Any, given: Locals) -> Locals:
    proxy = tracing.resolved(given["item"].realize().as_proxy(), parent.output.current_tracer)
    proxy.node.meta[_ELEMENT] = True
    note_element(proxy.node, given["place"].as_python_constant(), given["is_read"].as_python_constant())
    if tracing.notebook().get("begins"):
        proxy.node.meta[_FIRST] = True
    return {}


def _note_frozen(parent: Any, given: Locals) -> Locals:
    item, owner = given["item"].realize(), given["owner"].realize()
    if owner.mutation_type is not None and item.mutation_type is not None:
        if item.mutation_type.scope < owner.mutation_type.scope:
            message = "a list that grows in a loop on data takes a list, dict or object from before the trip"
            raise_refusal("AG311", message, "make a new one in every trip")
    tracing.frozen().update((item, *_stood_in_for(item, parent.output.current_tracer)))
    return {}


def _note_read(parent: Any, given: Locals) -> Locals:
    note_read(given["item"].realize(), given["name"].as_python_constant(), parent.output.side_effects)
    return {}


def _note_taken(_: Any, given: Locals) -> Locals:
    note_taken(given["item"].realize(), given["name"].as_python_constant())
    return {}


def _stood_in_for(item: Any, tracer: Any) -> list[Any]:
    """The containers that one is a copy of, in the bodies around."""
    pairs = [pair for around in tracing.enclosing(tracer) for pair in tracing.shared_contents(around)]
    return [original for original, _, copy in pairs if copy is item]


def check_frozen(item: Any) -> None:
    """Refuse a write to what is in an element of such a list: eager's list would show it."""
    if item in tracing.frozen():
        message = "a list grows in a loop on data, and a list, dict or object in it is written to"
        raise_refusal("AG311", message, "append a copy, or make a new one instead of writing to it")


def _known_size(parent: Any, given: Locals) -> Locals:
    size = given["size"].realize()
    if isinstance(size, SymNodeVariable):
        if free_unbacked_symbols(size.sym_num):
            message = "a list that grows in a loop on data takes tensors whose size depends on data"
            raise_refusal("AG311", message, growing.ADVICE)
        size = ConstantVariable.create(size.evaluate_expr())
    return {"size": size}


LISTS: dict[types.CodeType, Callable[[Any, Locals], Locals]] = {
    growing.as_list.__code__: _as_list,
    rows.note_copied.__code__: _note_copied,
    rows.note_frozen.__code__: _note_frozen,
    rows.note_read.__code__: _note_read,
    rows.note_taken.__code__: _note_taken,
    rows.known_size.__code__: _known_size,
}


def _check_given_back(
    module: GraphModule,
    begun: frozenset[Storage],
    copied: frozenset[Storage],
    origins: Callable[[Storage], frozenset[Storage]],
) -> None:
    """Refuse to give back elements of lists that get shorter, when one begins with a tensor of the caller's.

    Eager gives that tensor, the graph a copy: what the caller writes to one of the two would not be in the other.
    """
    given = {storage_at(node) for node in module.graph.nodes if node.op in ("placeholder", "get_attr")} - {None}
    (output,) = (node for node in module.graph.nodes if node.op == "output")
    results = [storage_at(node) for node in output.all_input_nodes]
    elements = copied - given
    handed_out = any(one is not None and origins(one) & elements for one in results)
    if begun & given and (handed_out or tracing.notebook().get("list given back")):
        message = (
            "an element of a list that data make shorter is given back, which may be a tensor from before the call"
        )
        raise capture_error_at(output, "AG311", message, "put a clone of it into the list")


def check_lists(module: GraphModule, origins: Callable[[Storage], frozenset[Storage]]) -> None:
    """Refuse what would tell the elements of such a list from eager's.

    origins: what a storage may be in eager.
    """
    graphs = [one.graph for one in module.modules() if isinstance(one, GraphModule)]
    nodes = [node for graph in graphs for node in graph.nodes]
    elements = [storage_at(node) for node in nodes if _ELEMENT in node.meta]
    check_containers(module)
    if not elements:
        return
    check_elements(module, origins)
    copied = frozenset().union(*(origins(one) for one in elements if one is not None))
    firsts = [storage_at(node) for node in nodes if _FIRST in node.meta]
    if firsts:
        begun = frozenset().union(*(origins(one) for one in firsts if one is not None))
        _check_given_back(module, begun, copied, origins)
    for node in nodes:
        for target in written(node):
            storage = storage_at(target)
            if storage is None or origins(storage) & copied:
                message = "a list grows in a loop on data, and a tensor is written to that may be in it"
                raise capture_error_at(node, "AG311", message, "write `x = x + 1`, or append a clone")
    for one in module.modules():
        loops = [node for node in getattr(one, "graph", Graph()).nodes if is_operator(node)]
        for body in [one.get_submodule(str(node.args[1].target)) for node in loops if name_of(node) == "while_loop"]:
            inside = [node for inner in body.modules() if isinstance(inner, GraphModule) for node in inner.graph.nodes]
            drawing = [node for node in inside if draws_random_numbers(node)]
            if drawing and any(_ELEMENT in node.meta for node in inside):
                message = "random numbers in a loop on data that appends to a list, which would run twice"
                raise capture_error_at(drawing[0], "AG311", message, growing.ADVICE)
