"""`--do-not-convert`: which files and definitions a dotted name means."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autograph_torch.pipeline import Options, convert_source
from autograph_torch.source.left_out import definitions, named_in


@pytest.mark.parametrize(
    ("path", "name", "found"),
    [
        ("pack/sub/m.py", "pack.sub.m", {""}),
        ("pack/sub/m.py", "pack.sub", {""}),
        ("pack/sub/m.py", "pack", {""}),
        ("pack/sub/m.py", "pack.sub.m.C.f", {"C.f"}),
        ("pack/sub/m.py", "sub.m", set()),
        ("pack/sub/m.py", "pack.su", set()),
        ("pack/sub/m.py", "pack.sub.mm", set()),
        ("pack/sub/m.py", "m", set()),
        ("pack/sub/__init__.py", "pack.sub.f", {"f"}),
        ("pack/sub/__init__.py", "pack.sub", {""}),
        ("script.py", "script.f", {"f"}),
    ],
)
def test_names(tmp_path: Path, path: str, name: str, found: set[str]) -> None:
    for package in ("pack", "pack/sub"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    assert named_in(tmp_path / path, (name, "other")) == found


TEXT = """\
import torch


class C:
    def f(self, x: torch.Tensor):
        return x if x.sum() > 0 else -x

    def g(self, x: torch.Tensor):
        return x if x.sum() > 0 else -x


if torch:
    def h(x: torch.Tensor):
        def inner(y: torch.Tensor):
            return y if y.sum() > 0 else -y
        return inner(x if x.sum() > 0 else -x)
else:
    def h(x: torch.Tensor):
        return x if x.sum() > 0 else -x
"""


@pytest.mark.parametrize(
    ("path", "lines"), [("C.f", [5]), ("C", [4]), ("h", [13, 18]), ("h.inner", [14]), ("f", []), ("C.h", [])]
)
def test_definitions(path: str, lines: list[int]) -> None:
    assert [node.lineno for _, node in definitions(ast.parse(TEXT), {path})] == lines
    done = convert_source(TEXT.encode(), "t.py", Options(left_out=frozenset([path])))
    told = [(found.code, found.line) for found in done.diagnostics if found.code == "AG208"]
    assert told == [("AG208", line) for line in lines]
    for node in (node for _, node in definitions(ast.parse(TEXT), {path})):
        assert ast.get_source_segment(TEXT, node) in done.output.decode()
    assert len([found for found in done.diagnostics if found.code == "AG106"]) == 5 - {
        "C.f": 1, "C": 2, "h": 3, "h.inner": 1
    }.get(path, 0)  # fmt: skip


def test_a_whole_file() -> None:
    done = convert_source(TEXT.encode(), "t.py", Options(left_out=frozenset([""])))
    assert (done.changed, [found.code for found in done.diagnostics]) == (False, ["AG208"])
