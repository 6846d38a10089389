"""What is left alone: by function, by module, and outside of converted calls. Nothing is kept alive."""

from __future__ import annotations

import gc
import types
import weakref
from collections.abc import Iterator

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert, do_not_convert
from autograph_torch.capture import policy
from tests.capture import third_party

X = torch.tensor([1.0, 2.0])


@pytest.fixture
def unchanged_policy(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(policy, "_modules_left_out", [])
    yield
    policy.may_enter.cache_clear()


@pytest.mark.parametrize("name", ["tests.capture.third_party", "tests"])
def test_module_by_name(name: str, unchanged_policy: None) -> None:
    do_not_convert(name)

    def run(x: torch.Tensor) -> torch.Tensor:
        return third_party.clip(x)

    with pytest.raises(CaptureError):
        autograph(run, backend="eager")(X)


def test_unknown_module() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        do_not_convert("no_such_module")


def test_the_library_stays_as_it_is() -> None:
    before = third_party.clip, third_party.clip.__code__
    autograph(lambda x: third_party.clip(x), backend="eager")(X)
    assert (third_party.clip, third_party.clip.__code__) == before
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(third_party.clip, backend="eager", fullgraph=True)(X)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(x)
        if y.sum() > 0:
            return third_party.clip(y)
        return y


def test_models_are_not_kept_alive() -> None:
    model = Model()
    compiled = autograph(model, backend="eager")
    compiled(X)
    references = [weakref.ref(model), weakref.ref(compiled), weakref.ref(model.linear.weight)]
    del model, compiled
    torch._dynamo.reset()
    gc.collect()
    assert [reference() for reference in references] == [None, None, None]


def test_functions_and_what_they_close_over_are_not_kept_alive() -> None:
    def factory() -> tuple[weakref.ref[types.FunctionType], weakref.ref[torch.Tensor]]:
        weight = torch.ones(2)

        def inner(x: torch.Tensor) -> torch.Tensor:
            return x * weight if x.sum() > 0 else x

        torch.compile(convert(lambda x: inner(x)), backend="eager", fullgraph=True)(X)
        return weakref.ref(inner), weakref.ref(weight)

    references = factory()
    torch._dynamo.reset()
    gc.collect()
    assert [reference() for reference in references] == [None, None]


def test_what_stands_for_a_missing_module_is_not_asked() -> None:
    class Missing:
        def __getattr__(self, name: str) -> object:
            raise ImportError("not installed")

    missing = Missing()

    def function(x: torch.Tensor, use: bool = False) -> torch.Tensor:
        if use:
            return missing.double(x)
        return x * 2 if x.sum() > 0 else x

    compiled = torch.compile(convert(function), backend="eager", fullgraph=True)
    assert torch.equal(compiled(X), function(X))
