"""What the tracer has answered is not interpreted; what it has not, is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo import symbolic_convert

from autograph_torch import convert
from autograph_torch.capture import answers
from autograph_torch.runtime import open_contents, outside, structure
from tests.capture.test_plain_values import graph_of
from tests.harness import compiled, vec

_Translator = symbolic_convert.InliningInstructionTranslator


def plain(x: Tensor, y: Tensor) -> Any:
    if x.sum() > 0:
        return x + y, [x]
    return x - y, [y]


def ways_out(x: Tensor, y: Tensor) -> Any:
    for k in range(3):
        if x.sum() > k:
            return x * 2
        x = x + y
    while y.sum() < 10:
        y = y + 3
        if y.max() > 5:
            break
    return y


def interpreted(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The functions of the runtime that a trace enters."""
    entered: Counter[str] = Counter()
    enter = _Translator.inline_call_

    def counted(self: Any) -> Any:
        entered[self.f_code.co_name] += 1
        return enter(self)

    monkeypatch.setattr(_Translator, "inline_call_", counted)
    torch.compile(convert(function), fullgraph=True, backend="eager")(vec(1, 2), vec(0, 1))
    monkeypatch.undo()
    return entered


def test_what_is_answered_is_not_entered(monkeypatch: pytest.MonkeyPatch) -> None:
    entered = interpreted(plain, monkeypatch)
    assert entered["_staged"] and not {"hand_out", "parted", "outside_tensors", "spec_of", "ending"} & set(entered)


@pytest.mark.parametrize("program", [plain, ways_out])
def test_the_graph_is_that_of_the_runtime(program: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    short = graph_of(program)
    monkeypatch.setattr(answers, "_returned", lambda code: None)
    assert short == graph_of(program)


def test_what_a_function_gives() -> None:
    assert answers._returned(outside.hand_out.__code__) == ""
    assert answers._returned(outside.parted.__code__) == "leaves"
    assert answers._returned(open_contents.is_open.__code__) == "found"
    assert answers._returned(structure.spec_of.__code__) == "found"
    assert answers._returned(structure.lift_all.__code__) is None
    assert answers._returned(test_what_a_function_gives.__code__) is None


def test_nothing_is_left_among_the_globals_of_the_users_module() -> None:
    before = set(globals())
    compiled(ways_out)(vec(1, 2), vec(0, 1))
    new = set(globals()) - before
    assert not {name for name in new if not name.startswith("__")}  # those are Dynamo's own
