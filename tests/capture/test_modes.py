"""After an exception of a graph the modes are those of before: grad mode, autocast, inference mode and the like."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, _cur_sdpa_kernel_backends, sdpa_kernel

from autograph_torch import autograph, convert

Program = Callable[..., Any]


def under_no_grad(x: Tensor) -> Tensor:
    with torch.no_grad():
        if x.sum() > 0:
            raise ValueError("positive")
    return x


def under_inference_mode(x: Tensor) -> Tensor:
    with torch.inference_mode():
        if x.sum() > 0:
            raise ValueError("positive")
    return x


def under_autocast(x: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False), torch.autocast("cuda", dtype=torch.bfloat16):
        if x.sum() > 0:
            raise ValueError("positive")
    return x


def without_saved_tensors_hooks(x: Tensor) -> Tensor:
    with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
        if x.sum() > 0:
            raise ValueError("positive")
    return x


def with_one_attention_kernel(x: Tensor) -> Tensor:
    with sdpa_kernel(SDPBackend.MATH):
        if x.sum() > 0:
            raise ValueError("positive")
    return x


def in_a_callee(x: Tensor) -> Tensor:
    with torch.autocast("cpu"), torch.enable_grad():
        for _ in range(2):
            x = under_no_grad(x)
    return x


def by_torch_itself(x: Tensor) -> Tensor:
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
        return torch.linalg.cholesky(-x * torch.eye(2))


PROGRAMS = (
    under_no_grad,
    under_inference_mode,
    under_autocast,
    without_saved_tensors_hooks,
    with_one_attention_kernel,
    in_a_callee,
    by_torch_itself,
)
WAYS: dict[str, Callable[[Program], Program]] = {
    "decorator": lambda program: autograph(program, backend="eager"),
    "immediate": lambda program: autograph(program, backend="eager", effects="immediate"),
    "plain": lambda program: torch.compile(convert(program), backend="eager", fullgraph=True),
    "aot": lambda program: torch.compile(convert(program), backend="aot_eager", fullgraph=True),
}


def modes() -> tuple[Any, ...]:
    nesting = torch.autocast_increment_nesting()
    torch.autocast_decrement_nesting()
    devices = [(torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in ("cpu", "cuda")]
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        nesting,
        *devices,
        torch.is_autocast_cache_enabled(),
        torch._C._autograd._saved_tensors_hooks_is_enabled(),
        _cur_sdpa_kernel_backends(with_priority=True),
    )


@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_an_exception_leaves_the_modes(program: Program, way: str, grad: bool) -> None:
    compiled = WAYS[way](program)
    with torch.set_grad_enabled(grad), contextlib.ExitStack() as stack:
        stack.enter_context(torch.autocast("cpu", dtype=torch.bfloat16))
        before = modes()
        for _ in range(2):
            with pytest.raises((ValueError, torch.linalg.LinAlgError)) as caught:
                compiled(torch.ones(2, 2))
            assert modes() == before
            del caught


def test_a_graph_that_changes_no_mode_is_not_wrapped() -> None:
    graphs = []

    def backend(graph: torch.fx.GraphModule, inputs: list[Any]) -> Program:
        graphs.append(graph)
        return graph.forward

    def program(x: Tensor) -> Tensor:
        return x + 1

    from autograph_torch.capture.modes import leaving_modes

    torch.compile(program, backend=backend)(torch.ones(2))
    run = graphs[0].forward
    assert leaving_modes(graphs[0], run) is run
