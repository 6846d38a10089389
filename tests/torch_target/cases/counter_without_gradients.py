import torch


def trips(n: torch.Tensor):
    i = torch.tensor(0)
    count = 0
    while i < n:
        i = i + 2
        count += 1
    return i.item(), count

# output
import torch


def trips(n: torch.Tensor):
    i = torch.tensor(0)
    count = 0
    def body(i, count):
        i = i + 2
        count = count + 1
        return i, count
    i, count = torch.while_loop(
        lambda i, count: (i < n).reshape(()),
        body,
        (torch.full((), 0), torch.full((), count)),
    )
    count = count.item()
    return i.item(), count

# calls
trips(torch.tensor(0))
trips(torch.tensor(5))
