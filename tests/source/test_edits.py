"""Edits change what they say and nothing else."""

from __future__ import annotations

import codecs

import pytest

from autograph_torch.diagnostics import SourceError
from autograph_torch.source.edits import Edit, apply, patched
from autograph_torch.source.file import SourceFile


def test_no_edits_give_the_same_bytes() -> None:
    raw = codecs.BOM_UTF8 + "é = 1\r\n".encode()
    assert apply(SourceFile.read(raw, "t.py"), []) == raw


def test_edits_apply_in_any_order() -> None:
    edits = [Edit(4, 5, b"b"), Edit(0, 1, b"a"), Edit(2, 2, b"+")]
    assert patched(b"1 2 3 4", edits) == b"a +2 b 4"


def test_insertions_at_one_place_keep_their_order() -> None:
    assert patched(b"xy", [Edit(1, 1, b"1"), Edit(1, 1, b"2"), Edit(1, 2, b"Y")]) == b"x12Y"


def test_the_codec_and_the_mark_are_kept() -> None:
    source = SourceFile.read("# coding: latin-1\né = 'é'\n".encode("latin-1"), "t.py")
    start = source.utf8.index("'é'".encode())
    out = apply(source, [Edit(start, start + 4, "'éé'".encode())])
    assert out == "# coding: latin-1\né = 'éé'\n".encode("latin-1")


@pytest.mark.parametrize("edits", [[Edit(0, 3, b""), Edit(2, 4, b"")], [Edit(3, 2, b"")], [Edit(0, 99, b"")]])
def test_overlaps_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlap"):
        patched(b"12345", edits)


def test_text_that_does_not_parse_is_never_handed_back() -> None:
    source = SourceFile.read(b"x = 1\ny = 2\n", "t.py")
    with pytest.raises(SourceError, match="does not compile") as caught:
        apply(source, [Edit(10, 11, b"(")])
    assert caught.value.diagnostic.line == 2
