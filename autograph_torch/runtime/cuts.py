"""Gradients through cuts of the graph, behind which a leaf stands for what was computed. All of it is traced.

h.register_hook(f)            behind this point a leaf stands for `h` (capture/cut_at_hooks.py)
y = Clamp.apply(x)            one stands for `y` (capture/applied_functions.py)
grad(cuts, loss, [w])         the gradients of the leaves and of `w`; then what `f`, and the `backward` of `Clamp`,
                              make of them, and what that adds to the gradient of `w`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from autograph_torch.runtime.refusal import refuse

Pair = tuple[torch.Tensor, torch.Tensor]


class Handle:
    """What `register_hook` gives."""

    def __init__(self, hook: Callable[[torch.Tensor], torch.Tensor | None]) -> None:
        self._hook = hook
        self._is_active = True

    def remove(self) -> None:
        self._is_active = False

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()

    def called(self, gradient: torch.Tensor) -> torch.Tensor:
        """The gradient as the hook leaves it."""
        if not self._is_active:
            return gradient
        found = self._hook(gradient)
        return gradient if found is None else found


class Hooked:
    """A tensor with hooks."""

    def __init__(self, tensor: torch.Tensor, leaf: torch.Tensor, handles: list[Handle]) -> None:
        self._tensor, self.leaves, self._handles = tensor, (leaf,), handles

    def before(self, gradients: list[Any]) -> list[Pair]:
        """What was computed before the cut, each with its gradient, for those of the leaves."""
        gradient = gradients[0]
        for handle in self._handles:
            gradient = handle.called(gradient)
        return [(self._tensor, gradient)]


class Context:
    """What the methods of an autograd.Function are given."""

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_dirty(self, *_: Any) -> None:
        _refuse_marks()

    mark_non_differentiable = set_materialize_grads = save_for_forward = mark_dirty


def _refuse_marks() -> None:
    advice = "let it ask no data, or compute the gradient outside of the converted function"
    refuse("AG320", "an autograd.Function that depends on data marks its inputs or results", advice)


class Applied:
    """The results of an autograd.Function."""

    def __init__(
        self, backward: Callable[..., Any], context: Context, inputs: tuple[Any, ...], leaves: tuple[torch.Tensor, ...]
    ) -> None:
        self._backward, self._context, self._inputs, self.leaves = backward, context, inputs, leaves

    def before(self, gradients: list[Any]) -> list[Pair]:
        """As for tensors with hooks."""
        given = [
            torch.zeros_like(self.leaves[k]) if gradients[k] is None else gradients[k] for k in range(len(gradients))
        ]
        found = self._backward(self._context, *given)
        found = found if isinstance(found, tuple) else (found,)
        needed = self._context.needs_input_grad
        return [(self._inputs[k], found[k]) for k in range(len(needed)) if needed[k] and found[k] is not None]


def make_handle(hook: Callable[[torch.Tensor], torch.Tensor | None]) -> Handle:
    return Handle(hook)


def make_hooked(tensor: torch.Tensor, leaf: torch.Tensor, handles: list[Handle]) -> Hooked:
    return Hooked(tensor, leaf, handles)


def make_context(needs_input_grad: tuple[bool, ...]) -> Context:
    return Context(needs_input_grad)


def make_applied(*parts: Any) -> Applied:
    return Applied(*parts)


def grad(
    cuts: tuple[Hooked | Applied, ...],
    outputs: Any,
    inputs: torch.Tensor | Sequence[torch.Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
) -> tuple[Any, ...]:
    """`torch.autograd.grad` through the cuts, that of the tensor that was computed last in front."""
    wanted = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    waiting = [leaf for cut in cuts for leaf in cut.leaves] + wanted
    # What is kept for the steps behind may be needed by several of them.
    options = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True}
    found: list[torch.Tensor | None] = list(torch.autograd.grad(outputs, waiting, grad_outputs, **options))
    for cut in cuts:
        count = len(cut.leaves)
        gradients, found, waiting = found[:count], found[count:], waiting[count:]
        if all([gradient is None for gradient in gradients]):
            continue
        with torch.set_grad_enabled(create_graph):
            pairs = cut.before(gradients)
        if not pairs:
            continue
        more = torch.autograd.grad([one for one, _ in pairs], waiting, [gradient for _, gradient in pairs], **options)
        found = [_sum(found[k], more[k]) for k in range(len(more))]
    if not allow_unused and any([one is None for one in found]):
        refuse("AG320", "a gradient of what is not used, through a cut of the graph", "pass `allow_unused=True`")
    return tuple(found)


def _sum(one: torch.Tensor | None, other: torch.Tensor | None) -> torch.Tensor | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
