import math

import torch


def func(x: torch.Tensor, k: int):
    s = x.sum().item()
    weight = math.exp(-s) + math.exp(k) + math.sqrt(s)
    values = x.tolist()
    return weight, values, math.isnan(s), math.log(s + 10, 2)
# output
import math

import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, k: int):
    s = x.sum().item()
    weight = ag.math.exp(-s) + math.exp(k) + math.sqrt(s)
    values = ag.tolist(x)
    return weight, values, ag.math.isnan(s), ag.math.log(s + 10, 2)
# calls
func(torch.tensor([1.0, 2.0]), 1)
