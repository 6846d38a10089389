"""Every file of tests/cases/<pass>/ comes out of the compiler as the text that stands in it.

    import torch                 the input
    ...
    # output
    import torch                 the text that an expert would have written
    ...
    # calls
    func(torch.ones(2))          one expression a line: the input and the output must agree on it when run eagerly

A file named noop_*.py is an input that must come out as it is, to the last byte; with `unknown` in its name also where
the compiler rewrites whatever is not known to be Python's, as the decorator does.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from autograph_torch.pipeline import Converted, Options, convert_source

CASES = Path(__file__).parents[1] / "cases"
FILES = sorted(CASES.glob("*/*.py"))
GOLDEN = [path for path in FILES if not path.name.startswith("noop_")]
UNTOUCHED = [path for path in FILES if path.name.startswith("noop_")]
LEAST = {
    "logic": 6,
    "ternaries": 3,
    "handlers": 2,
    "hidden": 0,
    "jumps": 6,
    "loops": 8,
    "branches": 10,
    "later_operands": 1,
    "queries": 3,
    "filters": 2,
    "effects": 8,
    "numbers": 1,
    "indices": 2,
    "undefined": 2,
}


@dataclass(frozen=True)
class Case:
    """A golden file taken apart."""

    before: str
    after: str
    calls: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What can be seen of one call."""

    result: Any
    error: BaseException | None
    stdout: str
    warned: tuple[str, ...]


def read(path: Path) -> Case:
    before, _, rest = path.read_text().partition("\n# output\n")
    after, _, calls = rest.partition("\n# calls\n")
    assert after and calls, f"{path.name} lacks an output or calls"
    return Case(before.rstrip("\n") + "\n", after.rstrip("\n") + "\n", tuple(calls.splitlines()))


def label(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def converted(text: str, path: Path, options: Options = Options()) -> Converted:
    return convert_source(text.encode(), path.name, options)


def outcome(namespace: dict[str, Any], expression: str) -> Outcome:
    """Evaluate an expression in what a module defines."""
    result, error = None, None
    with contextlib.redirect_stdout(io.StringIO()) as stdout, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = eval(expression, namespace)
        except Exception as raised:
            error = raised
    return Outcome(result, error, stdout.getvalue(), tuple(str(warning.message) for warning in caught))


def module(text: str, path: Path) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(text, str(path), "exec"), namespace)
    return namespace


@pytest.mark.parametrize("path", GOLDEN, ids=label)
def test_text(path: Path) -> None:
    case = read(path)
    assert converted(case.before, path).output.decode() == case.after


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
@pytest.mark.parametrize("path", GOLDEN, ids=label)
def test_newlines(path: Path, newline: str) -> None:
    case = read(path)
    assert converted(case.before.replace("\n", newline), path).output.decode() == case.after.replace("\n", newline)


@pytest.mark.parametrize("path", GOLDEN, ids=label)
def test_form_feeds_change_no_indentation(path: Path) -> None:
    case = read(path)
    longest = max(map(len, case.before.splitlines()))  # says where new lines are broken
    feeds = itertools.cycle(("\f", " \f", "", "\f"))
    lines = [
        next(feeds) + line if line.strip() and len(line) < longest - 1 else line
        for line in case.before.splitlines(keepends=True)
    ]
    after = converted("".join(lines), path).output.decode()
    assert re.sub(" *\f", "", after) == case.after


@pytest.mark.parametrize("path", GOLDEN, ids=label)
def test_converting_the_output_changes_nothing(path: Path) -> None:
    case = read(path)
    compile(case.after, path.name, "exec")
    again = converted(case.after, path)
    assert again.output.decode() == case.after
    assert not again.changed


@pytest.mark.parametrize("path", GOLDEN, ids=label)
def test_input_and_output_agree(path: Path) -> None:
    pytest.importorskip("torch")
    from tests.harness import difference

    case = read(path)
    before, after = module(case.before, path), module(case.after, path)
    for expression in case.calls:
        expected, actual = outcome(before, expression), outcome(after, expression)
        assert repr(actual.error) == repr(expected.error), expression
        assert difference(expected.result, actual.result, expression) == ""
        assert (actual.stdout, actual.warned) == (expected.stdout, expected.warned), expression


@pytest.mark.parametrize("path", UNTOUCHED, ids=label)
def test_untouched(path: Path) -> None:
    raw = path.read_bytes()
    done = convert_source(raw, path.name, Options(assume_unknown="unknown" in path.stem))
    assert done.output.decode() == raw.decode()
    assert not done.changed


@pytest.mark.parametrize("folder", sorted(LEAST))
def test_every_pass_has_cases(folder: str) -> None:
    assert sum(path.parent.name == folder for path in GOLDEN) >= LEAST[folder]
    assert any(path.parent.name == folder for path in UNTOUCHED)


def test_every_folder_belongs_to_a_pass() -> None:
    passes = {path.stem for path in (CASES.parents[1] / "passes").glob("*.py")} - {"__init__"}
    assert {path.name for path in CASES.iterdir() if path.is_dir()} == set(LEAST) <= passes
