"""Functions that Dynamo keeps out of traces are entered, and those in C are left to what takes them."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch._dynamo import config, trace_rules
from torch.distributions import constraints

from autograph_torch import convert
from tests.harness import torch_before


def scaled(x):
    width = 3 if constraints.is_dependent(constraints.real) else 2  # kept out of traces
    if x.sum() > 10:
        warnings.warn("large", stacklevel=1)  # in C
    return x * width


def test_a_function_in_c_beside_one_that_is_entered():
    compiled = torch.compile(convert(scaled), fullgraph=True, backend="eager")
    with pytest.warns(UserWarning, match="large"):
        assert compiled(torch.tensor([9.0, 2.0])).tolist() == [18.0, 4.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(torch.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]


@torch_before("2.13", "the assertion has no text")
def test_torch_needs_this():
    with config.patch(dont_skip_tracing=True), pytest.raises(AssertionError, match="getfile returned None"):
        trace_rules.lookup_inner(warnings.warn)
