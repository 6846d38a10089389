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
    state_count = state.count
    def then(x):
        state.name: str
        state_count: int = 1
        x = x + 1
        return state_count, x
    state_count, x = ag.cond(
        x.max() > 0,
        then,
        lambda x: (state_count, x),
        (x,),
    )
    ag.write(state, "count", state_count)
    return x, state.count
# calls
func(types.SimpleNamespace(count=0), torch.ones(2))
func(types.SimpleNamespace(count=0), torch.zeros(2))
