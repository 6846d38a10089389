"""`is` between a tensor and what a branch or loop gives: as eager, or refused."""

from __future__ import annotations

import functools
import itertools
import operator
from typing import Any

import pytest
import torch
from torch._dynamo import symbolic_convert
from torch._dynamo.variables import dicts

from autograph_torch import CaptureError, convert
from autograph_torch.capture.identities import identities
from tests.harness import check, compiled, from_text, program


def test_a_tensor_that_a_loop_carries_is_refused() -> None:
    def function(x: torch.Tensor, n: torch.Tensor) -> tuple[int, torch.Tensor]:
        y, hits = x, 0
        while n > 0:
            if y is x:
                hits += 1
            y = y + 1
            n = n - 1
        return hits, y

    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    with pytest.raises(CaptureError, match="AG314 `is` asks"):
        compiled(torch.ones(2), torch.tensor(3))


def added_or_replaced(total: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, str]:
    before = total
    for part in (x, x * 2):
        if part.sum() > 0:
            total += part
        else:
            total = total - part
    if total is before:
        kind = "same"
    else:
        kind = "new"
        before += 0.5
    return total, before, kind


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_a_tensor_that_two_branches_after_each_other_write_to_is_itself() -> None:
    compiled = torch.compile(convert(added_or_replaced), fullgraph=True, backend="eager")
    for values in ((1.0, 2.0), (-1.0, -2.0), (0.0, 0.0)):
        expected_total, actual_total = torch.ones(2), torch.ones(2)
        expected = added_or_replaced(expected_total, torch.tensor(values))
        actual = compiled(actual_total, torch.tensor(values))
        assert repr(actual) == repr(expected) and torch.equal(actual_total, expected_total)
        assert (actual[0] is actual[1]) == (expected[0] is expected[1])


def test_private_names_are_there() -> None:
    key = dicts.HashableTracker if hasattr(dicts, "HashableTracker") else dicts.ConstDictVariable._HashableTracker
    before, make_key = symbolic_convert.compare_op_handlers, key.__init__
    with identities():
        assert symbolic_convert.compare_op_handlers is not before
        assert key.__init__ is not make_key
        assert before.keys() == symbolic_convert.compare_op_handlers.keys() >= {"is", "is not"}
    asks = symbolic_convert.InstructionTranslatorBase
    by_names = {*asks.IS_OP.__code__.co_names, *asks.COMPARE_OP.__code__.co_names}  # by COMPARE_OP with torch 2.11
    assert "compare_op_handlers" in by_names


class LambertW(torch.autograd.Function):
    """torch asks whether what is saved `is` what is given back, and what is given."""

    @staticmethod
    def forward(ctx: Any, z: torch.Tensor) -> torch.Tensor:
        w = torch.log1p(z)
        for _ in range(20):
            step = (w * w.exp() - z) / (w.exp() * (w + 1))
            w = w - step
            if (step.abs() <= 1e-6).all():
                break
        ctx.save_for_backward(w)
        return w

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # type: ignore[override]
        (w,) = ctx.saved_tensors
        return grad / (w.exp() * (1 + w))


@program(
    inputs=[
        lambda: (torch.tensor([0.5, 5.0]), torch.tensor(1.0)),
        lambda: (torch.tensor([0.0, 0.25]), torch.tensor(0.0)),
        lambda: (torch.tensor([30.0, 2.0]), torch.tensor(-2.0)),
    ],
    grad=True,
)
def diode(volts: torch.Tensor, resistance: torch.Tensor) -> tuple[torch.Tensor, str]:
    if resistance == 0:
        return volts * 2, "ideal"
    return LambertW.apply(volts) / resistance, "exact"


def test_what_a_body_has_asked_that_is_traced_anew() -> None:
    """The branches give texts, on which they agree when both have been traced."""
    verdict = check(diode.__program__, "eager")  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason


AS_FUNCTIONS = """
def program(x):
    y = x
    if x > 0:
        y = x * 2
    return {}
"""


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
@pytest.mark.parametrize(
    "asked",
    [
        "operator.is_(y, x)",
        "1 if operator.is_not(y, x) else 2",
        "functools.reduce(operator.is_, [y, x])",
        "list(map(operator.is_, [y], [x]))",
        "[*itertools.starmap(operator.is_not, [(y, x)])]",
        "functools.partial(operator.is_, y)(x)",
        "operator.is_(y, None), operator.is_(x, x), operator.is_([], []), operator.is_not(None, y)",
    ],
)
def test_identity_as_a_function(asked: str) -> None:
    context = {"operator": operator, "functools": functools, "itertools": itertools}
    function = from_text(AS_FUNCTIONS.format(asked), "program", f"<{asked}>", context)
    found = compiled(function)
    for value in (1.0, -1.0):
        assert found(torch.tensor(value)) == function(torch.tensor(value))
