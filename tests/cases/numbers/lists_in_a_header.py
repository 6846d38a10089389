import torch


def pieces(x: torch.Tensor, sizes: torch.Tensor):
    found = []
    for (height, width), part in zip(sizes.tolist(), x.split(sizes.prod(-1).tolist())):
        found.append(part.reshape(height, width))
    return found


def chunks(x: torch.Tensor, sizes: torch.Tensor, factors: torch.Tensor):
    parts = x.split(sizes.tolist())
    found = []
    for part, factor in zip(parts, factors):
        found.append(part * factor)
    return found
# output
import torch
import autograph_torch.runtime as ag


def pieces(x: torch.Tensor, sizes: torch.Tensor):
    found = []
    def body(item, found):
        (height, width), part = item
        found.append(part.reshape(height, width))
        return (found,)
    (found,) = ag.for_loop(
        ag.zip(ag.numbers(sizes), x.split(ag.tolist(sizes.prod(-1)))),
        body,
        (),
        mutated=(found,),
    )
    return found


def chunks(x: torch.Tensor, sizes: torch.Tensor, factors: torch.Tensor):
    parts = x.split(ag.tolist(sizes))
    found = []
    for part, factor in zip(parts, factors):
        found.append(part * factor)
    return found
# calls
pieces(torch.arange(10.0), torch.tensor([[2, 3], [2, 2]]))
chunks(torch.arange(5.0), torch.tensor([2, 3]), torch.tensor([2.0, 3.0]))
