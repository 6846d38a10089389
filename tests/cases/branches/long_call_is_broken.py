import torch


def func(first_operand: torch.Tensor, second_operand: torch.Tensor) -> torch.Tensor:
    if first_operand.sum() > second_operand.sum():
        return torch.cat([first_operand, second_operand], dim=0).mean() * first_operand.abs().max()
    return torch.cat([second_operand, first_operand], dim=0).mean() * second_operand.abs().max()
# output
import torch
import autograph_torch.runtime as ag


def func(first_operand: torch.Tensor, second_operand: torch.Tensor) -> torch.Tensor:
    return ag.cond(
        first_operand.sum() > second_operand.sum(),
        lambda: (
            torch.cat([first_operand, second_operand], dim=0).mean() * first_operand.abs().max()
        ),
        lambda: (
            torch.cat([second_operand, first_operand], dim=0).mean() * second_operand.abs().max()
        ),
    )
# calls
func(torch.tensor([1.0]), torch.tensor([2.0]))
func(torch.tensor([2.0]), torch.tensor([1.0]))
