"""The progress bar: on a terminal, after a second, and never in the way of the results."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator

import pytest

from autograph_torch.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Terminal]:
    """Makes stderr a terminal; for the test to call, since pytest sets stderr anew when a test starts."""

    def set_up() -> Terminal:
        terminal = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stderr", terminal)
        return terminal

    return set_up


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that each file takes."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def work(clock: list[float], each: float) -> Iterator[int]:
    for number in range(5):
        clock[0] += each
        yield number


def test_a_bar_after_a_second(connect: Callable[[], Terminal], clock: list[float]) -> None:
    terminal = connect()
    assert list(progress.tracked(work(clock, 0.5), 5)) == list(range(5))
    assert "converting" in terminal.getvalue()
    assert "5/5" in terminal.getvalue()
    assert "1/5" not in terminal.getvalue()


def test_no_bar_for_quick_work(connect: Callable[[], Terminal], clock: list[float]) -> None:
    terminal = connect()
    assert list(progress.tracked(work(clock, 0.1), 5)) == list(range(5))
    assert terminal.getvalue() == ""


def test_no_bar_when_not_wanted(connect: Callable[[], Terminal], clock: list[float]) -> None:
    terminal = connect()
    assert list(progress.tracked(work(clock, 9), 5, wanted=False)) == list(range(5))
    assert terminal.getvalue() == ""


def test_no_bar_on_a_pipe(clock: list[float], capfd: pytest.CaptureFixture[str]) -> None:
    assert list(progress.tracked(work(clock, 9), 5)) == list(range(5))
    assert capfd.readouterr() == ("", "")


def test_messages_stand_above_the_bar(connect: Callable[[], Terminal], clock: list[float]) -> None:
    terminal = connect()
    for number in progress.tracked(work(clock, 0.7), 5):
        print(f"message {number}", file=sys.stderr)
    lines = terminal.getvalue().replace("\r", "\n").splitlines()
    assert [sum(f"message {number}" in line for line in lines) for number in range(5)] == [1] * 5
