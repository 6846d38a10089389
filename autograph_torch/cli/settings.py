"""`[tool.autograph-torch]` in pyproject.toml: the flags' names and values, which the command line beats.

The nearest pyproject.toml that has the table counts, upwards from the first path. What writes files or runs code is
asked for on the command line alone: looking at a repository must not do either because of a file in it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograph_torch.diagnostics import AutographError, Diagnostic

FORMATS = ("text", "diff", "json", "github", "sarif")
COLOURS = ("auto", "always", "never")
TARGETS = ("autograph", "torch")
_TABLE = "autograph-torch"
_HEADER = re.compile(r"^\s*\[\s*tool\s*\.\s*[\"']?autograph-torch[\"']?\s*\]", re.MULTILINE)
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")


class SettingsError(AutographError):
    """A pyproject.toml whose table for this program is wrong."""


@dataclass(frozen=True)
class Setting:
    """One key: what may be its value, and what holds without it."""

    expected: str
    accepts: Callable[[Any], bool]
    default: Any


def _choice(options: tuple[str, ...]) -> Setting:
    return Setting("one of: " + ", ".join(options), lambda value: value in options, options[0])


_SWITCH = Setting("true or false", lambda value: isinstance(value, bool), False)
_STRINGS = Setting(
    "a list of strings",
    lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
    [],
)
_COUNT = Setting("a positive whole number", lambda value: type(value) is int and value > 0, None)

SETTINGS: dict[str, Setting] = {
    "check": _SWITCH,
    "color": _choice(COLOURS),
    "diff": _SWITCH,
    "do-not-convert": _STRINGS,
    "dump-ast": _SWITCH,
    "exclude": _STRINGS,
    "force-exclude": _SWITCH,
    "format": _choice(FORMATS),
    "jobs": _COUNT,
    "quiet": _SWITCH,
    "target": _choice(TARGETS),
    "verbose": _SWITCH,
}
# Flags that a table cannot set, and why.
NOT_HERE = {
    **dict.fromkeys(("write", "output", "html"), "it writes files"),
    **dict.fromkeys(("example", "verify"), "it runs code"),
    "stdin-filename": "it says which table counts",
}
# Of each of these, one flag can be given.
_EXCLUSIVE = (("quiet", "verbose"), ("check", "dump-ast", "write", "output"))


@dataclass(frozen=True)
class Table:
    """The settings of a pyproject.toml, and the directory it lies in; nothing and None when there is none."""

    values: Mapping[str, Any]
    base: Path | None = None


def nearest(start: Path) -> Table:
    """The table that counts for the file or directory `start`.

    Raises:
        SettingsError: AG305, with file and line: it is not TOML, a key does not exist, a value is wrong.
    """
    here = start.absolute()
    for directory in (here, *here.parents):
        path = directory / "pyproject.toml"
        try:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
        except OSError:  # none here, `start` is a file, or not for us to read
            continue
        if _TABLE in text and (values := _read(text, path)) is not None:
            return Table(values, directory)
    return Table({})


def merged(given: Mapping[str, Any], table: Table) -> dict[str, Any]:
    """Every setting by its name in argparse: as on the command line, else as in the table, else the default."""
    written = dict(table.values)
    for group in _EXCLUSIVE:
        if any(given.get(key.replace("-", "_")) for key in group):
            written = {key: value for key, value in written.items() if key not in group}
    defaults = {key: setting.default for key, setting in SETTINGS.items()}
    return {**{key.replace("-", "_"): value for key, value in (defaults | written).items()}, **given}


def _read(text: str, path: Path) -> dict[str, Any] | None:
    """The checked table; None when the file has none."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found = tomllib.loads(text).get("tool", {}).get(_TABLE)
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        line, column = (int(place[1]), int(place[2])) if place else (1, 1)
        raise _error(path, line, column, text, f"not TOML: {_PLACE.sub('', str(error))}") from error
    if found is None:
        return None
    if not isinstance(found, dict):
        raise _error(path, *_position(text, _TABLE), text, f"`{_TABLE}` must be a table")
    for key, value in found.items():
        if key in NOT_HERE:
            message = f"`{key}` can be given on the command line alone: {NOT_HERE[key]}"
            raise _error(path, *_position(text, key), text, message)
        if key not in SETTINGS:
            advice = "there are " + ", ".join(SETTINGS)
            raise _error(path, *_position(text, key), text, f"unknown key `{key}`", advice)
        if not SETTINGS[key].accepts(value):
            raise _error(path, *_position(text, key), text, f"`{key}` must be {SETTINGS[key].expected}")
    for group in _EXCLUSIVE:
        chosen = [key for key in group if found.get(key)]
        if len(chosen) > 1:
            message = f"`{chosen[0]}` and `{chosen[1]}` exclude each other"
            raise _error(path, *_position(text, chosen[1]), text, message)
    return found


def _position(text: str, key: str) -> tuple[int, int]:
    """Line and column of a key; the TOML parser does not keep them."""
    header = _HEADER.search(text)
    start = header.end() if header else 0
    written = re.compile(rf"(?<![\w-])[\"']?{re.escape(key)}(?![\w-])")
    found = written.search(text, start) or written.search(text) or header
    offset = found.start() if found else 0
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _error(path: Path, line: int, column: int, text: str, message: str, advice: str = "") -> SettingsError:
    from autograph_torch.cli.files import shown

    lines = text.splitlines()
    snippet = lines[line - 1] if line <= len(lines) else ""
    return SettingsError(Diagnostic("AG305", shown(path), line, column, line, message, advice, snippet))
