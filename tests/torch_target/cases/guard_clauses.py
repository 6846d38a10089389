import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3

    def forward(self, x: torch.Tensor):
        if x.sum() > 5:
            return x * self.scale
        y = x + 1
        if y.max() > 5:  # still large
            return y
        return y * 0.5

# output
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3

    def forward(self, x: torch.Tensor):
        def otherwise(x):
            y = x + 1
            # still large
            return torch.cond(
                y.max() > 5,
                lambda y: y.clone(),
                lambda y: y * 0.5,
                (y,),
            )
        return torch.cond(
            x.sum() > 5,
            lambda x: x * self.scale,
            otherwise,
            (x,),
        )

# calls (the example as well)
Model()(torch.ones(9))
Model()(torch.ones(2))
Model()(torch.tensor([-9.0, 9.0]))
