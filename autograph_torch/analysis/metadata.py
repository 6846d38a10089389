"""Types of expressions as far as the text of a function tells them: which dtype and rank, or which Python number.

    def f(x: torch.Tensor):        x      a tensor of "dtype of x" and rank "rank of x"
        n = 0                      n      a Python int
        y = x + 1                  y      a tensor of "dtype of x with int"
        z = x > y                  z      a tensor of bool

Phrases stand for what only a run can tell: two equal phrases are the same dtype, two different ones may be the same or
not. Where the text does not tell, `Unknown` says what is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

import gast

from autograph_torch.analysis.kinds import Kind, Kinds
from autograph_torch.analysis.scopes import binds, parameters, walk_scope
from autograph_torch.analysis.seen import NumberType, OtherType, TensorType, TupleType, Type
from autograph_torch.source.templates import is_generated, is_runtime_call

_SAME = frozenset("abs neg clone relu clamp detach contiguous square clip zeros_like ones_like".split())
_FLOATING = frozenset("exp log log1p sqrt rsqrt sin cos tan tanh sigmoid reciprocal softmax log_softmax".split())
_TO_SCALAR = {"max": "same", "min": "same", "mean": "float", "norm": "float", "std": "float", "var": "float",
              "any": "bool", "all": "bool", "argmax": "int64", "argmin": "int64", "count_nonzero": "int64"}  # fmt: skip
_CREATED = frozenset("zeros ones".split())
_DEFAULT = "torch's default dtype"
_SAME_DTYPE = {  # names of torch for one dtype
    **{"float": "float32", "double": "float64", "half": "float16"},
    **{"cfloat": "complex64", "cdouble": "complex128", "chalf": "complex32"},
    **{"long": "int64", "int": "int32", "short": "int16"},
}
_LITERAL_DTYPES = {bool: "bool", int: "int64", float: _DEFAULT}
_LEVELS = ("", " with int", " with float")


class Unknown(Exception):
    """What would have to be known."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Metadata:
    """Types of the local variables of a function, and of expressions over them."""

    def __init__(
        self, kinds: Kinds, names: Mapping[str, Type], functions: Mapping[str, gast.FunctionDef] | None = None
    ) -> None:
        self._kinds = kinds
        self.names = dict(names)
        self._functions = dict(functions or {})  # arms of branches that are already calls of the runtime

    @staticmethod
    def of_function(function: gast.FunctionDef, kinds: Kinds) -> Metadata:
        """One type for every local variable that has one whatever path is taken."""
        given = {name: _of_parameter(name, kinds) for name in parameters(function.args)}
        found = Metadata(kinds, {name: kind for name, kind in given.items() if kind is not None})
        bindings = [node for node in walk_scope(function.body) if isinstance(node, (gast.Assign, gast.AugAssign))]
        others = _bound_otherwise(function.body)
        for _ in range(len(bindings) + 2):
            before = dict(found.names)
            for _ in bindings:  # one may need what another binds
                for node in bindings:
                    found._learn(node, first=True)
            dropped = {name for node in bindings for name in found._disagreeing(node)} | others
            found.names = {name: kind for name, kind in found.names.items() if name not in dropped}
            bindings = [node for node in bindings if not set(binds(node)) & dropped]
            if found.names == before and not dropped & set(before):
                break
        return found

    def after(self, block: Iterable[gast.stmt]) -> Metadata:
        """Types after straight-line statements."""
        inside = Metadata(self._kinds, self.names, self._functions)
        for node in block:
            if isinstance(node, (gast.Assign, gast.AugAssign)):
                inside._learn(node, first=False)
            elif isinstance(node, gast.FunctionDef) and is_generated(node):
                inside._functions[node.name] = node
            elif not isinstance(node, (gast.Pass, gast.Return)) and binds(node):
                raise Unknown(f"the type of `{binds(node)[0]}`")
        return inside

    def _learn(self, node: gast.Assign | gast.AugAssign, first: bool) -> None:
        if isinstance(node, gast.Assign) and len(node.targets) == 1 and is_runtime_call(node.value, "cond"):
            return self._learn_branch(node)
        for name, value in _bound_values(node):
            if first and name in self.names:
                continue
            try:
                self.names[name] = self.of(value)
            except Unknown:
                self.names.pop(name, None)
                if not first:
                    raise

    def _learn_branch(self, node: gast.Assign) -> None:
        names = binds(node)
        kind = self.of(node.value)
        one = isinstance(node.targets[0], gast.Name)
        parts = (kind,) if one else kind.parts if isinstance(kind, TupleType) else ()
        self.names = {name: known for name, known in self.names.items() if name not in names}
        if len(parts) == len(names):
            self.names.update(zip(names, parts, strict=True))

    def _disagreeing(self, node: gast.Assign | gast.AugAssign) -> list[str]:
        found = []
        for name, value in _bound_values(node):
            try:
                same = self.names.get(name) == self.of(value)
            except Unknown:
                same = False
            found += [] if same else [name]
        return found

    # -- expressions --------------------------------------------------------------------------------------------------

    def of(self, node: gast.expr) -> Type:
        """The type of an expression.

        Raises:
            Unknown: the text does not tell.
        """
        method = getattr(self, "_of_" + type(node).__name__.lower(), None)
        kind = method(node) if method is not None else None
        if kind is None:
            raise Unknown(f"the type of `{_text(node)}`")
        return kind

    def _of_constant(self, node: gast.Constant) -> Type | None:
        if isinstance(node.value, (bool, int, float)):
            return NumberType(type(node.value).__name__)
        return OtherType("None") if node.value is None else OtherType(f"a Python {type(node.value).__name__}")

    def _of_name(self, node: gast.Name) -> Type | None:
        return self.names.get(node.id)

    def _of_tuple(self, node: gast.Tuple) -> Type | None:
        return TupleType(tuple(self.of(part) for part in node.elts))

    def _of_unaryop(self, node: gast.UnaryOp) -> Type | None:
        operand = self.of(node.operand)
        if isinstance(node.op, gast.Not):
            return NumberType("bool") if isinstance(operand, NumberType) else None
        if isinstance(operand, NumberType) and operand.name == "bool":
            return NumberType("int")
        return operand

    def _of_binop(self, node: gast.BinOp) -> Type | None:
        left, right = self.of(node.left), self.of(node.right)
        arithmetic = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.FloorDiv, gast.Mod, gast.Pow)
        if not isinstance(node.op, arithmetic):
            return None
        level = 2 if isinstance(node.op, gast.Div) else 0
        if isinstance(left, NumberType) and isinstance(right, NumberType):
            wide = level or "float" in (left.name, right.name)
            return None if isinstance(node.op, gast.Pow) else NumberType("float" if wide else "int")
        if isinstance(left, TensorType) and isinstance(right, TensorType):
            return _with_number(left, level) if left == right else None
        tensor, number = (left, right) if isinstance(left, TensorType) else (right, left)
        if isinstance(tensor, TensorType) and isinstance(number, NumberType):
            return _with_number(tensor, max(level, 2 if number.name == "float" else 1))
        return None

    def _of_compare(self, node: gast.Compare) -> Type | None:
        left, right = self.of(node.left), self.of(node.comparators[0])
        if len(node.ops) > 1 or isinstance(node.ops[0], (gast.In, gast.NotIn, gast.Is, gast.IsNot)):
            return None
        tensors = [kind for kind in (left, right) if isinstance(kind, TensorType)]
        if not tensors:
            return NumberType("bool")
        same = len({kind.rank for kind in tensors}) == 1
        return TensorType("bool", tensors[0].rank, tensors[0].device) if same else None

    def _of_branch(self, node: gast.Call) -> Type | None:
        """What `ag.cond` gives, when both arms give the same."""
        kinds = [self._of_arm(argument) for argument in node.args[1:3]]
        return kinds[0] if len(kinds) == 2 and kinds[0] == kinds[1] else None

    def _of_arm(self, node: gast.expr) -> Type | None:
        if isinstance(node, gast.Lambda):
            return self.of(node.body)
        body = self._functions[node.id].body
        value = body[-1].value if isinstance(body[-1], gast.Return) else None
        return self.after(body[:-1]).of(value) if value is not None else None

    def _of_call(self, node: gast.Call) -> Type | None:
        if is_runtime_call(node, "cond"):
            return self._of_branch(node)
        path = self._kinds.torch_path(node.func)
        if path is not None:
            return self._of_torch(path.split(".")[-1], node)
        if not isinstance(node.func, gast.Attribute):
            return None
        base = self.of(node.func.value)
        return _method(node.func.attr, base, node) if isinstance(base, TensorType) else None

    def _of_torch(self, function: str, node: gast.Call) -> Type | None:
        if function == "tensor" and len(node.args) == 1 and isinstance(node.args[0], gast.Constant):
            return TensorType(self._dtype(node, _LITERAL_DTYPES.get(type(node.args[0].value), "")), 0)
        if function in _CREATED and node.args:
            sizes = node.args[0].elts if isinstance(node.args[0], (gast.Tuple, gast.List)) else node.args
            numbers = all(isinstance(self.of(size), NumberType) for size in sizes)
            return TensorType(self._dtype(node, _DEFAULT), len(sizes)) if numbers else None
        base = self.of(node.args[0]) if node.args else None
        inner = gast.Call(func=node.func, args=node.args[1:], keywords=node.keywords)
        return _method(function, base, inner) if isinstance(base, TensorType) else None

    def _dtype(self, node: gast.Call, default: str) -> str:
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                default = (self._kinds.torch_path(keyword.value) or "").split(".")[-1]
        if not default:
            raise Unknown(f"the dtype of `{_text(node)}`")
        return _SAME_DTYPE.get(default, default)


def _of_parameter(name: str, kinds: Kinds) -> Type | None:
    if kinds.name(name) == Kind.TENSOR:
        return TensorType(f"dtype of {name}", f"rank of {name}")
    return None


def _bound_otherwise(body: list[gast.stmt]) -> set[str]:
    """Local variables that something else than an assignment of a value binds."""
    plain = (gast.Assign, gast.AugAssign, gast.If, gast.While, gast.With, gast.Try, gast.Expr, gast.Return)
    found = set()
    for node in walk_scope(body):
        if isinstance(node, gast.For):
            found.update(binds(node.target))
        elif isinstance(node, gast.NamedExpr):
            found.add(node.target.id)
        elif isinstance(node, gast.stmt) and not isinstance(node, plain):
            found.update(binds(node))
    return found


def _bound_values(node: gast.Assign | gast.AugAssign) -> list[tuple[str, gast.expr]]:
    """Each name with the expression it is bound to; an unknown one where a value is taken apart."""
    if isinstance(node, gast.AugAssign):
        value = gast.BinOp(left=node.target, op=node.op, right=node.value)
        return [(node.target.id, value)] if isinstance(node.target, gast.Name) else []
    found = []
    for target in node.targets:
        same = isinstance(target, gast.Tuple) and isinstance(node.value, gast.Tuple)
        if isinstance(target, gast.Name):
            found.append((target.id, node.value))
        elif same and len(target.elts) == len(node.value.elts):
            found += [(t.id, v) for t, v in zip(target.elts, node.value.elts, strict=True) if isinstance(t, gast.Name)]
        else:
            found += [(name, gast.Starred(value=node.value, ctx=gast.Load())) for name in binds(target)]
    return found


def _with_number(tensor: TensorType, level: int) -> TensorType:
    """The tensor after arithmetic with nothing (0), an int (1) or a float (2)."""
    dtype = tensor.dtype
    if tensor.may_be_float and " with " not in dtype and " of " not in dtype:
        return tensor  # a known float dtype, or torch's default one
    if " " not in dtype:
        wider = {1: "int64" if dtype == "bool" else dtype, 2: _DEFAULT}
        return TensorType(wider.get(level, dtype), tensor.rank, tensor.device)
    base, _, word = dtype.partition(" with ")
    known = {"": 0, "int": 1, "float": 2}[word]
    return TensorType(base + _LEVELS[max(known, level)], tensor.rank, tensor.device)


def _method(name: str, tensor: TensorType, node: gast.Call) -> Type | None:
    if name in _SAME:
        return tensor
    if name in _FLOATING:
        return _with_number(tensor, 2)
    if node.args or node.keywords:
        return None
    if name == "sum":
        return TensorType(_summed(tensor), 0, tensor.device)
    if name not in _TO_SCALAR:
        return None
    dtype = {"same": tensor.dtype, "float": _with_number(tensor, 2).dtype}.get(_TO_SCALAR[name], _TO_SCALAR[name])
    return TensorType(dtype, 0, tensor.device)


def _summed(tensor: TensorType) -> str:
    """Sums of integers and truth values are int64."""
    if _with_number(tensor, 2) == tensor:
        return tensor.dtype
    return "int64" if " " not in tensor.dtype else "sum of " + tensor.dtype.partition(" with ")[0]


def _text(node: gast.AST) -> str:
    return ast.unparse(gast.gast_to_ast(node))
