import torch


def rows(x: torch.Tensor, y: torch.Tensor):
    picked = [row * 2 for row in (x.sum() or y)]
    return [row + 1 for row in picked if 0 < row.sum() < 9 and row[0] > 1]


def middle(x: torch.Tensor):
    return [row * 2 for row in (x if -1 < x.sum() < 5 else -x)]
# output
import torch
import autograph_torch.runtime as ag


def rows(x: torch.Tensor, y: torch.Tensor):
    picked = [row * 2 for row in ag.or_value(x.sum(), lambda: y)]
    return [row + 1 for row in picked if ag.and_then(
        ag.and_(0 < (middle := row.sum()), lambda: middle < 9),
        lambda: row[0] > 1,
    )]


def middle(x: torch.Tensor):
    return [row * 2 for row in ag.cond(
        -1 < x.sum() < 5,
        lambda: x,
        lambda: -x,
    )]
# calls
rows(torch.zeros(2, 2), torch.ones(2, 2))
middle(torch.ones(2, 2))
middle(torch.ones(2, 2) * 3)
