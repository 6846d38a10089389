"""Random programs of loops, `else`, jumps, blocks and tests that bind names: rewritten, they do what they did.

They run uncompiled, a millisecond each. What they leave out is in docs/limits.md: a name that is bound before an
exception, and read by its handler.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from autograph_torch import convert
from tests.harness import from_text

INPUTS = (0, 1, 2, 5, 11, 16)
Lines = list[str]


class Writer:
    """Statements about a tensor `a`, names `b`, `c` and `n`, and counters that bound the loops."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._used = 0

    def function(self) -> str:
        body = ["n = 0", "b = a + 1", "c = 0", *self._block(2, False), "return a, b, c, n"]
        return "\n".join(["def f(a):", *indented(body)]) + "\n"

    def _fresh(self) -> int:
        self._used += 1
        return self._used

    def _test(self) -> str:
        modulus = self._random.choice((2, 3, 4))
        equal = f"a % {modulus} == {self._random.randrange(modulus)}"
        bound = f"(b := a % {modulus}) == {self._random.randrange(modulus)}"
        further = (f"({equal} or a % 5 == 1)", f"not {equal}", f"0 < a % {modulus + 1} < {modulus}", "n % 2 == 0")
        return self._random.choice((equal, bound, f"({bound} and (c := a % 5) > 1)", *further))

    def _block(self, depth: int, in_loop: bool) -> Lines:
        return [line for _ in range(self._random.randint(1, 2)) for line in self._statement(depth, in_loop)]

    def _statement(self, depth: int, in_loop: bool) -> Lines:
        if depth == 0 or self._random.random() < 0.3:
            return self._simple(in_loop)
        makers: tuple[Callable[[int, bool], Lines], ...] = (self._if, self._while, self._for, self._covered)
        return self._random.choice(makers)(depth - 1, in_loop)

    def _simple(self, in_loop: bool) -> Lines:
        chance = self._random.random()
        if in_loop and chance < 0.25:
            return [f"if {self._test()}:", f"    {self._random.choice(('break', 'continue'))}"]
        if chance < 0.35:
            return [f"if {self._test()}:", "    return a * 1, n"]
        work = ("n += 1", f"b = a + {self._fresh()}", "a = a + b", f"a = (a * 7 + {self._fresh()}) % 1009")
        return [self._random.choice(work)]

    def _if(self, depth: int, in_loop: bool) -> Lines:
        lines = [f"if {self._test()}:", *indented(self._block(depth, in_loop))]
        if self._random.random() < 0.3:
            lines += [f"elif {self._test()}:", *indented(self._block(depth, in_loop))]
        return lines + self._else(depth, in_loop, 0.5)

    def _while(self, depth: int, in_loop: bool) -> Lines:
        count = f"w{self._fresh()}"
        counts = self._random.random() < 0.3
        test = f"({count} := {count} + 1) < 4 and {self._test()}" if counts else f"{count} < 3 and {self._test()}"
        body = [*([] if counts else [f"{count} += 1"]), *self._block(depth, True)]
        return [f"{count} = 0", f"while {test}:", *indented(body), *self._else(depth, in_loop, 0.4)]

    def _for(self, depth: int, in_loop: bool) -> Lines:
        item = f"i{self._fresh()}"
        iterable = self._random.choice(("range(3)", "range(a % 4)", "torch.arange(3)"))
        body = [f"a = a + {item}", *self._block(depth, True)]
        return [f"for {item} in {iterable}:", *indented(body), *self._else(depth, in_loop, 0.4)]

    def _else(self, depth: int, in_loop: bool, chance: float) -> Lines:
        return ["else:", *indented(self._block(depth, in_loop))] if self._random.random() < chance else []

    def _covered(self, depth: int, in_loop: bool) -> Lines:
        block = indented(self._block(depth, in_loop))
        if self._random.random() < 0.3:
            return ["with contextlib.nullcontext():", *block]
        if self._random.random() < 0.4:
            return ["try:", *block, "finally:", "    a = a + 1"]
        return ["try:", *block, "except ValueError:", "    a = a - 1", *self._else(depth, in_loop, 0.3)]


def indented(lines: Lines) -> Lines:
    """One level deeper."""
    return [f"    {line}" for line in lines]


@pytest.mark.parametrize(
    "seed", [*range(250), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(250, 3000))]
)
def test_rewritten_programs_do_what_they_did(seed: int) -> None:
    text = Writer(seed).function()
    original = from_text(text, "f", f"<jumps {seed}>", {"contextlib": contextlib})
    rewritten = convert(original)
    for value in INPUTS:
        expected, actual = (outcome(function, value) for function in (original, rewritten))
        assert actual == expected, f"f(torch.tensor({value})) of\n{text}"


def outcome(function: Callable[[Tensor], object], value: int) -> str:
    """What a call gives, or raises."""
    try:
        return repr(function(torch.tensor(value)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
