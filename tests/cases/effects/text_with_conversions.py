import torch


def func(x: torch.Tensor, name: str) -> torch.Tensor:
    if x.sum() > 0:
        print(f"{name}: {x.max().item():>8.2f} of {{{x.numel()}}} {name!r}")
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, name: str) -> torch.Tensor:
    ag.cond(
        x.sum() > 0,
        lambda: ag.effect(
            print,
            ag.text(
                "{}: {:>8.2f} of {{{}}} {!r}",
                name,
                x.max().item(),
                x.numel(),
                name,
            ),
        ),
    )
    return x
# calls
func(torch.tensor([1.0]), "a")
func(torch.tensor([-1.0]), "a")
