import torch


def batches(rows: list):
    for row in rows:
        if row.sum() > 0:
            print("found")
            return row
# output
import torch
import autograph_torch.runtime as ag


def batches(rows: list):
    def step(row, loop):
        def then():
            ag.effect(print, "found")
            return loop.exit(row)
        return ag.cond(row.sum() > 0, then, lambda: loop.next())
    return ag.for_steps(rows, step, (), after=lambda: None)
# calls
batches([torch.zeros(2), torch.ones(2)])
batches([torch.zeros(2)])
