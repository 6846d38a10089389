"""Indices that are known only when the graph runs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from autograph_torch import autograph
from tests.harness import torch_before

BACKENDS = ["eager", "aot_eager", pytest.param("inductor", marks=pytest.mark.slow)]
Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _store(x: torch.Tensor, key: object, value: object) -> torch.Tensor:
    x = x.clone()
    x[key] = value  # type: ignore[index,assignment]
    return x


READS: dict[str, Function] = {
    "tensor": lambda x, i: x[i],
    "element": lambda x, i: x[i.reshape(1)[0]],
    "in a tuple": lambda x, i: x[:, i],
    "behind dots": lambda x, i: x[..., i],
    "number behind dots": lambda x, i: x[..., i.item()],
    "number in front": lambda x, i: x[i.item(), 1:],
    "with a new axis": lambda x, i: x[None, i, :, 0],
    "beside a list": lambda x, i: x[i, [0, 2], :2],
    "beside a list of lists": lambda x, i: x[i, [[0, 2], [1, 0]], 1:],
    "beside a list of truth values": lambda x, i: x[[True, False], :, i],
    "beside truth values of two dimensions": lambda x, i: x[[[True, False, True], [False, True, False]], i],
    "apart from a tensor": lambda x, i: x[i, :, torch.tensor([1, 0])],
    "list of numbers": lambda x, i: x[[i.item(), 0]],
    "negative": lambda x, i: x[i - 2],
    "truth value": lambda x, i: x[i > 0],
    "truth value of a scalar": lambda x, i: x.sum()[i > 0],
    "two slices": lambda x, i: x[:, i.item() :, -3 : i.item() + 2] * 2,
    "slices beside a tensor and a number": lambda x, i: x[torch.tensor([1, 0]), i.item() :, None, : i + 2].sum(-1),
    "slice beside truth values": lambda x, i: x[torch.tensor([False, True]), ..., i.item() : 3] * 2,
    "slice in front of a number": lambda x, i: x[i.item() :, 1],
    "slice behind a number": lambda x, i: x[1, i.item() :, 2],
    "slice behind another": lambda x, i: x[1:, : i + 1, -1] + x[1, 1:, i.item() :].sum(),
    "slice of nothing": lambda x, i: x[:0][i.item() :] + x[:0][: i + 1, :, 2:3],
    "no index": lambda x, i: x[()] + x.sum()[()] + i,
    "store": lambda x, i: _store(x, i, 7.0),
    "store without an index": lambda x, i: _store(x.sum() + i, (), 7.0),
    "store in a slice beside a number": lambda x, i: _store(x, (1, slice(i.item(), None), 2), 7.0),
    "store in a slice of nothing": lambda x, i: _store(x[:0], slice(i.item()), 7.0),
    "store in a row": lambda x, i: _store(x, (slice(None), i), x[:, 0] * 2),
    "store at a number": lambda x, i: _store(x, (..., i.item()), x[..., 0]),
    "store under a truth value": lambda x, i: _store(x.sum(), i > 0, x.sum() / 2),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", READS)
def test_index(name: str, backend: str) -> None:
    x = torch.arange(24.0).reshape(2, 3, 4)
    compiled = autograph(READS[name], backend=backend)
    for index in (0, 1):
        i = torch.tensor(index)
        torch.testing.assert_close(compiled(x, i), READS[name](x, i), rtol=0, atol=0)


def test_slices_of_what_data_decide_on() -> None:
    def run(x: torch.Tensor, least: int) -> tuple[torch.Tensor, ...]:
        n = int((x > 0).sum())
        kept = x[:n]
        if kept.sum() > least:
            kept = kept[n // 2 :] * 2
        return kept, x[n:], x[:n, None], kept[n:]

    compiled = autograph(run, backend="eager")
    for numbers in ([1.0, 2.0, 0.5], [-3.0, -2.0, 1.0, 4.0], [-1.0, 1.0, 4.0, 9.0, 1.0], []):
        x = torch.tensor(numbers)
        for found, expected in zip(compiled(x, 1), run(x, 1), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)


@torch_before("2.13", "whether two slices are of one size is asked")
def test_store_in_two_slices() -> None:
    def run(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[0, i.item() :, : i.item() + 2] += 7.0
        return x

    x, i = torch.arange(24.0).reshape(2, 3, 4), torch.tensor(1)
    torch.testing.assert_close(autograph(run, backend="aot_eager")(x, i), run(x, i))


@pytest.mark.parametrize("backend", BACKENDS)
def test_gradient(backend: str) -> None:
    def run(x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
        y = x * 2
        y[i] = y[i].clone() * x[:, i].sum()
        return y.sum() if x[i, i] > 0 else y[i].sum()

    compiled = autograph(run, backend=backend)
    for index in (0, 1, 2):
        leaves = [torch.tensor([[1.0, 2, 3], [4, -5, 6], [7, 8, 9]], requires_grad=True) for _ in range(2)]
        run(leaves[0], torch.tensor(index)).backward()
        compiled(leaves[1], torch.tensor(index)).backward()
        torch.testing.assert_close(leaves[1].grad, leaves[0].grad)
