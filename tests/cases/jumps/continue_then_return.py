import torch


def func(rows: list[torch.Tensor]):
    total = torch.zeros(())
    for row in rows:
        if row.sum() < 0:
            continue
        total = total + row.sum()
        return total
# output
import torch
import autograph_torch.runtime as ag


def func(rows: list[torch.Tensor]):
    total = torch.zeros(())
    def step(row, total, loop):
        def otherwise(total):
            total = total + row.sum()
            return loop.exit(total)
        return ag.cond(
            row.sum() < 0,
            lambda total: loop.next(total),
            otherwise,
            (total,),
        )
    def after(total):
        return
    return ag.for_steps(rows, step, (total,), after=after)
# calls
func([torch.ones(2), torch.ones(2)])
func([-torch.ones(2), torch.ones(2), torch.ones(2)])
func([-torch.ones(2)])
func([])
