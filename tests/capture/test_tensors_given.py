"""Facts of tensors from outside that change between the calls of one compiled function: as in eager."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import Buffer, Parameter

from autograph_torch import CaptureError
from autograph_torch.capture import tensors_given
from tests.calls_in_turn import differing_calls
from tests.harness import compiled, leave_out, vec


def leaf() -> Tensor:
    return torch.tensor([1.0, 2.0], requires_grad=True)


def retaining() -> Tensor:
    tensor = leaf() * 2
    tensor.retain_grad()
    return tensor


def hooked() -> Tensor:
    tensor = leaf()
    tensor.register_hook(lambda gradient: gradient)
    return tensor


MAKERS: dict[str, Callable[[], Tensor]] = {
    "plain": lambda: vec(1, 2),
    "buffer": lambda: Buffer(vec(1, 2)),
    "leaf": leaf,
    "buffer that records": lambda: Buffer(leaf()),
    "computed": lambda: leaf() * 2,
    "second of two": lambda: torch.cat([leaf(), leaf()]).split(2)[1],
    "retaining": retaining,
    "parameter": lambda: Parameter(vec(1, 2)),
    "view": lambda: vec(1, 2, 3)[:2],
    "hooked": hooked,
}


def in_turn(function: Callable[..., Any], backwards: bool = False) -> list[str]:
    made = [(make(),) for make in MAKERS.values()]
    makers = [lambda given=given: given for given in (reversed(made) if backwards else made)]
    return differing_calls(lambda: (function, makers))


def of_a_leaf(x: Tensor, w: Tensor) -> Any:
    return x * 2 if w.is_leaf else x, any(not one.is_leaf for one in [w])


def of_a_step(x: Tensor, w: Tensor) -> Any:
    return x * 2 if w.grad_fn is None else x, getattr(w, "grad_fn", None) is not None


def of_the_same_tensor(x: Tensor, w: Tensor) -> Any:
    same = w.contiguous()
    return x * 2 if same.is_leaf else x, same.grad_fn is None, w.to(x.dtype).is_leaf, isinstance(same, Buffer)


def of_either(x: Tensor, w: Tensor) -> Any:
    either = w if x.sum() > 0 else w * 2
    return x, 1 if either.grad_fn is None or not either.requires_grad else 2


def of_its_place(x: Tensor, w: Tensor) -> Any:
    return x * w.output_nr, 1 if w.retains_grad else 2


def of_a_buffer(x: Tensor, w: Tensor) -> Any:
    return x * 2 if isinstance(w, Buffer) else x, isinstance(w, (int, Buffer)), isinstance(w, (int, (str, Parameter)))


def of_the_class(x: Tensor, w: Tensor) -> Any:
    names = [kind.__name__ for kind in (type(w), w.__class__)]
    return x, names, type(w) is Tensor, issubclass(type(w), Buffer), type(w) in (Tensor, Parameter)


def matched(x: Tensor, w: Tensor) -> Any:
    match w:
        case Buffer():
            return x * 2
        case Parameter():
            return x * 3
        case _:
            return x


@functools.singledispatch
def kind_of(w: Any) -> str:
    return "other"


@kind_of.register
def _(w: Tensor) -> str:
    return "tensor"


@kind_of.register
def _(w: Buffer) -> str:
    return "buffer"


def dispatched(x: Tensor, w: Tensor) -> Any:
    return x, kind_of(w)


class Holder(torch.nn.Module):
    def __init__(self, w: Tensor) -> None:
        super().__init__()
        self.w = w


def held(x: Tensor, w: Tensor) -> Any:
    holder = Holder(w)
    return x * len(list(holder.parameters())), len(list(holder.buffers()))


def private(x: Tensor, w: Tensor) -> Any:
    hooks = w._backward_hooks
    return x * 2 if w._base is None else x, 1 if w._base is x else 2, 0 if hooks is None else len(hooks)


ALL = [
    of_a_leaf,
    of_a_step,
    of_the_same_tensor,
    of_either,
    of_its_place,
    of_a_buffer,
    of_the_class,
    matched,
    dispatched,
]
ALL += [held, private]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("function", ALL, ids=lambda one: one.__name__)
def test_in_turn(function: Callable[..., Any], backwards: bool) -> None:
    assert not in_turn(function, backwards)


def refused(x: Tensor, w: Tensor) -> Any:
    return x * 2 if w[:1]._base is w else x


def of_a_registered_hook(x: Tensor, w: Tensor) -> Any:
    w.register_hook(lambda gradient: gradient)
    return x * 2 if w._backward_hooks else x


def of_a_part(x: Tensor, w: Tensor) -> Any:
    return x * w[:1].untyped_storage().size()


@pytest.mark.parametrize("function", [refused, of_a_registered_hook, of_a_part], ids=lambda one: one.__name__)
def test_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(CaptureError, match="AG320"):
        compiled(function)(vec(1, 2), leaf())


def of_the_memory(x: Tensor, w: Tensor) -> Any:
    return x * w.untyped_storage().size()


def test_the_size_of_a_storage() -> None:
    makers = (lambda: (vec(1, 2),), lambda: (vec(1, 2, 3)[:2],), lambda: (vec(3, 4),))
    assert not differing_calls(lambda: (of_the_memory, makers))


def test_the_class_of_a_buffer() -> None:
    assert not differing_calls(lambda: (of_the_class, [lambda: (Buffer(leaf()),), lambda: (leaf(),)]))


def test_one_graph_for_parameters_and_one_for_the_answers() -> None:
    run = compiled(of_a_leaf)
    with torch._dynamo.config.patch(error_on_recompile=True):
        for _ in range(3):
            run(vec(1), Parameter(vec(1, 2)))


def test_without_this(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may go when torch.compile asks later calls."""
    leave_out(monkeypatch, tensors_given.tensors_given)
    for function in (of_a_leaf, of_a_step, of_its_place, of_a_buffer, matched, held):
        assert in_turn(function)
    makers = (lambda: (Buffer(leaf()),), lambda: (leaf(),))
    assert differing_calls(lambda: (of_the_class, makers))
