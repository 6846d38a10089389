import torch


def func(tensors: list[torch.Tensor]) -> bool:
    if any(t.isnan().any() for t in tensors):
        raise ValueError("NaN")
    return all(t.sum() > 0 for t in tensors)
# output
import torch
import autograph_torch.runtime as ag


def func(tensors: list[torch.Tensor]) -> bool:
    ag.cond(
        ag.any_(t.isnan().any() for t in tensors),
        lambda: ag.fail(ValueError, "NaN"),
    )
    return bool(ag.all_(t.sum() > 0 for t in tensors))
# calls
func([torch.tensor([0.0]), torch.tensor([2.0])])
func([torch.tensor([1.0]), torch.tensor([2.0])])
func([torch.tensor([1.0]), torch.tensor([float("nan")])])
func([])
