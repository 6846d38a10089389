"""`--example` and `--verify` as users run them: in processes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograph_torch.cli.main import main
from autograph_torch.diagnostics import ConversionError
from autograph_torch.trial.parent import learn

MODEL = """\
import os

import torch


def halve(x):
    print("called")
    while x.norm() > 1:
        x = x / 2
    return x


def scale(x, names):
    if x.sum() > 0:
        x += len(names)
    names.append("seen")
    return x


def power(x, n: int):
    while x.sum() > 2 ** n:
        x = x / 2
        n = n + 1
    return x


def process(x: torch.Tensor):
    if x.sum() > 0:
        x = x + 1
    return x, os.getpid()
"""

RUN = """\
import torch

import model


def some():
    return [model.halve(torch.full((2,), v)) for v in (0.1, 9.0)], [model.scale(torch.ones(2) * v, []) for v in (1, -1)]


def more():
    return some(), model.power(torch.ones(2), 0)


def differs():
    return model.process(torch.ones(2))


def fails():
    raise ValueError("no data")
"""

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "run.py").write_text(RUN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_example_tells_the_types(here: Path, capfd: Captured) -> None:
    assert main(["convert", "--target", "torch", "--example", "run:some", "model.py", "--write"]) == 0
    text = (here / "model.py").read_text()
    assert "        lambda x: x.norm() > 1,\n        lambda x: (x / 2,),\n        (x,),\n" in text
    assert "x.copy_(torch.cond(x.sum() > 0, then, lambda x: x.clone(), (x.clone(),)))" in text
    assert "autograph" not in text
    assert "called" not in capfd.readouterr().out  # what the example prints goes to stderr


def test_what_torch_does_not_take_is_found_by_a_trial(here: Path) -> None:
    learned = learn("run:more", ["model.py"])
    line = MODEL[: MODEL.index("while x.sum() > 2")].count("\n") + 1
    assert list(learned.lines("model.py")) == [line]
    assert "data-dependent" in learned.lines("model.py")[line]


@pytest.mark.slow
def test_verify_compares_both_targets(here: Path, capfd: Captured) -> None:
    assert main(["convert", "--verify", "run:some", "model.py", "--write"]) == 0
    assert "the original and both targets agree, 4 calls compared" in capfd.readouterr().err
    assert "ag.while_loop" in (here / "model.py").read_text()


@pytest.mark.slow
def test_nothing_is_written_when_verify_finds_a_difference(here: Path, capfd: Captured) -> None:
    assert main(["convert", "--verify", "run:differs", "model.py", "--write"]) == 2
    assert "AG331 --target autograph does something else than the original: result: " in capfd.readouterr().err
    assert (here / "model.py").read_text() == MODEL


def test_an_example_must_run_as_it_is(here: Path) -> None:
    with pytest.raises(ConversionError) as raised:
        learn("run:fails", ["model.py"])
    assert raised.value.code == "AG330"
    assert "ValueError: no data" in str(raised.value)


def test_usage(here: Path, capfd: Captured) -> None:
    for arguments in (["--example", "run:some"], ["--target", "torch", "--example", "run"]):
        with pytest.raises(SystemExit) as stopped:
            main(["convert", "model.py", *arguments])
        assert stopped.value.code == 2
    assert "expected MODULE:FUNCTION" in capfd.readouterr().err


def test_help_says_that_the_code_is_run(capfd: Captured) -> None:
    with pytest.raises(SystemExit):
        main(["convert", "--help"])
    assert capfd.readouterr().out.count("RUNS the function") == 2
