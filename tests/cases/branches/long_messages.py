import torch


def check(values, x: torch.Tensor, options):
    if not all(value.isfinite().all() or value.isnan().any() for value in values if value is not None):
        raise ValueError(
            "Input arguments must all be instances of Number, "
            "torch.Tensor or objects implementing __torch_function__."
        )
    if not x.all():
        raise ValueError(
            "Expected value argument "
            f"({type(x).__name__} of shape {tuple(x.shape)}) "
            f"to be within the support ({options}), "
            f"but found invalid values:\n{x}"
        )
    if x.isnan().any():
        raise ValueError("here it says something, "
                         "and there it goes on", options)
    return x
# output
import torch
import autograph_torch.runtime as ag


def check(values, x: torch.Tensor, options):
    ag.cond(
        ag.not_(
            ag.all_(
                ag.or_(value.isfinite().all(), lambda: value.isnan().any())
                for value in values
                if value is not None
            ),
        ),
        lambda: ag.fail(
            ValueError,
            "Input arguments must all be instances of Number, "
            "torch.Tensor or objects implementing __torch_function__.",
        ),
    )
    ag.cond(
        ag.not_(x.all()),
        lambda: ag.fail(
            ValueError,
            ag.text(
                "Expected value argument ({} of shape {}) to be within the support ({}), but found "
                "invalid values:\n{}",
                type(x).__name__,
                tuple(x.shape),
                options,
                x,
            ),
        ),
    )
    ag.cond(
        x.isnan().any(),
        lambda: ag.fail(
            ValueError,
            "here it says something, "
            "and there it goes on",
            options,
        ),
    )
    return x
# calls
check([torch.ones(2), None], torch.ones(2), "no")
check([torch.tensor([torch.inf])], torch.ones(2), "no")
check([], torch.zeros(2), "no")
check([], torch.tensor([torch.nan]), "no")
