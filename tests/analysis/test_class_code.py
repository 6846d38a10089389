"""Written files, whose classes have code that runs where the text of a branch shows no call."""

from __future__ import annotations

import pytest
import torch

from tests.written import module_of, written_text

HEAD = """
from dataclasses import dataclass
from functools import cached_property
import torch

class Base:
    k: int = 0
    def __init__(self):
        self.n = torch.zeros(2)
        self.me = self
"""
STEP = """
    def step(self, x: torch.Tensor):
        y = x
        if x.sum() > 0:
            self.n = self.n + 1
            y = {}
        return y, self.n
"""
MORE = """
    @property
    def more(self):
        return self.n * 2
"""
LENGTH = """
    def __len__(self):
        return int(self.n.sum())
"""
TOUCHING = {
    "a property": ("class Counter(Base):" + MORE, "x + self.more"),
    "of a base": (
        "class Middle(Base):" + LENGTH + "class Counter(Middle):\n    me: object",
        "x + len(self.me)",
    ),
    "of a class that derives from it": (
        "class First(Base):\n    me: object" + STEP.format("x + len(self.me)") + "class Counter(First):" + LENGTH,
        None,
    ),
    "of a class around": ("class Counter(Base):\n    class Inner:\n        pass" + MORE, "x + self.more"),
    "a special method": ("class Counter(Base):" + LENGTH, "x + len(self.me)"),
    "what a property calls": (
        "class Counter(Base):\n    def twice(self): return self.n * 2\n    @property\n"
        "    def more(self): return self.twice()",
        "x + self.more",
    ),
    "a name in a string": (
        "class Counter(Base):\n    @property\n    def more(self): return getattr(self, 'n')",
        "x + self.more",
    ),
    "a call of `property`": (
        "class Counter(Base):\n    def _more(self): return self.n * 2\n    more = property(_more)",
        "x + self.more",
    ),
    "a descriptor": (
        "class Twice:\n    def __get__(self, one, kind): return one.n * 2\n"
        "class Counter(Base):\n    more: object = Twice()",
        "x + self.more",
    ),
    "an operator": (
        "class Counter(Base):\n    def __add__(self, other): return self.n + other",
        "self + x",
    ),
    "what a dataclass writes": (
        "@dataclass\nclass Counter:\n    n: torch.Tensor = torch.zeros(2)",
        "x + (f'{self}'[18] == '1')",
    ),
    "a property with a setter": (
        "class Counter(Base):\n    @property\n    def twice(self): print('read'); return self.n * 2\n"
        "    @twice.setter\n    def twice(self, value): print('set'); self.n = value / 2",
        "x\n            self.twice = x",
    ),
}


@pytest.mark.parametrize("kind", TOUCHING)
def test_an_attribute_that_such_code_touches_stays_one(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    definition, value = TOUCHING[kind]
    text = HEAD + definition + (STEP.format(value) if value else "\n")
    changed = written_text(text)
    assert "ag.cond(" in changed
    for x in torch.ones(2), -torch.ones(2):
        results = []
        for one, name in (text, "plain"), (changed, "changed"):
            stepped = module_of(one, name, f"{name}.py").Counter().step(x)
            results.append((*stepped, capsys.readouterr().out))
        (expected, state, printed), (got, changed_state, said) = results
        torch.testing.assert_close(got, expected)
        torch.testing.assert_close(changed_state, state)
        assert said == printed


def test_what_may_be_a_property_of_a_class_elsewhere() -> None:
    text = "import torch\nclass Counter(Elsewhere):" + STEP.format("x + self.more")
    assert "self_n" not in written_text(text)


@pytest.mark.parametrize(
    "known",
    [
        "def __init__(self): self.more = 1",
        "more = 1",
        "more: int = 1",
        "def __init__(self): self.register_buffer('more', torch.ones(2))",
        "def __init__(self): setattr(self, 'more', 1)",
    ],
)
def test_what_is_an_attribute_hinders_nothing(known: str) -> None:
    text = f"import torch\nclass Counter(Elsewhere):\n    {known}" + STEP.format("x + self.more")
    assert "self_n = self.n" in written_text(text)


def test_unrelated_classes_hinder_nothing() -> None:
    text = HEAD + "class Other:" + MORE + "class Counter(Base):" + STEP.format("x")
    assert "self_n = self.n" in written_text(text)


def test_a_written_dataclass_is_compiled() -> None:
    text = HEAD + "@dataclass\nclass Counter:\n    n: torch.Tensor" + STEP.format("x + self.n")
    text += "\ndef run(x): return Counter(torch.zeros(2)).step(x)"
    plain, changed = module_of(text, "plain", "plain.py"), module_of(written_text(text), "changed", "changed.py")
    compiled = torch.compile(changed.run, fullgraph=True, backend="eager")
    for x in torch.ones(2), -torch.ones(2):
        torch.testing.assert_close(compiled(x), plain.run(x))
