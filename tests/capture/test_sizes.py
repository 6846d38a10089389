"""Sizes, bounds and lists of numbers that depend on data, as multimodal and graph models use them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from autograph_torch import autograph
from tests.harness import torch_before

LENGTHS = [torch.tensor([2, 3, 1]), torch.tensor([1, 1, 4]), torch.tensor([6, 0, 0])]
Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def split_loop(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    parts = torch.split(x, lengths.tolist())
    out = []
    for p in parts:
        out.append(p.sum(0) * 2)
    return torch.stack(out)


def split_cat(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    parts = torch.split(x, lengths.tolist())
    return torch.cat([p * i for i, p in enumerate(parts)])


def split_cat_add(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    parts = torch.split(x, lengths.tolist())
    return torch.cat([p * 2 for p in parts]) + x


def split_sections_method(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    return torch.cat([p.cumsum(0) for p in x.split(lengths.tolist(), dim=0)])


def split_mean(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    return torch.stack([p.mean(0) if len(p) > 0 else torch.zeros(2) for p in x.split(lengths.tolist())])


def cu(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    cu_seqlens = [0]
    cu_seqlens.extend(lengths.cumsum(0).tolist())
    t = torch.tensor(cu_seqlens)
    return t * 2


def cu_slices(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    ends = [0]
    ends.extend(lengths.cumsum(0).tolist())
    return torch.stack([x[ends[i] : ends[i + 1]].sum(0) for i in range(len(ends) - 1)])


def pad(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = int(lengths.max())
    return F.pad(x, (0, 0, 0, n)).sum(0)


def pad_to(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = lengths.max().item()
    return torch.stack([F.pad(p, (0, 0, 0, n - p.shape[0])) for p in x.split(lengths.tolist())])


def interp(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = int(lengths.max()) + 1
    return F.interpolate(x.t()[None], size=n, mode="linear")


def interp2(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = int(lengths.max()) + 1
    return F.interpolate(x[None, None], size=(n, 4), mode="bilinear")


def interp_nearest(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = int(lengths.max()) + 1
    return F.interpolate(x[None, None], size=(n, 4), mode="nearest")


def zeros(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = int(lengths.max())
    z = torch.zeros(n, 2)
    z[0] = x[0]
    return z


def zeros_fill(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = lengths.sum().item()
    z = torch.zeros(n, 2)
    z[:] = x
    return z + x


def new_zeros_view(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = lengths.sum().item()
    return x.new_zeros(n * 2).view(n, 2) + x


def mask_assign(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    mask = x.sum(-1) > lengths.sum()
    if mask.any():
        x = x.clone()
        x[mask] = 0.0
    return x


def mask_assign_values(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    mask = x.sum(-1) > 5
    y = x.clone()
    if mask.any():
        y[mask] = x[mask] * 2
    return y


def scatter_features(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    mask = torch.tensor([True, False, True, True, False, False])
    emb = torch.zeros(6, 2)
    img = x[: mask.sum().item()]
    emb[mask] = img
    return emb


def masked_scatter_check(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    mask = x.sum(-1) > 5
    feats = x[x.sum(-1) > 5] * 3
    n_tok = mask.sum()
    if n_tok != feats.shape[0]:
        raise ValueError(f"mismatch {n_tok} {feats.shape[0]}")
    return x.masked_scatter(mask.unsqueeze(-1).expand_as(x), feats)


def attention_mask(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    n = int(lengths.max())
    m = torch.zeros(n, n, dtype=torch.bool)
    for a in lengths.tolist():
        m[:a, :a] = True
    return m.sum()


def for_i_tolist(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    out = x.sum(0)
    for i in lengths.tolist():
        out = out + x[min(i, 5)]
    return out


def for_row_append(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    out = []
    for row in x:
        if row.sum() > 5:
            row = row * 2
        out.append(row)
    return torch.stack(out)


def for_nonzero(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    tot = torch.zeros(2)
    for i in (x[:, 0] > 3).nonzero().flatten().tolist():
        tot = tot + x[i]
    return tot


def repeat_interleave(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    return torch.repeat_interleave(x[:3], lengths, dim=0) + x


def arange_pos(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    return torch.cat([torch.arange(n) for n in lengths.tolist()])


def max_seqlen(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    cu = F.pad(lengths.cumsum(0), (1, 0))
    m = (cu[1:] - cu[:-1]).max().item()
    return x[:m].sum(0)


def numel_branch(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    sel = x[x.sum(-1) > lengths[0]]
    if sel.numel() == 0:
        return x.sum(0)
    return sel.max(0).values


def len_branch_cat(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    idx = (x[:, 0] > lengths[0] * 2).nonzero().flatten()
    if len(idx) > 0:
        y = torch.cat([x[idx], x])
    else:
        y = x
    return y.sum(0)


def equal_if(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    if torch.equal(lengths, torch.tensor([2, 3, 1])):
        return x + 1
    return x


def contains(x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    if 4 in lengths:
        return x + 1
    return x


SIZES_MUST_AGREE = torch_before("2.12", "it is refused (AG321)")
FUNCTIONS = [
    split_loop,
    split_cat,
    split_cat_add,
    split_sections_method,
    split_mean,
    cu,
    cu_slices,
    pad,
    pad_to,
    interp,
    interp2,
    interp_nearest,
    zeros,
    pytest.param(zeros_fill, marks=SIZES_MUST_AGREE),
    new_zeros_view,
    mask_assign,
    mask_assign_values,
    scatter_features,
    masked_scatter_check,
    attention_mask,
    for_i_tolist,
    for_row_append,
    for_nonzero,
    repeat_interleave,
    arange_pos,
    max_seqlen,
    numel_branch,
    len_branch_cat,
    equal_if,
    contains,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_graph(function: Function) -> None:
    compiled = autograph(function, backend="eager")
    for lengths in LENGTHS:
        x = torch.arange(12.0).reshape(6, 2)
        try:
            expected = function(x.clone(), lengths)
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(x.clone(), lengths)
            continue
        torch.testing.assert_close(compiled(x.clone(), lengths), expected)
