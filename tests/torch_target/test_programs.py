"""Programs converted with `--target torch` do what they did, uncompiled and compiled, gradients included.

One difference is torch's own and stands in docs/limits.md: what only the other path uses, or the trips that a loop has
not made, has a gradient of zeros where eager has none.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.harness import Outcome, Program, Verdict, compared, difference, fresh, programs_of, run, state_of, verdict_of
from tests.torch_target import programs
from tests.torch_target.conftest import Target

NAMES = [program.name for program in programs_of(programs)]


def agreement(original: Program, converted: Program, backend: str | None) -> Verdict:
    expected_subject, subject = fresh(original), fresh(converted)
    called = subject if backend is None else torch.compile(subject, fullgraph=True, backend=backend)
    for index, factory in enumerate(original.inputs):
        expected = run(expected_subject, expected_subject, factory, original.grad)
        actual = run(called, subject, factory, original.grad)
        verdict = compared(with_zeros(expected, actual), actual, f"input {index}")
        if verdict.kind == "equal":
            verdict = verdict_of(difference(state_of(expected_subject), state_of(subject), "state"), f"input {index}")
        if verdict.kind != "equal":
            return verdict
    return Verdict("equal")


def with_zeros(expected: Outcome, actual: Outcome) -> Outcome:
    """`expected`, with the zeros of `actual` in place of the gradients that it lacks; any other gradient differs."""
    given = {name: grad for name, grad in actual.gradients.items() if grad is not None and not grad.any()}
    gradients = {name: given.get(name) if grad is None else grad for name, grad in expected.gradients.items()}
    return replace(expected, gradients=gradients)


@pytest.mark.parametrize(
    "backend", [None, "eager", pytest.param("aot_eager", marks=pytest.mark.slow)], ids=["plain", "eager", "aot_eager"]
)
@pytest.mark.parametrize("name", NAMES)
def test_program(target: Target, name: str, backend: str | None) -> None:
    torch._dynamo.reset()
    verdict = agreement(target.original[name], target.converted[name], backend)
    assert verdict.kind == "equal", verdict.reason


def test_every_program_is_converted_in_full(target: Target) -> None:
    assert [d.render() for d in target.done.diagnostics if not d.code.startswith("AG1")] == []


def test_nothing_of_ours_is_imported(target: Target) -> None:
    assert b"autograph" not in target.done.output.partition(b"def signs")[0]
    assert b"ag." not in target.done.output
