import torch


def skipping(xs: torch.Tensor):
    total = torch.zeros(())
    for x in xs:
        if x.sum() > 0:
            continue
            total = total + 99
        total = total + x.sum()
    return total


def returning(x: torch.Tensor):
    if x.sum() > 0:
        return x
        # never
        print(x)
    return -x


def generating(x: torch.Tensor):
    if x.sum() > 0:
        return 1
    else:
        return 2
    yield 3


def binding(x: torch.Tensor):
    if x.sum() > 0:
        return x
        y = 1
    return y


def ending(x: torch.Tensor):
    while x.sum() < 100:
        x = x * 2
        if x.max() > 9:
            return x
    return -x
    if x.max() > 9:
        raise OverflowError
    return x


def behind(x: torch.Tensor):
    if x.sum() > 0:
        return x
    return -x
    x = x + 1
    return x


def going_on(rows: list[torch.Tensor]):
    total = 0
    for row in rows:
        if row.sum() > 0:
            continue
            return row
        total = total + 1
    return total
# output
import torch
import autograph_torch.runtime as ag


def skipping(xs: torch.Tensor):
    total = torch.zeros(())
    for x in xs:
        total = ag.cond(x.sum() > 0, lambda: total, lambda: total + x.sum())
    return total


def returning(x: torch.Tensor):
    # never
    return ag.cond(x.sum() > 0, lambda: x, lambda: -x)


def generating(x: torch.Tensor):
    return ag.cond(x.sum() > 0, lambda: 1, lambda: 2)
    yield 3


def binding(x: torch.Tensor):
    y = ag.undefined("y")
    def then():
        return x
        y = 1
    return ag.cond(x.sum() > 0, then, lambda: ag.bound(y))


def ending(x: torch.Tensor):
    def step(x, loop):
        x = x * 2
        return ag.cond(x.max() > 9, lambda: loop.exit(x), lambda: loop.next(x))
    def after(x):
        return -x
        if x.max() > 9:
            return ag.fail(OverflowError)
        return x
    return ag.while_steps(lambda x: x.sum() < 100, step, (x,), after=after)


def behind(x: torch.Tensor):
    return ag.cond(x.sum() > 0, lambda: x, lambda: -x)


def going_on(rows: list[torch.Tensor]):
    total = 0
    for row in rows:
        total = ag.cond(row.sum() > 0, lambda: total, lambda: total + 1)
    return total
# calls
skipping(torch.tensor([[1.0], [-2.0], [-3.0]]))
returning(torch.ones(2))
returning(-torch.ones(2))
list(generating(torch.ones(2)))
binding(torch.ones(2))
binding(-torch.ones(2))
ending(torch.ones(2))
ending(torch.ones(2000) / 100)
behind(torch.ones(2))
behind(-torch.ones(2))
going_on([torch.ones(2), -torch.ones(2)])
