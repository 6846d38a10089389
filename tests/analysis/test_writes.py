"""Which objects code changes in place."""

from __future__ import annotations

import pytest

from autograph_torch.analysis.writes import base_name, rebound_before_write, written_in_place
from tests.analysis.reading import block, expression, kinds_in, no_kinds

HEAD = "def f(x: torch.Tensor, n: int, xs: list, u):\n k = 0\n if x.sum() > 0: k = 1\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = x + 1", ""),
        ("x += 1", "x"),
        ("u -= 1", "u"),
        ("n += 1", ""),
        ("k += 1", ""),
        ("xs += [1]", "xs"),
        ("x[0] = 1", "x"),
        ("x[0][1] = 1", "x"),
        ("x[0] += 1", "x"),
        ("del xs[0]", "xs"),
        ("y = x[0]", ""),
        ("x.add_(1)", "x"),
        ("x[0].add_(1)", "x"),
        ("y = x.mul_(2).add(1)", "x"),
        ("x.add(1)", ""),
        ("x.__len__()", ""),
        ("x._private_(1)", ""),
        ("xs.append(x)", "xs"),
        ("xs.extend(x); u.update(n)", "xs u"),
        ("y = xs.pop()", "xs"),
        ("xs.sort()", "xs"),
        ("torch.add(x, 1, out=u)", "u"),
        ("torch.relu_(x)", "x"),
        ("F.relu_(x)", "x"),
        ("x[0], (y, xs[1]) = u", "x xs"),
        ("for x[0] in u: pass", "x"),
        ("with u as x[0]: pass", "x"),
        ("self.count += 1", ""),
        ("self.buffer.add_(1)", ""),
        ("if n:\n    x += 1\nelse:\n    u += 1", "x u"),
        ("while n:\n    for i in xs:\n        x.add_(i)", "x"),
        ("def g(): x.add_(1)", ""),
        ("y = lambda: x.add_(1)", ""),
        ("[xs.append(i) for i in u]", "xs"),
        ("u[0] = x; x[0] = u", "u x"),
    ],
)
def test_written(text: str, expected: str) -> None:
    assert written_in_place(block(text), kinds_in(HEAD)) == expected.split()


def test_what_is_unknown_may_be_written_to() -> None:
    assert written_in_place(block("y += 1"), no_kinds()) == ["y"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("x", "x"), ("x[0]", "x"), ("x[0][i]", "x"), ("x.a", None), ("x.a[0]", None), ("f(x)", None), ("f()[0]", None)],
)
def test_base_name(text: str, expected: str | None) -> None:
    assert base_name(expression(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x += 1", False),
        ("x = u + 1\nx += 1", True),
        ("x = x + 1\nx += 1", True),
        ("x = u\nx += 1", False),
        ("x += 1\nx = u + 1", False),
        ("if p:\n    x = u + 1\nx += 1", False),
        ("y = 1", False),
        ("y = x = u + 1\nx += 1", True),
        ("x[0] = 1\nx = u + 1", False),
        ("x = u.view(-1)\nx += 1", False),  # a view of another object is no object of its own
        ("x = u[0]\nx += 1", False),
    ],
)
def test_rebound_before_it_is_written_to(text: str, expected: bool) -> None:
    assert rebound_before_write(block(text), "x", no_kinds()) is expected
