import torch


def func(x: torch.Tensor) -> torch.Tensor:
    problems = []
    label = "x"
    if x.min() < 0:
        problems.append(f"lowest is {x.min():.1f}")
        label += f" of {len(x)}"
    label = label + f" at {x.max():.1f}"
    print(label, ", ".join(problems))
    return x
# output
import torch
import autograph_torch.runtime as ag


def func(x: torch.Tensor) -> torch.Tensor:
    problems = []
    label = "x"
    def then(label, problems):
        problems.append(ag.text("lowest is {:.1f}", x.min()))
        label = ag.text("{}{}", label, f" of {len(x)}")
        label = ag.text("{}{}", label, ag.text(" at {:.1f}", x.max()))
        ag.effect(print, label, ag.joined(", ", problems))
        return x
    def otherwise(label, problems):
        label = ag.text("{}{}", label, ag.text(" at {:.1f}", x.max()))
        ag.effect(print, label, ag.joined(", ", problems))
        return x
    return ag.cond(x.min() < 0, then, otherwise, (label,), mutated=(problems,))
# calls
func(torch.tensor([1.0]))
func(torch.tensor([-1.0]))
