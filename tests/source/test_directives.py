"""Comments that steer conversion: which lines they leave alone, and that a misspelt one is refused."""

from __future__ import annotations

import ast

import pytest

from autograph_torch.diagnostics import SourceError
from autograph_torch.source.directives import Directives


def read(text: str) -> Directives:
    return Directives.read(text, "t.py", ast.parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "x = 1  # a comment\n",
        "x = '# autograph: skip'\n",
        '"""\n# autograph: skip-file\n"""\n',
        "x = f'# autograph: off'\n",
        "# about autograph: skip\n",
        "# see autograph:skip\n",
        "# autograph\n",
    ],
)
def test_no_directive(text: str) -> None:
    assert read(text) == Directives()


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("if x:  # autograph: skip\n    y\nz\n", {1, 2}),
        ("if x:  #autograph:skip\n    y\nz\n", {1, 2}),
        ("if x:  #   autograph:   skip\n    y\nz\n", {1, 2}),
        ("if x:  # autograph: skip because of that\n    y\nelse:\n    z\na\n", {1, 2, 3, 4}),
        ("if x: y  # autograph: skip\nz\n", {1}),
        ("a\nif x:\n    y  # autograph: skip\n", {3}),
        ("a\nif x:\n    y; z  # autograph: skip\n    a\n", {3}),
        ("if (x\n    and y):  # autograph: skip\n    z\na\n", {1, 2, 3}),
        ("if (x\n    ):  # autograph: skip\n\n    z\na\n", {1, 2, 3, 4}),
        ("def f(\n    x,\n):  # autograph: skip\n    return x\na\n", {1, 2, 3, 4}),
        ("@d  # autograph: skip\ndef f(): pass\na\n", {1, 2}),
        ("@d\n# autograph: skip\n@e\ndef f():\n    pass\na\n", {1, 2, 3, 4, 5}),
        ("class A:  # autograph: skip\n    def f(): pass\na\n", {1, 2}),
        ("match x:  # autograph: skip\n    case 1:\n        y\na\n", {1, 2, 3}),
        ("try:  # autograph: skip\n    x\nfinally:\n    y\na\n", {1, 2, 3, 4}),
        ("for x in y:\n    while z:  # autograph: skip\n        a\n    b\n", {2, 3}),
        ("a\n# autograph: off\nb\nc\n# autograph: on\nd\n", {2, 3, 4, 5}),
        ("a\n# autograph: off\nb\nc\n", {2, 3, 4}),
        ("# autograph: off\na\n# autograph: on\nb\n# autograph: off\nc\n# autograph: on\n", {1, 2, 3, 5, 6, 7}),
        ("def f():\n    # autograph: off\n    a\n    # autograph: on\n    b\n", {2, 3, 4}),
        ("x = (1,  # autograph: skip\n     2)\n", {1, 2}),
        ("x = (1,\n     # autograph: skip\n     2)\ny\n", {1, 2, 3}),
        ("a\r\n# autograph: off\r\nb\r\n# autograph: on\r\nc\r\n", {2, 3, 4}),
        ("s = 'a\u2028b'\nc  # autograph: skip\n", {2}),
        ("a\rb  # autograph: skip\rc\r", {2}),
    ],
)
def test_lines_left_alone(text: str, lines: set[int]) -> None:
    found = read(text)
    assert set(found.skipped_lines) == lines
    assert not found.skip_file


@pytest.mark.parametrize(
    "text",
    [
        "# autograph: skip-file\n",
        "#!/usr/bin/python\n# coding: utf-8\n\n# autograph: skip-file\nx = 1\n",
        "x = 1\n# autograph: skip\ny = 2  # autograph: skip-file\n",
    ],
)
def test_whole_file(text: str) -> None:
    found = read(text)
    assert found.skip_file
    assert [note.code for note in found.notes] == ["AG208"]


def test_each_directive_is_told() -> None:
    found = read("x = 1  # autograph: skip\n# autograph: off\na\n# autograph: on\nif x:  # autograph: skip\n    y\n")
    assert [(note.code, note.line, note.end_line) for note in sorted(found.notes, key=lambda note: note.line)] == [
        ("AG208", 1, 1),
        ("AG208", 2, 4),
        ("AG208", 5, 6),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("# autograph: skip\nx = 1\n", 1, "stands on no statement"),
        ("if x:\n    # autograph: skip\n    y\n", 2, "stands on no statement"),
        ("if x:\n    y\nelse:  # autograph: skip\n    z\n", 3, "stands on no statement"),
        ("x = 1\n# autograph: on\n", 2, "without an `off`"),
        ("# autograph: off\n# autograph: on\n# autograph: on\n", 3, "without an `off`"),
    ],
)
def test_a_directive_that_means_nothing_is_refused(text: str, line: int, message: str) -> None:
    with pytest.raises(SourceError, match=message) as caught:
        read(text)
    assert (caught.value.code, caught.value.diagnostic.line) == ("AG303", line)


@pytest.mark.parametrize(
    ("text", "line", "column", "word"),
    [
        ("x = 1\n\n    # autograph: of\n", 3, 5, "of"),
        ("x = 'é'  # autograph: Skip\n", 1, 10, "Skip"),
        ("# autograph:\n", 1, 1, ""),
        ("# autograph: skip,off\n", 1, 1, "skip,off"),
    ],
)
def test_unknown_directive(text: str, line: int, column: int, word: str) -> None:
    with pytest.raises(SourceError) as caught:
        read(text)
    found = caught.value.diagnostic
    assert (found.code, found.filename, found.line, found.column) == ("AG303", "t.py", line, column)
    assert f"`autograph: {word}`" in found.message
    assert found.snippet == text.splitlines()[line - 1]
    assert "skip, off, on" in found.advice
