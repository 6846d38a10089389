import torch


def check(names: list, constraints: list, x: torch.Tensor):
    for name, constraint in zip(names, constraints):
        valid = constraint(x)
        if not valid.all():
            raise ValueError(f"{name}: {constraint}")
    with torch.no_grad() as nothing:
        if x.sum() > 0:
            x = x + 1
            nothing = x
    return x, nothing
# output
import torch
import autograph_torch.runtime as ag


def check(names: list, constraints: list, x: torch.Tensor):
    for name, constraint in zip(names, constraints):
        valid = constraint(x)
        ag.cond(
            ag.not_(valid.all()),
            lambda: ag.fail(ValueError, ag.text("{}: {}", name, constraint)),
            lambda: None,
        )
    with torch.no_grad() as nothing:
        def then(x):
            x = x + 1
            nothing = x
            return x, nothing
        x, nothing = ag.cond(x.sum() > 0, then, lambda x: (x, nothing), (x,))
    return x, nothing
# calls
check(["some"], [torch.isfinite], torch.ones(2))
check(["some"], [torch.isnan], torch.ones(2))
check([], [], -torch.ones(2))
