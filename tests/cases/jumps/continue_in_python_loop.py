import torch


def func(rows: list[torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(())
    for row in rows:
        if row.sum() < 0:
            continue
        total = total + row.sum()
    return total
# output
import torch
import autograph_torch.runtime as ag


def func(rows: list[torch.Tensor]) -> torch.Tensor:
    total = torch.zeros(())
    for row in rows:
        total = ag.cond(
            row.sum() < 0,
            lambda: total,
            lambda: total + row.sum(),
        )
    return total
# calls
func([])
func([torch.tensor([3.0]), torch.tensor([-3.0]), torch.tensor([4.0])])
