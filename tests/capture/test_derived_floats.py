"""Objects of classes derived from float are made as those of classes derived from int and str are."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, OnePathWarning, autograph
from autograph_torch.capture import derived_floats
from tests.harness import leave_out, torch_before, vec

pytestmark = torch_before("2.13", "objects of such classes are refused")


class Percent(float):
    @property
    def text(self) -> str:
        return f"{self * 100:.1f}%"

    def __add__(self, other: Any) -> Any:
        return Percent(float(self) + float(other))


class Marked(float):
    def __init__(self, value: Any) -> None:
        self.mark = "m"


MADE: dict[str, Callable[[Tensor], Any]] = {
    "of a number": lambda x: Percent(0.25),
    "of a quotient": lambda x: Percent(3 / len(x)),
    "of a text": lambda x: Percent("0.5"),
    "of nothing": lambda x: Percent(),
    "of another": lambda x: Percent(Percent(1)),
    "by its own operator": lambda x: Percent(0.25) + 1,
    "with attributes": lambda x: Marked(2),
}


def _run(make: Callable[[Tensor], Any]) -> Callable[..., Any]:
    def run(x: Tensor, state: Any) -> Any:
        made = make(x)
        state.made, state.all = made, [made]
        scaled = x * made if x.sum() > 0 else x
        return made, (made, 1), made + 1, made * 2, made > 0.3, f"{made:.2f}", getattr(made, "text", None), scaled

    return run


def _shown(found: Any) -> list[str]:
    return [f"{type(one).__name__} {one} {getattr(one, '__dict__', None) or {}}" for one in found]


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_made(make: Callable[[Tensor], Any]) -> None:
    torch._dynamo.reset()
    state = SimpleNamespace()
    found = autograph(_run(make), backend="eager")(vec(1, 2), state)
    assert _shown(found) == _shown(_run(make)(vec(1, 2), SimpleNamespace()))
    assert state.made is found[0] and state.all[0] is found[0]


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_made_of_data() -> None:
    def run(x: Tensor, state: Any) -> Any:
        state.made = Percent((x > 0).sum().item() / len(x))
        return state.made.text, x + 1 if x.sum() > 0 else x

    torch._dynamo.reset()
    compiled, state = autograph(run, backend="eager"), SimpleNamespace()
    for values, expected in (((1, 2), 1.0), ((1, -4), 0.5), ((3, -1), 0.5)):
        assert compiled(vec(*values), state)[0] == f"{expected * 100:.1f}%"
        assert type(state.made) is Percent and state.made == expected


def test_one_of_data_has_no_graph_for_all_data() -> None:
    with pytest.raises((CaptureError, OnePathWarning)):
        autograph(lambda x: Percent(x.sum().item()), backend="eager")(vec(1, 2))


def test_torch_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, derived_floats.derived_floats)
    with pytest.raises(CaptureError, match="Percent"):
        autograph(_run(MADE["of a number"]), backend="eager")(vec(1, 2), SimpleNamespace())
