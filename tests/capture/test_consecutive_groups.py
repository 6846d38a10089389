"""itertools.groupby."""

from __future__ import annotations

import itertools
import math
import warnings
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, convert

KINDS = torch.tensor([0, 0, 1, 1, 0])


def by_position(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        x = x - 1
    return x, [(key, list(group)) for key, group in itertools.groupby([1, 1, 2, 3], lambda one: one // 2)]


def by_name(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        x = x - 1
    groups = itertools.groupby(["a", "B", "b"], key=str.lower)
    return x, {key: sum(1 for _ in group) for key, group in groups}, list(itertools.groupby([]))


def too_late(x: torch.Tensor) -> Any:
    """A group is empty when the next one has begun."""
    if x.sum() > 0:
        x = x - 1
    return x, [list(group) for group in [group for _, group in itertools.groupby([1, 1, 2])]]


def in_part(x: torch.Tensor) -> Any:
    if x.sum() > 0:
        x = x - 1
    groups = itertools.groupby("aabb", None)
    key, group = next(groups)
    first = next(group)
    return x, key, first, [(key, "".join(group)) for key, group in groups]


@pytest.mark.parametrize("program", [by_position, by_name, too_late, in_part])
def test_known_keys(program: Any) -> None:
    compiled = torch.compile(convert(program), backend="eager", fullgraph=True)
    for x in (torch.ones(2), torch.zeros(2)):
        assert str(compiled(x)) == str(program(x))


def test_torch_needs_it() -> None:
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(lambda: [k for k, _ in itertools.groupby([1, 2], abs)], backend="eager", fullgraph=True)()


def test_keys_of_data() -> None:
    def spans(x: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        found = []
        for kind, group in itertools.groupby(enumerate(kinds.tolist()), lambda pair: pair[1]):
            members = list(group)
            found.append((kind, members[0][0], members[-1][0] + 1))
        return torch.stack([x[begin:end].sum() * (kind + 1) for kind, begin, end in found])

    compiled = torch.compile(convert(spans), backend="eager", fullgraph=True)
    x = torch.arange(5.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert torch.equal(compiled(x, KINDS), spans(x, KINDS))
    lines = [f"{__file__}:{spans.__code__.co_firstlineno + k}:" for k in (2, 3)]  # not those of the generator's code
    assert any(line in str(one.message) for one in caught for line in lines)
    for kinds in (1 - KINDS, KINDS.flip(0) * 2, torch.zeros_like(KINDS)):
        assert torch.equal(compiled(x, kinds), spans(x, kinds))


def test_a_key_that_is_not_a_number() -> None:
    def nans(x: torch.Tensor) -> Any:
        if x.sum() > 0:
            x = x - 1
        return x, [len(list(group)) for _, group in itertools.groupby([math.nan, math.nan])]

    with pytest.raises(CaptureError, match="not a number"):
        torch.compile(convert(nans), backend="eager", fullgraph=True)(torch.ones(2))
