"""From a rewritten tree to a live function that keeps the user's file, lines, defaults, closure and globals.

The tree is compiled inside a factory that binds the free variables (and inside a class of the owner's name, for private
names and `super()`); only the code object is taken from it. Every code object made here carries a mark among its
constants, by which capture/inlining.py knows the functions that the user chose to convert.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import gast

from autograph_torch.rewriting import RUNTIME_IMPORT

MARK = "autograph_torch: rewritten"
FOLLOWS_CALLS = "autograph_torch: what it calls is rewritten too"
_BLOCK = "autograph_torch: a block of the function around it"
_LEFT = "autograph_torch: more is rewritten for a trace"
_CODE_IS_NAMED: bool = sys.version_info >= (3, 11)  # with a qualified name


def is_marked(code: types.CodeType) -> bool:
    """Whether a code object was made by this package."""
    return MARK in code.co_consts


def follows_calls(code: types.CodeType, called: types.CodeType | None = None) -> bool:
    """Whether the functions that this code calls are to be rewritten when they are reached, or one of them is."""
    return FOLLOWS_CALLS in code.co_consts or (called is not None and _Follows(called) in code.co_consts)


def is_block(code: types.CodeType) -> bool:
    """Whether a pass has made a function of a block of statements (`then`, `body`, `step`)."""
    return _BLOCK in code.co_consts


def is_for_python(code: types.CodeType) -> bool:
    """Whether statements have been left alone in it that a trace would have rewritten."""
    return _LEFT in code.co_consts


def for_python(code: types.CodeType) -> types.CodeType:
    """The same code, which says so."""
    return code.replace(co_consts=(*code.co_consts, _LEFT))


def marked(code: types.CodeType, follow: bool | types.CodeType = False) -> types.CodeType:
    """The same code with the mark, in its nested functions too.

    With `follow` also that its calls are followed, or the calls of the function of one code.
    """
    constants = tuple(marked(c, follow) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    wanted: list[object] = [MARK]
    if follow:
        wanted.append(FOLLOWS_CALLS if follow is True else _Follows(follow))
    return code.replace(co_consts=(*constants, *(mark for mark in wanted if mark not in constants)))


def named_for(code: types.CodeType, owner: type) -> types.CodeType:
    """The same code, of this package, as code of its own that calls what an object of the user's does.

    What is kept note of by code (by torch: which sizes and numbers have changed) is then not that of other objects.
    """
    return code.replace(co_name=owner.__name__, co_consts=(*code.co_consts, object()))


def unmarked(code: types.CodeType) -> types.CodeType:
    """What the user wrote; or, where that is not known, code that does the same and is traced without conversion."""
    origin = origin_of(code)
    if origin is not None and origin.co_freevars == code.co_freevars:
        return origin
    # The marks are the last constants, so that no other changes its number.
    return code.replace(co_consts=tuple(c for c in code.co_consts if not _is_mark(c)))


def _is_mark(constant: object) -> bool:
    return isinstance(constant, _Follows) or constant in (MARK, FOLLOWS_CALLS, _BLOCK, _LEFT)


@dataclass(frozen=True)
class _Follows:
    """The code of the one function that is followed, kept among the constants of what calls it."""

    code: types.CodeType


@dataclass(frozen=True)
class _Origin:
    """The code that another was made of, kept among its constants."""

    code: types.CodeType


def with_origin(code: types.CodeType, origin: types.CodeType) -> types.CodeType:
    """The same code, which remembers what it was made of."""
    return code.replace(co_consts=(*code.co_consts, _Origin(origin)))


def origin_of(code: types.CodeType) -> types.CodeType | None:
    """The code that this one was made of, if it remembers."""
    return next((constant.code for constant in code.co_consts if isinstance(constant, _Origin)), None)


def compile_tree(tree: gast.FunctionDef, original: types.CodeType, filename: str, owner: str | None) -> types.CodeType:
    """The marked code object of a rewritten function.

    Args:
        tree: the function after the passes.
        original: its code before; gives flags, free variables and names.
        filename: the file that tracebacks shall show.
        owner: the class around a method, for names such as `__private`.
    """
    node = _bare(gast.gast_to_ast(tree))
    module = _factory(node, original.co_freevars, owner)
    future = original.co_flags & _FUTURE_FLAGS
    compiled = compile(module, filename, "exec", flags=future, dont_inherit=True)
    code = _find(compiled, node.name, original)
    made, written = _compiled_name(code, original.co_freevars, owner), _written_name(original)
    if _CODE_IS_NAMED:
        code = code.replace(co_qualname=written)
    return _as_written(marked(code), made, written, frozenset(_places(original))).replace(co_name=original.co_name)


def _as_written(
    code: types.CodeType, made: str, written: str, places: frozenset[tuple[str, int]], is_block: bool = False
) -> types.CodeType:
    """The same code, in which the functions that the user has not written are marked as blocks.

    The functions and classes that the user has defined in it have the qualified names that they have in the user's own.

    Args:
        made: the qualified name with which it has been compiled.
        written: that of the user's function, which is around what is in it.
        places: of what the user has defined.
    """
    constants: list[object] = []
    names = {} if is_block else {made: written}  # the body of a class, and up to Python 3.10 what is around, has them
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner = _qualified_name(constant, made, code)
            is_ours = not constant.co_name.startswith("<") and _place(constant) not in places
            is_global = COMPILED_NAME not in inner
            # Not from `made`: of two blocks with the same function in them, Python compiles it for the first one.
            name = inner if is_global else f"{written}{_inside(code)}.{constant.co_name}"
            names[inner] = name
            constant = _as_written(constant, inner, written if is_ours else name, places, is_ours)
            if _CODE_IS_NAMED:
                constant = constant.replace(co_qualname=name)
            if is_ours:
                constant = constant.replace(co_consts=(*constant.co_consts, _BLOCK))
        constants.append(constant)
    constants = [names.get(one, one) if type(one) is str else one for one in constants]
    return code.replace(co_consts=tuple(constants))


def _qualified_name(code: types.CodeType, around: str, parent: types.CodeType) -> str:
    """That of a function or class in the code `parent`, which has the qualified name `around`."""
    if _CODE_IS_NAMED:
        return code.co_qualname
    return f"{around}{_inside(parent)}.{code.co_name}"


def _inside(code: types.CodeType) -> str:
    """What stands between the qualified name of a function, class or comprehension and a name in it."""
    is_function = code.co_flags & inspect.CO_OPTIMIZED and code.co_name not in _COMPREHENSIONS
    return ".<locals>" if is_function else ""


_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def _compiled_name(code: types.CodeType, free: tuple[str, ...], owner: str | None) -> str:
    """The qualified name of the rewritten function, as `_factory` makes it."""
    if _CODE_IS_NAMED:
        return code.co_qualname
    if owner is None:
        return f"factory.<locals>.{code.co_name}"
    return f"factory.<locals>.{owner}.{code.co_name}" if owner in free else f"{owner}.{code.co_name}"


def _written_name(code: types.CodeType) -> str:
    """The qualified name of the user's function; up to Python 3.10 only what is defined in it has it."""
    if _CODE_IS_NAMED:
        return code.co_qualname
    texts = [constant for constant in code.co_consts if type(constant) is str]
    ends = [f".<locals>.{inner.co_name}" for inner in code.co_consts if isinstance(inner, types.CodeType)]
    return next((text.removesuffix(end) for text in texts for end in ends if text.endswith(end)), code.co_name)


def _places(code: types.CodeType) -> Iterator[tuple[str, int]]:
    """The names and lines of the functions in a code."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield _place(constant)
            yield from _places(constant)


def _place(code: types.CodeType) -> tuple[str, int]:
    return code.co_name, code.co_firstlineno


COMPILED_NAME = "autograph_rewritten"
_FUTURE_FLAGS = 0x1000000  # CO_FUTURE_ANNOTATIONS, the only future statement that still matters


def new_function(function: Any, code: types.CodeType) -> types.FunctionType:
    """A function like `function` that runs `code`."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    made.__dict__.update(function.__dict__)
    return made


def _bare(node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.FunctionDef | ast.AsyncFunctionDef:
    """The function without what is evaluated where it is defined (defaults, annotations, decorators)."""
    node.decorator_list = []
    node.returns = None
    node.name = COMPILED_NAME  # its own name must stay a global one: a function may call itself
    arguments = node.args
    arguments.defaults = [ast.Constant(value=None) for _ in arguments.defaults]
    arguments.kw_defaults = [None if d is None else ast.Constant(value=None) for d in arguments.kw_defaults]
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    at = 1 if ast.get_docstring(node, clean=False) is not None else 0
    line = node.body[0].lineno
    imports = ast.parse(RUNTIME_IMPORT).body
    for statement in imports:
        for part in ast.walk(statement):
            if isinstance(part, (ast.stmt, ast.expr, ast.alias)):
                part.lineno = part.end_lineno = line
    node.body[at:at] = imports
    _name_first_lines(node)
    return node


def _name_first_lines(node: ast.AST) -> None:
    """A call of the runtime takes the place of a whole statement; CPython would name its last line for it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            ends = (part.end_lineno, part.end_col_offset)
            if ends == (part.value.end_lineno, part.value.end_col_offset):
                part.end_lineno, part.end_col_offset = part.lineno, part.col_offset + 1


def _factory(node: ast.FunctionDef | ast.AsyncFunctionDef, free: tuple[str, ...], owner: str | None) -> ast.Module:
    inner: ast.stmt = node
    head: list[ast.stmt] = []
    if owner is not None:
        if owner not in free:  # what the method calls by this name is not the class around it here
            head = [ast.Global(names=[owner])]
        inner = ast.ClassDef(name=owner, bases=[], keywords=[], body=[node], decorator_list=[])
        if sys.version_info >= (3, 12):
            inner.type_params = []
    cells: list[ast.stmt] = [
        ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=ast.Constant(value=None))
        for name in free
        if not (name == "__class__" and owner is not None)
    ]
    template = ast.parse("def factory(): pass").body[0]
    assert isinstance(template, ast.FunctionDef)
    template.body = [*head, *cells, inner]
    return ast.fix_missing_locations(ast.Module(body=[template], type_ignores=[]))


def _find(compiled: types.CodeType, name: str, original: types.CodeType) -> types.CodeType:
    """The function's own code among the nested ones: the outermost of its name."""
    level = [compiled]
    while level:
        nested = [c for code in level for c in code.co_consts if isinstance(c, types.CodeType)]
        for code in nested:
            if code.co_name == name and code.co_argcount == original.co_argcount:
                return code
        level = nested
    raise AssertionError(f"{name} was compiled but not found")
