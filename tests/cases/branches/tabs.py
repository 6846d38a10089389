import torch


def func(x: torch.Tensor) -> torch.Tensor:
	if x.sum() > 0:
		# one
		x = x + 1

		# two, after a blank line
		x = x * 2
	return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
	def then(x):
		# one
		x = x + 1

		# two, after a blank line
		x = x * 2
		return x
	x = ag.cond(x.sum() > 0, then, lambda x: x, (x,))
	return x
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
