"""Diffs are patches to the last byte, whatever the file's encoding and newlines."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from autograph_torch.cli import reports, review
from autograph_torch.cli.review import Line, Result
from autograph_torch.diagnostics import Diagnostic

PAIRS = {
    "first line": (b"a\nb\n", b"A\nb\n"),
    "no newline at the end, kept": (b"a\nb", b"A\nb"),
    "newline added": (b"a\nb", b"a\nb\n"),
    "newline dropped": (b"a\nb\n", b"a\nb"),
    "carriage returns": (b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
    "mixed newlines": (b"a\r\nb\nc\rd\n", b"a\r\nB\nc\rd\n"),
    "latin-1": (b"# coding: latin-1\n'\xe4'\nb\n", b"# coding: latin-1\n'\xe4'\nB\n"),
    "byte order mark": (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfimport ag\na\nb\n"),
    "form feed": (b"a\n\x0c\nb\n", b"a\n\x0c\nB\n"),
    "inserted at the top": (b"a\n", b"new\na\n"),
    "from empty": (b"", b"a\n"),
    "like a header": (b"-- a\n++ b\nc\n", b"-- a\nc\n"),
}


def joined(lines: Iterable[Line]) -> bytes:
    return b"".join(line.content for line in lines)


@pytest.mark.parametrize(("old", "new"), PAIRS.values(), ids=PAIRS)
@pytest.mark.parametrize("name", ["m.py", "with space/m.py", 'quote" and \\.py', "new\nline\t.py", "caf\udce9.py"])
def test_git_applies_the_patch(here: Path, name: str, old: bytes, new: bytes) -> None:
    assert applied(name, old, review.patch(Result(name, old, new))) == new


def applied(name: str, old: bytes, lines: Iterable[Line]) -> bytes:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(old)
    patch = joined(lines)
    if patch:
        command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn"]
        subprocess.run(command, input=patch, check=True, capture_output=True)
    return path.read_bytes()


@pytest.mark.parametrize("seed", range(20))
def test_random_changes_with_reasons_apply(here: Path, seed: int) -> None:
    choose = random.Random(seed)
    old = [b"line %d\n" % choose.randrange(30) for _ in range(120)]
    new = list(old)
    places = sorted(choose.sample(range(120), 8), reverse=True)
    for place in places:
        new[place : place + choose.randrange(3)] = [b"changed %d\n" % place] * choose.randrange(3)
    reasons = tuple(Diagnostic("AG101", "m.py", place + 1, 1, place + 1, "why") for place in places)
    result = Result("m.py", b"".join(old), b"".join(new), reasons)
    assert applied("m.py", result.raw, review.text(result, diff=True, verbose=True)) == result.output
    if shutil.which("patch"):
        Path("m.py").write_bytes(result.raw)
        subprocess.run(["patch", "-p1"], input=joined(review.patch(result)), check=True, capture_output=True)
        assert Path("m.py").read_bytes() == result.output


def test_every_reason_is_shown_though_its_line_did_not_change() -> None:
    old = b"".join(b"%d\n" % number for number in range(100))
    new = old.replace(b"\n10\n", b"\nten\n").replace(b"\n50\n", b"\nfifty\n")
    reasons = tuple(Diagnostic("AG101", "m.py", line, 1, line, f"at {line}") for line in (99, 1, 30))
    text = joined(review.text(Result("m.py", old, new, reasons), diff=True, verbose=False)).decode()
    order = [text.index(part) for part in ("at 1\n", "ten", "at 30", "at 99", "fifty")]
    assert order == sorted(order)


def test_json_replacements_are_text_of_the_files_encoding() -> None:
    old, new = b"# coding: latin-1\n'\xe4' + a\n", b"# coding: latin-1\n'\xe4' + b\n"
    (edit,) = reports.as_json(Result("m.py", old, new))["edits"]
    assert edit["replacement"] == "'ä' + b\n"
    assert edit["range"]["byteOffset"] == {"start": 18, "end": len(old)}


def test_github_messages_are_escaped() -> None:
    result = Result("a,b:c.py", b"", b"", (Diagnostic("AG301", "a,b:c.py", 1, 1, 1, "50% of\nit"),))
    (line,) = reports.github(result, verbose=False)
    assert line.content == (
        b"::error title=autograph-torch (AG301),file=a%2Cb%3Ac.py,line=1,col=1,endLine=1::50%25 of%0Ait\n"
    )


def test_an_error_among_the_messages_means_failed() -> None:
    result = Result("m.py", b"a\n", b"b\n", (Diagnostic("AG303", "m.py", 1, 1, 1, "unknown directive"),))
    assert not result.changed
    assert joined(review.patch(result)) == b""
    assert review.summary([result], "changed") == "0 files changed (0 rewritten, 0 left alone), 0 unchanged, 1 failed"
