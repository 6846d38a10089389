"""Tensors that are views of one memory in some calls and not in others, and are written to: as in eager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch.capture import compiling, memories_given, separate_memories
from autograph_torch.capture.overlaps import may_overlap
from tests.harness import compiled

Cut = Callable[[Tensor], Sequence[Tensor]]


def branch(a: Tensor, b: Tensor) -> Any:
    if a.sum() > 0:
        a += 1
        b *= 2
    return a + b, b.sum()


def loop(a: Tensor, b: Tensor) -> Any:
    steps = 0
    while a.sum() < 30:
        a += 1
        b *= 2
        steps += 1
        if steps > 6:
            break
    return steps, a - b


def outside_of_a_branch(a: Tensor, b: Tensor) -> Any:
    a += 1
    total = b.sum()
    if total > 3:
        total = total * 2
    return total


APART: list[Cut] = [
    lambda m: (torch.ones(3), torch.ones(3)),
    lambda m: (m[0], m[1]),
    lambda m: (m[3], m[1]),
    lambda m: (m[4], torch.ones(3)),
]
OVERLAPPING: list[Cut] = [
    lambda m: (m[2], m[2]),
    lambda m: (m.view(-1)[:3], m.view(-1)[1:4]),
    lambda m: (m.view(-1)[2:5], m.view(-1)[1:4]),
]
MIXED = [cut for pair in zip(APART, OVERLAPPING, strict=False) for cut in pair]


def difference(function: Any, cuts: Sequence[Cut], backend: str) -> list[int]:
    """The calls that give something else than eager, or leave other values in the memory."""
    run = compiled(function, backend)
    found = []
    for k, cut in enumerate(cuts):
        one, other = (torch.arange(15.0).reshape(5, 3) * 0.1 for _ in range(2))
        if repr(function(*cut(one))) != repr(run(*cut(other))) or not torch.equal(one, other):
            found.append(k)
    return found


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [branch, loop, outside_of_a_branch], ids=lambda one: one.__name__)
@pytest.mark.parametrize("cuts", [MIXED, MIXED[::-1]], ids=["apart first", "overlapping first"])
def test_every_call_is_as_its_tensors_lie(cuts: Sequence[Cut], function: Any, backend: str) -> None:
    assert not difference(function, cuts, backend)


def counting() -> tuple[list[Any], Callable[..., Any]]:
    graphs: list[Any] = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    return graphs, backend


def test_one_graph_is_for_all_that_do_not_overlap() -> None:
    graphs, backend = counting()
    run = compiled(loop, backend)  # type: ignore[arg-type]
    for k in (1, 2, 3):
        rows = torch.arange(15.0).reshape(5, 3) * 0.1
        run(rows[k], rows[k - 1])
    run(torch.ones(3), torch.ones(3))
    assert len(graphs) == 1


def with_the_whole(a: Tensor, b: Tensor, whole: Tensor) -> Any:
    if a.sum() + b.sum() > 0:
        a += 1
        whole *= 2
    return a + b


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_one_overlaps_with_two_that_do_not(backend: str) -> None:
    cuts: list[Cut] = [
        lambda m: (m[1], m[2], m),
        lambda m: (m[1], m[2], m.clone()),
        lambda m: (m[1], m[1], m),
    ]
    assert not difference(with_the_whole, cuts, backend)


def test_a_leaf_and_a_tensor_of_one_memory() -> None:
    def step(weight: Tensor, row: Tensor) -> Any:
        if row.sum() > 0:
            row *= 2
        return (weight * row).sum()

    def made(way: Any) -> Any:
        memory = torch.arange(6.0) * 0.1
        weight = memory[3:].requires_grad_()
        way(step)(weight, memory[:3]).backward()
        return memory, weight.grad

    assert repr(made(lambda one: one)) == repr(made(compiled))


class Averaged(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.online, self.target = nn.Parameter(torch.ones(2)), nn.Parameter(torch.zeros(2))

    def forward(self, x: Tensor) -> Any:
        with torch.no_grad():
            if x.sum() > 0:
                self.target.mul_(0.5).add_(self.online)
        return (self.online * x).sum(), self.target * 1


def test_parameters_share_their_data_later() -> None:
    def calls(way: Any) -> Any:
        model = Averaged()
        run = way(lambda x: model(x))
        results = [run(torch.ones(2))]
        model.target.data = model.online.data
        return [*results, run(torch.ones(2)), run(torch.ones(2))]

    assert repr(calls(lambda one: one)) == repr(calls(compiled))


@pytest.mark.parametrize(
    "cut, expected",
    [
        (lambda m: (m[0], m[1]), False),
        (lambda m: (m[:, 0], m[:, 1]), False),
        (lambda m: (m[:, 0], m[1]), True),
        (lambda m: (m, m[4]), True),
        (lambda m: (m[0], m[:0, 0]), False),
        (lambda m: (m[:1].expand(3, 3), m[0]), True),
        (lambda m: (m[1].view(torch.int32), m[0]), False),
        (lambda m: (m[1].view(torch.int16), m[1, 1:]), True),
    ],
)
def test_overlaps(cut: Cut, expected: bool) -> None:
    one, other = cut(torch.zeros(5, 3))
    assert may_overlap(one, other) is may_overlap(other, one) is expected


def test_without_the_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile asks later calls which tensors overlap."""
    monkeypatch.setattr(compiling, "agree_on_memories", lambda graph, compiles: None)
    assert difference(branch, MIXED, "aot_eager")
    assert difference(loop, MIXED, "eager")


def test_without_memories_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when the trace takes views that do not overlap for tensors of their own."""
    monkeypatch.setattr(separate_memories, "_place", lambda tensor: None)
    graphs, backend = counting()
    run = compiled(branch, backend)  # type: ignore[arg-type]
    for k in (1, 2):
        rows = torch.arange(15.0).reshape(5, 3) * 0.1
        run(rows[k], rows[k - 1])
    assert len(graphs) == 2


def test_memories_are_asked_of_calls_that_write_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(memories_given, "agree", lambda *args, **_: asked.append(args))
    run = compiled(lambda a, b: a + b if a.sum() > 0 else a - b)
    run(torch.ones(2), torch.ones(2))
    assert not asked
