import torch


def func(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    if y.sum() > 0:
        print("failing")
        raise RuntimeError("positive", 3)
    y = y + 1
    print("fine")
    return y
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    def then():
        ag.effect(print, "failing")
        return ag.fail(RuntimeError, "positive", 3)
    ag.cond(y.sum() > 0, then)
    y = y + 1
    ag.effect(print, "fine")
    return y
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
