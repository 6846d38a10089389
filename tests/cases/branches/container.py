import torch


def func(x: torch.Tensor, scores: dict):
    found = []
    if x.sum() > 0:
        found.append(x)
        scores["best"] = x.max()
    else:
        found.append(-x)
        scores["best"] = x.min()
    return found, scores
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor, scores: dict):
    found = []
    def then(found, scores):
        found.append(x)
        scores["best"] = x.max()
        return found, scores
    def otherwise(found, scores):
        found.append(-x)
        scores["best"] = x.min()
        return found, scores
    found, scores = ag.cond(
        x.sum() > 0, then, otherwise, mutated=(found, scores)
    )
    return found, scores
# calls
func(torch.tensor([1.0, 2.0]), {})
func(torch.tensor([-1.0]), {"best": None})
