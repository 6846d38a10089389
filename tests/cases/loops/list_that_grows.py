import torch


def func(x: torch.Tensor) -> torch.Tensor:
    seen = []
    for _ in range(3):
        x = x / 2
        seen.append(x)
        if x.sum() < 1:
            break
    return torch.stack(seen)
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    seen = []
    def step(_, x, seen, loop):
        x = x / 2
        seen.append(x)
        return ag.cond(
            x.sum() < 1,
            lambda: loop.stop(x, seen),
            lambda: loop.next(x, seen),
        )
    x, seen = ag.for_steps(ag.range(3), step, (x,), mutated=(seen,))
    return torch.stack(seen)
# calls
func(torch.tensor([1.0]))
func(torch.tensor([30.0]))
