import torch


def accumulate(x, w):
    total = torch.zeros(2)
    i = 0
    while i < x.sum():
        total = total + x * w
        i += 1
    return total

# output
import torch
import torch._inductor.config

torch._inductor.config.inplace_buffers = False  # else the gradients of loops are wrong (torch 2.13)


def accumulate(x, w):
    total = torch.zeros(2)
    i = 0
    def body(total, i):
        total = total + x * w
        i = i + 1
        return total, i
    total = torch.where(total.new_ones(()).bool(), total, x.sum() + w.sum())
    entered = i < x.sum()
    last_total, i = torch.while_loop(
        lambda total, i: i < x.sum(),
        body,
        (total, torch.full((), i)),
    )
    total = torch.where(entered, last_total, total)
    return total

# calls (the example as well)
accumulate(torch.ones(2), torch.ones(2))
accumulate(torch.zeros(2), torch.ones(2))
