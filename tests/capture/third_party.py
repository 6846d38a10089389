"""A library that knows nothing of this package."""

from __future__ import annotations

import torch


def clip(x: torch.Tensor) -> torch.Tensor:
    if x.abs().max() > 10:
        x = x / 10
    return x


class Bound:
    def __init__(self, limit: float) -> None:
        self.limit = limit

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return x - 1 if x.sum() > self.limit else x + 1

    def __getitem__(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if x.sum() > self.limit else x

    def above(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > self.limit:
            return x
        return torch.zeros_like(x)

    @staticmethod
    def sign(x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else -x

    @classmethod
    def make(cls, x: torch.Tensor) -> torch.Tensor:
        return cls(1.0)(x)


class Holder:
    def __init__(self, x: torch.Tensor) -> None:
        self.x = x

    @property
    def positive(self) -> torch.Tensor:
        if self.x.sum() > 0:
            return self.x
        return -self.x
