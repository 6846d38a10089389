import torch


def shrink(x, limit=1.0):
    halvings = 0
    while x.norm() > limit:  # until it fits
        x = x / 2
        halvings += 1
    if x.sum() < 0:
        x = -x
    return x, halvings

# output
import torch
import torch._inductor.config

torch._inductor.config.inplace_buffers = False  # else the gradients of loops are wrong (torch 2.13)


def shrink(x, limit=1.0):
    halvings = 0
    def body(x, halvings):  # until it fits
        x = x / 2
        halvings = halvings + 1
        return x, halvings
    entered = x.norm() > limit
    last_x, halvings = torch.while_loop(
        lambda x, halvings: x.norm() > limit,
        body,
        (x, torch.full((), halvings)),
    )
    x = torch.where(entered, last_x, x)
    halvings = halvings.item()
    x = torch.cond(x.sum() < 0, lambda x: -x, lambda x: x.clone(), (x,))
    return x, halvings

# calls (the example as well)
shrink(torch.full((3,), 4.0))
shrink(torch.full((3,), -0.1))
