"""What training through a loop keeps for the backward pass, in sizes of the carry: eager against one graph.

    python benchmarks/loop_memory.py [--trips 32] [--size 65536] [--backends aot_eager,inductor]

Counted are the bytes of distinct memories that autograd saves in the forward pass (torch.autograd.graph.saved_tensors_
hooks), less parameters and inputs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import torch

from autograph_torch import convert


def decay(x: torch.Tensor, trips: torch.Tensor) -> torch.Tensor:
    """One carry; eager keeps one tensor of its size a trip."""
    for _ in range(trips):
        x = torch.sin(x)
    return x


def decay_until_small(x: torch.Tensor, trips: torch.Tensor) -> torch.Tensor:
    """The same with a bound that is known, and an early exit that no trip takes."""
    for _ in range(32):
        x = torch.sin(x)
        if x.abs().max() < 1e-6:
            break
    return x


PROGRAMS = (decay, decay_until_small)


def kept(function: Callable[..., Any], trips: int, size: int) -> float:
    """Memory saved for the backward pass by one call, in units of the carry."""
    x = torch.rand(size, requires_grad=True)
    memories: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() != x.untyped_storage().data_ptr():
            memories[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = function(x, torch.tensor(trips))
    total = sum(memories.values()) / (size * 4)
    result.sum().backward()
    return total


def compiled(function: Callable[..., Any], backend: str, trips: int, size: int) -> Callable[..., Any]:
    """The function as one graph, compiled for both directions."""
    torch._dynamo.reset()
    fast = torch.compile(convert(function), fullgraph=True, backend=backend)
    fast(torch.rand(size, requires_grad=True), torch.tensor(trips)).sum().backward()
    return fast


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trips", type=int, default=32)
    parser.add_argument("--size", type=int, default=65536)
    parser.add_argument("--backends", default="aot_eager,inductor")
    options = parser.parse_args()
    for function in PROGRAMS:
        print(f"{function.__name__:20} {'eager Python':12} {kept(function, options.trips, options.size):8.1f} carries")
        for backend in options.backends.split(","):
            fast = compiled(function, backend, options.trips, options.size)
            print(f"{'':20} {backend:12} {kept(fast, options.trips, options.size):8.1f} carries")


if __name__ == "__main__":
    main()
