"""What the tracer answers for the runtime is what the runtime itself says, and so is the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import convert
from autograph_torch.capture import inlining, plain_values
from tests.harness import vec

X, Y = vec(1, 2, 3), vec(-1, 0, 1)


def tensors(x: torch.Tensor, y: torch.Tensor) -> Any:
    z, w = x + 1, y
    if x.sum() > 0:
        z, w = y * 2, z
    return z, w


def numbers(x: torch.Tensor, y: torch.Tensor) -> Any:
    n, f = int(x.sum()), 0.5
    if y.sum() > 0:
        n, f, s = n + 1, f * float(y.sum()), "up"
    else:
        s = "up"
    return x * n, f, s, n


def the_same_twice(x: torch.Tensor, y: torch.Tensor) -> Any:
    a = b = x * 2
    if y.sum() > 0:
        a = b = y.sin()
    return a, b, x


def from_around(x: torch.Tensor, y: torch.Tensor) -> Any:
    z = x * 2
    first = x if y.sum() > 0 else z
    return first + 1


def in_containers(x: torch.Tensor, y: torch.Tensor) -> Any:
    found = {"x": [x * 1], "pair": (y, None)}
    if x.sum() > 0:
        found = {"x": [y * 2], "pair": (x, None)}
    kept = [x + y]
    if y.sum() > 0:
        kept[0] = kept[0] * 2
    return found, kept


def leaving_a_loop(x: torch.Tensor, y: torch.Tensor) -> Any:
    for k in range(12):
        if x.sum() > k + 5:
            return x * k
        x = x + y
    return x, y


def written_to(x: torch.Tensor, y: torch.Tensor) -> Any:
    z, row = x * 1, [y * 1]
    if x.sum() > 0:
        z.add_(1)
        row.append(z)
    return z, row


def in_a_loop(x: torch.Tensor, y: torch.Tensor) -> Any:
    n, z = 0, [x]
    while x.sum() < 20:
        n, x = n + 1, x * 2
        if x.max() > 5:
            z = [x, y][:1]
    return n, x, z


def with_tests_of_python(x: torch.Tensor, y: torch.Tensor, mode: str = "sum", rows: tuple[int, ...] = ()) -> Any:
    n, flag = int(x.sum()), torch.equal(x, y)
    if mode == "sum" and not rows:
        x = x + 1
    if flag:
        x = x * 2
    if n:
        x = x - 1
    if y.sum() > 0 and mode:
        x = x + y
    return x


def in_containers_of_containers(x: torch.Tensor, y: torch.Tensor) -> Any:
    rows: list[Any] = [x * 1, [y * 1], (x, [y])]
    found: dict[str, Any] = {"rows": rows, "n": 0, "again": rows[1]}
    if x.sum() > 0:
        rows[1][0] = x
        found["n"] += 1
    if y.sum() > 0:
        found["again"][0] = rows[1][0] * 2
        rows[2][1][0] = y + 1
        found["rows"][0] = y
    return found, rows


GIVEN: dict[str, Any] = {"best": vec(1, 2, 3), "history": [vec(0, 0, 0), vec(1, 1, 1)], "of": {"mean": vec(1, 0, 1)}}


def in_containers_of_the_caller(x: torch.Tensor, y: torch.Tensor, given: dict[str, Any] = GIVEN) -> Any:
    if x.sum() > 0:
        given["best"] = x * 2
        if y.sum() > 0:
            given["of"]["mean"] = y + x
            given["history"][1] = given["best"]
    return x + given["of"]["mean"]


def in_containers_of_a_loop(x: torch.Tensor, y: torch.Tensor) -> Any:
    state = {"x": x * 1, "of": [y * 1, {"n": 0}]}
    while state["x"].sum() < 20:
        state["x"] = state["x"] * 2
        state["of"][0] = state["of"][0] + 1
        if y.sum() > 0:
            state["of"][1]["n"] += 1
    return state


def of_several_types(x: torch.Tensor, y: torch.Tensor) -> Any:
    if y.sum() > 0:
        if x.sum() > 0:
            return x * 2, "up"
        return (y, [x]), None
    return x + y, 1


PROGRAMS = (
    in_containers_of_containers,
    in_containers_of_the_caller,
    in_containers_of_a_loop,
    of_several_types,
    tensors,
    numbers,
    the_same_twice,
    from_around,
    in_containers,
    leaving_a_loop,
    written_to,
    in_a_loop,
    with_tests_of_python,
)


def graph_of(program: Callable[..., Any]) -> str:
    """The text of the graph, and of the bodies in it."""
    graphs: list[str] = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph.print_readable(print_output=False))
        return graph

    torch._dynamo.reset()
    torch.compile(convert(program), fullgraph=True, backend=keep)(X.clone(), Y.clone())
    (graph,) = graphs
    return graph


@pytest.mark.parametrize("program", PROGRAMS)
def test_answers_of_the_tracer(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    answered: Counter[str] = Counter()

    def counted(answer: Any) -> Any:
        def count(*given: Any) -> Any:
            found = answer(*given)
            answered[answer.__name__] += 1
            return found

        return count

    answers = {code: counted(answer) for code, answer in plain_values._ANSWERS.items()}
    monkeypatch.setattr(plain_values, "_ANSWERS", answers)
    with_answers = graph_of(program)
    monkeypatch.setattr(plain_values, "_ANSWERS", {})
    assert with_answers == graph_of(program)
    assert answered["_spec_of"] and answered["_tensors_in"] and answered["_truth"]
    assert answered["_copies_of"] or program not in (in_containers_of_containers, in_containers_of_the_caller)
    assert answered["_containers_in"] or program is not in_containers_of_a_loop


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_not_walked_through(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    replaced: Counter[str] = Counter()
    without_walking = inlining.without_walking

    def counted(code: Any, *given: Any) -> Any:
        new = without_walking(code, *given)
        replaced[code.co_name] += new is not code
        return new

    monkeypatch.setattr(inlining, "without_walking", counted)
    short = graph_of(program)
    monkeypatch.setattr(inlining, "without_walking", lambda code, *_: code)
    assert short == graph_of(program)
    assert min(replaced[name] for name in ("tree_flatten", "__eq__", "tree_unflatten")) > 0


def kept_or_replaced(x: torch.Tensor, kept: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    same = kept
    if x.sum() > 10:
        same.zero_()
    same[0] = x[0] * 2  # from here on its gradient is recorded
    if x.sum() < 0:
        kept = torch.zeros(2)
    return same, kept


def test_a_tensor_that_has_its_gradient_from_a_write() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(kept_or_replaced), backend="eager", fullgraph=True)
    for values in ((1, 2), (-1, -2), (6, 7)):
        gradients = []
        for function in (kept_or_replaced, compiled):
            x = vec(*values).requires_grad_()
            same, kept = function(x, vec(3, 4))
            assert same.requires_grad and kept.requires_grad == (values[0] > 0)
            (same.sum() + kept.sum()).backward()
            gradients.append(x.grad)
        torch.testing.assert_close(gradients[1], gradients[0])
