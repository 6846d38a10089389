"""Tensor classes with `__new__` and `__init__` of their own, made in a trace."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._dynamo.exc import Unsupported

from autograph_torch import convert


class Image(torch.Tensor):
    """A tensor with attributes."""

    def __new__(cls, x: Any, spacing: float = 1.0, **kwargs: Any) -> Any:
        return torch.as_tensor(x).as_subclass(cls)

    def __init__(self, x: Any, spacing: float = 1.0, *, meta: Any = None) -> None:
        self.spacing = spacing
        self.meta = meta or {"sizes": list(x.shape)}


class Plain(torch.Tensor):
    """A class whose `__new__` gives something else."""

    def __new__(cls, x: Any) -> Any:
        return x + 1

    def __init__(self, x: Any) -> None:
        raise AssertionError


def made(x: torch.Tensor) -> Any:
    image = Image(x * 2, 3.0)
    y = x + 1 if x.sum() > 0 else x
    other = Image(y, meta={"name": "other"})
    return image + y, image.spacing, image.meta, other.meta, isinstance(other, Image), other, Plain(x)


def test_as_eager() -> None:
    compiled: Any = torch.compile(convert(made), fullgraph=True, backend="eager")
    for x in (torch.ones(2), -torch.ones(2)):
        found, expected = compiled(x), made(x)
        assert repr(found) == repr(expected)
        assert list(map(type, found)) == list(map(type, expected))
        assert (found[5].meta, found[5].spacing) == (expected[5].meta, expected[5].spacing)


def test_torch_needs_it() -> None:
    with pytest.raises(Unsupported):
        torch.compile(lambda x: Image(x, 3.0) + 1, fullgraph=True, backend="eager")(torch.ones(2))
