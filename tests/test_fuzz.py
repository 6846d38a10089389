"""A count of generated programs goes on where it was ended, and counts nothing of another commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import fuzz, kept
from tests.fuzz import Report

EQUAL = Report({"generated": ("equal", "")}, ())


def asked(directory: Path, *more: str) -> Report:
    options = fuzz.parser().parse_args(["--keep", str(directory), "--small", *more])
    return fuzz.reported(250, options, 7)


@pytest.fixture(name="made")
def explored(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of the chunks that are made, in order."""
    seeds: list[int] = []

    def explore(count: int, options: object, start: int) -> Report:
        seeds.append(start)
        return EQUAL

    monkeypatch.setattr(fuzz, "explore", explore)
    return seeds


def test_a_chunk_that_is_kept_is_not_made_again(tmp_path: Path, made: list[int]) -> None:
    assert asked(tmp_path) == asked(tmp_path) == EQUAL
    assert made == [7]


def test_a_chunk_of_other_options_is_refused(tmp_path: Path, made: list[int]) -> None:
    asked(tmp_path)
    with pytest.raises(ValueError, match="is of another run"):
        asked(tmp_path, "--way", "converted")
    assert made == [7]


def test_a_chunk_of_other_code_is_refused(tmp_path: Path, made: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    asked(tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "generator.py").write_text("")
    monkeypatch.setattr(kept, "ROOT", tmp_path)
    with pytest.raises(ValueError, match="is of another run"):
        asked(tmp_path)


def test_what_is_kept_when_a_run_ends_while_it_writes_is_made_again(
    tmp_path: Path, made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as ended:
        ended.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            asked(tmp_path)
    assert asked(tmp_path) == EQUAL
    assert made == [7, 7]


def interrupted(*arguments: object) -> None:
    raise KeyboardInterrupt
