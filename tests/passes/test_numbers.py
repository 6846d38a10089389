"""What a diff says about numbers that are read from tensors: their text stays, what is compiled of them does not."""

from __future__ import annotations

import pytest

from autograph_torch.cli import review
from autograph_torch.pipeline import convert_source

TOTAL = """\
import torch


def func(x: torch.Tensor, n: int):
    total = 0.0
    while x.norm() > 1:
        total += {read}
        x = x / 2
    return x, total
"""


def noted(text: str) -> list[int]:
    return [found.line for found in convert_source(text.encode(), "file.py").diagnostics if found.code == "AG114"]


@pytest.mark.parametrize("read", ["x.sum().item()", "float(x.sum())", "int(x[0])", "bool(x[0] > 0)"])
def test_reads_are_noted_where_something_else_changes(read: str) -> None:
    assert noted(TOTAL.format(read=read)) == [7]


@pytest.mark.parametrize("read", ["float(n)", "x.sum()", "max(n, 1)", "x.sum().item()  # autograph: skip"])
def test_other_numbers_are_not(read: str) -> None:
    assert noted(TOTAL.format(read=read)) == []


def test_a_function_that_stays_has_no_notes() -> None:
    text = "import torch\n\n\ndef func(x: torch.Tensor):\n    return x.sum().item()\n"
    assert convert_source(text.encode(), "file.py").diagnostics == ()


def test_the_diff_gives_the_reason_and_the_summary_does_not_count_it() -> None:
    raw = TOTAL.format(read="x.sum().item()").encode()
    converted = convert_source(raw, "file.py")
    result = review.Result("file.py", raw, converted.output, converted.diagnostics)
    diff = b"".join(line.content for line in review.text(result, diff=True, verbose=False)).decode()
    assert "file.py:7: AG114 compiled, this number is read later, where Python needs it, or never\n" in diff
    assert review.summary([result], "would change").startswith("1 file would change (1 rewritten, 0 left alone)")
