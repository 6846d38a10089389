import torch


def roots(x: torch.Tensor) -> torch.Tensor:
    try:
        if (x < 0).any():
            raise ValueError("negative")
        y = x.sqrt()
    except ValueError:
        y = x.abs()
    return y * 2
# output
import torch
import autograph_torch.runtime as ag


def roots(x: torch.Tensor) -> torch.Tensor:
    passed = True
    try:
        def then():
            y = ag.unread()
            passed = False
            return y, passed
        def otherwise():
            y = x.sqrt()
            return y, passed
        y, passed = ag.cond((x < 0).any(), then, otherwise)
    except ValueError:
        y = x.abs()
    def then_2():
        try:
            raise ValueError("negative")
        except ValueError:
            y = x.abs()
        return y
    y = ag.cond(ag.not_(passed), then_2, lambda: y)
    return y * 2
# calls
roots(torch.tensor([4.0, 9.0]))
roots(torch.tensor([4.0, -9.0]))
