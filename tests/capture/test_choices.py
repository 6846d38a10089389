"""Results whose type depends on data: what the tracer is asked for, and where no choice can be given."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.codegen import PyCodegen
from torch._dynamo.symbolic_convert import InstructionTranslatorBase
from torch._dynamo.variables.base import VariableTracker

from autograph_torch import CaptureError, convert, export
from tests.harness import difference, vec


def found(x: Tensor) -> Tensor | None:
    if x.sum() > 0:
        return x * 2
    return None


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return torch.compile(convert(function), fullgraph=True, backend="eager")


def graphs_of(function: Callable[..., Any], *inputs: Tensor) -> int:
    seen: list[Any] = []

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        seen.append(graph)
        return graph

    fast = torch.compile(convert(function), fullgraph=True, backend=backend)
    for x in inputs:
        torch.testing.assert_close(fast(x), function(x))
    return len(seen)


def test_one_graph_gives_both_types() -> None:
    assert graphs_of(found, vec(1, 2), vec(-1, -2), vec(3, 4)) == 1


def test_of_a_method_and_through_tail_calls() -> None:
    class Finder:
        def first(self, x: Tensor) -> Any:
            return self.second(x + 1)

        def second(self, x: Tensor) -> Any:
            return found(x) if x[0] < 10 else "large"

    for x in (vec(1, 2), vec(-9, -9), vec(20, 1)):
        assert not difference(Finder().first(x), compiled(Finder().first)(x), "result")


def used(x: Tensor) -> Tensor:
    y = found(x)
    return x if y is None else y + 1


def in_a_list(x: Tensor) -> list[Any]:
    return [found(x)]


def handed_to_a_call(x: Tensor) -> Any:
    return is_none(found(x), None, None)


def is_none(x: Any, *_: None) -> Any:
    return x is None


class Sized:
    def __init__(self, x: Tensor) -> None:
        self.x = x

    def __len__(self) -> Any:
        return self.given()

    def __contains__(self, other: object) -> Any:
        return self.given()

    def given(self) -> Any:
        if self.x.sum() > 0:
            return 1
        return True


def length(x: Tensor) -> int:
    return len(Sized(x))


def contains(x: Tensor) -> bool:
    return 3 in Sized(x)


def formatted(x: Tensor) -> str:
    return f"{Sized(x).given()}"


@pytest.mark.parametrize("function", [used, in_a_list, handed_to_a_call, length, contains, formatted])
def test_a_value_that_the_program_can_still_ask_for_its_type_is_never_a_choice(function: Callable[..., Any]) -> None:
    fast = compiled(function)
    for x in (vec(1, 2), vec(-1, -2)):
        try:
            assert not difference(function(x), fast(x), "result")
        except CaptureError as error:
            assert error.diagnostic.code == "AG310"


class Watched:
    def __init__(self) -> None:
        self.last: Any = 0
        self.log: list[Any] = [0]
        self.note = ""


@contextlib.contextmanager
def watching(seen: Watched) -> Iterator[None]:
    yield
    seen.note = f"{seen.last is None} {seen.log[0] is None}"


def into_an_attribute(x: Tensor, seen: Watched) -> Any:
    if x.sum() > 0:
        seen.last = None
        return 1
    seen.last = 5
    return "two"


def into_a_list(x: Tensor, seen: Watched) -> Any:
    if x.sum() > 0:
        seen.log[0] = None
        return 1
    seen.log[0] = 5
    return "two"


@pytest.mark.parametrize("inner", [into_an_attribute, into_a_list])
def test_the_end_of_a_block_may_look_at_what_the_branches_wrote(inner: Callable[..., Any]) -> None:
    def function(x: Tensor, seen: Watched) -> Any:
        with watching(seen):
            return inner(x, seen)

    fast = compiled(function)
    for x in (vec(1, 2), vec(-1, -2)):
        want, got = Watched(), Watched()
        try:
            assert not difference(function(x, want), fast(x, got), "result")
            assert vars(want) == vars(got)
        except CaptureError as error:
            assert error.diagnostic.code == "AG310"


def test_inside_of_a_function_that_is_not_converted() -> None:
    inner = convert(found)

    def outer(x: Tensor) -> bool:
        return inner(x) is None

    with pytest.raises(Exception, match="AG310"):  # torch's, around ours: it is not our compilation
        torch.compile(outer, fullgraph=True, backend="eager")(vec(1, 2))


def test_an_exported_program_has_one_type() -> None:
    with pytest.raises(CaptureError, match="AG310"):
        export(found, (vec(1, 2),))


def test_names_of_the_tracer() -> None:
    step = inspect.getsource(InstructionTranslatorBase.step)
    assert step.index("self.instruction_pointer = ip + 1") < step.index("dispatch_table[inst.opcode]")
    assert list(inspect.signature(VariableTracker.reconstruct).parameters) == ["self", "codegen"]
    assert all(hasattr(PyCodegen, name) for name in ("add_push_null", "load_import_from", "foreach", "extend_output"))
