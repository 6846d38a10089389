import torch


def func(rows: list[torch.Tensor], table: dict[int, float]):
    total = torch.zeros(())
    for k, row in enumerate(rows):
        try:
            factor = table[k]
        except KeyError:
            total = total + 1
        else:
            if row.sum() < 0:
                break
            total = total + row.sum() * factor
    return total
# output
import torch
import autograph_torch.runtime as ag


def func(rows: list[torch.Tensor], table: dict[int, float]):
    factor = ag.undefined("factor")
    total = torch.zeros(())
    def step(item, factor, total, loop):
        k, row = item
        handled = False
        try:
            factor = table[k]
        except KeyError:
            handled = True
            total = total + 1
        def then():
            def otherwise(total):
                total = total + row.sum() * ag.bound(factor)
                return loop.next(factor, total)
            return ag.cond(
                row.sum() < 0,
                lambda total: loop.stop(factor, total),
                otherwise,
                (total,),
            )
        return ag.cond(
            ag.not_(handled),
            then,
            lambda: loop.next(factor, total),
        )
    factor, total = ag.for_steps(
        enumerate(rows), step, (factor, total), joined=True
    )
    return total
# calls
func([torch.ones(2), torch.ones(2)], {1: 2.0})
func([torch.ones(2), -torch.ones(2), torch.ones(2)], {0: 1.0, 1: 2.0})
func([], {})
