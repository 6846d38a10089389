"""A live function is found in the text of its file, whatever else stands on its lines."""

from __future__ import annotations

import ast
import functools
import linecache
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gast
import pytest

from autograph_torch.diagnostics import SourceError
from autograph_torch.source.lookup import Located, as_function, locate

THIS = Path(__file__)
CELL = "<cell of test_lookup>"


@pytest.fixture(autouse=True)
def forget_cells() -> Iterator[None]:
    yield
    linecache.cache.pop(CELL, None)


def found(function: Any) -> Located:
    return locate(function.__code__)


def text_of(function: Any) -> str:
    """The text that a function was found at."""
    located = found(function)
    text = ast.get_source_segment("".join(located.lines), located.node)
    assert text is not None
    return text


def cell(text: str) -> dict[str, Any]:
    """A namespace in which a text has been run whose source `linecache` knows, as notebooks do it."""
    linecache.cache[CELL] = (len(text), None, text.splitlines(keepends=True), CELL)
    namespace: dict[str, Any] = {}
    exec(compile(text, CELL, "exec"), namespace)
    return namespace


def plain(x: int) -> int:
    return x + 1


def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@decorate
@functools.lru_cache(
    maxsize=8,
)
def decorated(x: int) -> int:
    return x + 2


async def waits(x: int) -> int:
    return x


class Outer:
    def method(self) -> str:
        return "outer"

    @property
    def value(self) -> int:
        return 1

    class Inner:
        def method(self) -> str:
            def local() -> str:
                return "inner"

            return local()


# fmt: off
pair = [lambda x: x + 1, lambda x: x + 2]
nested = lambda x: (lambda y: x + y)
over_lines = (
    lambda x:
        x * 3
)
same = [lambda x: x * 2, lambda x: x * 2]
by_names = [lambda a: a, lambda b: b]
by_free = [lambda: plain, lambda: decorate]
left_out = (lambda: 1) if False else (lambda: 2)
# fmt: on


def test_plain_function() -> None:
    located = found(plain)
    assert text_of(plain) == "def plain(x: int) -> int:\n    return x + 1"
    assert (located.filename, located.owner) == (str(THIS), None)
    assert located.node.lineno == plain.__code__.co_firstlineno
    assert "".join(located.lines) == THIS.read_text()


def test_decorated_function() -> None:
    assert text_of(decorated.__wrapped__).startswith("def decorated")  # type: ignore[attr-defined]


def test_coroutine() -> None:
    assert isinstance(found(waits).node, ast.AsyncFunctionDef)


def test_methods_know_their_class() -> None:
    assert found(Outer.method).owner == "Outer"
    assert found(Outer.Inner.method).owner == "Inner"
    assert 'return "outer"' in text_of(Outer.method)
    assert found(Outer.__dict__["value"].fget).owner == "Outer"


def test_local_function_has_no_owner() -> None:
    def local() -> int:
        return 5

    assert found(local).owner is None
    assert "return 5" in text_of(local)
    inner = next(c for c in Outer.Inner.method.__code__.co_consts if isinstance(c, types.CodeType))
    assert locate(inner).owner is None


def test_functions_of_one_name() -> None:
    def twin() -> int:
        return 1

    first = twin

    def twin() -> int:  # type: ignore[no-redef]  # noqa: F811
        return 2

    assert "return 1" in text_of(first)
    assert "return 2" in text_of(twin)


def test_lambdas_of_one_line() -> None:
    assert [text_of(one) for one in pair] == ["lambda x: x + 1", "lambda x: x + 2"]
    assert [text_of(one) for one in by_names] == ["lambda a: a", "lambda b: b"]


def test_lambdas_that_differ_in_names_of_other_scopes_alone() -> None:
    assert [text_of(one) for one in by_free] == ["lambda: plain", "lambda: decorate"]


def test_lambdas_of_one_line_that_close_over_names() -> None:
    k = 2
    both = [lambda x: x + k, lambda x: x - k]
    assert [text_of(one) for one in both] == ["lambda x: x + k", "lambda x: x - k"]


def test_lambda_in_a_lambda() -> None:
    assert text_of(nested).startswith("lambda x: (lambda")
    assert text_of(nested(1)) == "lambda y: x + y"


def test_lambda_over_lines() -> None:
    assert text_of(over_lines).split() == ["lambda", "x:", "x", "*", "3"]


def test_equal_lambdas_of_one_line() -> None:
    """Either is right where both do the same."""
    assert [text_of(one) for one in same] == ["lambda x: x * 2"] * 2


def test_lambda_beside_one_that_python_leaves_out() -> None:
    assert text_of(left_out) == "lambda: 2"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 records no positions")
def test_lambdas_whose_positions_are_not_recorded() -> None:
    command = [sys.executable, "-X", "no_debug_ranges", "-m", "pytest", "-q", "-k", "lambda and not recorded", THIS]
    done = subprocess.run(command, capture_output=True, text=True, cwd=THIS.parents[2])
    assert done.returncode == 0 and "8 passed" in done.stdout, done.stdout


def test_cell_of_a_notebook() -> None:
    namespace = cell("import math\n\ndef f(x):\n    return math.sin(x)\n")
    located = found(namespace["f"])
    assert (located.filename, located.node.lineno) == (CELL, 3)


def test_positions_are_those_of_the_file() -> None:
    """Nothing is dedented: tracebacks and messages show the user's own lines."""
    text = "if True:\n    if True:\n        def f(x):\n            return x + 1\n"
    node = found(cell(text)["f"]).node
    assert (node.lineno, node.col_offset) == (3, 8)
    assert node.body[0].lineno == 4  # type: ignore[index]


def test_parsed_once_while_its_lines_stay_the_same() -> None:
    assert found(plain).node is found(plain).node


def test_file_that_cannot_be_imported(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def f(x):\n    return x\n\nraise RuntimeError('not importable')\n")
    namespace: dict[str, Any] = {}
    with pytest.raises(RuntimeError):
        exec(compile(path.read_text(), str(path), "exec"), namespace)
    assert text_of(namespace["f"]) == "def f(x):\n    return x"


def test_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x\n")
    namespace: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    path.write_text("# one more line\n\ndef f(x):\n    return x\n")
    linecache.checkcache(str(path))
    refused(namespace["f"], "has changed")


def test_no_source_is_refused() -> None:
    namespace: dict[str, Any] = {}
    exec("def f(x):\n    return x\n", namespace)
    error = refused(namespace["f"], "no source text")
    assert "`f`" in str(error) and error.diagnostic.line == 1


def test_source_that_cannot_be_parsed_is_refused() -> None:
    namespace = cell("def f(x):\n    return x\n")
    broken = "def f(x:\n    return x\n"
    linecache.cache[CELL] = (len(broken), None, broken.splitlines(keepends=True), CELL)
    refused(namespace["f"], "cannot be parsed")


def refused(function: Any, why: str) -> SourceError:
    with pytest.raises(SourceError) as caught:
        found(function)
    assert caught.value.code == "AG302"
    assert why in caught.value.diagnostic.message
    return caught.value


def test_lambda_as_a_function() -> None:
    tree = as_function(found(pair[1]).node)
    assert isinstance(tree, gast.FunctionDef)
    (only,) = tree.body
    assert isinstance(only, gast.Return) and isinstance(only.value, gast.BinOp)
    assert tree.lineno == only.lineno == pair[1].__code__.co_firstlineno
    assert [argument.id for argument in tree.args.args] == ["x"]


def test_function_as_a_function() -> None:
    tree = as_function(found(plain).node)
    assert (tree.name, len(tree.body)) == ("plain", 1)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with Python 3.12")
def test_generic_function() -> None:
    assert text_of(cell("def f[T](x: T) -> T:\n    return x\n")["f"]).startswith("def f[T]")


TRICKY = '''
class Owner:
    @staticmethod
    def method(
        x, text="""
not indented
def other(): pass
""",
    ):
# a comment at the margin
        values = [
1, 2,
        ]
        return x, values, text

    def after(self): return 1

def last(x):
    return x \\
+ 1
'''


@pytest.mark.parametrize("name", ["Owner.method", "Owner.after", "last"])
def test_lines_that_do_not_end_a_function(name: str) -> None:
    """The text that is found is the one that the whole file gives."""
    namespace = cell(TRICKY)
    owner, _, plain_name = name.rpartition(".")
    function = getattr(namespace[owner], plain_name) if owner else namespace[name]
    whole = next(n for n in ast.walk(ast.parse(TRICKY)) if getattr(n, "name", None) == plain_name)
    located = found(function)
    assert ast.dump(located.node, include_attributes=True) == ast.dump(whole, include_attributes=True)
    assert located.owner == (owner or None)
