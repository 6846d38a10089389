"""The SARIF log has the shape that the standard documents, and its fix is the conversion."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from autograph_torch.cli import sarif
from autograph_torch.cli.review import Result
from autograph_torch.diagnostics import RULES, Diagnostic
from tests.cli.stand_in import CONVERTED, FILE, Run

TEXT = {"text": str}
# Of docs.oasis-open.org/sarif/sarif/v2.1.0, the objects and properties that are used: no others are allowed.
# A `?` marks what the standard lets out.
REGION = {name: int for name in ("startLine", "startColumn", "endLine", "endColumn?", "byteOffset?", "byteLength?")}
LOCATION = {"artifactLocation": {"uri": str}, "region": REGION}
FIX = {
    "description?": TEXT,
    "artifactChanges": [
        {
            "artifactLocation": {"uri": str},
            "replacements": [{"deletedRegion": REGION, "insertedContent?": TEXT}],
        }
    ],
}
RULE = {"id": str, "shortDescription?": TEXT, "fullDescription?": TEXT, "defaultConfiguration?": {"level": str}}
RESULT = {
    "ruleId?": str,
    "ruleIndex?": int,
    "level?": str,
    "message": TEXT,
    "locations?": [{"physicalLocation": LOCATION}],
    "fixes?": [FIX],
}
LOG = {
    "$schema?": str,
    "version": str,
    "runs": [
        {
            "tool": {"driver": {"name": str, "semanticVersion?": str, "rules?": [RULE]}},
            "columnKind?": str,
            "invocations?": [{"executionSuccessful": bool, "exitCode?": int}],
            "results?": [RESULT],
        }
    ],
}


def faults(value: Any, shape: Any, place: str = "log") -> Iterator[str]:
    """Where a value is not of a shape."""
    if isinstance(shape, list):
        assert isinstance(value, list), place
        for index, one in enumerate(value):
            yield from faults(one, shape[0], f"{place}[{index}]")
    elif isinstance(shape, dict):
        known = {name.rstrip("?"): (name, inner) for name, inner in shape.items()}
        yield from (f"{place}.{name} does not exist" for name in value if name not in known)
        yield from (f"{place}.{name} is missing" for name in shape if not name.endswith("?") and name not in value)
        for name in known.keys() & value.keys():
            yield from faults(value[name], known[name][1], f"{place}.{name}")
    elif type(value) is not shape:
        yield f"{place} is a {type(value).__name__}"


def checked(text: bytes) -> dict[str, Any]:
    """The one run of a log, after a check of its shape and of what the standard says in words."""
    log = json.loads(text)
    assert list(faults(log, LOG)) == []
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["columnKind"] in ("utf16CodeUnits", "unicodeCodePoints")
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        region = result["locations"][0]["physicalLocation"]["region"]
        assert 1 <= region["startLine"] <= region["endLine"]
        assert region["startColumn"] >= 1
    return run


def test_shape(run: Run, file: Path) -> None:
    Path("bad.py").write_bytes(b"torch wrong\n")
    ran = run("convert", "--format", "sarif", "-v", "m.py", "bad.py", "missing.py")
    assert ran.code == 2
    log = checked(ran.stdout)
    assert [(result["ruleId"], result["level"]) for result in log["results"]] == [
        ("AG301", "error"),
        ("AG101", "warning"),
        ("AG101", "warning"),
        ("AG201", "note"),
        ("AG301", "error"),
    ]
    assert log["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]
    (rule,) = (rule for rule in log["tool"]["driver"]["rules"] if rule["id"] == "AG201")
    assert rule["shortDescription"]["text"] == RULES["AG201"].title


def test_what_was_left_alone_only_with_verbose(run: Run, file: Path) -> None:
    log = checked(run("convert", "--format", "sarif", "--check", "m.py").stdout)
    assert [result["ruleId"] for result in log["results"]] == ["AG101", "AG101"]
    assert log["invocations"] == [{"executionSuccessful": True, "exitCode": 1}]


def test_nothing_to_say(run: Run, here: Path) -> None:
    assert checked(run("convert", "--format", "sarif", ".").stdout)["results"] == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (FILE, CONVERTED),
        (b"a\nb", b"a\nB"),
        (b"a\nb", b"a\nb\n"),
        (b"a\nb\nc\n", b"a\nc\n"),
        (b"a\n", b"a\nb\n"),
        (b"", b"a\n"),
        ("# ä\r\nö = 'ü'".encode(), "# ä\r\nö = 1".encode()),
    ],
)
def test_the_fix_is_the_conversion(old: bytes, new: bytes) -> None:
    found = Diagnostic("AG101", "m.py", 1, 1, 1, "why")
    other = Diagnostic("AG102", "m.py", 1, 1, 1, "why")
    line = sarif.log([Result("m.py", old, new, (found, other))], verbose=False, exit_code=0)
    first, second = checked(line.content)["results"]
    assert "fixes" not in second
    (fix,) = first["fixes"]
    (change,) = fix["artifactChanges"]
    assert by_lines(old, change["replacements"]) == by_bytes(old, change["replacements"]) == new


def by_lines(raw: bytes, replacements: list[dict[str, Any]]) -> bytes:
    text = raw.decode()
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines) + 1)]
    for one in reversed(replacements):
        region = one["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:start] + one["insertedContent"]["text"] + text[end:]
    return text.encode()


def by_bytes(raw: bytes, replacements: list[dict[str, Any]]) -> bytes:
    for one in reversed(replacements):
        start, length = one["deletedRegion"]["byteOffset"], one["deletedRegion"]["byteLength"]
        raw = raw[:start] + one["insertedContent"]["text"].encode() + raw[start + length :]
    return raw


@pytest.mark.parametrize("name", ["a b/ü#%.py", "../up.py"])
def test_names_are_uris(here: Path, name: str) -> None:
    found = Diagnostic("AG301", name, 1, 1, 1, "why")
    (result,) = checked(sarif.log([Result(name, b"", b"", (found,))], False, 2).content)["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert not set(uri) & set(" #ü")
    if name.startswith(".."):
        assert Path(unquote(uri).removeprefix("file://")) == here.parent / "up.py"
    else:
        assert unquote(uri) == name
