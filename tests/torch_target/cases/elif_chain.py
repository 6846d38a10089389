import torch


def steps(x: torch.Tensor):
    if x.sum() > 10:
        y = x + 1  # big
    elif x.sum() > 0 and x.max() < 3:
        y = x + 2
    else:
        y = x + 3
    return y

# output
import torch


def steps(x: torch.Tensor):
    # big
    y = torch.cond(
        x.sum() > 10,
        lambda x: x + 1,
        lambda x: torch.cond(
            (x.sum() > 0) & (x.max() < 3),
            lambda x: x + 2,
            lambda x: x + 3,
            (x,),
        ),
        (x,),
    )
    return y

# calls
steps(torch.ones(12))
steps(torch.ones(2))
steps(-torch.ones(2))
