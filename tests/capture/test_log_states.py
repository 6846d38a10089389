"""Code of the program at a logger: what it changes or asks, the graph does not know."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import CaptureError, autograph
from tests.harness import compiled, vec

SEEN: list[str] = []


class Count(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.n, self.got = 0, ["first"]

    def emit(self, record: logging.LogRecord) -> None:
        self.n += 1
        self.got.append(record.getMessage())
        SEEN.append(record.getMessage())


class Switch(logging.Filter):
    on = True

    def filter(self, record: logging.LogRecord) -> bool:
        return self.on


class Steps(logging.LoggerAdapter):  # type: ignore[type-arg]
    n = 0

    def process(self, msg: Any, kwargs: Any) -> Any:
        self.n += 1
        self.extra["n"] += 1  # type: ignore[index]
        return f"{self.n}: {msg}", kwargs


class Own(logging.Logger):
    n = 0

    def info(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        self.n += 1
        super().info(msg, *args, **kwargs)


class World:
    def __init__(self) -> None:
        self.log = logging.Logger("states", logging.INFO)
        self.handler, self.switch, self.flags = Count(), Switch(), {"on": True}
        flags = self.flags
        self.got = self.handler.got
        self.log.addHandler(self.handler)
        self.log.addFilter(self.switch)
        self.log.addFilter(lambda record: flags["on"])
        self.child = logging.Logger("states.child", logging.INFO)
        self.child.parent = self.log
        self.extra = {"n": 0}
        self.steps = Steps(self.log, self.extra)
        self.own = Own("states.own", logging.INFO)
        self.own.addHandler(logging.NullHandler())


def counted(w: World, x: Tensor) -> Any:
    if x.sum() > 0:
        w.log.info("positive")
    return w.handler.n


def counted_by_a_parent(w: World, x: Tensor) -> Any:
    log = w.child
    log.info("sum %.1f", x.sum().item())
    return w.handler.n


def switched(w: World, x: Tensor) -> Any:
    w.switch.on = False
    w.log.info("sum %.1f", x.sum().item())
    w.switch.on = True
    return x


def switched_by_a_function(w: World, x: Tensor) -> Any:
    w.flags["on"] = False
    w.log.info("sum %.1f", x.sum().item())
    w.flags["on"] = True
    return x


def level(w: World, x: Tensor) -> Any:
    w.handler.level = 40
    w.log.info("sum %.1f", x.sum().item())
    w.handler.level = 0
    return x


def gathered(w: World, x: Tensor) -> Any:
    w.log.info("sum %.1f", x.sum().item())
    return len(w.got)


def gathered_by_name(w: World, x: Tensor) -> Any:
    w.log.info("sum %.1f", x.sum().item())
    return len(SEEN)


def adapted(w: World, x: Tensor) -> Any:
    if x.sum() > 0:
        log = w.steps
        log.warning("positive")
    return w.steps.n


def adapted_extra(w: World, x: Tensor) -> Any:
    log = w.steps
    log.warning("sum %.1f", x.sum().item())
    return w.extra["n"]


def adapter_set_back(w: World, x: Tensor) -> Any:
    w.steps.n = 10
    log = w.steps
    log.warning("sum %.1f", x.sum().item())
    w.steps.n = 0
    return x


@pytest.mark.parametrize(
    "function",
    [
        counted,
        counted_by_a_parent,
        switched,
        switched_by_a_function,
        level,
        gathered,
        gathered_by_name,
        adapted,
        adapted_extra,
        adapter_set_back,
    ],
)
@pytest.mark.parametrize("way", [compiled, autograph])
def test_what_the_program_uses_is_refused(function: Callable[..., Any], way: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    with pytest.raises(CaptureError, match="AG324 .* that takes part in logging is used"):
        way(function)(World(), vec(1, 2))


def of_others(w: World, x: Tensor) -> Tensor:
    if x.sum() > 0:
        w.log.info("positive %.1f", x.sum().item())
        log = w.steps
        log.warning("adapted")
        log = w.child
        log.info("child")
        log = w.own
        log.info("own")
    print("printed", file=sys.stderr)
    return x * 2


@pytest.mark.parametrize("way", [compiled, autograph])
def test_what_it_does_not_is_as_eager(way: Callable[..., Any]) -> None:
    torch._dynamo.reset()
    w, other = World(), World()
    stream = logging.StreamHandler(sys.stderr)
    for world in (w, other):
        world.log.addHandler(stream)
    run = way(of_others)
    for numbers in ((1, 2), (-1, -2), (1, 2)):
        assert torch.equal(run(w, vec(*numbers)), of_others(other, vec(*numbers)))
        assert (w.handler.got, w.steps.n, w.extra, w.own.n) == (
            other.handler.got,
            other.steps.n,
            other.extra,
            other.own.n,
        )
    assert w.handler.n == 6
