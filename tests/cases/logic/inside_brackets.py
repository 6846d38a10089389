import torch


def func(x: torch.Tensor, y: torch.Tensor):
    a = (
        x.sum()
        if not x.any() and y.sum() > 1
        else y.sum() * 2
    )
    b = (  # this one or that
        x.any() or y.any()
    )
    if a is not None:
        values = {
            "both": [
                (x.any() and y.any() and x.max() > 10000 and y.max() > 10000)
            ],
        }
    return a, b, values
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, y: torch.Tensor):
    a = ag.cond(
        ag.and_(ag.not_(x.any()), lambda: y.sum() > 1),
        lambda: x.sum(),
        lambda: y.sum() * 2,
    )
    b = (  # this one or that
        ag.cond((left := x.any()), lambda: left, lambda: y.any())
    )
    if a is not None:
        values = {
            "both": [
                ag.cond(
                    (left_2 := x.any()),
                    lambda: ag.cond(
                        (left_3 := y.any()),
                        lambda: ag.cond(
                            (left_4 := x.max() > 10000),
                            lambda: y.max() > 10000,
                            lambda: left_4,
                        ),
                        lambda: left_3,
                    ),
                    lambda: left_2,
                )
            ],
        }
    return a, b, values
# calls
func(torch.ones(2), torch.zeros(2))
func(torch.zeros(2), torch.ones(2))
