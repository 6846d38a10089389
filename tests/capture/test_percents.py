"""Texts that `%` makes of numbers of the graph are Python's."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, convert
from autograph_torch.capture import compiling, percents
from tests.harness import vec

INTEGERS = ("%d", "%5d", "%-5d|", "%+d", "% d", "%05d", "%-05d|", "%x", "%#06x", "%X", "%o", "%i", "%s", "%6s", "%-6s|")
FLOATS = (
    "%f",
    "%.2f",
    "%8.3f",
    "%-8.3f|",
    "%+.1f",
    "%08.2f",
    "%e",
    "%.3E",
    "%g",
    "%#g",
    "%G",
    "%.0f",
    "%.f",
    "%s",
    "%r",
)


def of_two(x: Tensor) -> tuple[str, str, str]:
    n, v = int(x[0]), x[1].item()
    if x.sum() > 0:
        v = v + 1
    return "{%d} of %d: %-8s|%6.2f%%" % (n, 8, "name", v), "%s" % v, "%.1f" % n  # noqa: UP031


def compiled(function: Any) -> Any:
    torch._dynamo.reset()
    return torch.compile(convert(function), backend="eager", fullgraph=True)


def test_several_at_once() -> None:
    found = compiled(of_two)
    for x in (vec(3, 2.5), vec(-4, -1.25), vec(0, 1e9)):
        assert found(x) == of_two(x)


@pytest.mark.parametrize(
    ("forms", "values"), [(INTEGERS, (0, 7, -12, 123456)), (FLOATS, (0.0, 1.5, -2.25, 1e10, math.nan, -math.inf))]
)
def test_templates(forms: tuple[str, ...], values: tuple[float, ...]) -> None:
    for form in forms:
        for value in values:
            template = percents._template(form, [type(value)])
            assert template is not None and template.format(value) == form % value, (form, value)


def test_what_format_does_otherwise() -> None:
    assert percents._template("%d", [float]) is None
    assert percents._template("%*d", [int, int]) is None
    assert percents._template("%(n)d", [int]) is None
    assert percents._template("%.3d", [int]) is None
    assert percents._template("%d %d", [int]) is None
    assert percents._template("%d", [int, int]) is None
    assert percents._template("%d", [None]) is None
    assert percents._template("100%", []) is None


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    others = tuple(repair for repair in compiling._REPAIRS if repair is not percents.percents)
    monkeypatch.setattr(compiling, "_REPAIRS", others)
    with pytest.raises(CaptureError):
        compiled(of_two)(vec(1, 2))
