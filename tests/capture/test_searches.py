"""A search for a graph begins where the last one of the function has ended (capture/searches.py)."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import OnePathWarning, autograph, convert
from autograph_torch.capture import compiling, searches
from autograph_torch.capture.attempts import Attempt
from autograph_torch.capture.searches import Search
from autograph_torch.diagnostics import CaptureError, Diagnostic
from tests.harness import difference, vec

FILE = "somewhere.py"


@pytest.fixture
def attempts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The attempts that are made from now on."""
    made: list[Any] = []
    settings = compiling._settings

    @contextlib.contextmanager
    def noted(attempt: Any) -> Iterator[None]:
        made.append(attempt)
        with settings(attempt):
            yield

    monkeypatch.setattr(compiling, "_settings", noted)
    return made


def of_two_lengths() -> Callable[..., Any]:
    """A function whose first graph takes two attempts: what follows the `if` moves into it."""

    def kept(x: Tensor) -> Tensor:
        found = []
        if x.sum() > 0:
            found.append(x * 2)
        for one in found:
            x = x + one
        return x

    return kept


def test_what_was_learned_is_known_with_other_sizes(attempts: list[Any]) -> None:
    plain, compiled = of_two_lengths(), autograph(of_two_lengths(), backend="eager")
    for given in (vec(1, 2), vec(-1, 2, -3), vec(-1), torch.ones(2, 2)):
        assert not difference(compiled(given), plain(given), "result")
    first, second, *others = attempts
    assert first != second
    assert others
    assert all(one.splits == second.splits for one in others)


def test_what_was_refused_is_refused_at_once(attempts: list[Any]) -> None:
    def refused(x: Tensor, n: int) -> Tensor:
        found = []
        if x.sum() > 0:
            found.append(x * n)
        for one in found:
            x = x + one
        while x.sum() < 9:
            x = torch.stack([x, x])
        return x

    compiled = autograph(refused, backend="eager")

    def found(n: int) -> str:
        with pytest.raises(CaptureError) as caught:
            compiled(vec(1, 2), n)
        return str(caught.value)

    first = found(1)
    count = len(attempts)
    assert count > 1
    assert found(2) == first
    assert len(attempts) == count + 1


@pytest.mark.parametrize(
    "error", [CaptureError(Diagnostic("AG320", FILE, 1, 1, 1, "torch does not like this")), AssertionError("of torch")]
)
def test_what_was_learned_may_be_of_no_use(error: Exception) -> None:
    def trace(attempt: Attempt) -> str:
        if attempt.splits:
            raise error
        return "a graph"

    search = Search(Attempt(splits=frozenset({(FILE, 1)})))
    assert compiling._for_all_data(search, trace) == "a graph"
    assert not search.attempt.splits


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_the_searches_of_one_function_have_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def signed(x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x + 1
        return x - 1

    monkeypatch.setattr(searches, "_SECONDS_IN_ALL", 1e-9)
    compiled = autograph(signed, backend="eager")
    assert not difference(compiled(vec(1, 2)), vec(2, 3), "result")  # of one that has only begun
    with pytest.warns(OnePathWarning, match="takes too long to find"):
        assert not difference(compiled(vec(1, 2, 3)), vec(2, 3, 4), "result")


def test_functions_that_torch_wraps_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    search_of = searches.search_of

    def noted(code: Any) -> Search:
        searched.append(search_of(code))
        return searched[-1]

    def scaled(x: Tensor, factor: int) -> Tensor:
        return x * factor if x.sum() > 0 else x

    def shifted(x: Tensor, offset: int) -> Tensor:
        return x + offset if x.sum() > 0 else x

    monkeypatch.setattr(compiling, "search_of", noted)
    for wrapped in (functools.partial(convert(scaled), factor=2), functools.partial(convert(shifted), offset=3)):
        torch.compile(wrapped, backend="eager", fullgraph=True)(vec(1.0))
    assert len({id(one) for one in searched}) == 2


def test_a_function_of_another_file_is_another_one() -> None:
    first, again, other = (compile("x = 1", name, "exec") for name in ("one.py", "one.py", "other.py"))
    assert first == other
    assert searches.search_of(first) is searches.search_of(again)
    assert searches.search_of(first) is not searches.search_of(other)
