"""Functions of torch.linalg that raise where a matrix does not allow them, in the bodies of branches and loops.

torch checks behind them, without a result of the check: from a body, backends that make graphs functional drop it, and
the numbers are wrong instead. Here the check stands between the function and its result. (See capture/python_calls.py.)

Private: torch._linalg_check_errors, which has the messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import tracing
from autograph_torch.runtime.refusal import refuse


def inv(A: torch.Tensor) -> torch.Tensor:
    """torch.linalg.inv, torch.inverse."""
    result, info = torch.linalg.inv_ex(A)
    return _checked_op(result, info, "linalg.inv")


def cholesky(A: torch.Tensor, *, upper: bool = False) -> torch.Tensor:
    """torch.linalg.cholesky."""
    result, info = torch.linalg.cholesky_ex(A, upper=upper)
    return _checked_op(result, info, "linalg.cholesky")


def solve(A: torch.Tensor, B: torch.Tensor, *, left: bool = True) -> torch.Tensor:
    """torch.linalg.solve."""
    result, info = torch.linalg.solve_ex(A, B, left=left)
    return _checked_op(result, info, "torch.linalg.solve")


def matrix_power(A: torch.Tensor, n: int) -> torch.Tensor:
    """torch.linalg.matrix_power, torch.matrix_power."""
    power = torch.ops.aten.linalg_matrix_power  # under its public name it would become this function
    return power(inv(A), -n) if n < 0 else power(A, n)


def _refuse(*_: Any, **__: Any) -> Any:
    return refuse(
        "AG320",
        "in a branch or loop backends would drop the check of the matrix that torch makes here",
        "call the function before the branch, or one that ends in `_ex` and says whether it went well",
    )


CHECKED: dict[Callable[..., Any], Callable[..., Any]] = {
    torch.linalg.inv: inv,
    torch.inverse: inv,
    torch.linalg.cholesky: cholesky,
    torch.linalg.solve: solve,
    torch.linalg.matrix_power: matrix_power,
    torch.matrix_power: matrix_power,
    **dict.fromkeys(
        (torch.linalg.lu_factor, torch.linalg.ldl_factor, torch.linalg.tensorinv, torch.linalg.tensorsolve), _refuse
    ),
}


@torch.library.custom_op("autograph_torch::checked", mutates_args=())
def _checked_op(result: torch.Tensor, info: torch.Tensor, function: str) -> torch.Tensor:
    """The result, once torch has raised what it raises for a matrix that does not allow it."""
    if not tracing.in_backward():  # the backward pass of a branch or loop runs its body again
        torch._linalg_check_errors(info, function, is_matrix=info.ndim == 0)
    return result.clone()


@_checked_op.register_fake
def _(result: torch.Tensor, info: torch.Tensor, function: str) -> torch.Tensor:
    return torch.empty_like(result)


def _checked_backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    return gradient, None, None


_checked_op.register_autograd(_checked_backward)
