import torch


def func(rows: list[torch.Tensor]):
    total = torch.zeros(())
    for row in rows:
        with torch.no_grad():
            if row.sum() < 0:
                break
            total = total + row.sum()
        total = total * 2
    return total
# output
import torch
import autograph_torch.runtime as ag


def func(rows: list[torch.Tensor]):
    total = torch.zeros(())
    def step(row, total, loop):
        stays = True
        with torch.no_grad():
            def step_2(_, stays, total, loop_2):
                def then(total):
                    stays = False
                    return loop_2.stop(stays, total)
                def otherwise(total):
                    total = total + row.sum()
                    return loop_2.next(stays, total)
                return ag.cond(row.sum() < 0, then, otherwise, (total,))
            stays, total = ag.for_steps(ag.once(), step_2, (stays, total))
        def otherwise_2(total):
            total = total * 2
            return loop.next(total)
        return ag.cond(
            ag.not_(stays),
            lambda total: loop.stop(total),
            otherwise_2,
            (total,),
        )
    (total,) = ag.for_steps(rows, step, (total,))
    return total
# calls
func([torch.ones(2), torch.ones(2)])
func([torch.ones(2), -torch.ones(2), torch.ones(2)])
func([])
