"""Arguments by name, and functions with fewer arguments than usual, beside branches and loops on data."""

import torch
from torch.nn.functional import relu

from tests.harness import program, vec

PAIRS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, -2),), lambda: (vec(0.5, 0.25),)]


@program(inputs=PAIRS, grad=True)
def places_of_a_mask(x):
    y = x * 1
    if x.sum() > 0:
        y = y + 1
    (places,) = torch.where(x > 1)
    for k in range(2):
        (above,) = torch.where(condition=x > k)
        if above.numel() == 0:
            continue
        y = y.index_add(0, above, x[above])
    return y, places, torch.where(x < 0)[0].sum()


@program(inputs=PAIRS, grad=True)
def where_by_name(x):
    y = x * 2 if x.sum() > 0 else x + 1
    return torch.where(condition=x > 1, input=y, other=x), torch.where(x > 1, input=y, other=0.0)


@program(inputs=PAIRS, grad=True)
def types_by_name(x):
    y = x * 2 if x.sum() > 0 else x + 1
    return y, y.view(2, 1).to(dtype=torch.float64), torch.detach(input=y), y.detach().view(dtype=torch.int32)


@program(inputs=PAIRS)
def written_by_name(x):
    y, z, total = x * 1, x * 2, 0
    if x.sum() > 0:
        y = y + 1
    if x[0] > 0:
        total = y.sum()
    torch.relu_(input=y)
    relu(input=z, inplace=True)
    z.add_(other=total)
    y.mul_(other=z)
    return y, z, total


@program(inputs=PAIRS)
def copied_from_the_places_of_a_mask(x):
    y, rest = x * 1, x * 3
    if x.sum() > 0:
        y = y + 1
    y.copy_(torch.where(x > 1)[0].sum())
    rest.copy_(torch.where(condition=x > 1, input=y, other=x))
    return y, rest
