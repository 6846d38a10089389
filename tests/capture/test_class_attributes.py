"""What a function sets on a class is what subclasses and objects have from then on, in the same call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError
from autograph_torch.capture import class_attributes
from tests.harness import check, compiled, leave_out, program, vec

TWO = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)]


@program(inputs=TWO, factory=True)
def read_through_subclasses() -> Callable[[Tensor], Any]:
    class Run:
        count = 0

    class Sweep(Run):
        pass

    class Nested(Sweep):
        pass

    class Own(Run):
        count = 5

    def run(x: Tensor) -> Any:
        Run.count += 1
        if x.sum() > 0:
            return Run.count, Sweep.count, Nested.count, Own.count
        return Sweep.count, 0, 0, 0

    return run


@program(inputs=TWO, factory=True)
def read_through_objects() -> Callable[[Tensor], Any]:
    class Base:
        count = 0
        kept: Any = None
        other: Any = None

        def __init__(self) -> None:
            type(self).count += 1
            self.number = self.count

    class Derived(Base):
        pass

    Base.kept, Base.other = Derived(), Base()
    Base.other.count = 50

    def run(x: Tensor) -> Any:
        kept, other = Base.kept, Base.other
        Base.count += 10
        before = kept.count, other.count, Derived.count
        made = Base()
        if x.sum() > 0:
            made = Derived()
        kept.count += 1
        return before, made.number, made.count, kept.count, Base.count, Derived.count

    return run


@program(inputs=TWO, factory=True)
def the_nearest_class_counts() -> Callable[[Tensor], Any]:
    class Base:
        best = None

    class Middle(Base):
        pass

    class Last(Middle):
        pass

    def run(x: Tensor) -> Any:
        seen: list[Any] = [Last.best]
        if x.sum() > 0:
            Base.best = x * 2
        seen.append(Last.best)
        Middle.best = x * 3
        Base.best = x * 4
        return seen, Last.best, Last().best, Base().best

    return run


@program(inputs=TWO, factory=True)
def whether_it_is_there() -> Callable[[Tensor], Any]:
    class Base:
        pass

    class Derived(Base):
        pass

    def run(x: Tensor) -> Any:
        before = hasattr(Derived, "limit"), hasattr(Derived(), "limit")
        Base.limit = 3
        after = hasattr(Derived, "limit"), hasattr(Derived(), "limit"), getattr(Derived, "limit", None)
        return before, after, x * Derived().limit if x.sum() > 0 else x

    return run


ALL = [read_through_subclasses, read_through_objects, the_nearest_class_counts, whether_it_is_there]


@pytest.mark.parametrize("subject", ALL)
def test_classes_hand_it_on(subject: Any) -> None:
    verdict = check(subject.__program__, "eager")
    assert verdict.kind == "equal", verdict.reason


@pytest.mark.parametrize("subject", ALL[:3])
def test_without_this_they_do_not(subject: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, class_attributes.class_attributes)
    assert check(subject.__program__, "eager").kind != "equal"


class Plain:
    pass


class Derived(Plain):
    pass


def test_a_method_that_is_set_and_called_is_refused() -> None:
    def run(x: Tensor) -> Tensor:
        Plain.twice = lambda self, y: y * 2
        return Derived().twice(x) if x.sum() > 0 else x

    with pytest.raises(CaptureError, match="the method or property `twice` is set on a class"):
        compiled(run)(torch.ones(2))
