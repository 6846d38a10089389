"""What a rewritten function makes has the names that it has in the user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import convert
from tests.harness import compiled

INPUTS = (torch.ones(2), -torch.ones(2))


def functions_and_classes(x: Tensor) -> Any:
    def outer() -> Any:
        class Held:
            def method(self) -> Any:
                return lambda: 0

        return Held

    kind = outer()
    if x.sum() > 0:
        x = x + 1
    return outer.__qualname__, kind.__qualname__, kind.method.__qualname__, kind().method().__qualname__


def made_in_branches(x: Tensor) -> Any:
    if x.sum() > 0:

        def made() -> Any:
            return [lambda: 1]

    else:

        def made() -> Any:
            class Held:
                pass

            return [Held]

    return made.__qualname__, made()[0].__qualname__, (lambda: 0).__qualname__


def declared_global(x: Tensor) -> Any:
    global _made

    def _made() -> None:
        pass

    if x.sum() > 0:
        x = x + 1
    return _made.__qualname__


class Holder:
    def method(self, x: Tensor) -> Any:
        if x.sum() > 0:
            x = x + 1
        return (lambda: 0).__qualname__, [(lambda k=k: k).__qualname__ for k in range(2)]


PROGRAMS: tuple[Callable[..., Any], ...] = (functions_and_classes, made_in_branches, declared_global, Holder().method)


@pytest.mark.parametrize("x", INPUTS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_qualified_names(program: Callable[..., Any], x: Tensor) -> None:
    assert convert(program)(x) == program(x)


def arguments_that_do_not_fit(x: Tensor) -> Any:
    def two(a: Tensor, b: Tensor) -> Tensor:
        return a + b

    if x.sum() > 0:
        x = x + 1
    try:
        return two(x)  # type: ignore[call-arg]
    except TypeError as error:
        return x, str(error)


@pytest.mark.parametrize("x", INPUTS)
def test_what_python_says_of_them(x: Tensor) -> None:
    expected = arguments_that_do_not_fit(x)
    for way in (convert, compiled):
        found = way(arguments_that_do_not_fit)(x)
        assert torch.equal(found[0], expected[0]) and found[1:] == expected[1:]
