import torch


def halve(x: torch.Tensor):
    if x.sum() > 0:
        x = x / 2
    return x


def nearest(x: torch.Tensor, centers):
    if x.sum() > 0:
        x = x - centers
    return x


def grow(x: torch.Tensor):
    while x.norm() < 1:
        x = x * 2.0
    return x


def plain(x: torch.Tensor, flag: bool):
    if flag:
        return x
    return -x
