"""Newton's method until it converges: a `while` loop on data, differentiated through."""

from __future__ import annotations

import os

import torch

from autograph_torch import autograph

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")


def cube_root(a: torch.Tensor, tolerance: float = 1e-10) -> tuple[torch.Tensor, int]:
    """The cube root of every element, and how many steps the slowest one took."""
    x = a
    steps = 0
    while (x**3 - a).abs().max() > tolerance * a.abs().max():
        x = x - (x**3 - a) / (3 * x**2)
        steps += 1
    return x, steps


def main() -> None:
    compiled = autograph(cube_root, backend=BACKEND)
    for values in ([1.0, 1.0], [8.0, 27.0], [1e-3, 1e6]):
        a = torch.tensor(values, dtype=torch.float64, requires_grad=True)
        expected, expected_steps = cube_root(a)
        root, steps = compiled(a)
        torch.testing.assert_close(root, expected)
        assert steps == expected_steps

        (slope,) = torch.autograd.grad(root.sum(), a)
        (expected_slope,) = torch.autograd.grad(expected.sum(), a)
        torch.testing.assert_close(slope, expected_slope)
        print(f"cube roots of {values}: {root.tolist()} after {steps} steps, slopes {slope.tolist()}")


if __name__ == "__main__":
    main()
