"""Statements that ask a list that has grown in a loop: what the text becomes, on the lines that a trace has shown."""

from __future__ import annotations

import pytest

from tests.passes.test_growing import text_of

TEXT = """
def path(run, x, ys):
    {statement}
    return x
"""


@pytest.mark.parametrize(
    ("statement", "becomes"),
    [
        ("x = torch.stack(run.xs)", "x = ag.stacked(run.xs)"),
        ("x = torch.cat(run['xs'], dim=1)", "x = ag.concatenated(run['xs'], dim=1)"),
        ("x = sum(run.xs)", "x = ag.total(run.xs)"),
        ("x = torch.tensor(ys)", "x = ag.tensor_of(ys)"),
        ("x = list(run.xs)", "x = ag.copied(run.xs)"),
        ("x = run.xs[1:]", "x = ag.part(run.xs, 1, None)"),
        ("x = run.xs[:-1]", "x = ag.part(run.xs, None, -1)"),
        ("x = run.xs[::-1]", "x = ag.backwards(run.xs)"),
        ("x = list(reversed(run.xs))", "x = ag.copied_backwards(run.xs)"),
        ("x = [y + 1 for y in run.xs]", "x = ag.listed_map(run.xs, lambda y: y + 1)"),
        (
            "x = [b - a for a, b in zip(ys, ys[1:])]",
            "x = ag.listed_map_of_tuples(ag.zip(ag.elements_of(ys), ag.elements_of(ag.part(ys, 1, None))), "
            "lambda a, b: b - a)",
        ),
    ],
)
def test_text(statement: str, becomes: str) -> None:
    assert becomes in text_of(TEXT.format(statement=statement), 3)
    assert becomes not in text_of(TEXT.format(statement=f"{statement}\n    while x > 1:\n        x = x / 2"), 4)


@pytest.mark.parametrize(
    "statement", ["x = run.xs[k:]", "x = run.xs[::2]", "x = sum(run.xs, x)", "x = torch.stack([x])"]
)
def test_what_stays(statement: str) -> None:
    text = TEXT.format(statement=f"{statement}\n    while x > 1:\n        x = x / 2")
    assert statement in text_of(text, 3)
