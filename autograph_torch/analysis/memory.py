"""Which places of a function may have, or hold, the memory of one tensor, as far as its text shows.

    held = [x]; self.last = x; d["k"] = x       `held`, `self.last` and `d` go with `x`
    row = x[0]; y = self.pool(x)                and so do `row`, `y` and `self.pool`
    y = x * 2                                   what is computed is in memory of its own

A place is a name, or an attribute by its path. This takes for one memory whatever may be: for those who give copies in
the place of tensors. (analysis/aliases.py tells what surely has to be kept apart.) Not seen are arguments of the
function that share memory, and what a method has from another attribute of its object.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator

import gast

from autograph_torch.analysis.kinds import Kinds
from autograph_torch.analysis.owned import bound_pairs
from autograph_torch.analysis.scopes import FUNCTIONS, captured, names_of, parameters
from autograph_torch.analysis.writes import is_in_place
from autograph_torch.source.nodes import walk


class Memory:
    """The places of a function, by memory.

    Args:
        function: as the user wrote it.
        is_fresh: whether an expression gives a tensor in memory of its own.
    """

    def __init__(self, function: gast.FunctionDef, kinds: Kinds, is_fresh: Callable[[gast.expr], bool]) -> None:
        self._kinds, self._is_fresh = kinds, is_fresh
        self._links: dict[str, set[str]] = {}  # of every place, those that are bound or handed on together with it
        self._outside = {*parameters(function.args), *names_of(function.body).outer, *captured(function.body)}
        for node in walk(function):
            for targets, value in _bindings(node):
                self._link([*self.places(targets), *self.places(value)])
            if isinstance(node, gast.Call) and self._may_keep(node):
                self._link(self._handed(node))
            if isinstance(node, FUNCTIONS) and node is not function:  # its parameters are what its calls hand it
                self._link([node.name, *parameters(node.args), *self.places(node.args)])

    def group(self, place: str) -> set[str]:
        """All places that may have or hold the memory of one, itself among them."""
        found: set[str] = set()
        waiting = [place]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += [*self._links.get(one, ()), *(other for other in self._links if is_part(one, other))]
        return found

    def others(self, name: str) -> set[str]:
        """Those of its group that are neither the name nor in it (`x.T`)."""
        return {place for place in self.group(name) if place.partition(".")[0] != name}

    def is_alone(self, name: str) -> bool:
        """Whether no other place, and no caller, has the tensors of a local variable."""
        return name not in self._outside and not self.others(name)

    def places(self, node: gast.AST) -> list[str]:
        """Where the memory of a value may be besides."""
        path = path_of(node)
        if path is not None:
            return [path]
        if isinstance(node, gast.expr) and self._is_fresh(node):
            return []
        if isinstance(node, gast.Call):
            return self._handed(node)
        if isinstance(node, (gast.Attribute, gast.Subscript)):
            return self.places(node.value)
        return [place for child in gast.iter_child_nodes(node) for place in self.places(child)]

    def _handed(self, node: gast.Call) -> list[str]:
        """What a call is handed, and what it is a call of: it may keep the one, and give either."""
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        found = [place for argument in given for place in self.places(argument)]
        return found if self._is_known(node.func) else [*self.places(node.func), *found]

    def _may_keep(self, node: gast.Call) -> bool:
        """Whether a call may let what it is handed be seen elsewhere: `xs.append(y)`, `self.log(y)`."""
        if self._is_known(node.func):
            return getattr(node.func, "id", "") == "setattr"
        return not (self._is_fresh(node) or (isinstance(node.func, gast.Attribute) and is_in_place(node.func.attr)))

    def _is_known(self, function: gast.expr) -> bool:
        """Whether it is one of torch or of Python, which gives what it is handed, or something new."""
        of_python = isinstance(function, gast.Name) and hasattr(builtins, function.id)
        return of_python or self._kinds.torch_path(function) is not None

    def _link(self, places: list[str]) -> None:
        for one in places:
            self._links.setdefault(one, set()).update(places)


def path_of(node: gast.AST) -> str | None:
    """`self.pool` as text, for a name or attributes of one."""
    if isinstance(node, gast.Attribute):
        before = path_of(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return node.id if isinstance(node, gast.Name) else None


def is_part(one: str, other: str) -> bool:
    """Whether two places are one, or one is in the other: `self`, and `self.pool`."""
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def _bindings(node: gast.AST) -> Iterator[tuple[gast.AST, gast.AST]]:
    """What a node binds, and to what: `a, b = x, y` are two."""
    if isinstance(node, gast.Assign):
        for target in node.targets:
            yield from bound_pairs(target, node.value)
    elif isinstance(node, (gast.AnnAssign, gast.NamedExpr)) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, (gast.For, gast.AsyncFor, gast.comprehension)):
        yield node.target, node.iter
    elif isinstance(node, gast.withitem) and node.optional_vars is not None:
        yield node.optional_vars, node.context_expr
