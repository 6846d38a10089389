import os

import torch
from torch import nn

LIMIT = 3


class Block(nn.Module):
    def __init__(self, size: int, mode: str = "mean") -> None:
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.mode = mode

    def forward(self, x, mask=None, scale: float = 1.0, *, flag: bool = False):
        if self.training:
            x = x * 2
        if mask is None:
            x = x + 1
        elif mask is not None and flag:
            x = x - 1
        if x.dim() == 3:
            x = x.flatten(1)
        if x.shape[0] > 4 and x.size(-1) != 2:
            x = x[:4]
        if isinstance(x, torch.Tensor):
            x = x.contiguous()
        if x.dtype == torch.float16 or x.device.type == "cuda":
            x = x.float()
        if not x.is_floating_point():
            x = x.to(torch.float32)
        if self.mode == "mean":
            return x.mean()
        if torch.is_grad_enabled() and not torch.jit.is_scripting():
            x = x.detach()
        if len(x.shape) == 1:
            x = x.unsqueeze(0)
        if hasattr(self, "bias") and "bias" in self._parameters:
            x = x + self.bias
        if os.environ.get("DEBUG") == "1":
            x = x.clone()
        return self.linear(x)


def pick(x: torch.Tensor, mode: str, sizes: list) -> torch.Tensor:
    if mode.startswith("re"):  # a string
        return x.relu()
    if sizes:
        return x[: len(sizes)]
    if x.numel() == 0:
        return x
    try:
        if mode in ("a", "b"):
            x = x + 1
    finally:
        pass
    return x


if __name__ == "__main__":
    x = torch.ones(2)
    if x.sum() > 0:
        print(pick(x, "relu", []))
