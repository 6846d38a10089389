"""Strings, members of enumerations and None that data pick: followed, or refused; never taken for an object."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.variables import ConstantVariable
from torch._dynamo.variables.base import VariableTracker

from autograph_torch import CaptureError, autograph, convert, trace
from autograph_torch.capture.picked_constants import PickedVariable
from autograph_torch.runtime.picked import PICKED

LARGE, SMALL = torch.tensor([4.0, 3.0]), torch.tensor([-0.4, 0.3])


def status_of(x: torch.Tensor) -> tuple[torch.Tensor, str]:
    """The loop of most tests: "ok" where it makes no trip."""
    status = "ok"
    while x.abs().max() > 1:
        x = x / 2
        status = "large" if x.sum() > 3 else "halved"
    return x, status


def is_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(CaptureError, match=message):
        torch.compile(convert(function), backend="eager", fullgraph=True)(LARGE)


def test_what_dynamo_asks_is_refused() -> None:
    """Every question of a variable that could be answered by what it is, and not by what it stands for."""
    for name in "bool_impl hash_impl call_function unpack_var_sequence tp_iter_impl sq_length is_hashable".split():
        if hasattr(VariableTracker, name):
            assert getattr(PickedVariable, name) is not getattr(VariableTracker, name), name
    picked = PickedVariable(ConstantVariable.create(0), [ConstantVariable.create(one) for one in ("a", "b")])
    assert not picked.is_python_constant()
    assert picked.python_type() is str


class Registry:
    """Its items count how often they are asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __getitem__(self, key: str) -> int:
        self.asked += 1
        return len(key)


def test_objects_that_have_a_say() -> None:
    def looked_up(x: torch.Tensor) -> Any:
        found = Registry()
        _, status = status_of(x)
        return found[status], found.asked

    is_refused(looked_up, "has a say")


def test_keys_of_what_is_made() -> None:
    def keyed(x: torch.Tensor) -> Any:
        y, status = status_of(x)
        return {status: y}

    is_refused(keyed, PICKED)


def test_arguments_of_torch() -> None:
    def reduced(x: torch.Tensor) -> Any:
        how = "sum"
        while x.abs().max() > 1:
            x = x / 2
            how = "mean" if x.sum() > 3 else "none"
        return torch.nn.functional.mse_loss(x, x + 1, reduction=how)

    is_refused(reduced, "AG320")


def test_identity_of_strings() -> None:
    def same(x: torch.Tensor) -> Any:
        before = status = "not ok"
        while x.abs().max() > 1:
            x = x / 2
            before = status
            if x.sum() > 3:
                status = "not bad"
        return before is status

    is_refused(same, "`is` between two strings")


def test_strings_without_end() -> None:
    def longer(x: torch.Tensor) -> Any:
        text = ""
        while x.abs().max() > 1:
            x = x / 2
            text = text + "a"
        return text

    is_refused(longer, "AG311")


def test_no_python_behind_the_graph() -> None:
    with pytest.raises(CaptureError):
        trace(status_of, LARGE)

    def doubled(x: torch.Tensor) -> torch.Tensor:
        y, status = status_of(x)
        return y * 2 if status == "large" else y

    graph = trace(doubled, LARGE)
    for x in (LARGE, SMALL):
        torch.testing.assert_close(graph(x)[0], doubled(x))


def test_the_body_is_made_once() -> None:
    """A string that the trips only assign has no paths of its own."""

    def counted(x: torch.Tensor) -> torch.Tensor:
        y, status = status_of(x)
        return y + len(status)

    bodies = [module for name, module in trace(counted, LARGE).named_modules() if "body" in name]
    divisions = [node for body in bodies for node in body.graph.nodes if "div" in str(node.target)]
    assert len(divisions) == 1


class Gate(enum.Enum):
    SHUT = 0
    OPEN = 1


class Door:
    def __init__(self) -> None:
        self.gate = Gate.SHUT
        self.passed = 0

    def let(self, x: torch.Tensor) -> torch.Tensor:
        while x.abs().max() > 1:
            if self.gate is Gate.SHUT:
                self.gate = Gate.OPEN if x.sum() > 0 else Gate.SHUT
            else:
                self.passed += 1
            x = x / 2
        return x


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_attributes_that_outlive_the_call(backend: str) -> None:
    expected, actual = Door(), Door()
    let = torch.compile(convert(actual.let), backend=backend, fullgraph=True)
    for x in (-LARGE, SMALL, LARGE, -LARGE):
        torch.testing.assert_close(let(x), expected.let(x))
        assert (actual.gate, actual.passed) == (expected.gate, expected.passed)


def test_results_are_the_strings_and_members_themselves() -> None:
    def both(x: torch.Tensor) -> Any:
        gate, why = Gate.SHUT, None
        while x.abs().max() > 1:
            x = x / 2
            if x.sum() > 3:
                gate, why = Gate.OPEN, "large"
        return gate, why, [why], {"gate": gate}

    compiled = autograph(both, backend="aot_eager")
    for x in (LARGE, SMALL, -LARGE):
        found, wanted = compiled(x), both(x)
        assert found == wanted
        assert found[0] is wanted[0]


def test_a_choice_of_what_is_picked() -> None:
    """None or one of two strings in one branch, a third string in the other: each stays what it is."""

    def reason(x: torch.Tensor) -> Any:
        found = None
        while x.abs().max() > 1:
            x = x / 2
            found = "large" if x.sum() > 3 else "halved"
        if x.sum() > 1.2:
            return x, "sum"
        return x, found

    compiled = autograph(reason, backend="eager")
    for x in (LARGE, SMALL, -LARGE, torch.tensor([0.9, 0.8])):
        assert compiled(x)[1] == reason(x)[1]
