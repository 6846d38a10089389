"""What stand-ins and field writes lean on in torch is there: a clear failure when a version of torch changes it."""

from __future__ import annotations

import inspect

import pytest
import torch
from torch._dynamo.current_scope_id import current_scope_id
from torch._dynamo.output_graph import AliasingInfo, SubgraphTracer
from torch._dynamo.side_effects import SideEffects
from torch._dynamo.variables import CellVariable, TensorVariable, TupleVariable

from autograph_torch import autograph
from autograph_torch.capture import field_writes, standing_in
from autograph_torch.runtime import fields, outside


def test_names_of_the_tracer() -> None:
    source = inspect.getsource(SubgraphTracer)
    for name in ("lifted_freevars", "_input_versions_at_beginning", "has_aliasing", "lift_tracked_freevar_to_input"):
        assert name in source, f"torch._dynamo SubgraphTracer has no {name}"
    assert AliasingInfo(False, "")
    assert callable(TensorVariable.specialize)
    assert callable(TupleVariable)


def test_names_of_the_side_effects() -> None:
    source = inspect.getsource(SideEffects)
    for name in ("store_attr_mutations", "id_to_variable", "check_allowed_side_effect", "load_cell", "store_cell"):
        assert name in source, f"torch._dynamo SideEffects has no {name}"
    assert CellVariable
    assert isinstance(current_scope_id(), int)


def store(target: torch.Tensor, value: torch.Tensor) -> None:
    target.copy_(value)


class Counter:
    """What a branch writes to."""

    def __init__(self) -> None:
        self.n = 0

    def bump(self) -> None:
        self.n += 1


def writes(x: torch.Tensor, target: torch.Tensor, counter: Counter) -> torch.Tensor:
    if x.sum() > 0:
        store(target, x)
        counter.bump()
    return x


def test_empty_functions_are_filled_in() -> None:
    target, counter = torch.zeros(2), Counter()
    autograph(writes, backend="eager")(torch.ones(2), target, counter)
    assert target.tolist() == [1.0, 1.0]
    assert counter.n == 1


@pytest.mark.parametrize("function", [outside.announce, outside.stand_in, fields.write_field])
def test_outside_of_a_trace_they_do_nothing(function) -> None:
    assert function(*[None] * len(inspect.signature(function).parameters)) is None


def test_hooks_are_in_place_once() -> None:
    assert SubgraphTracer.lift_tracked_freevar_to_input.__module__ == standing_in.__name__
    assert SideEffects.check_allowed_side_effect.__module__ == field_writes.__name__
