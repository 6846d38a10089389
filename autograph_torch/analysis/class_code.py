"""Code of the classes of a file that runs where the text of a function shows no call: properties, `__enter__`, ...

    class Counter:
        @property
        def more(self):           an `if` that writes `self.n` and reads `self.more` reads and writes attributes:
            return self.n + 1     a local variable for `self.n` would not be what the property sees

Such code is read with all methods that it names. Classes of a file that derive from each other count together: an
object may be of any. What is no attribute as far as the file shows may be a property of a class of another file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_CALLED = frozenset(("__init__", "__new__", "__call__", "__init_subclass__", "__class_getitem__", "__post_init__"))
_OF_OTHERS = frozenset(("__get__", "__set__", "__delete__"))  # a descriptor's, which get the object of another class
_REGISTER = frozenset(("register_buffer", "register_parameter", "register_module", "add_module", "setattr"))
_STILL_METHODS = frozenset(("staticmethod", "classmethod", "abstractmethod", "override", "final", "overload"))
_OF_MODULES = frozenset(("training",))
Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class ClassCode:
    """What the attributes of an object may be, as far as a file shows.

    touched: what such code names, in the class of `self`, those it derives from and those that derive from it.
    touched_by_any: the same of all classes of the file.
    known: what is an attribute of `self`, a method, or a property of these classes.
    """

    touched: frozenset[str]
    touched_by_any: frozenset[str]
    known: frozenset[str]


class FileClasses:
    """The classes of a file. Those that derive from each other are one family, which is looked at once."""

    def __init__(self, module: ast.Module) -> None:
        self._all = [node for node in ast.walk(module) if isinstance(node, ast.ClassDef)]
        self._of_others = [part for name, part in _unseen(self._all) if name in _OF_OTHERS]
        self._families = _families(self._all)
        self._codes: dict[int, ClassCode] = {}

    def code_for(self, own: ast.ClassDef | None) -> ClassCode:
        """Of the methods of a class, or of a function that belongs to none (where `self` may be of any class)."""
        family = self._all if own is None else self._families[own.name]
        if id(family) not in self._codes:
            made = {name for name, part in _unseen(family) if not isinstance(part, Function)}
            known = frozenset(name for one in family for name in _attributes(one)) - made
            touched = frozenset(_touched(family, self._of_others))
            self._codes[id(family)] = ClassCode(touched, self._touched_by_any, _OF_MODULES | known)
        return self._codes[id(family)]

    @cached_property
    def _touched_by_any(self) -> frozenset[str]:
        return frozenset(_touched(self._all, []))


def _families(classes: list[ast.ClassDef]) -> dict[str, list[ast.ClassDef]]:
    """By its name: a class with all that it derives from and that derive from it; a name may stand for several."""
    families: dict[str, list[ast.ClassDef]] = {one.name: [] for one in classes}
    for one in classes:
        joined = [families[name] for name in {one.name, *_bases(one)} if name in families]
        members = list({id(member): member for family in joined for member in family}.values())
        merged = [*members, one]
        for name in {one.name, *_bases(one), *(member.name for member in members)} & set(families):
            families[name] = merged
    return families


def _bases(one: ast.ClassDef) -> set[str]:
    return {base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in one.bases}


def _touched(classes: list[ast.ClassDef], further: list[ast.AST]) -> set[str]:
    """Names in the code of classes that runs without a call, and in the methods that it may call."""
    methods = {id(node): node for one in classes for node in one.body if isinstance(node, Function)}
    unseen = _unseen(classes)
    names: set[str] = set()
    waiting = [*further, *(part for _, part in unseen)]
    while waiting:
        code = waiting.pop()
        methods.pop(id(code), None)
        new = set(_names_in(code)) - names
        names |= new
        called = [key for key, one in methods.items() if one.name in new]
        waiting += [methods.pop(key) for key in called]
    return names.union(name for name, _ in unseen)


def _unseen(classes: list[ast.ClassDef]) -> list[tuple[str, ast.AST]]:
    return [found for one in classes for found in _run_unseen(one)]


def _run_unseen(one: ast.ClassDef) -> Iterator[tuple[str, ast.AST]]:
    """Names in a class with code that runs without a call: properties, special methods, descriptors."""
    for node in one.body:
        if isinstance(node, Function):
            special = node.name.startswith("__") and node.name.endswith("__") and node.name not in _CALLED
            if special or any(_replaces(decorator) for decorator in node.decorator_list):
                yield node.name, node
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Call, ast.Lambda)):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))


def _replaces(decorator: ast.expr) -> bool:
    """Whether a decorator may make a property of a method; a call (`@torch.no_grad()`) gives a function."""
    last = decorator.attr if isinstance(decorator, ast.Attribute) else getattr(decorator, "id", None)
    return last is not None and last not in _STILL_METHODS


def _names_in(code: ast.AST) -> Iterator[str]:
    for node in ast.walk(code):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id  # `property(_more)`
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            yield node.value  # `getattr(self, "n")`


def _attributes(one: ast.ClassDef) -> Iterator[str]:
    """Names of a class and its objects."""
    for node in one.body:
        if isinstance(node, (*Function, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))
    for inner in ast.walk(one):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield inner.attr
        elif isinstance(inner, ast.Call) and _last(inner.func) in _REGISTER:
            yield from (a.value for a in inner.args if isinstance(a, ast.Constant) and isinstance(a.value, str))


def _last(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
