import torch


def func(table: torch.Tensor, position: torch.Tensor):
    if table.sum() > 0:
        row = table[position] * 2 + table.mean(dim=0) + table.std(dim=0) + 1
        total = row.sum()
    else:
        total = table.sum()
    return total
# output
import torch
import autograph_torch.runtime as ag


def func(table: torch.Tensor, position: torch.Tensor):
    def then():
        row = table[ag.index(position)] * 2 + table.mean(dim=0) + table.std(dim=0) + 1
        total = row.sum()
        return total
    total = ag.cond(table.sum() > 0, then, lambda: table.sum())
    return total
# calls
func(torch.ones(2, 3), torch.tensor(1))
func(-torch.ones(2, 3), torch.tensor(0))
