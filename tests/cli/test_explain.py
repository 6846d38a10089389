"""`autograph-torch explain`: the places, as a table and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.stand_in import FILE, Run


def test_table(run: Run, file: Path) -> None:
    ran = run("explain", "m.py")
    assert (ran.code, ran.stderr) == (0, "")
    rows = [line.split(maxsplit=1)[1].rstrip() for line in ran.text.splitlines() if line.lstrip().startswith("m.py:")]
    assert [" ".join(row.split()) for row in rows] == [
        "tensor_if = 4 # why AG101 'if' on a tensor -> ag.cond",
        "k = tensor_if AG101 'if' on a tensor -> ag.cond",
        "leave = 12 AG201 left alone: 'yield' in the branch; take it out",
    ]
    assert ran.text.splitlines()[-1] == "3 places depend on tensors: 2 would be rewritten, 1 left alone"
    assert file.read_bytes() == FILE


def test_nothing_is_cut_off_on_a_pipe(run: Run, here: Path) -> None:
    long = "tensor_if = " + "1 + " * 200 + "1"
    Path("m.py").write_text(f"torch\n{long}\n")
    assert long in run("explain", "m.py").text


def test_nothing_found(run: Run, here: Path) -> None:
    Path("m.py").write_text("torch\n")
    assert run("explain", "m.py").text == "0 places depend on tensors: 0 would be rewritten, 0 left alone\n"


def test_json(run: Run, file: Path) -> None:
    Path("none.py").write_text("torch\n")
    ran = run("explain", "--format", "json", ".")
    (one,) = json.loads(ran.stdout)["files"]
    assert (ran.code, one["path"], one["errors"]) == (0, "m.py", [])
    assert [(site["line"], site["rewritten"], site["code"]) for site in one["sites"]] == [
        (5, True, "AG101"),
        (13, True, "AG101"),
        (14, False, "AG201"),
    ]
    assert one["sites"][0]["source"] == "tensor_if = 4  # why"


@pytest.mark.parametrize("layout", ["table", "json"])
def test_a_failed_file_does_not_stop_the_others(run: Run, file: Path, layout: str) -> None:
    Path("bad.py").write_text("torch\n  wrong\n")
    ran = run("explain", "--format", layout, "bad.py", "missing.py", "m.py")
    assert ran.code == 2
    assert "bad.py:2:3: AG301 invalid syntax" in ran.stderr
    assert "missing.py:1:1: AG301 cannot be read" in ran.stderr
    assert "tensor_if = 4" in ran.text
    if layout == "json":
        errors = {one["path"]: [error["code"] for error in one["errors"]] for one in json.loads(ran.stdout)["files"]}
        assert errors == {"missing.py": ["AG301"], "bad.py": ["AG301"], "m.py": []}
    else:
        assert ran.text.splitlines()[-1].endswith("; 2 failed")


def test_colour(run: Run, file: Path) -> None:
    assert "\x1b[32mAG101\x1b[0m" in run("explain", "--color", "always", "m.py").text
    assert "\x1b" not in run("explain", "m.py").text
