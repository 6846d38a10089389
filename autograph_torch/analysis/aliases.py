"""Which names may share memory, as far as the text shows: `row = x[i]`, `a, b = x.chunk(2)`, `for row in x`.

torch's operators refuse functions that close over two tensors of one storage. Names of one group that a branch reads
together are handed to it as `views`, which the runtime keeps apart.
"""

from __future__ import annotations

from collections.abc import Iterable

import gast

from autograph_torch.analysis.kinds import Kind, Kinds
from autograph_torch.analysis.scopes import walk_scope
from autograph_torch.source.nodes import walk

VIEWS = frozenset(
    "view reshape ravel t transpose permute squeeze unsqueeze expand expand_as select narrow chunk split unbind "
    "flatten detach diagonal contiguous to float double view_as unflatten movedim swapaxes real imag T mT "
    "data diag tensor_split hsplit vsplit broadcast_to as_strided unfold values items cpu cuda type_as".split()
)


class Aliases:
    """Groups of names that may share memory."""

    def __init__(self, body: Iterable[gast.AST], kinds: Kinds) -> None:
        self._kinds = kinds
        self._parent: dict[str, str] = {}
        self._pieces: set[str] = set()  # lists of views of one tensor
        self._containers = {name for node in walk_scope(body) for name in _made_containers(node)}
        for node in walk_scope(body):
            if isinstance(node, gast.Assign):
                for target in node.targets:
                    self._bind(target, node.value)
            elif isinstance(node, gast.NamedExpr):
                self._bind(node.target, node.value)
            elif isinstance(node, gast.For):
                self._bind_elements(node.target, node.iter)

    def groups(self, names: Iterable[str]) -> list[str]:
        """Those of `names` that may share memory with another of them."""
        names = list(dict.fromkeys(names))
        roots = [self._root(name) for name in names]
        return [n for n, root in zip(names, roots, strict=True) if roots.count(root) > 1 or n in self._pieces]

    def _root(self, name: str) -> str:
        while name in self._parent:
            name = self._parent[name]
        return name

    def _join(self, first: str, second: str) -> None:
        a, b = self._root(first), self._root(second)
        if a != b:
            self._parent[a] = b

    def _bind(self, target: gast.expr, value: gast.expr) -> None:
        if isinstance(target, (gast.Tuple, gast.List)) and not isinstance(value, (gast.Tuple, gast.List, gast.Call)):
            first = _names(target)
            for name in first[1:]:
                self._join(first[0], name)  # `a, b = x` takes rows of one tensor
        if isinstance(target, (gast.Tuple, gast.List)) and isinstance(value, (gast.Tuple, gast.List)):
            if len(target.elts) == len(value.elts):
                for one, part in zip(target.elts, value.elts, strict=True):
                    self._bind(one, part)
                return
        if _is_split(value):
            self._pieces.update(_names(target) if isinstance(target, gast.Name) else _starred(target))
        for source in self._sources(value):
            for name in _names(target):
                self._join(name, source)

    def _bind_elements(self, target: gast.expr, iterable: gast.expr) -> None:
        parts = [iterable]
        if isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name):
            parts = list(iterable.args) if iterable.func.id in ("zip", "enumerate", "reversed") else []
        for part in parts:
            for source in self._sources(part):
                for name in _names(target):
                    self._join(name, source)

    def _sources(self, value: gast.expr) -> list[str]:
        """Names whose memory the value may be part of."""
        if isinstance(value, gast.Name):
            return [value.id] if self._kinds.of(value) != Kind.PYTHON or value.id in self._containers else []
        if isinstance(value, gast.Subscript):
            return self._sources(value.value)
        if isinstance(value, gast.Starred):
            return self._sources(value.value)
        if isinstance(value, gast.Attribute):
            return self._sources(value.value) if value.attr in VIEWS else []
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in VIEWS:
            return self._sources(value.func.value) + [name for a in value.args[:1] for name in self._sources(a)]
        if isinstance(value, gast.IfExp):
            return self._sources(value.body) + self._sources(value.orelse)
        if isinstance(value, gast.NamedExpr):
            return self._sources(value.value)
        return []


def _made_containers(node: gast.AST) -> list[str]:
    """Names that a node binds to a list or dict that it makes."""
    made = (gast.List, gast.Dict, gast.ListComp, gast.DictComp)
    if not isinstance(node, gast.Assign) or not isinstance(node.value, made):
        return []
    return [target.id for target in node.targets if isinstance(target, gast.Name)]


def _is_split(value: gast.expr) -> bool:
    splits = ("chunk", "split", "unbind", "tensor_split", "hsplit", "vsplit")
    return isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in splits


def _starred(target: gast.expr) -> list[str]:
    return [name for node in walk(target) if isinstance(node, gast.Starred) for name in _names(node)]


def _names(target: gast.expr) -> list[str]:
    return [node.id for node in walk(target) if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)]
