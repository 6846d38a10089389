import torch


def func(x: torch.Tensor) -> torch.Tensor:
    message = None
    lines = []
    if x.min() < 0:
        message = f"lowest is {x.min():.1f}"
        lines.append(f"highest is {x.max():.1f}")
    for line in lines:
        print(line)
    return x * 2 if message is None else x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    message = None
    lines = []
    def then(lines, message):
        message = ag.text("lowest is {:.1f}", x.min())
        lines.append(ag.text("highest is {:.1f}", x.max()))
        for line in lines:
            ag.effect(print, line)
        return x * 2 if message is None else x
    def otherwise(lines, message):
        for line in lines:
            ag.effect(print, line)
        return x * 2 if message is None else x
    return ag.cond(
        x.min() < 0, then, otherwise, mutated=(lines,), reads=(message,)
    )
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
