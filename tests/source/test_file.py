"""Files come back byte for byte, positions are right, and what cannot be read is refused with the line."""

from __future__ import annotations

import ast
import codecs

import pytest

from autograph_torch.diagnostics import AutographError, SourceError
from autograph_torch.source.file import SourceFile

EXACT = {
    "empty": b"",
    "lf": b"x = 1\n",
    "crlf": b"x = 1\r\ny = 2\r\n",
    "lone cr": b"x = 1\ry = 2\r",
    "mixed": b"x = 1\r\ny = 2\nz = 3\r",
    "no newline at the end": b"x = 1\ny = 2",
    "form feed": b"x = 1\n\x0c\ndef f():\n    pass\n",
    "tabs": b"def f():\n\tif x:\n\t\ty\n",
    "bom": codecs.BOM_UTF8 + "é = 'é'\r\n".encode(),
    "bom and cookie": codecs.BOM_UTF8 + b"# coding: utf-8\nx = 1\n",
    "latin-1": "# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1"),
    "cookie on line two": "#!/usr/bin/python\n# coding: latin-1\nx = 'é'\n".encode("latin-1"),
    "cp1252": "# coding: cp1252\nx = '€'\n".encode("cp1252"),
    "euc-jp": "# coding: euc-jp\nx = '日本'\n".encode("euc-jp"),
    "line separator in a string": "x = 'a\u2028b'; y = 1\nz = 2\n".encode(),
}


@pytest.mark.parametrize("raw", EXACT.values(), ids=EXACT.keys())
def test_bytes_come_back(raw: bytes) -> None:
    source = SourceFile.read(raw, "t.py")
    assert source.to_bytes(source.utf8) == raw
    assert source.text.encode() == source.utf8


@pytest.mark.parametrize("raw", EXACT.values(), ids=EXACT.keys())
def test_spans_are_the_text_of_the_nodes(raw: bytes) -> None:
    source = SourceFile.read(raw, "t.py")
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name):
            start, end = source.span(node)
            assert source.slice(start, end) == node.id


def test_lines_are_those_of_the_parser() -> None:
    source = SourceFile.read("a = 1\rb = '\u2028'\r\n\x0cc = 3\n\nd = 4".encode(), "t.py")
    assert [node.lineno for node in source.tree.body] == [1, 2, 3, 5]
    assert [source.line(node.lineno).strip()[:1] for node in source.tree.body] == [b"a", b"b", b"c", b"d"]
    assert source.line(5) == b"d = 4"


@pytest.mark.parametrize(
    "raw, line, text",
    [
        (b"x = 1\ny = '\xff'\n", 2, "utf-8"),
        (b"x = 1\n\x00\n", 2, "null bytes"),
        (b"x = 1\ndef f(:\n", 2, "invalid syntax"),
        (b"# coding: nonsense\n", 1, "nonsense"),
        (b"# coding: rot13\nk = 1\n", 1, "rot13"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", 1, "utf-8"),
        (b"if x:\ny\n", 2, "indented"),
        (b"x = '''\n", 1, "unterminated"),
    ],
)
def test_refused_with_the_line(raw: bytes, line: int, text: str) -> None:
    with pytest.raises(SourceError) as caught:
        SourceFile.read(raw, "t.py")
    assert caught.value.diagnostic.code == "AG301"
    assert caught.value.diagnostic.filename == "t.py"
    assert caught.value.diagnostic.line == line
    assert text in str(caught.value)


@pytest.mark.parametrize("raw", [b"(" * 5000 + b")" * 5000, b"-" * 3000 + b"1", b"x = " + b"a+" * 3000 + b"a"])
def test_deep_nesting_is_refused_or_read(raw: bytes) -> None:
    try:
        SourceFile.read(raw, "t.py")
    except AutographError as error:
        assert error.diagnostic.code == "AG301"


def test_text_outside_the_codec_is_refused() -> None:
    source = SourceFile.read(b"# coding: latin-1\nx = 1\n", "t.py")
    with pytest.raises(SourceError, match="latin-1|iso-8859-1"):
        source.to_bytes("x = '€'\n".encode())


@pytest.mark.parametrize(
    "text, newline, unit",
    [
        ("x = 1", "\n", "    "),
        ("if x:\r\n  y\r\n", "\r\n", "  "),
        ("if x:\n\ty\r\nz\n", "\n", "\t"),
        ("def f():\n    def g():\n        return (\n  1)\n", "\n", "    "),
        ("x\ry\r", "\r", "    "),
    ],
)
def test_newline_and_indentation(text: str, newline: str, unit: str) -> None:
    source = SourceFile.read(text.encode(), "t.py")
    assert (source.newline, source.indent_unit) == (newline, unit)


@pytest.mark.parametrize("longest, limit", [(10, 79), (79, 79), (100, 100), (120, 120), (200, 120)])
def test_line_limit(longest: int, limit: int) -> None:
    assert SourceFile.read(b"#" * longest, "t.py").line_limit == limit


def test_lines_inside_strings_are_frozen() -> None:
    text = 'x = """a\n  b\n"""\ny = ("a"\n     "b")\nz = f"""{x\n} {f"{y}"}\n  c"""\n'
    text = text if hasattr(ast, "TypeAlias") else text.replace('{f"{y}"}', "{y}")
    source = SourceFile.read(text.encode(), "t.py")
    assert {source.line_number(start) for start in source.starts if source.tokens.in_string(start)} == {2, 3, 7, 8}


def test_comments_are_found_by_offset() -> None:
    source = SourceFile.read("é = '# no'  # yés\n\n# two\nz  # three".encode(), "t.py")
    comments = source.tokens.comments(0, len(source.utf8))
    assert [comment.text for comment in comments] == ["# yés", "# two", "# three"]
    for comment in comments:
        assert source.slice(comment.start, comment.end) == comment.text
