import torch


def func(x: torch.Tensor) -> torch.Tensor:
    loss = x.sum().item()
    print(f"loss {loss:.3f}")  # shown each time
    print("done", flush=True)
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    loss = x.sum().item()
    ag.effect(print, ag.text("loss {:.3f}", loss))  # shown each time
    ag.effect(print, "done", flush=True)
    return x
# calls
func(torch.tensor([1.0]))
