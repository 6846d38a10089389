import torch


def bump(x, flag):
    alias = x
    if flag.sum() > 0:
        x += 1
    return alias * 2


# output
import torch


def bump(x, flag):
    alias = x
    def then(x):
        x = x.clone()
        x += 1
        return x
    x.copy_(
        torch.cond(flag.sum() > 0, then, lambda x: x.clone(), (x.clone(),))
    )
    return alias * 2
# calls (the example as well)
bump(torch.ones(2), torch.ones(1))
bump(torch.ones(2), torch.zeros(1))
