import torch


def func(x: torch.Tensor) -> torch.Tensor:
    done = x.sum() > 0
    label = "done" if done else f"{x.sum():.1f} left"
    print(label, "up" if x[0] > 1 else "down")
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    done = x.sum() > 0
    label = ag.choice(done, "done", ag.text("{:.1f} left", x.sum()))
    ag.effect(print, label, ag.choice(x[0] > 1, "up", "down"))
    return x
# calls
func(torch.tensor([1.0, 2.0]))
func(torch.tensor([-1.0, -2.0]))
func(torch.tensor([3.0, -9.0]))
