import torch


def func(x: torch.Tensor) -> torch.Tensor:
    done = int(4 * (x > 0).float().mean())
    print("[" + "#" * done + "." * (4 - done) + "]", "-" * 3)
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    done = int(4 * (x > 0).float().mean())
    ag.effect(
        print,
        ag.text(
            "{}{}{}{}",
            "[",
            ag.repeated("#", done),
            ag.repeated(".", 4 - done),
            "]",
        ),
        "-" * 3,
    )
    return x
# calls
func(torch.tensor([1.0, 2.0]))
func(torch.tensor([-1.0, 2.0]))
