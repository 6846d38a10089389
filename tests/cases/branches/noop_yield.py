import torch


def batches(rows: list[torch.Tensor]):
    for row in rows:
        if row.sum() > 0:
            yield row


async def fetch(x: torch.Tensor, source):
    if x.sum() > 0:
        x = await source.get(x)
    return x
