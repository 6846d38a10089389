"""An adaptive Runge-Kutta solver (Bogacki-Shampine 3(2)): every step is accepted or tried again with a smaller size."""

from __future__ import annotations

import os

import torch
from torch import nn

from autograph_torch import autograph

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "inductor")


def odeint(f, y: torch.Tensor, t_end: torch.Tensor, tolerance: float = 1e-6):
    """Integrate y' = f(y) from 0 to t_end; gives y and the numbers of accepted and rejected steps."""
    t = torch.zeros_like(t_end)
    h = t_end / 100
    accepted = torch.tensor(0)
    rejected = torch.tensor(0)
    k1 = f(y)
    while t < t_end:
        h = torch.minimum(h, t_end - t)
        k2 = f(y + h * k1 / 2)
        k3 = f(y + 3 * h * k2 / 4)
        y_new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        k4 = f(y_new)
        error = (h * (-5 * k1 / 72 + k2 / 12 + k3 / 9 - k4 / 8)).abs().max() / tolerance
        if error <= 1:
            t = t + h
            y = y_new
            k1 = k4
            accepted = accepted + 1
        else:
            rejected = rejected + 1
        h = h * (0.9 * error.clamp(min=1e-4) ** (-1 / 3)).clamp(0.2, 5.0)
    return y, accepted, rejected


class Oscillator(nn.Module):
    """Van der Pol's equation; the stiffness is a parameter."""

    def __init__(self, stiffness: float):
        super().__init__()
        self.stiffness = nn.Parameter(torch.tensor(stiffness, dtype=torch.float64))

    def forward(self, y):
        position, velocity = y.unbind(-1)
        return torch.stack([velocity, self.stiffness * (1 - position**2) * velocity - position], dim=-1)


def main() -> None:
    start = torch.tensor([2.0, 0.0], dtype=torch.float64)
    solve = autograph(odeint, backend=BACKEND)
    field = Oscillator(3.0)
    with torch.no_grad():
        for seconds in (0.0, 1.0, 10.0):
            t_end = torch.tensor(seconds, dtype=torch.float64)
            expected = odeint(field, start, t_end)
            y, accepted, rejected = solve(field, start, t_end)
            torch.testing.assert_close((y, accepted, rejected), expected)
            print(f"t = {seconds:4}: y = {y.tolist()}, {accepted} steps accepted, {rejected} rejected")


if __name__ == "__main__":
    main()
