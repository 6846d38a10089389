"""Objects as keys: equal where the `__eq__` of their class says so."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch.capture import equal_keys
from tests.harness import check, check_any_graph, leave_out, program, vec

TWO = [lambda: (vec(0.5, 1.5, 3),), lambda: (vec(-1, -3, 0),), lambda: (vec(0.5, 1.5, 4),)]


class Bucket:
    def __init__(self, low: int) -> None:
        self.low = low

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bucket) and self.low == other.low

    def __hash__(self) -> int:
        return hash(self.low)


class Colliding:
    """All have one hash; what they are compared with they may not know."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __hash__(self) -> int:
        return 7

    def __eq__(self, other: object) -> Any:
        return self.n == other.n if isinstance(other, Colliding) else NotImplemented


@program(inputs=TWO)
def keys_of_constants(x: Tensor) -> Any:
    table: dict[Any, Any] = {Colliding(1): "one", Colliding(2): "two", "x": 3, 1: "int"}
    found = [table.get(Colliding(n)) for n in (1, 2, 5)]
    members = {Colliding(1), Colliding(2), Colliding(1)}
    members.add(Colliding(2))
    members.discard(Colliding(1))
    counts = dict.fromkeys([Colliding(1), Colliding(1), Colliding(3)], 0)
    counts[Colliding(3)] += 1
    sizes = len(members), len(counts), counts.pop(Colliding(3), None), table[1], (Colliding(1),) in {(Colliding(1),): 1}
    counts[Colliding(1)] = x if x.sum() > 0 else -x
    return found, sizes, Colliding(2) in members, list(counts.values())


@program(inputs=TWO)
def buckets_of_data(x: Tensor) -> Any:
    sums: dict[Bucket, Tensor] = {}
    for v in x:
        bucket = Bucket(int(v // 2))
        if bucket in sums:
            sums[bucket] += v
        else:
            sums[bucket] = v.clone()
    return [(bucket.low, total) for bucket, total in sums.items()], Bucket(0) in sums


def test_equal_keys_are_one() -> None:
    verdict = check(keys_of_constants.__program__, "eager")
    assert verdict.kind == "equal", verdict.reason


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_keys_that_data_tell() -> None:
    check_any_graph(buckets_of_data)


@pytest.mark.parametrize("subject", [keys_of_constants, buckets_of_data])
def test_torch_needs_it(subject: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, equal_keys.equal_keys)
    torch._dynamo.reset()
    with pytest.raises(AssertionError):
        check_any_graph(subject)
