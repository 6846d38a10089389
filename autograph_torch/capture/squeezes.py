"""`x.squeeze()` where only data tell whether a size is 1, and hence how many dimensions are left.

    rows = mask.nonzero().squeeze()        a vector, for one row a scalar; the graph has a vector
    picked = x.index_select(0, rows)       takes either, and gives the same

torch traces it as if no such size were 1; the graph gets a `flatten` instead, which is that. It is harmless where a
vector of one element does what a scalar does: the finished graph shows what becomes of it, and what Python asks of it
is seen while it asks. When anything else is done with it, the trace is made once more (capture/attempts.py), and the
graph checks the size and raises when it is 1 (Inductor would give the result a dimension more than eager).

Private: TensorVariable looks for methods `method_NAME` of its own; how it gets attributes, its `call_method`
and `unpack_var_sequence`. tests/capture/test_squeezes.py fails clearly when torch changes them.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._dynamo.variables import ConstantVariable, TupleVariable
from torch._dynamo.variables.builder import wrap_fx_proxy
from torch._dynamo.variables.functions import UserFunctionVariable
from torch._dynamo.variables.tensor import TensorVariable
from torch.fx import GraphModule, Node
from torch.fx.experimental.symbolic_shapes import has_free_unbacked_symbols, statically_known_true

from autograph_torch.capture.dynamo_names import GET_ATTRIBUTE
from autograph_torch.capture.errors import capture_error_at
from autograph_torch.capture.finished import check_at_the_end
from autograph_torch.capture.graph_writes import arguments_of, is_operator, name_of
from autograph_torch.capture.patching import patched
from autograph_torch.runtime import queries, tracing
from autograph_torch.runtime.refusal import raise_refusal

AMBIGUOUS = "a `squeeze` whose result has one dimension or none"
_ADVICE = "name the dimension that always has size 1: `x.squeeze(-1)`"

_MARK = "autograph_squeezed"  # in the meta of nodes: the traced vector may be a scalar in eager
_SAME_KIND = frozenset("to float double half bfloat16 int long bool clone detach abs exp log sqrt neg".split())
_TO_SCALARS = frozenset(("sum", "mean", "prod"))
_KNOWN = frozenset("dtype device layout requires_grad is_cuda numel nelement".split())
_BY_INDEX = frozenset("index_select index_copy index_copy_ index_add index_add_ index_fill index_fill_".split())


@contextlib.contextmanager
def squeezes(checked: bool) -> Iterator[None]:
    """While this is in force, sizes that `squeeze` would drop for some data are checked, or their use is looked at."""
    get, call = getattr(TensorVariable, GET_ATTRIBUTE), TensorVariable.call_method
    unpack = TensorVariable.unpack_var_sequence

    def get_attribute(self: Any, tx: Any, name: str) -> Any:
        if _is_marked(self) and name not in _SAME_KIND | _TO_SCALARS | _KNOWN:
            _refuse()
        return get(self, tx, name)

    def call_method(self: Any, tx: Any, name: str, args: Any, kwargs: Any) -> Any:
        if not _is_marked(self):
            return call(self, tx, name, args, kwargs)
        if name not in _SAME_KIND and (name not in _TO_SCALARS | _KNOWN or args or kwargs):
            _refuse()
        result = call(self, tx, name, args, kwargs)
        return _marked(result) if name in _SAME_KIND else result

    def unpack_var_sequence(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _is_marked(self):
            _refuse()
        return unpack(self, *args, **kwargs)

    looking = {GET_ATTRIBUTE: get_attribute, "call_method": call_method, "unpack_var_sequence": unpack_var_sequence}
    squeezing = {"method_squeeze": _squeeze(checked), "method_squeeze_": _squeeze(checked=True)}
    with patched(TensorVariable, **looking, **squeezing):
        yield


def _squeeze(checked: bool) -> Callable[..., Any]:
    def squeeze(self: Any, tx: Any, *args: Any, **kwargs: Any) -> Any:
        """None where Dynamo does the rest."""
        sizes = self.as_proxy().node.meta["example_value"].shape
        given = kwargs.get("dim", args[0] if args else None)
        chosen = range(len(sizes)) if given is None else given.as_python_constant()
        dims = (chosen,) if isinstance(chosen, int) else tuple(chosen)
        unsure = [dim for dim in dims if _may_be_one(sizes[dim])]
        if not unsure:
            return None
        if not checked and given is None and _is_vector(sizes) and not tracing.may_break():
            check_at_the_end(tx.output, check_squeezes)
            vector = tx.output.create_proxy("call_method", "flatten", (self.as_proxy(),), {})
            return _marked(wrap_fx_proxy(tx, vector))
        check: Any = queries.refuse_ones
        arguments = [self, TupleVariable([ConstantVariable.create(dim) for dim in unsure])]
        UserFunctionVariable(check).call_function(tx, arguments, {})
        return None

    return squeeze


def _may_be_one(size: Any) -> bool:
    """Whether only data tell if a size is 1."""
    return isinstance(size, torch.SymInt) and has_free_unbacked_symbols(size) and not statically_known_true(size != 1)


def _is_vector(sizes: torch.Size) -> bool:
    """Whether one dimension is left where no size that depends on data is 1."""
    return sum(not statically_known_true(size == 1) for size in sizes) == 1


def _is_marked(variable: Any) -> bool:
    return _MARK in variable.as_proxy().node.meta


def _marked(variable: Any) -> Any:
    variable.as_proxy().node.meta[_MARK] = True
    return variable


def _refuse() -> None:
    raise_refusal("AG321", AMBIGUOUS, _ADVICE)


def check_squeezes(module: GraphModule) -> None:
    """Refuse a graph that does with such a result what a scalar would not do in its place.

    Raises:
        CaptureError: AG321, at the use.
    """
    for node in module.graph.nodes:
        for user in node.users if _MARK in node.meta else ():
            if not (_takes_either(user, node) or _hands_in(user, node)):
                raise capture_error_at(user, "AG321", AMBIGUOUS, _ADVICE)
        if is_operator(node):
            for body in arguments_of(node)[1:3] if name_of(node) == "cond" else arguments_of(node)[:2]:
                inner = module.get_submodule(str(body.target))
                assert isinstance(inner, GraphModule)
                _mark_operands(node, inner)
                check_squeezes(inner)


def _hands_in(user: Node, vector: Node) -> bool:
    """Whether an operator only reads it: its bodies are looked at then."""
    if not is_operator(user):
        return False
    _, _, carried, handed_in = arguments_of(user)
    return vector in handed_in and (name_of(user) == "cond" or vector not in carried)


def _mark_operands(node: Node, body: GraphModule) -> None:
    placeholders = [inner for inner in body.graph.nodes if inner.op == "placeholder"]
    _, _, carried, handed_in = arguments_of(node)
    operands = handed_in if name_of(node) == "cond" else (*carried, *handed_in)
    for placeholder, operand in zip(placeholders, operands, strict=True):
        if isinstance(operand, Node) and _MARK in operand.meta:
            placeholder.meta[_MARK] = True


def _takes_either(user: Node, vector: Node) -> bool:
    """Whether a node gives the same for a vector of one element and for a scalar."""
    name = name_of(user)
    places = [index for index, value in enumerate(user.args) if value is vector]
    if name in _BY_INDEX:
        return places in ([2], []) and _is_index(user, vector)
    if user.target is operator.setitem:
        return places == [2]
    if user.target is torch.ops.aten.sym_size.int:  # torch's own checks; what the user asks is seen when it is asked
        return True
    is_method = user.op == "call_method" and places == [0]
    return is_method and (_MARK in user.meta or name in _TO_SCALARS | _KNOWN)


def _is_index(user: Node, vector: Node) -> bool:
    index = user.kwargs.get("index", user.args[2] if len(user.args) > 2 else None)
    return index is vector and user.all_input_nodes.count(vector) == 1
