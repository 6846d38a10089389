"""Programs of tests/programs with arguments, parameters and buffers on a GPU, compiled by Inductor to Triton kernels.

Programs that make tensors without naming a device are skipped, and so are those that torch raises in. (In torch 2.11
`torch.compile` makes `torch.tensor(0)` on the CPU under `torch.device("cuda")`.)
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from autograph_torch import autograph
from autograph_torch.capture.known_torch import is_before
from tests.harness import Call, Factory, Program, Subject, check, fresh, raised_at, run
from tests.programs import programs_by_name

pytestmark = pytest.mark.gpu
# What only the decorator promises: exceptions that are handled, effects with the lines that they come from.
DECORATED = ("raises", "caught", "effects_more", "effects_in_use", "logs_and_warnings", "prints")
PROGRAMS = programs_by_name()


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    program = PROGRAMS[name]
    if program.topic == "caught" or torch_raises(program):
        pytest.skip("an exception of torch's may be an assertion of the device, which ends the process")
    program = on_cuda(program)
    if makes_tensors_elsewhere(program) or torch_raises(program):
        pytest.skip("has tensors on the CPU: results may be on either device")
    on_decorator: Any = "decorator on inductor"
    verdict = check(program, on_decorator if program.topic in DECORATED else "inductor", seconds=240)
    # What torch 2.11 refuses that newer ones follow is the same on the CPU, where most of the programs have a path.
    if verdict.kind == "refused" and (program.refused or program.topic == "state" or is_before(2, 12)):
        pytest.xfail(verdict.reason)
    if verdict.kind != "equal":
        pytest.fail(f"{verdict.kind}: {program.topic}.{name}, {verdict.reason}", pytrace=False)


def on_cuda(program: Program) -> Program:
    """The same program with all that it is given on the GPU."""
    made = tuple(functools.partial(moved_call, factory) for factory in program.inputs)
    return replace(program, make=functools.partial(moved_subject, program.make), inputs=made)


def moved_call(factory: Factory) -> Call:
    given = factory()
    call = given if isinstance(given, Call) else Call(given)
    known: dict[int, Tensor] = {}  # an argument that comes twice is still one
    return Call(moved(call.args, known), moved(call.kwargs, known))


def moved_subject(make: Callable[[], Subject]) -> Subject:
    subject = make()
    return subject.cuda() if isinstance(subject, nn.Module) else subject


def moved(value: Any, known: dict[int, Tensor]) -> Any:
    """Tensors of nested containers, each moved once."""

    def move(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        return known.setdefault(id(leaf), leaf.detach().cuda().requires_grad_(leaf.requires_grad))

    return pytree.tree_map(move, value)


def torch_raises(program: Program) -> bool:
    """Whether eager Python fails on some input otherwise than by a `raise` or `assert` of the program."""
    subject = fresh(program)
    errors = [run(subject, subject, factory, program.grad).error for factory in program.inputs]
    return any(error is not None and not raised_at(error) for error in errors)


class Devices(TorchDispatchMode):
    """Notes whether any operator has given a tensor on the CPU."""

    cpu = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.cpu |= any(isinstance(one, Tensor) and one.device.type == "cpu" for one in pytree.tree_leaves(result))
        return result


def makes_tensors_elsewhere(program: Program) -> bool:
    """Whether a program whose arguments are on the GPU makes tensors on the CPU."""
    subject = fresh(program)
    calls = [factory() for factory in program.inputs]
    with Devices() as devices:
        for call in calls:
            run(subject, subject, functools.partial(lambda given: given, call), program.grad)
    return devices.cpu


def waits(function: Callable[..., Any], inputs: Sequence[Tensor]) -> int:
    """How often a call waits for the device, as CUDA's debug mode tells."""
    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(*inputs)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchroniz" in str(one.message) for one in caught)


def logged(x: Tensor) -> Tensor:
    for _ in range(4):
        x = torch.tanh(x * 2)
        print(f"mean {x.mean().item():.4f}")
    if x.isnan().any():
        raise ValueError("x has NaN")
    return x


def test_prints_and_checks_wait_less_often_than_eager(capsys: pytest.CaptureFixture[str]) -> None:
    x = torch.rand(64, device="cuda")
    fast = autograph(logged)
    fast(x)
    before, after = waits(logged, [x]), waits(fast, [x])
    assert before >= 5
    assert after <= 2, f"{after} waits, {before} in eager"  # for the check, and for all numbers that are printed
