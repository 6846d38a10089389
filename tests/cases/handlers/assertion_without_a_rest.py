import torch


def checked(x: torch.Tensor) -> torch.Tensor:
    scale = 1.0
    try:
        assert x.sum() > 0, "negative"
    except AssertionError as error:
        print(error)
        scale = 2.0
    return x * scale
# output
import torch
import autograph_torch.runtime as ag


def checked(x: torch.Tensor) -> torch.Tensor:
    scale = 1.0
    passed = True
    try:
        passed = ag.cond(ag.not_(x.sum() > 0), lambda: False, lambda: passed)
    except AssertionError as error:
        ag.effect(print, error)
        scale = 2.0
    def then():
        try:
            raise AssertionError("negative")
        except AssertionError as error:
            ag.effect(print, error)
            scale = 2.0
        return scale
    scale = ag.cond(ag.not_(passed), then, lambda: scale)
    return x * scale
# calls
checked(torch.tensor([4.0, 9.0]))
checked(torch.tensor([4.0, -9.0]))
