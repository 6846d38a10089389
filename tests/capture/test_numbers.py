"""Numbers read from tensors: where they are read in the graph, and that they are what Python would have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import autograph, convert, explain
from autograph_torch.capture.explain import Explanation


class Graphs:
    """A backend that keeps the graphs it is given."""

    def __init__(self) -> None:
        self.seen: list[torch.fx.GraphModule] = []

    def __call__(self, graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        self.seen.append(graph)
        return graph.forward

    def reads(self) -> int:
        """How often the graphs, bodies included, read a number from a tensor."""
        modules = [inner for graph in self.seen for inner in graph.modules() if isinstance(inner, torch.fx.GraphModule)]
        return sum(node.target in ("item", "tolist") for inner in modules for node in inner.graph.nodes)


def vec(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)


def scaled(x: Tensor) -> Tensor:
    s = x.sum().item()
    return x / s


def returned(x: Tensor) -> Any:
    return x.sum().item()


def total_of_a_python_loop(x: Tensor) -> Any:
    total = 0.0
    for k in range(4):
        total += (x * k).sum().item()
    return total


def total_of_a_tensor_loop(n: Tensor) -> Any:
    total = 0.0
    i = torch.tensor(0)
    while i < n:
        total += (i * 0.1).sin().item()
        i = i + 1
    return total


def under_a_test(x: Tensor) -> Tensor:
    s = x.sum().item()
    if s > 1:
        x = x * s
    return x - s


def printed(x: Tensor) -> Tensor:
    print("sum", x.sum().item())
    return x


def arithmetic(x: Tensor) -> Any:
    a = x.sum().item()
    return a * 0.1 + 1e-9 - a / 3, -a


def counted(x: Tensor) -> Any:
    n = x.argmax().item()
    return n + 1, n - 2, n == 1, n * 1.5


WITHOUT_READS = [
    (scaled, [vec(1, 2), vec(-3, 1)]),
    (returned, [vec(1, 2)]),
    (total_of_a_python_loop, [vec(0.1, 0.2)]),
    (total_of_a_tensor_loop, [torch.tensor(0), torch.tensor(1), torch.tensor(7)]),
    (under_a_test, [vec(1, 2), vec(0, 0.5)]),
    (printed, [vec(1, 2)]),
    (arithmetic, [vec(1, 2), vec(0.1, 0.3)]),
]


@pytest.mark.parametrize(("program", "inputs"), WITHOUT_READS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_graph_reads_nothing(program: Callable[..., Any], inputs: list[Tensor]) -> None:
    graphs = Graphs()
    fast = autograph(program, backend=graphs)
    for x in inputs:
        expected, actual = program(x), fast(x)
        assert type(actual) is type(expected)
        assert actual == expected if not isinstance(expected, Tensor) else torch.equal(actual, expected)
    assert graphs.reads() == 0


@pytest.mark.parametrize(("program", "inputs"), WITHOUT_READS, ids=lambda value: getattr(value, "__name__", ""))
def test_nor_does_it_under_plain_torch_compile(program: Callable[..., Any], inputs: list[Tensor]) -> None:
    graphs = Graphs()
    fast = torch.compile(convert(program), backend=graphs, fullgraph=True)
    for x in inputs:
        expected, actual = program(x), fast(x)
        assert type(actual) is type(expected)
        assert actual == expected if not isinstance(expected, Tensor) else torch.equal(actual, expected)
    assert graphs.reads() == 0


def test_integers_are_read_behind_everything_else() -> None:
    graphs = Graphs()

    def program(x: Tensor) -> Any:
        n = x.argmax().item()
        x.add_(1)
        return n, x * 2

    fast = autograph(program, backend=graphs)
    n, doubled = fast(vec(1, 5))
    assert (type(n), n) == (int, 1)
    torch.testing.assert_close(doubled, vec(4, 12))
    order = [node.target for node in graphs.seen[0].graph.nodes]
    assert order.index("item") == len(order) - 2


def test_values_of_the_moment() -> None:
    """What is written to the tensor later does not change a number."""

    def program(x: Tensor) -> Any:
        first = x[0].item()
        count = x.long()[1].item()
        x.zero_()
        return first, count, x + first

    x = vec(3, 4)
    assert program(x.clone())[:2] == (3.0, 4)
    for backend in ("eager", "aot_eager"):
        first, count, added = autograph(program, backend=backend)(x.clone())
        assert (first, count) == (3.0, 4)
        torch.testing.assert_close(added, vec(3, 3))


def test_double_precision() -> None:
    x = vec(0.1, 0.2)
    assert autograph(arithmetic, backend="aot_eager")(x) == arithmetic(x)
    assert autograph(counted, backend="aot_eager")(x) == counted(x)


def test_what_python_refuses_is_refused() -> None:
    def inverse(x: Tensor) -> Any:
        return 1 / x.sum().item()

    fast = autograph(inverse, backend="eager")
    assert fast(vec(4)) == 0.25
    with pytest.raises(ZeroDivisionError):
        fast(vec(0))


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32]
)
@pytest.mark.parametrize("shape", [(), (3,)])
def test_dtypes_are_those_of_python_numbers(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    def program(x: Tensor, t: Tensor, k: Tensor) -> Any:
        s, n = t.item(), k.item()
        return x * s, x + n, s - x, x / s, x > s, x == n, n * x

    given = torch.full(shape, 3).to(dtype), vec(1 / 3)[0], torch.tensor(7)
    for one, other in zip(autograph(program, backend="aot_eager")(*given), program(*given), strict=True):
        assert one.dtype == other.dtype
        torch.testing.assert_close(one, other)


def test_products_of_integers_do_not_wrap() -> None:
    def program(k: Tensor) -> Any:
        n = k.item()
        return n * n > 0

    assert autograph(program, backend="eager")(torch.tensor(2**40)) is True


def test_gradients_pass_beside_a_number() -> None:
    def program(x: Tensor) -> Tensor:
        return (x / x.norm().item()).pow(2).sum()

    gradients = []
    for function in (program, autograph(program, backend="aot_eager")):
        x = vec(3, 4).requires_grad_()
        function(x).backward()
        gradients.append(x.grad)
    torch.testing.assert_close(gradients[1], gradients[0])


def explained(program: Callable[..., Any], *args: Any) -> tuple[Explanation, list[str]]:
    explanation = explain(program, *args)
    return explanation, [site.outcome for site in explanation.sites if site.construct == "number"]


def test_explain_says_what_became_of_every_read() -> None:
    def program(x: Tensor) -> Any:
        scale = x.abs().max().item()
        y = x / scale
        total = y.sum().item()
        z = torch.zeros(int(x.argmax()))
        return y, total, z

    explanation, outcomes = explained(program, vec(1, 2))
    assert outcomes == ["vanished", "moved", "stayed"]
    assert (explanation.waits_before, explanation.waits_after) == (3, 2)
    assert "host waits" in str(explanation)


def test_explain_counts_tests_that_stay() -> None:
    explanation, outcomes = explained(under_a_test, vec(1, 2))
    assert outcomes == ["vanished"]
    assert (explanation.waits_before, explanation.waits_after) == (2, 1)


def test_infinite_bounds() -> None:
    def program(x: Tensor) -> Any:
        best = math.inf
        for k in range(3):
            value = x[k].item()
            if value < best:
                best = value
        return best

    assert autograph(program, backend="eager")(vec(3, 1, 2)) == 1.0
