import types

import torch


def func(state, x: torch.Tensor):
    if x.max() > 0:
        state.name: str
        state.count: int = 1
        x = x + 1
    return x, state.count
# output
import types

import torch
import autograph_torch.runtime as ag


def func(state, x: torch.Tensor):
    def then(x):
        state.name: str
        state.count: int = 1
        x = x + 1
        return x
    x = ag.cond(x.max() > 0, then, lambda x: x, (x,))
    return x, state.count
# calls
func(types.SimpleNamespace(count=0), torch.ones(2))
func(types.SimpleNamespace(count=0), torch.zeros(2))
