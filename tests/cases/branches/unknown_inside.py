import torch


def split(self, x: torch.Tensor):
    part = self.part(x)
    if x.sum() > 0:
        values = part.tolist()
        total = self.add(values)
        if part:
            total = total + 1
        return total
    return None
# output
import torch
import autograph_torch.runtime as ag


def split(self, x: torch.Tensor):
    part = self.part(x)
    def then():
        values = ag.tolist(part)
        total = self.add(values)
        total = ag.cond(part, lambda: total + 1, lambda: total)
        return total
    return ag.cond(x.sum() > 0, then, lambda: None)
# calls
split(type("Adder", (), {"part": lambda self, x: x[:1], "add": lambda self, v: sum(v)})(), torch.ones(2))
split(type("Adder", (), {"part": lambda self, x: x[:1], "add": lambda self, v: sum(v)})(), -torch.ones(2))
