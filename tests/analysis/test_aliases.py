"""Which names may share memory."""

from __future__ import annotations

import pytest

from autograph_torch.analysis.aliases import Aliases
from tests.analysis.reading import function, kinds_in

HEAD = "def f(x: torch.Tensor, w: torch.Tensor, n: int, xs: list, u):\n "


def shared(body: str) -> list[str]:
    text = HEAD + body
    names = [*"xwn", "xs", "u", *"abcde"]
    return Aliases(function(text).body, kinds_in(text)).groups(names)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a = x + 1", ""),
        ("a = x.clone()", ""),
        ("a = x.sum()", ""),
        ("a = torch.relu(x)", ""),
        ("a = n", ""),
        ("a = x", "x a"),
        ("a = x[0]", "x a"),
        ("a = x[0][1:]", "x a"),
        ("a = x.view(-1)", "x a"),
        ("a = x.view(-1).t()", "x a"),
        ("a = x.T", "x a"),
        ("a = x.detach()", "x a"),
        ("a = x.to(n)", "x a"),
        ("a = x.reshape(2).abs()", ""),
        ("a = torch.transpose(x, 0, 1)", "x a"),
        ("a = torch.squeeze(w)", "w a"),
        ("a = x if n else w", "x w a"),
        ("a = b = x[0]", "x a b"),
        ("a = x\n b = a\n c = b[0]", "x a b c"),
        ("a = x[0]\n b = w[0]", "x w a b"),
        ("a, b = x", "x a b"),
        ("a, b = x, w", "x w a b"),
        ("a = u\n b = v\n a, b = b, a", "u a b"),
        ("a, b = x.chunk(2)", "x a b"),
        ("a, *b = x.split(n)", "x a b"),
        ("a = x.unbind()", "x a"),
        ("for a in x: pass", "x a"),
        ("for a, b in zip(x, w): pass", "x w a b"),
        ("for a, b in enumerate(x): pass", "x a b"),
        ("g(a := x[0])", "x a"),
        ("a = xs[0]\n b = xs[1]", "xs a b"),
        ("a = u", "u a"),
        ("def g(): c = x", ""),
    ],
)
def test_groups(body: str, expected: str) -> None:
    """Sharing is assumed where it cannot be ruled out; the answer keeps the order of the question."""
    assert sorted(shared(body)) == sorted(expected.split())


@pytest.mark.parametrize(
    ("body", "names", "expected"),
    [
        ("a = x[0]\n b = w[0]", "a b", ""),
        ("a = x[0]\n b = w[0]", "b x a", "x a"),
        ("a = x[0]\n b = x[1]", "b a", "b a"),
        ("a = x[0]", "a", ""),
        ("a = x[0]", "a a", ""),
        ("a = x.chunk(2)", "a", "a"),
    ],
)
def test_only_the_names_asked_about_count(body: str, names: str, expected: str) -> None:
    text = HEAD + body
    found = Aliases(function(text).body, kinds_in(text)).groups(names.split())
    assert found == expected.split()
