"""Gradients through tensors with hooks, which the graph calls where the gradient has come to them. All of it is traced.

h.register_hook(f)            behind this point a leaf stands for `h` (capture/cut_at_hooks.py)
grad(cuts, loss, [w])         the gradients of the leaf and of `w`; then `f`, and what its result adds by way of `h`
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch


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


def make_handle(hook: Callable[[torch.Tensor], torch.Tensor | None]) -> Handle:
    return Handle(hook)


# The tensor, the leaf that stands for it, and its hooks.
Cut = tuple[torch.Tensor, torch.Tensor, list[Handle]]


def grad(
    cuts: tuple[Cut, ...],
    outputs: Any,
    inputs: torch.Tensor | Sequence[torch.Tensor],
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool | None = None,
) -> tuple[Any, ...]:
    """`torch.autograd.grad` through the cuts, that of the tensor that was computed last in front."""
    wanted = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
    leaves = [leaf for _, leaf, _ in cuts]
    # What is kept for the steps behind may be needed by several of them.
    options = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True}
    found = list(torch.autograd.grad(outputs, [*leaves, *wanted], grad_outputs, **options))
    for k in range(len(cuts)):
        if found[k] is None:
            continue
        tensor, _, handles = cuts[k]
        with torch.set_grad_enabled(create_graph):
            gradient = found[k]
            for handle in handles:
                gradient = handle.called(gradient)
        more = torch.autograd.grad(tensor, [*leaves[k + 1 :], *wanted], gradient, **options)
        for j in range(len(more)):
            found[k + 1 + j] = _sum(found[k + 1 + j], more[j])
    results = found[len(cuts) :]
    if not allow_unused and any([one is None for one in results]):
        raise RuntimeError(_UNUSED)
    return tuple(results)


_UNUSED = (
    "One of the differentiated Tensors appears to not have been used in the graph. "
    "Set allow_unused=True if this is the desired behavior."
)


def _sum(one: torch.Tensor | None, other: torch.Tensor | None) -> torch.Tensor | None:
    if one is None or other is None:
        return other if one is None else one
    return one + other
