"""Attributes that a branch or loop on tensors writes become local variables around it.

    if x.sum() > 0:                        self_count = self.count
        self.count = self.count + 1        if x.sum() > 0:
                                               self_count = self_count + 1
                                           ag.write(self, "count", self_count)

torch's operators refuse writes to objects from inside. As a local variable the attribute is a result or a carry like
any other; `ag.write` writes it back unless it is still the same object. `self.buf += 1`, `self.buf[i] = v` and
`self.buf.add_(1)` count as writes: the object stays the same, and every alias of it sees the change. An attribute that
is only assigned may not be there before: `self_last = ag.read(self, "last")`.

Attributes that are merely assigned on objects other than `self` stay: the runtime makes results of them when it traces
(runtime/fields.py). So does everything in a statement that some path jumps out of, or leaves by an exception, and what
the statement may read or write by another name: in a call of what is not known, or of what is given the object.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from autograph_torch.analysis import vocabulary
from autograph_torch.analysis.facts import Facts
from autograph_torch.analysis.kinds import BUILTINS, Kind
from autograph_torch.analysis.scopes import SCOPES, binds, exits, walk_scope
from autograph_torch.analysis.writes import CONTAINER_WRITES, is_in_place
from autograph_torch.source.nodes import derive, name, place, rebuild, replace
from autograph_torch.source.templates import assign, constant, is_runtime_call, runtime_call, runtime_function

_KNOWN_METHODS = vocabulary.TENSOR_METHODS | vocabulary.HARMLESS_METHODS | vocabulary.PYTHON_METHODS
Composite = tuple[str, str]  # a variable and an attribute of it


def lower_attributes(function: gast.FunctionDef, facts: Facts) -> gast.FunctionDef:
    """Give every attribute that is written under data a local variable for as long."""

    def lower(node: gast.AST) -> gast.AST | list[gast.AST]:
        if isinstance(node, (*SCOPES, gast.expr)):
            return node
        if isinstance(node, (gast.If, gast.For, gast.While)) and _under_data(node, facts):
            return _hoisted(node, facts)
        return rebuild(node, lower)

    return rebuild(function, lower)


def _under_data(node: gast.If | gast.For | gast.While, facts: Facts) -> bool:
    return facts.is_site(node) or (not isinstance(node, gast.If) and facts.needs_steps(node))


def _hoisted(node: gast.If | gast.For | gast.While, facts: Facts) -> gast.AST | list[gast.AST]:
    block = [*node.body, *node.orelse]
    written = [c for c in _written(block) if c[0] not in binds(block) and _hoistable(c, node, facts)]
    if not written:
        return node
    nodes = [node, *walk_scope(_header_and_arms(node))]
    if any(_may_reach(inner, written, facts) for inner in nodes) or _stands_alone(nodes, written):
        return node
    if exits([node]) or any(_raises(inner) for inner in walk_scope(block)):  # what follows is not reached on that path
        return node
    locals_ = {c: facts.fresh(f"{c[0]}_{c[1]}") for c in written}
    for local in locals_.values():
        facts.kinds.add(local)
    inside = {field: [_renamed(s, locals_) for s in getattr(node, field)] for field in ("body", "orelse")}
    header = {f: _renamed(v, locals_) for f in ("test", "iter") if (v := getattr(node, f, None)) is not None}
    plain = set() if facts.assume_unknown else _read(_header_and_arms(node))
    before = [assign([local], _attribute(c) if c in plain else _taken(c)) for c, local in locals_.items()]
    after = [
        gast.Expr(value=runtime_call("write", name(c[0]), constant(c[1]), name(local))) for c, local in locals_.items()
    ]
    around = [place(s, node) for s in before], [place(s, node) for s in after]
    return [*around[0], derive(node, **inside, **header), *around[1]]


def _raises(node: gast.AST) -> bool:
    return isinstance(node, gast.Raise) or is_runtime_call(node, "fail")


def _written(block: list[gast.stmt]) -> list[Composite]:
    """Attributes of variables that the block assigns or changes in place, in the order in which that is done."""
    return list(dict.fromkeys(composite for composite, _ in _writes(block)))


def _hoistable(composite: Composite, node: gast.If | gast.For | gast.While, facts: Facts) -> bool:
    """Not what is only assigned to other objects: it may be a property, whose setter has to run where it stands.

    (Of `self`, and of what is changed in place, a trace shows it.) Nor what is deleted, nor private names, which the
    class changes.
    """
    if node.lineno in facts.told.computed:
        return False
    if composite[1].startswith("__") and not composite[1].endswith("__"):
        return False
    code = facts.class_code
    if code is not None and composite[1] in (code.touched if composite[0] == "self" else code.touched_by_any):
        return False
    block = [*node.body, *node.orelse]
    if composite in _deleted(block):
        return False
    own = composite[0] == "self" and node.lineno not in facts.told.splits
    return own or any(found == composite and inside for found, inside in _writes(block))


def _deleted(block: list[gast.stmt]) -> set[Composite]:
    """Attributes of variables that are deleted: there is none behind it, where a local variable could stand for it."""
    found = [one for one in walk_scope(block) if isinstance(one, gast.Attribute) and isinstance(one.ctx, gast.Del)]
    return {(one.value.id, one.attr) for one in found if isinstance(one.value, gast.Name)}


def _writes(block: list[gast.stmt]) -> Iterator[tuple[Composite, bool]]:
    """Attributes that are written to, and whether what is in them changes (rather than being replaced)."""
    nodes = sorted(walk_scope(block), key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
    declared = [node.target for node in nodes if isinstance(node, gast.AnnAssign) and node.value is None]
    for node in nodes:
        if any(node is target for target in declared):  # `self.x: int` writes nothing
            continue
        target: gast.AST | None = None
        if isinstance(node, (gast.Attribute, gast.Subscript)) and isinstance(node.ctx, (gast.Store, gast.Del)):
            target = node
        elif isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and _changes(node.func.attr):
            target = node.func.value
        replaced = isinstance(node, gast.Attribute)
        while isinstance(target, gast.Subscript):
            target = target.value
        if isinstance(target, gast.Attribute) and isinstance(target.value, gast.Name):
            yield (target.value.id, target.attr), not replaced


def _changes(method: str) -> bool:
    return method in CONTAINER_WRITES or is_in_place(method)


def _may_reach(node: gast.AST, written: list[Composite], facts: Facts) -> bool:
    """Whether this may read or write one of the attributes by another name: in what it calls, or as it stands."""
    if isinstance(node, gast.Attribute):
        of_self = any(base == "self" and _is_name(node.value, base) for base, _ in written)
        unknown = of_self and facts.class_code is not None and node.attr not in facts.class_code.known
        return unknown or any(node.attr == attr and not _is_name(node.value, base) for base, attr in written)
    if isinstance(node, gast.For):
        return _may_be_object(node.iter, facts)
    if not isinstance(node, gast.Call):
        return False
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node.func, gast.Attribute):
        given.append(node.func.value)
    return not _is_known(node, facts) or any(_is_name(one, base) for one in given for base, _ in written)


def _stands_alone(nodes: list[gast.AST], written: list[Composite]) -> bool:
    """Whether one of the objects is used whole: another name for it (`me = self`), or its own operators and `with`."""
    of_attributes = {id(node.value) for node in nodes if isinstance(node, gast.Attribute)}
    return any(_is_name(one, base) and id(one) not in of_attributes for one in nodes for base, _ in written)


def _is_known(call: gast.Call, facts: Facts) -> bool:
    """Whether a call runs nothing but Python's, torch's and our own code."""
    if facts.kinds.torch_path(call.func) is not None or facts.kinds.is_builtin(call.func, BUILTINS):
        return True
    if runtime_function(call) or not isinstance(call.func, gast.Attribute):
        return bool(runtime_function(call))
    method, receiver = call.func.attr, call.func.value
    if method in CONTAINER_WRITES:
        return not _may_be_object(receiver, facts)
    return is_in_place(method) or method in _KNOWN_METHODS


def _may_be_object(value: gast.expr, facts: Facts) -> bool:
    """Whether a value may be of a class of the user's."""
    return facts.kinds.of(value) is Kind.UNKNOWN


def _is_name(node: gast.AST, base: str) -> bool:
    return isinstance(node, gast.Name) and node.id == base


def _renamed(node: gast.AST, locals_: dict[Composite, str]) -> gast.AST:
    if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name):
        local = locals_.get((node.value.id, node.attr))
        if local is not None:
            return replace(node, name(local, store=not isinstance(node.ctx, gast.Load)))
    if isinstance(node, SCOPES):
        return node
    new = rebuild(node, lambda child: _renamed(child, locals_))
    if isinstance(new, gast.AnnAssign) and isinstance(new.target, gast.Name) and not new.simple:
        return derive(new, simple=1)  # `self.x: int = 1` has become `self_x: int = 1`
    return new


def _header_and_arms(node: gast.If | gast.For | gast.While) -> list[gast.AST]:
    """All of a statement that the local variables stand in."""
    header = [getattr(node, field) for field in ("test", "iter") if hasattr(node, field)]
    return [*header, *node.body, *node.orelse]


def _read(block: list[gast.AST]) -> set[Composite]:
    """Attributes of variables that are read, so that they surely exist before (or the program fails all the same)."""
    found = set()
    for node in walk_scope(block):
        if isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and isinstance(node.ctx, gast.Load):
            found.add((node.value.id, node.attr))
        elif isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Attribute):
            if isinstance(node.target.value, gast.Name):
                found.add((node.target.value.id, node.target.attr))
    return found


def _taken(composite: Composite) -> gast.expr:
    """An attribute that may not be there yet."""
    return runtime_call("read", name(composite[0]), constant(composite[1]))


def _attribute(composite: Composite) -> gast.Attribute:
    return gast.Attribute(value=name(composite[0]), attr=composite[1], ctx=gast.Load())
