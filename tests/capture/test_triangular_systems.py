"""solve_triangular of a number of matrices that only data tell."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from autograph_torch import convert


def solved(x: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
    chosen = matrices[x > 0]
    if x.sum() > 100:
        chosen = chosen * 2
    from_left = torch.linalg.solve_triangular(chosen, chosen + 1, upper=False, unitriangular=True)
    return torch.linalg.solve_triangular(chosen, from_left[:, :1], upper=True, left=False)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_as_eager(backend: str) -> None:
    compiled = torch.compile(convert(solved), fullgraph=True, backend=backend)
    for values in ([1.0, -1.0, 1.0], [-1.0, -1.0, 1.0], [-1.0, -1.0, -1.0]):
        x, matrices = torch.tensor(values), torch.rand(3, 2, 2, dtype=torch.float64) + torch.eye(2)
        first, second = (matrices.clone().requires_grad_() for _ in range(2))
        expected, actual = solved(x, first), compiled(x, second)
        torch.testing.assert_close(actual, expected, check_stride=True)
        expected.sum().backward()
        actual.sum().backward()
        torch.testing.assert_close(second.grad, first.grad)


def test_torch_needs_this() -> None:
    """In a process without us."""
    program = (
        "import torch\n"
        "def f(x, m): return torch.linalg.solve_triangular(m[x > 0], m[x > 0], upper=True)\n"
        "torch.compile(f, fullgraph=True, backend='eager')(torch.ones(3), torch.ones(3, 2, 2))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "data-dependent" in done.stderr
