"""torch's questions that give a Python bool, as tensors of one truth value while tracing."""

from __future__ import annotations

from typing import Any

import torch

from autograph_torch.runtime.predicate import is_data_dependent


def allclose(
    input: torch.Tensor,
    other: torch.Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Any:
    """torch.allclose."""
    if not torch.compiler.is_compiling():
        return torch.allclose(input, other, rtol, atol, equal_nan)
    return torch.isclose(input, other, rtol, atol, equal_nan).all().item()


def equal(input: torch.Tensor, other: torch.Tensor) -> Any:
    """torch.equal: the same size and the same elements."""
    if not torch.compiler.is_compiling():
        return torch.equal(input, other)
    if input.shape != other.shape:
        return False
    return (input == other).all().item()


def is_nonzero(input: torch.Tensor) -> Any:
    """torch.is_nonzero."""
    if not torch.compiler.is_compiling():
        return torch.is_nonzero(input)
    return (input.reshape(()) != 0).item()


def contains(container: Any, element: Any) -> Any:
    """`element in container`."""
    if not torch.compiler.is_compiling() or not isinstance(container, torch.Tensor):
        return element in container
    return (container == element).any().item()


def index(position: Any) -> Any:
    """A 0-d integer tensor (or NumPy array) as a number, which torch accepts as an index; all else as it is.

    A list of numbers that depend on data is a tensor of them.
    """
    if not torch.compiler.is_compiling() or isinstance(position, int):
        return position
    if isinstance(position, list) and any(_is_unknown_integer(number) for number in position):
        return torch.stack([torch.scalar_tensor(number, dtype=torch.int64) for number in position])
    if not isinstance(position, torch.Tensor):
        if not hasattr(position, "__array__") or position.ndim != 0:
            return position
        position = torch.as_tensor(position)
    if position.ndim == 0 and not position.is_floating_point() and position.dtype != torch.bool:
        return position.clone().item()
    return position


def _is_unknown_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and is_data_dependent(value)
