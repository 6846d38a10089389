"""Third-party functions become one graph, unedited: a small part of a larger corpus, one case a construct.

Libraries that are not installed are skipped; versions are pinned in requirements.txt beside this file.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import convert

pytestmark = pytest.mark.slow

Made = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def _scheduler(name: str) -> Callable[[], Made]:
    def make() -> Made:
        scheduler = getattr(importlib.import_module("diffusers"), name)()
        scheduler.set_timesteps(5)
        return (
            lambda noise, t, sample: scheduler.step(noise, t, sample).prev_sample,
            (torch.randn(1, 3, 4, 4), scheduler.timesteps[1], torch.randn(1, 3, 4, 4)),
            {},
        )

    return make


def _function(module: str, name: str, *args: Callable[[], Any], **kwargs: Any) -> Callable[[], Made]:
    return lambda: (getattr(importlib.import_module(module), name), tuple(arg() for arg in args), kwargs)


def _edges() -> torch.Tensor:
    return torch.tensor([[0, 1, 1, 2, 0], [1, 0, 2, 1, 1]])


def _scores() -> torch.Tensor:
    return torch.rand(20)


def _labels() -> torch.Tensor:
    return (torch.rand(20) > 0.5).long()


def _classes() -> torch.Tensor:
    return torch.randint(0, 4, (40,))


def _clipping() -> Made:
    parameter = torch.nn.Parameter(torch.randn(3))
    parameter.grad = torch.randn(3)
    return lambda: torch.nn.utils.clip_grad_norm_([parameter], 1.0, error_if_nonfinite=True), (), {}


def _wishart() -> Made:
    scale = 3 * torch.eye(3) + 0.1
    return lambda df, s: torch.distributions.Wishart(df, covariance_matrix=s).rsample(), (torch.tensor(5.0), scale), {}


def _sorting() -> Made:
    layer = importlib.import_module("torch_geometric.nn").SortAggregation(k=3)
    return layer, (torch.randn(5, 4), torch.tensor([0, 0, 1, 1, 1])), {}


def _mask() -> Made:
    layer = torch.nn.TransformerEncoderLayer(8, 2, 8, dropout=0.0, batch_first=True)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(3)
    return torch.nn.TransformerEncoder(layer, 1), (torch.randn(2, 3, 8),), {"mask": mask}


def _solver() -> Made:
    solve = importlib.import_module("torchdiffeq").odeint
    return lambda y, t: solve(lambda _, y: -y, y, t, method="rk4"), (torch.randn(3), torch.linspace(0, 1, 4)), {}


CASES: dict[str, Callable[[], Made]] = {
    # torch itself
    "rejection sampling": _function("torch.nn.init", "trunc_normal_", lambda: torch.empty(8, 8)),
    "raise for bad gradients": _clipping,
    "rejection in the tail": _function("torch.nn.init", "trunc_normal_", lambda: torch.empty(8, 8), a=1.5, b=3.0),
    "views of one memory": _wishart,
    "kind of a mask": _mask,
    "number of classes": _function("torch.nn.functional", "one_hot", _labels),
    # validation, warnings, early returns of another form
    "nothing relevant": _function("torchmetrics.functional.retrieval", "retrieval_normalized_dcg", _scores, _labels),
    "constant input": _function("torchmetrics.functional.regression", "pearson_corrcoef", _scores, _scores),
    "mask of no dimension": _function("torchmetrics.functional.regression", "r2_score", _scores, _scores),
    "branch that always raises": _function("torchmetrics.functional.nominal", "cramers_v", _classes, _classes),
    # objects of several kinds, and what follows
    "direction of time": _solver,
    # sizes that depend on data
    "number of nodes": _function("torch_geometric.utils", "get_laplacian", _edges),
    "dense adjacency": _function("torch_geometric.utils", "to_dense_adj", _edges),
    "removed duplicates": _function("torch_geometric.utils", "coalesce", _edges),
    "sizes of two branches": _function("torchmetrics.functional.classification", "binary_auroc", _scores, _labels),
    "number in a message": _function("torchmetrics.functional.classification", "binary_f1_score", _labels, _labels),
    "padding": _sorting,
    # numbers, indices and state
    "step as a tensor": _scheduler("DDIMScheduler"),
    "place in a schedule": _scheduler("DPMSolverMultistepScheduler"),
    "state of an object": _scheduler("PNDMScheduler"),
    # numerics
    "raise behind a loop": _function("linear_operator.utils.cholesky", "psd_safe_cholesky", lambda: torch.eye(3)),
    "singular matrix": _function("linear_operator.utils.qr", "stable_qr", lambda: torch.eye(4)[:, :3]),
}


def _results(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


@pytest.mark.parametrize("name", CASES)
def test_one_graph(name: str) -> None:
    try:
        torch.manual_seed(0)
        function, args, kwargs = CASES[name]()
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed")
    torch.manual_seed(1)
    expected = function(*args, **kwargs)
    expected = [one.clone() if isinstance(one, torch.Tensor) else one for one in _results(expected)]
    torch.manual_seed(0)
    function, args, kwargs = CASES[name]()
    torch.manual_seed(1)
    actual = torch.compile(convert(function), backend="eager", fullgraph=True)(*args, **kwargs)
    for one, other in zip(_results(actual), expected, strict=True):
        torch.testing.assert_close(one, other)
