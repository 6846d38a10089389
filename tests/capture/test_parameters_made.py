"""Parameters and modules that the function makes: values, gradients, types and shared memory are eager's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, autograph, convert, trace
from autograph_torch.capture.parameters_made import parameters_made
from tests.harness import leave_out, vec

FOLLOWED = "ignore::autograph_torch.diagnostics.OnePathWarning"
DATA = ((1, 2, 3), (-1, 0.5, 0), (2, 4, 6))


def by_hand(x: Tensor) -> tuple[Tensor, Tensor]:
    w = nn.Parameter(torch.zeros(3))
    for _ in range(3):
        loss = (w - x).square().sum()
        (g,) = torch.autograd.grad(loss, w)
        with torch.no_grad():
            if g.norm() > 1:
                g = g / g.norm()
            w -= 0.1 * g
    return w.detach().clone(), loss.detach()


def backward(x: Tensor) -> tuple[Any, ...]:
    w = nn.Parameter(torch.ones(3))
    y = w * x if x.sum() > 0 else w - x
    y.sum().backward()
    return w.grad, type(w).__name__, w.is_leaf, w.requires_grad, isinstance(w, nn.Parameter)


def several(x: Tensor) -> list[Any]:
    ws = [nn.Parameter(x * i) for i in range(3)]
    sum([(w * w).sum() for w in ws], torch.zeros(())).backward()
    return [w.grad for w in ws]


def trained(x: Tensor) -> tuple[Any, ...]:
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(2):
        optimizer.zero_grad()
        loss = (net(x) - 1).square().sum()
        loss.backward()
        optimizer.step()
    if loss < 0.5:
        loss = loss * 2
    return loss.detach(), [p.detach().clone() for p in net.parameters()]


def clipped(x: Tensor) -> Any:
    w = nn.Parameter(torch.ones(3))
    (w * x).sum().backward()
    nn.utils.clip_grad_norm_([w], 1.0)
    return w.grad


def returned(x: Tensor) -> tuple[Any, ...]:
    w = nn.Parameter(x * 2)
    return w, w.requires_grad, w.is_leaf, (w * x).sum(), w * 3


def with_memory_of_its_own(x: Tensor) -> tuple[Tensor, ...]:
    y = x * 2
    w = nn.Parameter(y)
    with torch.no_grad():
        if x.sum() > 0:
            y.add_(1)
        else:
            w.mul_(3)
    return w * 2, w, y


def of_the_argument(x: Tensor) -> tuple[Tensor, Tensor]:
    w = nn.Parameter(x)
    if x.sum() > 0:
        x.add_(1)
    return (w * 2).detach(), w


def of_a_view(x: Tensor) -> tuple[Tensor, Tensor]:
    w = nn.Parameter(torch.stack([x, x * 2]).t())
    return w, w.sum(1)


def in_a_loop(x: Tensor) -> tuple[Tensor, Tensor]:
    w = nn.Parameter(x * 1)
    with torch.no_grad():
        while w.abs().sum() < 20:
            w.mul_(2)
    return w * 2, w


def on_some_paths(x: Tensor) -> Tensor:
    w = nn.Parameter(torch.ones(3))
    if x.sum() > 0:
        return w
    return w * x


def without_gradient(x: Tensor) -> tuple[Any, ...]:
    w = nn.Parameter(x * 2, requires_grad=False)
    return w, w.requires_grad, nn.Parameter(w, requires_grad=False) is w


def module(x: Tensor) -> tuple[Tensor, ...]:
    layer, norm = nn.Linear(3, 2), nn.BatchNorm1d(2)
    y = norm(layer(x * torch.arange(4.0)[:, None]))
    if y.sum() > 0:
        y = y * 2
    return y, layer.weight, norm.weight, norm.running_mean  # type: ignore[return-value]


def embedded(x: Tensor) -> Tensor:
    return nn.Embedding(4, 3)(torch.tensor([1, 2])) * x


def trained_and_returned(x: Tensor) -> nn.Parameter:
    w = nn.Parameter(torch.ones(3))
    (w * x).sum().backward()
    return w


_INSIDE = (by_hand, backward, several, trained, trained_and_returned, clipped)
_RESULTS = (returned, with_memory_of_its_own, of_the_argument, of_a_view, in_a_loop, on_some_paths, without_gradient)
_MODULES = (module, embedded)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _tensors(one)


def _outcome(function: Callable[..., object], data: tuple[float, ...]) -> tuple[Any, ...]:
    """What a call gives, its gradients, and what shares memory: parameters are written to behind it."""
    torch.manual_seed(1)
    x = vec(*data)
    result = function(x)
    tensors = list(_tensors(result))
    leaves = [one for one in tensors if one.is_leaf and one.requires_grad]
    described = [(type(one), one.requires_grad, one.is_leaf, one.stride()) for one in tensors]
    values = [one.detach().clone() for one in tensors]
    losses = [one.sum() for one in tensors if one.requires_grad]
    if losses:
        torch.stack(losses).sum().backward()
    with torch.no_grad():
        for parameter in (one for one in tensors if isinstance(one, nn.Parameter)):
            parameter.mul_(2)
    others = [one for one in result if not isinstance(one, Tensor)] if isinstance(result, tuple) else []
    return described, values, [one.grad for one in leaves], [one.detach() for one in tensors], x, str(others)


@pytest.mark.filterwarnings(FOLLOWED)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("function", [*_INSIDE, *_RESULTS, *_MODULES])
def test_as_in_eager(function: Callable[..., object], backend: str) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend=backend, fullgraph=True)
    for data in DATA:
        expected, found = _outcome(function, data), _outcome(compiled, data)
        assert found[0] == expected[0]
        if "Tensor" not in expected[-1] and "tensor" not in expected[-1]:
            assert found[-1] == expected[-1]
        torch.testing.assert_close(found[1:-1], expected[1:-1])


def test_by_inductor() -> None:
    for function in (by_hand, returned, with_memory_of_its_own, of_a_view):
        torch._dynamo.reset()
        compiled = torch.compile(convert(function), backend="inductor", fullgraph=True)
        torch.testing.assert_close(_outcome(compiled, DATA[0])[1:-1], _outcome(function, DATA[0])[1:-1])


def trained_on_a_path(x: Tensor) -> tuple[Any, ...]:
    layer = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), 0.1)
    seen = {}
    for i in range(3):
        optimizer.zero_grad()
        loss = layer(x).square().sum()
        loss.backward()
        optimizer.step()
        seen[int(loss * 100)] = i
    return loss.detach(), layer.weight.detach().clone(), sorted(seen)


def returned_on_a_path(x: Tensor) -> tuple[Any, ...]:
    w = nn.Parameter(x * 3)
    return w, (w * x).sum(), len({int(e): e for e in w})


def of_the_argument_on_a_path(x: Tensor) -> tuple[Any, ...]:
    w = nn.Parameter(x)
    with torch.no_grad():
        w += 1
    return w, sorted({int(e): 1 for e in w})


def made_in_a_branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        w = nn.Parameter(x * 2)
    else:
        w = nn.Parameter(x - 1)
    return w


@pytest.mark.filterwarnings(FOLLOWED)
@pytest.mark.parametrize(
    "function", [trained_on_a_path, returned_on_a_path, of_the_argument_on_a_path, made_in_a_branch]
)
def test_on_one_path(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    for data in DATA:
        expected, found = _outcome(function, data), _outcome(compiled, data)
        assert (found[0], found[-1]) == (expected[0], expected[-1])
        torch.testing.assert_close(found[1:-1], expected[1:-1])


def raises_behind(x: Tensor) -> Tensor:
    w = nn.Parameter(x[:2])
    with torch.no_grad():
        w += 1
    if x.sum() > 10:
        raise ValueError("large")
    return w.detach().clone()


def test_a_call_that_raises_runs_once_more() -> None:
    decorated = autograph(raises_behind, backend="eager")
    for data in ((1, 2, 3), (9, 9, 9)):
        outcomes = []
        for function in (raises_behind, decorated):
            x = vec(*data)
            try:
                outcomes.append((x, function(x)))
            except ValueError as error:
                outcomes.append((x, str(error)))
        (expected_x, expected), (found_x, found) = outcomes
        torch.testing.assert_close(found_x, expected_x)
        assert str(found) == str(expected)


def test_of_another_size() -> None:
    compiled = torch.compile(convert(returned), backend="eager", fullgraph=True)
    for data in ((1, 2), (1, 2, 3), (1, 2, 3, 4)):
        torch.testing.assert_close(_outcome(compiled, data)[1:-1], _outcome(returned, data)[1:-1])


class Lazy(nn.Module):
    """A layer that the first call makes, and a parameter that each call makes anew."""

    def __init__(self) -> None:
        super().__init__()
        self.layer: nn.Linear | None = None
        self.offset = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        if self.layer is None:
            self.layer = nn.Linear(3, 1)
        y = self.layer(x) + self.offset
        self.offset = nn.Parameter(self.offset.detach() + 1)
        return y * 2 if y.sum() > 0 else y


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_modules_keep_them(backend: str) -> None:
    torch._dynamo.reset()
    outcomes = []
    for convert_it in (False, True):
        torch.manual_seed(2)
        model = Lazy()
        called = torch.compile(convert(model), backend=backend, fullgraph=True) if convert_it else model
        results = [called(vec(*data)) for data in DATA]
        torch.cat(results).sum().backward()
        named = list(model.named_parameters())
        assert all(type(one) is nn.Parameter and one.is_leaf for _, one in named)
        outcomes.append((results, {name: (one.detach(), one.grad) for name, one in named}))
    torch.testing.assert_close(*outcomes)


@pytest.mark.parametrize("function", [returned, of_the_argument])
def test_traced_graphs_take_what_the_function_takes(function: Callable[..., Any]) -> None:
    graph = trace(function, vec(1, 2, 3))
    assert len(graph.graph.find_nodes(op="placeholder")) == 1
    for data in DATA:
        computed = [one for one in _tensors(function(vec(*data))) if not isinstance(one, nn.Parameter)]
        torch.testing.assert_close(list(graph(vec(*data))), computed)


def of_a_size_from_data(x: Tensor) -> Tensor:
    return nn.Parameter(x[x > 0]) * 2


def frozen(x: Tensor) -> Tensor:
    w = nn.Parameter(torch.ones(3))
    w.requires_grad_(False)
    return w * x


def of_integers(x: Tensor) -> nn.Parameter:
    return nn.Parameter(x.long())


class Marked(Tensor):
    """A class of tensors."""


def of_a_subclass(x: Tensor) -> Tensor:
    return nn.Parameter(x.as_subclass(Marked)) * 2  # type: ignore[arg-type]


def of_nothing(x: Tensor) -> Tensor:
    return nn.Parameter() + x  # type: ignore[call-arg]


@pytest.mark.parametrize(
    "function",
    [of_a_subclass, of_nothing, of_a_size_from_data, frozen, of_integers, made_in_a_branch],
)
def test_what_is_left_out_is_refused(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    with pytest.raises((CaptureError, RuntimeError)):
        torch.compile(convert(function), backend="eager", fullgraph=True)(vec(1, 2, 3))


def written_with_gradients(x: Tensor) -> Tensor:
    y = x * 2
    w = nn.Parameter(y)
    y.add_(1)
    return w * 2


def of_a_part_of_the_argument(x: Tensor) -> Tensor:
    w = nn.Parameter(x[:2])
    with torch.no_grad():
        w += 1
    return w


@pytest.mark.parametrize("function", [written_with_gradients, of_a_part_of_the_argument])
def test_writes_that_only_eager_passes_on(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    torch.testing.assert_close(_outcome(compiled, DATA[0])[1:-1], _outcome(function, DATA[0])[1:-1])
    with pytest.raises(CaptureError, match=r"test_parameters_made\.py:\d+.*the memory of a parameter"):
        torch.compile(convert(function), backend="aot_eager", fullgraph=True)(vec(1, 2, 3))


def test_torch_alone_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, parameters_made)
    with pytest.raises(CaptureError, match=r"torch\.nn\.Parameter\(\)` constructor"):
        torch.compile(convert(returned), backend="eager", fullgraph=True)(vec(1, 2, 3))
