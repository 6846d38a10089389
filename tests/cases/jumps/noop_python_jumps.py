import torch


def early(x: torch.Tensor, fast: bool, limit: int):
    if fast:
        return x
    for i in range(limit):
        if i == 3:
            break
        if i % 2 == 0:
            continue
        x = x + i
    else:
        x = x * 2
    while limit > 0:
        limit -= 1
        if limit == 2:
            return x
    return -x


def generator(xs):
    for x in xs:
        if x is None:
            return
        yield x


def nested(x: torch.Tensor, mode: str):
    with torch.no_grad():
        if mode == "eval":
            return x
        try:
            if x.dim() == 0:
                return x.reshape(1)
        except RuntimeError:
            return None
    return x + 1
