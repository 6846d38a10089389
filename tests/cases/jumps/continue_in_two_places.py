import torch


def func(rows: list[torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(())
    for row in rows:
        if row.dim() == 0:
            continue
        s = row.sum()
        if s < 0:
            continue
        total = total + s
        total = total * 2
    return total
# output
import torch
import autograph_torch.runtime as ag


def func(rows: list[torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(())
    for row in rows:
        if row.dim() == 0:
            continue
        s = row.sum()
        def otherwise(total):
            total = total + s
            total = total * 2
            return total
        total = ag.cond(s < 0, lambda total: total, otherwise, (total,))
    return total
# calls
func([])
func([torch.tensor([3.0]), torch.tensor(1.0), torch.tensor([-3.0]), torch.tensor([4.0])])
