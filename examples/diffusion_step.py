"""One denoising step of diffusers' schedulers, unedited, with the time step as a tensor.

Inside the library: where the step stands in the schedule (`if len(candidates) > 1`), whether it is the first or the
last one, and indices that are tensors.
"""

from __future__ import annotations

import importlib.util
import os

import torch

from autograph_torch import autograph, explain

BACKEND = os.environ.get("AUTOGRAPH_EXAMPLE_BACKEND", "eager")


def schedulers():
    from diffusers import DDIMScheduler, DEISMultistepScheduler, DPMSolverMultistepScheduler, PNDMScheduler

    return DDIMScheduler, PNDMScheduler, DPMSolverMultistepScheduler, DEISMultistepScheduler


def prepared(make):
    scheduler = make()
    scheduler.set_timesteps(5)
    return scheduler


def main() -> None:
    if importlib.util.find_spec("diffusers") is None:
        print("this example needs diffusers")
        return
    torch.manual_seed(0)
    noise, sample = torch.randn(1, 3, 8, 8), torch.randn(1, 3, 8, 8)
    print(f"{'scheduler':30} graphs, breaks before      graphs, breaks after")
    for make in schedulers():
        found = explain(prepared(make).step, noise, prepared(make).timesteps[2], sample)
        counts = f"{found.graphs_before}, {found.breaks_before}{'':20}{found.graphs_after}, {found.breaks_after}"
        print(f"{make.__name__:30} {counts}")
        for index in (0, 2):
            eager, captured = prepared(make), prepared(make)
            expected = eager.step(noise, eager.timesteps[index], sample).prev_sample
            actual = autograph(captured.step, backend=BACKEND)(noise, captured.timesteps[index], sample).prev_sample
            torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
