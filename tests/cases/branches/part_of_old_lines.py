import torch


def thresholds(given: torch.Tensor):
    sorted_thresholds = torch.sort(torch.tensor(given.abs() if given.sum() > 0 else -given, dtype=torch.int64))[
        0
    ].tolist()
    return sorted_thresholds
# output
import torch
import autograph_torch.runtime as ag


def thresholds(given: torch.Tensor):
    sorted_thresholds = ag.tolist(
        torch.sort(torch.tensor(ag.cond(
            given.sum() > 0,
            lambda: given.abs(),
            lambda: -given,
        ), dtype=torch.int64))[
            0
        ],
    )
    return sorted_thresholds
# calls
thresholds(torch.tensor([2, 1]))
thresholds(torch.tensor([-2, 1]))
