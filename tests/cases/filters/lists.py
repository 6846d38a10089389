import torch


def func(x: torch.Tensor, bs: list[torch.Tensor]):
    total = sum([b * 2 for b in x if b > 0])
    some = any([b.sum() for b in bs if b.sum() > 0])
    every = all([b.sum() for b in bs if b.sum() > 0])
    both = any([b.sum() > 0 and b for b in bs])
    return total, some, every, both
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, bs: list[torch.Tensor]):
    total = ag.sum_(((b > 0, lambda: b * 2) for b in x), listed=True)
    some = bool(ag.any_(
        [ag.and_(b.sum() > 0, lambda: b.sum(), is_asked=True) for b in bs]
    ))
    every = bool(ag.all_(
        [
            ag.or_(ag.not_(b.sum() > 0), lambda: b.sum(), is_asked=True)
            for b in bs
        ],
    ))
    both = bool(ag.any_(
        [ag.and_(b.sum() > 0, lambda: b, is_asked=True) for b in bs]
    ))
    return total, some, every, both
# calls
func(torch.tensor([1.0, -2.0, 5.0]), [torch.tensor(1.0), torch.tensor(-2.0)])
func(torch.tensor([-1.0]), [torch.tensor(-1.0)])
func(torch.tensor([]), [])
