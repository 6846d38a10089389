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
    y = ag.undefined("y")
    passed = True
    try:
        def then():
            passed = False
            return passed, y
        def otherwise():
            y = x.sqrt()
            return passed, y
        passed, y = ag.cond((x < 0).any(), then, otherwise)
    except ValueError:
        y = x.abs()
    def then_2():
        try:
            raise ValueError("negative")
        except ValueError:
            y = x.abs()
        return ag.bound(y) * 2
    return ag.cond(ag.not_(passed), then_2, lambda: ag.bound(y) * 2)
# calls
roots(torch.tensor([4.0, 9.0]))
roots(torch.tensor([4.0, -9.0]))
