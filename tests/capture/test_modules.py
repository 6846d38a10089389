"""A converted module and the one it was made of: two objects with one state."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from autograph_torch import autograph, convert
from tests.harness import vec

X = vec(1.0, 2.0)
Made = Callable[[nn.Module], Any]


def _compiled(model: nn.Module) -> Any:
    return autograph(model, backend="eager")


def _compiled_by_torch(model: nn.Module) -> Any:
    return torch.compile(convert(model), fullgraph=True, backend="eager")


def _forward_alone(model: nn.Module) -> Any:
    return autograph(model, backend="eager", recursive=False)


WAYS = pytest.mark.parametrize("made", [_compiled, _compiled_by_torch, _forward_alone, convert])


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Identity()
        self.inner.parents = (self,)
        self.step = self._step
        self.scaled = lambda x: x * self.scale
        self.scale, self.calls = 3, 0
        self.seen: list[object] = []
        self.seen.append(self.seen)

    def _step(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.level

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        self.level = x * 2 if x.sum() > 0 else -x
        y = self.step(self.inner(x)) * self.inner.parents[0].level
        return self.scaled(y if self.training else y + 1)


def _expected(x: torch.Tensor, scale: int, training: bool) -> torch.Tensor:
    level = x * 2 if x.sum() > 0 else -x
    return (x * level * level + (0 if training else 1)) * scale


@WAYS
def test_what_is_set_on_either_reaches_both(made: Made) -> None:
    model = Layer()
    fast = made(model)

    def check(scale: int, training: bool) -> None:
        for x in (X, -X):
            calls = model.calls
            assert torch.equal(fast(x), _expected(x, scale, training))
            assert model.calls == fast.calls == calls + 1
            assert fast.level is model.level

    check(3, True)
    model.eval()
    check(3, False)
    fast.train()
    check(3, True)
    model.scale = 5
    check(5, True)
    fast.scale = 7
    check(7, True)
    assert model.scale == 7


@WAYS
def test_methods_and_hooks_of_one_object_are_used(made: Made) -> None:
    model = Layer()
    fast = made(model)
    assert torch.equal(fast(X), _expected(X, 3, True))
    model._step = lambda x: x * 0
    model.step = model._step
    assert torch.equal(fast(X), X * 0)
    model.forward = lambda x: x + 1
    assert torch.equal(fast(X), X + 1)
    handle = fast.register_forward_hook(lambda module, args, result: result * module.scale)
    assert torch.equal(fast(X), (X + 1) * 3)
    handle.remove()
    del model.forward
    assert torch.equal(fast(-X), X * 0)


def test_everything_is_shared() -> None:
    model = Layer()
    converted = convert(model)
    again = convert(converted)
    assert vars(converted) is vars(again) is vars(model)
    assert isinstance(converted, Layer) and type(model) is Layer


def test_copies_share_nothing() -> None:
    model = Layer()
    model(X)
    converted = convert(model)
    for copied in (copy.deepcopy, copy.copy):
        twin, plain = copied(converted), copied(model)
        assert type(twin).__call__ is not Layer.__call__
        twin.scale = plain.scale = 5
        assert (model.scale, converted.scale) == (3, 3)
        assert torch.equal(twin(X), plain(X)) and twin.calls == plain.calls == 2
    assert copy.deepcopy(converted).step.__self__ is not model


def _with_attribute(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    model.scale += 1
    y = model(x)
    model.calls += 10
    return y * model.calls + model.level


def _recursive(function: Any) -> Any:
    return autograph(function, backend="eager")


def _itself_alone(function: Any) -> Any:
    return autograph(function, backend="eager", recursive=False)


def _by_torch(function: Any) -> Any:
    return torch.compile(function, backend="eager", fullgraph=True)


@pytest.mark.parametrize("compiled", [_recursive, _itself_alone, _by_torch])
@WAYS
def test_a_function_around_sees_one_object(made: Made, compiled: Any) -> None:
    if made is _compiled_by_torch:
        pytest.skip("the object is torch's own wrapper")
    model, plain = Layer(), Layer()
    fast, step = made(model), compiled(_with_attribute)
    for x in (X, -X, X):
        assert torch.equal(step(fast, x), _with_attribute(plain, x))
        assert (model.scale, model.calls) == (fast.scale, fast.calls) == (plain.scale, plain.calls)


def test_a_function_may_reach_it_as_both() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        fast.scale = 2
        y = model(x) + fast(x)
        model.scale = 4
        return y + fast.scale

    model = Layer()
    fast = autograph(model, backend="eager")
    assert torch.equal(autograph(step, backend="eager")(X), 2 * _expected(X, 2, True) + 4)
    assert model.calls == 2


class Slotted(nn.Module):
    __slots__ = ("gain",)

    def __init__(self) -> None:
        super().__init__()
        self.gain = 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.gain if x.sum() > 0 else x


@WAYS
def test_slots_are_shared(made: Made) -> None:
    model = Slotted()
    fast = made(model)
    assert torch.equal(fast(X), X * 2)
    fast.gain = 3
    assert model.gain == 3 and torch.equal(fast(X), X * 3)
    model.gain = 5
    assert fast.gain == 5 and torch.equal(fast(X), X * 5)
    assert torch.equal(fast(-X), -X)


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(vec(2.0, 3.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight if x.sum() > 0 else x


class Doubled(nn.Module):
    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        return weight * 2


@pytest.mark.parametrize("made", [_compiled, _forward_alone, convert])
def test_torch_may_make_a_class_of_the_converted_one(made: Made) -> None:
    fast = made(Scaled())
    nn.utils.parametrize.register_parametrization(fast, "weight", Doubled())
    assert torch.equal(fast(X), X * vec(4.0, 6.0))
    assert torch.equal(fast(-X), -X)


@pytest.mark.parametrize("made", [_compiled, _forward_alone, convert])
def test_pickled_it_is_converted_again(made: Made) -> None:
    fast = made(Scaled())
    again = pickle.loads(pickle.dumps(fast))
    again.load_state_dict({"weight": vec(5.0, 7.0)})
    assert torch.equal(again(X), X * vec(5.0, 7.0)) and torch.equal(fast(X), X * vec(2.0, 3.0))
    assert type(again).__call__ is not Scaled.__call__
