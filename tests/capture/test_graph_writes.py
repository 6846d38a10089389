"""What the nodes of a graph write to."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.fx import Graph

from autograph_torch.capture.graph_writes import written

FUNCTIONS: tuple[tuple[Callable[..., Any], str, dict[str, Any], str], ...] = (
    (operator.iadd, "ab", {}, "a"),
    (operator.setitem, "abc", {}, "a"),
    (torch.relu_, "a", {}, "a"),
    (torch.add, "ab", {"out": "c"}, "c"),
    (torch.nn.functional.relu, "a", {"inplace": True}, "a"),
    (torch.nn.functional.batch_norm, "abc", {"training": True}, "bc"),
    (torch.nn.functional.batch_norm, "abc", {"training": False}, ""),
    (torch.batch_norm, "abcde", {"training": True}, "de"),
    (torch.batch_norm, "abcde", {"training": False}, ""),
    (torch.instance_norm, "abcde", {"use_input_stats": True}, "de"),
    (torch.ops.aten.add_.Tensor, "ab", {}, "a"),
    (torch.ops.aten.add, "ab", {"out": "c"}, "c"),
    (torch.add, "ab", {}, ""),
)


@pytest.mark.parametrize(("function", "arguments", "options", "expected"), FUNCTIONS)
def test_functions(function: Callable[..., Any], arguments: str, options: dict[str, Any], expected: str) -> None:
    graph = Graph()
    nodes = {name: graph.placeholder(name) for name in "abcde"}
    given = {key: nodes.get(value, value) if isinstance(value, str) else value for key, value in options.items()}
    node = graph.call_function(function, tuple(nodes[name] for name in arguments), given)
    assert written(node) == [nodes[name] for name in expected]


@pytest.mark.parametrize(
    ("method", "writes"),
    [("add_", True), ("__iadd__", True), ("__setitem__", True), ("add", False), ("requires_grad_", False)],
)
def test_methods(method: str, writes: bool) -> None:
    graph = Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    assert written(graph.call_method(method, (a, b))) == ([a] if writes else [])
