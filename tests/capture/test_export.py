"""`trace` gives Dynamo's one graph, `export` an ExportedProgram; both do what eager Python does."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch.export import Dim

from autograph_torch import CaptureError, ConversionError, autograph, convert, export, trace

X = torch.tensor([1.0, 2.0])
BOTH = [X, -X]


def branch(x: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    if x.sum() > 0:
        return x + scale
    return x - scale


def loop(x: torch.Tensor) -> torch.Tensor:
    while x.sum() > 1:
        x = x / 2
    return x


class Model(torch.nn.Module):
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.method(x)

    def method(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        if x.sum() > 0:
            y = y * 2
        return y


class Counting(Model):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return self.method(x)


def operators(graph: torch.fx.GraphModule) -> list[str]:
    return [
        getattr(node.target, "__name__", str(node.target)) for node in graph.graph.nodes if node.op == "call_function"
    ]


@pytest.mark.parametrize("x", BOTH)
def test_trace_of_a_function(x: torch.Tensor) -> None:
    graph = trace(branch, X)
    assert isinstance(graph, torch.fx.GraphModule)
    assert operators(graph).count("cond") == 1
    assert torch.equal(graph(x)[0], branch(x))


def test_trace_of_a_loop() -> None:
    graph = trace(loop, X)
    assert operators(graph).count("while_loop") == 1
    for x in (X, X * 8, -X):
        assert torch.equal(graph(x)[0], loop(x))


def test_trace_flattens_the_arguments() -> None:
    def pair(both: dict[str, torch.Tensor], *, bias: torch.Tensor) -> torch.Tensor:
        return both["a"] * both["b"] + bias

    a, b, bias = X, X * 3, -X
    assert torch.equal(trace(pair, {"a": a, "b": b}, bias=bias)(a, b, bias)[0], a * b + bias)


@pytest.mark.parametrize("x", BOTH)
def test_trace_holds_parameters(x: torch.Tensor) -> None:
    model = Model()
    graph = trace(model, X)
    assert len([node for node in graph.graph.nodes if node.op == "placeholder"]) == 1
    assert torch.equal(graph(x)[0], model(x))
    assert {id(p) for p in graph.parameters()} == {id(p) for p in model.parameters()}


def test_trace_runs_nothing() -> None:
    model, x, calls = Counting(), X.clone(), []

    def effect(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return model(x.add_(1))

    trace(effect, x)
    assert calls == [] and torch.equal(x, X) and model.calls == 0


def test_trace_again_with_another_shape() -> None:
    for size in (2, 3, 4):
        x = torch.ones(size)
        assert torch.equal(trace(branch, x)(x)[0], branch(x))


@pytest.mark.parametrize(
    "make",
    [autograph, convert, functools.partial, lambda f: autograph(f, backend="eager")],
    ids=["autograph", "convert", "partial", "backend"],
)
def test_trace_of_what_is_converted_already(make: Any) -> None:
    assert torch.equal(trace(make(branch), X)(-X)[0], branch(-X))


def test_trace_of_a_decorated_class() -> None:
    model = autograph(Model)()
    assert torch.equal(trace(model, X)(-X)[0], model.method(-X))


def test_trace_refuses() -> None:
    def shapes(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else x.sum()

    with pytest.raises(CaptureError, match="AG310"):
        trace(shapes, X)
    with pytest.raises(CaptureError, match="nothing with tensors"):
        trace(lambda x: 1, X)
    with pytest.raises(ConversionError, match="AG302"):
        trace(len, [X])


@pytest.mark.parametrize(
    ("model", "args"),
    [
        (branch, (X,)),
        (loop, (X,)),
        (Model(), (X,)),
        (Counting(), (X,)),
        (Model().method, (X,)),
        (functools.partial(branch, scale=3.0), (X,)),
        (autograph(Model()), (X,)),
        (autograph(branch), (X,)),
        (autograph(Model)(), (X,)),
        (torch.nn.Sequential(Model(), Model()), (X,)),
    ],
    ids=["function", "loop", "module", "buffer", "method", "partial", "autograph module", "autograph function",
         "autograph class", "sequential"],
)  # fmt: skip
def test_export_equals_eager(model: Any, args: tuple[Any, ...]) -> None:
    program = export(model, args)
    assert isinstance(program, torch.export.ExportedProgram)
    for x in (X, -X, X * 100):
        assert torch.equal(program.module()(x), model(x))


def test_export_keeps_names_of_parameters() -> None:
    assert set(export(Model(), (X,)).state_dict) == {"linear.weight", "linear.bias", "calls"}


def test_export_passes_options_and_keywords() -> None:
    batch = torch.ones(3, 2)
    program = export(branch, (batch,), {"scale": 2.0}, dynamic_shapes={"x": {0: Dim.DYNAMIC}, "scale": None})
    for x in (batch, torch.ones(7, 2), -torch.ones(5, 2)):
        assert torch.equal(program.module()(x, scale=2.0), branch(x, scale=2.0))


def test_export_can_be_saved(tmp_path: Any) -> None:
    file = tmp_path / "model.pt2"
    torch.export.save(export(branch, (X,)), file)
    assert torch.equal(torch.export.load(file).module()(-X), branch(-X))


def test_export_is_strict() -> None:
    assert export(branch, (X,), strict=True)
    with pytest.raises(ValueError, match="strict=True"):
        export(branch, (X,), strict=False)


def test_export_leaves_the_module_alone() -> None:
    model = Counting()
    cls = type(model)
    export(model, (X,))
    assert type(model) is cls and model.calls == 0


@pytest.mark.parametrize("body", ["shape", "unsupported", "symbol"])
def test_export_tells_errors_in_the_users_terms(body: str) -> None:
    def shape(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else x.sum()

    def unsupported(x: torch.Tensor) -> Any:
        return x.numpy().tolist() if x.sum() > 0 else [0.0]

    def symbol(x: torch.Tensor) -> torch.Tensor:
        return torch.ones([2, 3, 4][int(x.sum())])

    with pytest.raises(CaptureError) as caught:
        export({"shape": shape, "unsupported": unsupported, "symbol": symbol}[body], (X,))
    diagnostic = caught.value.diagnostic
    assert diagnostic.filename == __file__
    assert "return" in diagnostic.snippet
    assert str(caught.value) == diagnostic.render()


class Checked(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("sum", x.sum())
        if x.min() < 0:
            raise ValueError(f"lowest is {x.min()}")
        assert x.max() < 10, "too large"
        return x * 2


def test_export_drops_effects_and_asserts(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    program = export(Checked(), (torch.ones(2),))
    assert "autograph_torch.effect" not in str(program.graph_module.code)
    torch.export.save(program, tmp_path / "checked.pt2")
    loaded = torch.export.load(tmp_path / "checked.pt2").module()
    torch.testing.assert_close(loaded(torch.ones(2)), torch.full((2,), 2.0))
    for bad, message in ((-torch.ones(2), "ValueError: lowest"), (torch.full((2,), 20.0), "AssertionError: too large")):
        with pytest.raises(RuntimeError, match=message):
            loaded(bad)
    assert capsys.readouterr().out == ""


def test_export_keeps_effects_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    program = export(Checked(), (torch.ones(2),), effects="keep").module()
    torch.testing.assert_close(program(torch.ones(2)), torch.full((2,), 2.0))
    assert capsys.readouterr().out == "sum tensor(2.)\n"
    with pytest.raises(ValueError, match="lowest is -1"):
        program(-torch.ones(2))


def test_export_of_unknown_effects() -> None:
    with pytest.raises(ValueError, match="drop"):
        export(Checked(), (torch.ones(2),), effects="later")  # type: ignore[arg-type]
