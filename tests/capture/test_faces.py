"""What `autograph` and `convert` give back behaves like what they were given: functions, methods, modules, classes."""

from __future__ import annotations

import copy
import functools
import inspect
import io
import pickle
from typing import Any

import pytest
import torch

from autograph_torch import AutographError, autograph, convert, do_not_convert

X = torch.tensor([1.0, 2.0])
BOTH = (X, -X)


class Graphs:
    """A backend that counts its graphs and runs them as they are."""

    def __init__(self) -> None:
        self.seen: list[torch.fx.GraphModule] = []

    def __call__(self, graph: torch.fx.GraphModule, _: Any) -> Any:
        self.seen.append(graph)
        return graph


def branch(x: torch.Tensor, scale: float = 1.0, *, shift: float = 0.0) -> torch.Tensor:
    """Scales by the sign of the sum."""
    if x.sum() > 0:
        return x * scale + shift
    return x - scale


class Model(torch.nn.Module):
    """A model with a branch."""

    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        y = self.linear(x)
        if self.training:
            y = y + 10
        if x.sum() > 0:
            y = y * 2
        return y


class Plain:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return branch(x, self.scale)

    def method(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x * self.scale
        return x


def eagerly(target: Any, **options: Any) -> Any:
    return autograph(target, backend="eager", **options)


def same(actual: Any, expected: Any) -> None:
    """Both give the same on both sides of the branch."""
    for x in BOTH:
        torch.testing.assert_close(actual(x), expected(x), rtol=0, atol=0)


# -- functions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("face", [eagerly, convert], ids=["autograph", "convert"])
def test_function_keeps_its_looks(face: Any) -> None:
    made = face(branch)
    same(made, branch)
    assert (made.__name__, made.__qualname__, made.__module__, made.__doc__) == (
        branch.__name__,
        branch.__qualname__,
        branch.__module__,
        branch.__doc__,
    )
    assert inspect.signature(made) == inspect.signature(branch)
    assert torch.equal(made(X, 3.0, shift=1.0), branch(X, 3.0, shift=1.0))


def test_function_is_left_alone() -> None:
    code = branch.__code__
    eagerly(branch)(X)
    assert branch.__code__ is code


@pytest.mark.parametrize(
    "options", [{}, {"backend": "eager"}, {"compile": False}], ids=["bare", "options", "uncompiled"]
)
def test_decorator_with_and_without_options(options: dict[str, Any]) -> None:
    @autograph(**{"backend": "eager", **options})
    def program(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x

    assert torch.equal(program(-X), X)


def test_options_of_torch_compile_pass_through() -> None:
    graphs = Graphs()
    program = autograph(branch, backend=graphs)
    same(program, branch)
    assert len(graphs.seen) == 1
    with pytest.raises(RuntimeError, match="[Uu]nexpected|mode"):
        autograph(branch, mode="no such mode")(X)


def test_dynamic_passes_through() -> None:
    graphs = Graphs()
    program = autograph(branch, backend=graphs, dynamic=True)
    for size in (2, 3, 5):
        assert torch.equal(program(torch.ones(size)), branch(torch.ones(size)))
    assert len(graphs.seen) == 1


def test_not_compiled() -> None:
    graphs = Graphs()
    same(autograph(branch, compile=False, backend=graphs), branch)
    assert graphs.seen == []


def test_keywords_and_defaults() -> None:
    @eagerly
    def program(x: torch.Tensor, /, *rest: torch.Tensor, factor: float = 2.0, **more: float) -> torch.Tensor:
        if x.sum() > 0:
            x = x * factor
        return x + sum(rest) + sum(more.values())

    assert torch.equal(program(X, X, factor=3.0, a=1.0), X * 3 + X + 1)
    assert torch.equal(program(-X), -X)


def test_converted_function_calls_another() -> None:
    inner = eagerly(branch)

    @eagerly
    def outer(x: torch.Tensor) -> torch.Tensor:
        return inner(x) + 1 if x.max() > 0 else inner(x)

    for x in BOTH:
        assert torch.equal(outer(x), branch(x) + (1 if x.max() > 0 else 0))


def test_decorated_twice() -> None:
    same(eagerly(eagerly(branch)), branch)
    same(convert(convert(branch)), branch)


def test_lambda() -> None:
    same(eagerly(lambda x: x if x.sum() > 0 else -x), lambda x: x if x.sum() > 0 else -x)


def test_decorators_above_and_below() -> None:
    def doubled(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any) -> Any:
            return function(*args) * 2

        return call

    @doubled
    @eagerly
    @doubled
    def program(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return x
        return -x

    assert torch.equal(program(-X), X * 4)


def test_partial_and_callable_objects() -> None:
    same(eagerly(functools.partial(branch, scale=3.0)), functools.partial(branch, scale=3.0))
    same(eagerly(Plain(3.0)), Plain(3.0))
    same(convert(Plain(3.0)), Plain(3.0))


# -- methods ---------------------------------------------------------------------------------------


def test_methods_of_a_class() -> None:
    class Methods:
        scale = 3.0

        @eagerly
        def plain(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.scale if x.sum() > 0 else x

        @staticmethod
        @eagerly
        def static(x: torch.Tensor) -> torch.Tensor:
            return x * 3 if x.sum() > 0 else x

        @classmethod
        @eagerly
        def of_class(cls, x: torch.Tensor) -> torch.Tensor:
            return x * cls.scale if x.sum() > 0 else x

    for face in (Methods().plain, Methods.static, Methods.of_class, Methods().static, Methods().of_class):
        same(face, lambda x: x * 3 if x.sum() > 0 else x)


@pytest.mark.parametrize("face", [eagerly, convert], ids=["autograph", "convert"])
def test_decorated_below(face: Any) -> None:
    class Methods:
        scale = 3.0

        @face
        @staticmethod
        def static(x: torch.Tensor) -> torch.Tensor:
            return x * 3 if x.sum() > 0 else x

        @face
        @classmethod
        def of_class(cls, x: torch.Tensor) -> torch.Tensor:
            return x * cls.scale if x.sum() > 0 else x

    for method in (Methods.static, Methods.of_class, Methods().static, Methods().of_class):
        same(method, lambda x: x * 3 if x.sum() > 0 else x)


def test_bound_method() -> None:
    plain = Plain(3.0)
    for face in (eagerly, convert):
        same(face(plain.method), plain.method)


def test_method_of_a_subclass_with_super_and_private_names() -> None:
    class Base:
        def scaled(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2 if x.sum() > 0 else x

    class Derived(Base):
        __shift = 1.0

        @eagerly
        def scaled(self, x: torch.Tensor) -> torch.Tensor:
            y = super().scaled(x)
            if y.max() > 0:
                y = y + self.__shift
            return y

    assert torch.equal(Derived().scaled(X), X * 2 + 1)
    assert torch.equal(Derived().scaled(-X), -X)


# -- module instances ------------------------------------------------------------------------------


@pytest.fixture(params=["autograph", "convert", "not recursive"])
def pair(request: pytest.FixtureRequest) -> tuple[Model, Model]:
    """A model and what is made of it."""
    model = Model()
    if request.param == "convert":
        return model, convert(model)
    return model, eagerly(model, recursive=request.param == "autograph")


def test_module_agrees(pair: tuple[Model, Model]) -> None:
    model, made = pair
    same(made, model)


def test_module_shares_everything(pair: tuple[Model, Model]) -> None:
    model, made = pair
    assert isinstance(made, Model)
    assert made is not model
    assert list(map(id, made.parameters())) == list(map(id, model.parameters()))
    assert made.calls is model.calls and made.linear is model.linear
    assert list(made.state_dict()) == list(model.state_dict())
    made(X)
    assert model.calls == made.calls == 1
    assert (type(made).__name__, type(made).__module__, type(made).__doc__) == ("Model", __name__, Model.__doc__)


def test_original_module_stays_as_it_is(pair: tuple[Model, Model]) -> None:
    model, made = pair
    made(X)
    assert type(model) is Model and Model.forward.__qualname__ == "Model.forward"
    assert not [name for name in vars(model) if "autograph" in name]


def test_module_in_both_modes(pair: tuple[Model, Model]) -> None:
    model, made = pair
    for training in (True, False, True):
        model.train(training)
        made.train(training)
        assert made.training is training and made.linear.training is training
        same(made, model)


def test_module_trains(pair: tuple[Model, Model]) -> None:
    model, made = pair
    expected = torch.autograd.grad(model(X).sum(), model.linear.weight)[0]
    made(X).sum().backward()
    torch.testing.assert_close(model.linear.weight.grad, expected, rtol=0, atol=0)
    torch.optim.SGD(made.parameters(), lr=0.1).step()
    same(made, model)


def test_module_deepcopy(pair: tuple[Model, Model]) -> None:
    model, made = pair
    made(X)
    twin = copy.deepcopy(made)
    assert type(twin).__name__ == "Model" and twin.linear.weight is not made.linear.weight
    same(twin, model)
    with torch.no_grad():
        twin.linear.weight.zero_()
    assert model.linear.weight.abs().sum() > 0
    assert torch.equal(twin(-X), twin.linear.bias + 10)


def test_module_pickle(pair: tuple[Model, Model]) -> None:
    model, made = pair
    made(X)
    twin = pickle.loads(pickle.dumps(made))
    same(twin, model)
    file = io.BytesIO()
    torch.save(made, file)
    file.seek(0)
    same(torch.load(file, weights_only=False), model)


def test_module_load_state_dict(pair: tuple[Model, Model]) -> None:
    _, made = pair
    other = Model()
    made.load_state_dict(other.state_dict())
    other.calls.zero_()
    same(made, other)


def test_module_moves(pair: tuple[Model, Model]) -> None:
    model, made = pair
    same(made, model)
    assert made.to(torch.float64) is made
    assert made.linear.weight.dtype == torch.float64
    for x in BOTH:
        assert torch.equal(made(x.double()), model(x.double()))


def test_hooks_run(pair: tuple[Model, Model]) -> None:
    model, made = pair
    model.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    model.linear.register_forward_hook(lambda module, args, result: result + 1)
    same(made, model)


def test_hooks_can_be_added_later(pair: tuple[Model, Model]) -> None:
    model, made = pair
    before = made(X)
    made.register_forward_hook(lambda module, args, result: result * 2)
    assert torch.equal(made(X), before * 2)


def test_module_as_a_submodule(pair: tuple[Model, Model]) -> None:
    model, made = pair
    same(torch.nn.Sequential(made, torch.nn.Tanh()), torch.nn.Sequential(model, torch.nn.Tanh()))
    same(eagerly(torch.nn.Sequential(made, made)), torch.nn.Sequential(model, model))


def test_module_decorated_twice() -> None:
    model = Model()
    same(eagerly(eagerly(model)), model)
    same(convert(eagerly(model)), model)


def test_module_backend_is_called_once() -> None:
    graphs = Graphs()
    model = Model()
    same(autograph(model, backend=graphs), model)
    assert len(graphs.seen) == 1


def test_module_with_submodules_that_branch() -> None:
    model = torch.nn.Sequential(Model(), torch.nn.ReLU(), Model())
    graphs = Graphs()
    made = autograph(model, backend=graphs)
    same(made, model)
    assert len(graphs.seen) == 1 and isinstance(made, torch.nn.Sequential) and made[0] is model[0]


# -- classes ---------------------------------------------------------------------------------------


def test_module_class() -> None:
    @eagerly
    class Decorated(Model):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = super().forward(x)
            return y + 1 if x.max() > 0 else y

    model = Decorated()
    plain = Model()
    plain.load_state_dict(model.state_dict())
    assert isinstance(model, Model)
    assert Decorated.__name__ == "Decorated"
    assert list(model.state_dict()) == list(plain.state_dict())
    assert torch.equal(model(X), plain(X) + 1)
    assert torch.equal(model(-X), plain(-X))


def test_class_with_options() -> None:
    graphs = Graphs()

    @autograph(backend=graphs)
    class Decorated(Model):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x if x.sum() > 0 else -x

    assert torch.equal(Decorated()(-X), X)
    assert len(graphs.seen) == 1


@pytest.mark.parametrize("face", [eagerly, convert], ids=["autograph", "convert"])
def test_class_with_call(face: Any) -> None:
    made = face(Plain)
    assert issubclass(made, Plain) and made.__qualname__ == "Plain"
    same(made(3.0), Plain(3.0))


def test_class_without_entry_point() -> None:
    class Empty:
        pass

    with pytest.raises(TypeError, match="has no __call__ method"):
        autograph(Empty)


# -- do_not_convert --------------------------------------------------------------------------------


def test_do_not_convert_gives_the_function_back() -> None:
    def kept(x: torch.Tensor) -> torch.Tensor:
        return x

    assert do_not_convert(kept) is kept


def skips(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:  # autograph: skip
        return x
    return -x


def skipped(x: torch.Tensor) -> torch.Tensor:  # autograph: skip
    return x if x.sum() > 0 else -x


def calls_skipped(x: torch.Tensor) -> torch.Tensor:
    x = skipped(x)
    if x.sum() > 3:
        x = x * 2
    return x


@pytest.mark.parametrize("function", [skips, skipped, calls_skipped])
def test_comments_that_skip_hold_for_live_functions(function: Any) -> None:
    with pytest.raises(AutographError):
        autograph(function, backend="eager")(X)
    assert torch.equal(convert(function)(X), function(X))


def test_defaults_that_are_changed_are_those_of_the_compiled_function() -> None:
    def scaled(x: torch.Tensor, by: float = 2.0, *, plus: float = 0.0) -> torch.Tensor:
        return x * by + plus if x.sum() > 0 else x

    fast = autograph(scaled, backend="eager")
    assert torch.equal(fast(X), X * 2)
    scaled.__defaults__ = (4.0,)
    assert torch.equal(fast(X), X * 4)
    scaled.__kwdefaults__ = {"plus": 1.0}
    assert torch.equal(fast(X), X * 4 + 1)


def test_what_is_kept_note_of_for_one_module_is_not_for_another() -> None:
    """torch takes sizes that differ between two calls of one function for unknown; two models are two functions."""

    class Small(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 2 if x.sum() > 0 else x

    class Large(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 3 if x.sum() > 0 else x

    graphs = Graphs()
    for model, size in ((Small(), 3), (Large(), 5)):
        autograph(model, backend=graphs)(torch.ones(size))
    for graph, size in zip(graphs.seen, (3, 5), strict=True):
        (given,) = (node for node in graph.graph.nodes if node.op == "placeholder")
        assert list(given.meta["example_value"].shape) == [size]
