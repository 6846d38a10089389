import torch


def old_style(x, n):
    # type: (torch.Tensor, int) -> torch.Tensor
    """Says where it puts things.

        if x.sum() > 0: not here
    """
    y = x  # type: torch.Tensor
    if x.sum() > 0:  # positive
        z = x + 1  # type: torch.Tensor
    else:
        z = x
    for i in range(n):  # type: int
        if z.max() > i: z = z + i; y = y + 1
    if (x.sum() > 0  # sum
        and x.max() < 3  # max
        ):
        y = y \
            + 1
    if x.sum() > 9: return x
    elif x.max() > 1: return -x; print("never")
    return y + z if (
        y.sum() > 0) else x
# output
import torch
import autograph_torch.runtime as ag


def old_style(x, n):
    # type: (torch.Tensor, int) -> torch.Tensor
    """Says where it puts things.

        if x.sum() > 0: not here
    """
    y = x  # type: torch.Tensor
    z = ag.cond(x.sum() > 0, lambda: x + 1, lambda: x)  # type: torch.Tensor  # positive
    for i in range(n):  # type: int
        def then(z, y):
            z = z + i; y = y + 1
            return z, y
        z, y = ag.cond(z.max() > i, then, lambda z, y: (z, y), (z, y))
    # sum
    # max
    y = ag.cond(
        ag.and_(x.sum() > 0, lambda: x.max() < 3),
        lambda: y \
            + 1,
        lambda: y,
    )
    return ag.cond(
        x.sum() > 9,
        lambda x, y, z: x,
        lambda x, y, z: ag.cond(
            x.max() > 1,
            lambda x, y, z: -x,
            lambda x, y, z: ag.cond(
                y.sum() > 0,
                lambda x, y, z: y + z,
                lambda x, y, z: x,
                reads=(x, y, z),
            ),
            reads=(x, y, z),
        ),
        reads=(x, y, z),
    )
# calls
old_style(torch.ones(2), 3)
old_style(-torch.ones(2), 2)
old_style(torch.tensor([2.0, 0.0]), 0)
old_style(torch.full((2,), 8.0), 0)
old_style(torch.zeros(2), 1)
