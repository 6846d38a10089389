"""Every file of cases/ comes out of the compiler, with the target torch, as the text that stands in it.

    import torch                 the input
    ...
    # output
    import torch                 the text that an expert would have written
    ...
    # calls                      or `# calls (the example as well)`: the types come from running them
    func(torch.ones(2))          one expression a line: input and output must agree on it, uncompiled

A file named noop_*.py must come out as it is.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from pathlib import Path

import pytest

from autograph_torch.pipeline import Options, convert_source
from autograph_torch.source.file import SourceFile
from autograph_torch.trial.observer import OBSERVER, Observer, observed_code
from tests.harness import difference
from tests.torch_target.conftest import module_of

FILES = sorted(Path(__file__).with_name("cases").glob("*.py"))
GOLDEN = [path for path in FILES if not path.name.startswith("noop_")]
UNTOUCHED = [path for path in FILES if path.name.startswith("noop_")]


def read(path: Path) -> tuple[str, str, list[str], bool]:
    """Input, output, calls, and whether the calls are the example."""
    before, _, rest = path.read_text().partition("\n# output\n")
    after, _, calls = rest.partition("\n# calls")
    heading, *lines = calls.splitlines()
    assert after and lines, f"{path.name} lacks an output or calls"
    return before.rstrip("\n") + "\n", after.rstrip("\n") + "\n", lines, "example" in heading


def converted_text(text: str, path: Path, example: Sequence[str] | None) -> str:
    """The text after conversion; types from running the example, where there is one."""
    seen = None
    if example is not None:
        observer = Observer()
        code = observed_code(SourceFile.read(text.encode(), str(path)))
        module = module_of(code, f"observed_{path.stem}", **{OBSERVER: observer})
        for expression in example:
            eval(expression, module.__dict__)
        seen = observer.sites
    return convert_source(text.encode(), str(path), Options(target="torch", seen=seen)).output.decode()


def module(text: str, path: Path) -> types.ModuleType:
    return module_of(compile(text, str(path), "exec"), f"golden_{path.stem}")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_text(path: Path) -> None:
    before, after, calls, is_example = read(path)
    assert converted_text(before, path, calls if is_example else None) == after


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_converting_the_output_changes_nothing(path: Path) -> None:
    _, after, calls, is_example = read(path)
    assert converted_text(after, path, calls if is_example else None) == after


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_input_and_output_agree(path: Path, tmp_path: Path) -> None:
    before, after, calls, _ = read(path)
    file = tmp_path / path.name  # where torch finds the lines of what it traces
    file.write_text(after)
    original, converted = module(before, path), module(after, file)
    for expression in calls:
        expected, actual = (eval(expression, m.__dict__) for m in (original, converted))
        assert difference(expected, actual, expression) == ""


@pytest.mark.parametrize("path", UNTOUCHED, ids=lambda path: path.stem)
def test_untouched(path: Path) -> None:
    text = path.read_text()
    assert converted_text(text, path, None) == text
