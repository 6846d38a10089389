"""Lists that data make longer and shorter: what there is no room for runs in Python, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import autograph, convert
from autograph_torch.diagnostics import CaptureError
from tests.harness import check_any_graph, program, scalar, vec


def countdown(x: torch.Tensor) -> int:
    xs = [x.sum()]
    while xs[-1] > 0:
        xs.append(xs[-1] - 1)
        if xs[-1] == -5:
            xs.pop()
    return len(xs)


@pytest.mark.parametrize(
    "compiled",
    [lambda f: torch.compile(convert(f), backend="eager", fullgraph=True), lambda f: autograph(f, backend="eager")],
)
def test_a_call_that_needs_more_room_runs_in_python(compiled: Callable[..., Any]) -> None:
    call = compiled(countdown)
    assert call(vec(3)) == countdown(vec(3)) == 4
    graphs = torch._dynamo.utils.counters["stats"]["unique_graphs"]
    assert call(vec(3000)) == countdown(vec(3000)) == 3001
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == graphs


def added_to(x: torch.Tensor) -> int:
    xs = [1.5]
    while x > 0:
        x = x - 1
        xs.append(2.5)
        if x == -5:
            xs.pop()
    return len(xs)


def taken_from(x: torch.Tensor) -> int:
    xs = [1.5]
    while x > 0:
        x = x - 1
        xs.pop()
    return len(xs)


def taken_from_when_filled(x: torch.Tensor) -> int:
    xs = [1.5]
    while x > 0:
        x = x - 1
        if xs:
            xs.pop()
    return len(xs)


@pytest.mark.parametrize(("function", "checks"), [(added_to, 1), (taken_from, 1), (taken_from_when_filled, 0)])
def test_what_the_graph_checks(function: Callable[..., Any], checks: int) -> None:
    """Before an operator would read or write behind the end, which a GPU does not survive."""
    seen: list[Any] = []

    def backend(graph: torch.fx.GraphModule, _: list[Any]) -> Callable[..., Any]:
        seen.extend(one for one in graph.modules() if isinstance(one, torch.fx.GraphModule))
        return graph.forward

    torch._dynamo.reset()
    assert torch.compile(convert(function), backend=backend, fullgraph=True)(scalar(1)) == function(scalar(1))
    effects = [node for one in seen for node in one.graph.nodes if node.target is torch.ops.autograph_torch.effect]
    assert len(effects) == checks


def seen_before(x: torch.Tensor) -> int:
    seen = set()
    again = 0
    for v in x.tolist():
        if v in seen:
            again += 1
        else:
            seen.add(v)
            again += 10 if v in seen else 0  # NaN, too, when it is the same object
    return again


@pytest.mark.parametrize("given", [vec(1, 2, 1), vec(1, float("nan"), 1), vec(float("nan"), 0, float("nan"))])
def test_nan_is_looked_for_in_python(given: torch.Tensor) -> None:
    compiled = torch.compile(convert(seen_before), backend="eager", fullgraph=True)
    assert compiled(vec(1, 2, 1)) == 21
    assert compiled(given) == seen_before(given)


def written_element(x: torch.Tensor) -> Any:
    stack = [x * 2]
    while x.sum() > 0:
        x = x - 1
        if x.sum() > 1:
            stack.pop()
        stack.append(x)
    top = stack[-1]
    top.add_(100)
    return stack, x


def seen_by_others(x: torch.Tensor) -> Any:
    xs = [1.0]
    keep = {"xs": xs}
    for v in x.tolist():
        if v > 0:
            xs.append(v)
        else:
            xs.pop(0)
            xs.append(2.0)
    return keep, len(xs)


@pytest.mark.parametrize(
    ("function", "argument", "message"),
    [
        (written_element, vec(3), "AG311"),
        (seen_by_others, vec(1, -1), "AG310 the branches give one object with"),
    ],
)
def test_what_eager_could_tell_is_refused(function: Callable[..., Any], argument: Any, message: str) -> None:
    with pytest.raises(CaptureError, match=message):
        torch.compile(convert(function), backend="eager", fullgraph=True)(argument)


def two_lists(x: torch.Tensor, y: torch.Tensor) -> tuple[Any, ...]:
    return emptied_by(x), emptied_by(y)


def emptied_by(x: torch.Tensor) -> Any:
    xs = [x.sum().item()]
    while xs:
        top = xs.pop()
        if top > 1:
            xs.append(top / 2)
            xs.append(top - 1.5)
        x = x + top
    return x


def test_calls_of_one_function_have_lists_of_their_own() -> None:
    compiled = torch.compile(convert(two_lists), backend="eager", fullgraph=True)
    for given in ((scalar(3), scalar(0.5)), (scalar(1), scalar(4))):
        torch.testing.assert_close(compiled(*given), two_lists(*given))


def places_or_none(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        return x, (x > 0).nonzero().flatten().tolist()
    return x, None


def powers_or_none(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        xs = []
        while x.sum() < 10:
            x = x * 2
            xs.append(x)
        return xs
    return None


@pytest.mark.parametrize("function", [places_or_none, powers_or_none])
def test_a_list_of_unknown_length_does_not_leave_a_branch(function: Callable[..., Any]) -> None:
    with pytest.raises(CaptureError, match="AG31[01] a branch (gives a list that it has|or loop on .* Growing)"):
        torch.compile(convert(function), backend="eager", fullgraph=True)(vec(1, 2))


BATCHES = [lambda row=row: (vec(*row),) for row in ((0.1, 0.2), (1, 5), (-5, 2))]


@program(inputs=BATCHES)
def begun_anew_under_a_test(x):
    batch, out = [], 0.0
    for v in x.tolist():
        if v > 0:
            batch.append(v)
        if batch:
            if batch[-1] > 4:
                batch = []
            out += batch[0]
    return out, len(batch)


@program(inputs=BATCHES)
def begun_anew_before_a_pop(x):
    batch, out = [], 0.0
    for v in x.tolist():
        if v > 0:
            batch.append(v)
        if batch:
            if batch[-1] > 4:
                batch = []
            out += batch.pop(0)
    return out, len(batch)


@program(inputs=BATCHES)
def begun_anew_in_a_while_loop(x):
    xs, n, out = [x.sum().item()], 0, 0.0
    while xs and n < 4:
        n += 1
        if xs[-1] > 4:
            xs = []
        out = xs[0]
        xs.append(out * 2)
        if out < 0:
            xs.pop()
    return out, n


@program(inputs=BATCHES)
def begun_anew_in_an_inner_loop(x):
    xs, out = [1.0], 0.0
    for v in x.tolist():
        while xs:
            for w in x.tolist():
                if w > v:
                    xs = []
            out += xs[0]
            xs.pop()
        xs.append(v)
    return out, len(xs)


@pytest.mark.parametrize(
    "subject",
    [begun_anew_under_a_test, begun_anew_before_a_pop, begun_anew_in_a_while_loop, begun_anew_in_an_inner_loop],
)
def test_a_list_that_is_begun_anew_has_no_element(subject: Callable[..., Any]) -> None:
    check_any_graph(subject)
