"""Dynamo's lost attribute writes: what plain torch does wrong, and that it is right with the repair.

Each program runs in a process of its own, for a repair stays in force once it is made.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

from autograph_torch import autograph, convert
from tests.harness import torch_before

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
import torch

if "repaired" in sys.argv:
    from autograph_torch.capture.torch_fixes import repair_attribute_writes
    repair_attribute_writes()
    repair_attribute_writes()  # a second time changes nothing

class Counter:
    steps = 0

def run(counter, x):
    counter.steps = 1
    y = {operator}
    counter.steps = 2
    return y

counter = Counter()
torch.compile(run, backend="eager", fullgraph=True)(counter, torch.ones(3))
print(counter.steps)
"""
OPERATORS = {
    "cond": "torch.cond(x.sum() > 0, lambda: x + 1, lambda: x - 1, ())",
    "while_loop": "torch._higher_order_ops.while_loop(lambda v: v.sum() < 9, lambda v: (v + 1,), (x,))",
}


def steps(operator: str, *arguments: str) -> str:
    """What the attribute is in the end."""
    text = textwrap.dedent(PROGRAM).format(operator=OPERATORS[operator])
    command = [sys.executable, "-W", "ignore", "-c", text, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("operator", OPERATORS)
def test_repaired(operator: str) -> None:
    assert steps(operator, "repaired") == "2"


@torch_before("2.13", "no proxies keep the table of side effects")
@pytest.mark.parametrize("operator", OPERATORS)
def test_repair_is_needed(operator: str) -> None:
    """When this fails, torch has become right and the repair can go for that version."""
    assert steps(operator) == "1"


FIRST_SEEN_INSIDE = """
import sys
import torch

if "repaired" in sys.argv:
    from autograph_torch.capture.torch_fixes import remember_objects
    remember_objects()
    remember_objects()  # a second time changes nothing

class Meter:
    def __init__(self):
        self.mean, self.steps = torch.zeros(3), 0

class Holder:
    def __init__(self):
        self.meter = Meter()

def run(holder, x):
    y = torch.cond(x.sum() > 0, lambda: x + holder.meter.mean, lambda: x - 1)
    holder.meter.steps += 1
    return y

holder = Holder()
torch.compile(run, backend="eager", fullgraph=True)(holder, torch.ones(3))
print(holder.meter.steps)
"""


@pytest.mark.parametrize(("arguments", "steps"), [(("repaired",), "1"), ((), "0")])
def test_objects_that_a_branch_is_the_first_to_look_at(arguments: tuple[str, ...], steps: str) -> None:
    """When it is "1" without the repair, torch has become right and the repair can go for that version."""
    command = [sys.executable, "-W", "ignore", "-c", FIRST_SEEN_INSIDE, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == steps


def test_repair_is_in_force_under_the_decorator() -> None:
    class Counter:
        steps = 0

    def run(counter: Counter, x: torch.Tensor) -> torch.Tensor:
        counter.steps = 1
        if x.sum() > 0:
            x = x + 1
        counter.steps = 2
        while x.sum() < 100:
            x = x * 2
        counter.steps = counter.steps + 1
        return x

    expected, actual = Counter(), Counter()
    torch.testing.assert_close(autograph(run, backend="eager")(actual, torch.ones(2)), run(expected, torch.ones(2)))
    assert actual.steps == expected.steps == 3


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_checks_of_linalg_are_kept(backend: str) -> None:
    """torch 2.11 dropped them where graphs are made functional."""

    def run(x: torch.Tensor) -> torch.Tensor:
        x = torch.linalg.inv(x)
        if x.sum() > 0:
            x = x + 1
        return x

    compiled = autograph(run, backend=backend)
    torch.testing.assert_close(compiled(torch.eye(2)), run(torch.eye(2)))
    with pytest.raises(torch.linalg.LinAlgError):
        compiled(torch.ones(2, 2))


@torch_before("2.13", "a guard asks the class for what it computes")
def test_properties_of_a_distribution_that_are_computed_when_read() -> None:
    def function(p: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        y = torch.distributions.Categorical(probs=p, validate_args=True).log_prob(x)
        return y * 2 if y.sum() > -1 else y

    compiled = torch.compile(convert(function), fullgraph=True, backend="eager")
    p = torch.tensor([[0.5, 0.5], [0.25, 0.75]])
    for x in (torch.tensor([0, 1]), torch.tensor([1, 0])):
        assert torch.equal(compiled(p, x), function(p, x))


def inverted(x: torch.Tensor, n: int) -> Any:
    m = int(x[0])
    return ~n, ~m, x[~n:]


def test_integers_are_inverted() -> None:
    found = torch.compile(convert(inverted), backend="eager", fullgraph=True)
    for values, n in (((1, 2, 3), 1), ((-4, 2, 3), 0), ((0, 2, 3), 2)):
        x = torch.tensor(values)
        expected, actual = inverted(x, n), found(x, n)
        assert actual[:2] == expected[:2] and torch.equal(actual[2], expected[2])


def length(t: torch.Tensor) -> Any:
    try:
        return len(t)
    except TypeError as error:
        return str(error)


def test_a_tensor_without_dimensions_has_no_length() -> None:
    found = torch.compile(convert(length), backend="eager", fullgraph=True)
    for t in (torch.tensor(1.0), torch.ones(3), torch.ones(2, 2)):
        assert found(t) == length(t)


def bound_by_a_comprehension(x: torch.Tensor) -> Any:
    kept = [(m, k) for k, v in enumerate(x) if (m := int(v * 2)) > 0]

    def early() -> int:
        return later()

    def later() -> int:
        return len(kept)

    return kept, early()


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_functions_are_called_before_all_variables_around_them_have_values() -> None:
    found = torch.compile(convert(bound_by_a_comprehension), backend="eager", fullgraph=True)
    for values in ((1.0, 2.0), (-1.0, 3.0), (-1.0, -1.0)):
        assert found(torch.tensor(values)) == bound_by_a_comprehension(torch.tensor(values))


def written_twice(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.sum() > 0:
        a += 1
        b *= 2
    return a + b


def test_integers_that_another_trace_had_others_for() -> None:
    """The places of two views in one memory are constants of the trace."""
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    found = torch.compile(convert(written_twice), backend=backend, fullgraph=True)
    for k in (1, 2, 3):
        one, other = (torch.arange(9.0) for _ in range(2))
        expected, actual = written_twice(one[:3], one[k - 1 : k + 2]), found(other[:3], other[k - 1 : k + 2])
        assert torch.equal(expected, actual) and torch.equal(one, other)
    assert len(graphs) == 3


class Adapted(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body, self.head, self.adapter = (torch.nn.Linear(2, 2) for _ in range(3))

    def forward(self, x: torch.Tensor) -> Any:
        x = self.body(x)
        if self.adapter is not None:
            x = self.adapter(x) if x.sum() > 0 else x
        return self.head(x), self.head.weight is self.body.weight


@torch_before("2.13", "that two parameters have become one is not told")
def test_parameters_become_one_and_go() -> None:
    torch._dynamo.reset()
    model = Adapted()
    found = torch.compile(convert(lambda x: model(x)), backend="eager", fullgraph=True)
    own = model.head.weight
    changes: list[tuple[torch.nn.Module, str, Any]] = [
        (model.head, "weight", own),
        (model.head, "weight", model.body.weight),
        (model, "adapter", None),
        (model.head, "weight", own),
    ]
    for owner, name, value in changes:
        setattr(owner, name, value)
        for x in (torch.ones(2), -torch.ones(2)):
            assert repr(found(x)) == repr(model(x))
