import math

import torch


def func(x: torch.Tensor, k: int, xs: list):
    half = math.log(k) + math.exp(0.5)
    size = math.log(x.shape[0])
    return x * half + size, math.isnan(k), [k].copy()
