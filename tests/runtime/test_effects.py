"""Effects inside one graph: which happen, in which order, and that nothing happens after an exception."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from autograph_torch import autograph
from tests.harness import from_text

logger = logging.getLogger(__name__)
BACKENDS = ["eager", "aot_eager"]


@dataclass(frozen=True)
class Seen:
    """What the world sees of one call."""

    value: Any
    error: str
    lines: tuple[str, ...]


class Lines(logging.Handler):
    """Log records as lines of the same stream that print writes to."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"{record.levelname} {record.getMessage()}")


@pytest.fixture(autouse=True)
def one_stream() -> Iterator[None]:
    """Warnings and log calls are written where prints go, so that their common order can be seen."""
    handler = Lines()
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, *_: print(f"{category.__name__} {message}")
        yield
    logger.removeHandler(handler)


def seen(function: Callable[..., Any], *args: Any) -> Seen:
    value, error = None, ""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        try:
            value = function(*args)
        except Exception as raised:
            error = f"{type(raised).__name__}: {raised}"
    return Seen(value, error, tuple(out.getvalue().splitlines()))


def agree(function: Callable[..., Any], backend: str, *inputs: Any) -> list[Seen]:
    """Each input (a tensor, or a tuple of arguments) does in one graph what it does in eager Python."""
    compiled = autograph(function, backend=backend)
    results = []
    for given in inputs:
        args = given if isinstance(given, tuple) else (given,)
        expected = seen(function, *[arg.clone() if isinstance(arg, Tensor) else arg for arg in args])
        actual = seen(compiled, *[arg.clone() if isinstance(arg, Tensor) else arg for arg in args])
        assert actual.error == expected.error
        assert actual.lines == expected.lines
        torch.testing.assert_close(actual.value, expected.value, rtol=0, atol=0)
        results.append(expected)
    return results


def t(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)


def in_branch(x: Tensor) -> Tensor:
    print("before")
    if x.sum() > 0:
        print("positive", x.sum())
        x = x - 1
    else:
        print("negative")
    print("after", x)
    return x


def nested(x: Tensor) -> Tensor:
    if x.sum() > 0:
        print("outer")
        if x.max() > 2:
            print("inner")
            x = x * 2
        print("outer end")
    return x


def one_sided(x: Tensor) -> Tensor:
    if x.sum() > 0:
        print("positive")
    return x


def loop(x: Tensor) -> Tensor:
    while x.sum() > 1:
        print("trip", x)
        x = x / 2
    print("end", x)
    return x


def loop_over_range(x: Tensor, n: Tensor) -> Tensor:
    for i in range(n):
        print(i, x)
        x = x + i
    return x


def loop_with_branch(x: Tensor) -> Tensor:
    while x.sum() > 1:
        if x.sum() > 4:
            print("far", x)
            x = x / 4
        else:
            print("near", x)
            x = x / 2
    return x


def loop_with_break(x: Tensor) -> Tensor:
    for i in range(4):
        print("trip", i)
        x = x / 2
        if x.sum() < 1:
            print("small")
            break
        print("go on")
    print("end")
    return x


def nested_loops(x: Tensor) -> Tensor:
    while x.sum() > 4:
        print("outer", x)
        y = x
        while y.sum() > 3:
            print("inner", y)
            y = y - 2
        x = x - y
    return x


def callee(x: Tensor) -> Tensor:
    print("callee", x)
    if x.sum() > 0:
        print("callee positive")
        x = x + 1
    return x


def calls(x: Tensor) -> Tensor:
    print("start")
    if x.max() > 1:
        x = callee(x)
    else:
        x = callee(-x)
    print("middle")
    return callee(x)


def python_loop(x: Tensor) -> Tensor:
    for word in ["a", "b"]:
        if x.sum() > 0:
            print(word, "if")
            x = x - 1.5
        print(word)
    return x


def formatted(x: Tensor) -> Tensor:
    total = x.sum().item()
    print(f"total {total:.2f} of {x.shape[0]} {{x}}", end="|\n")
    if total > 0:
        print(f"{x.max().item():>8.1f}", "sep", sep="-")
    return x


def warns(x: Tensor) -> Tensor:
    warnings.warn("first")
    if x.sum() > 0:
        warnings.warn("positive", RuntimeWarning)
        print("printed")
    warnings.warn("last")
    return x


def logs(x: Tensor) -> Tensor:
    logger.info("norm %s", x.sum())
    if x.sum() > 0:
        logger.warning("positive")
    else:
        logger.error("negative %.1f", x.sum().item())
    return x


def returns_early(x: Tensor) -> Tensor:
    if x.sum() > 0:
        print("early")
        return x
    print("late")
    return -x


def raises(x: Tensor) -> Tensor:
    print("before")
    if x.sum() > 0:
        print("raising")
        raise ValueError("positive", 3)
    print("after")
    return x


def raises_deep(x: Tensor) -> Tensor:
    while x.sum() > 0:
        print("trip", x)
        if x.max() > 4:
            raise OverflowError(f"too big: {x.max().item():.1f}")
        x = x * 2 - 3
    print("end")
    return x


def raises_in_callee(x: Tensor) -> Tensor:
    y = checked(x)
    print("not reached" if x is None else "reached")
    return y


def checked(x: Tensor) -> Tensor:
    if x.min() < 0:
        raise KeyError("negative")
    return x.sqrt()


# As text: pytest gives the `assert` statements of this file messages of its own.
asserts = from_text(
    """\
def asserts(x):
    assert (x > 0).all(), "must be positive"
    print("checked")
    if x.sum() > 5:
        assert x.max() < 9, f"largest is {x.max().item()}"
    return x.log()
""",
    "asserts",
    "<asserts>",
)


def two_failures(x: Tensor) -> Tensor:
    if x.sum() > 0:
        raise ValueError("first")
    if x.sum() > -1:
        raise TypeError("second")
    return x


BRANCHES = [t(3, 4), t(-1, -2), t(0.5, 1)]
TRIPS = {0: t(0.5, 0), 1: t(1, 0.5), 5: t(20, 1)}
PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "branch": (in_branch, BRANCHES),
    "nested branches": (nested, BRANCHES),
    "one side only": (one_sided, BRANCHES),
    "loop": (loop, list(TRIPS.values())),
    "loop over a range": (loop_over_range, [(t(1), torch.tensor(n)) for n in (0, 1, 4)]),
    "branch in a loop": (loop_with_branch, list(TRIPS.values())),
    "break": (loop_with_break, [t(0.5), t(3), t(1000)]),
    "nested loops": (nested_loops, [t(1), t(5), t(11)]),
    "callees": (calls, BRANCHES),
    "Python loop": (python_loop, BRANCHES),
    "formatted": (formatted, BRANCHES),
    "warnings": (warns, BRANCHES),
    "logs": (logs, BRANCHES),
    "early return": (returns_early, BRANCHES),
    "raise": (raises, BRANCHES),
    "raise in a loop": (raises_deep, [t(-1), t(1), t(3.5), t(3.1)]),
    "raise in a callee": (raises_in_callee, [t(4, 9), t(-1, 4)]),
    "assert": (asserts, [t(1, 2), t(-1, 2), t(4, 5), t(4, 10)]),
    "two failures": (two_failures, [t(1), t(-0.5), t(-3)]),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_as_in_eager_python(name: str, backend: str) -> None:
    function, inputs = PROGRAMS[name]
    agree(function, backend, *inputs)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["branch in a loop", "raise"])
def test_as_in_eager_python_with_inductor(name: str) -> None:
    function, inputs = PROGRAMS[name]
    torch.compile(torch.neg)(t(1))  # Inductor warns when it is first imported
    agree(function, "inductor", *inputs)


@pytest.mark.parametrize("trips", TRIPS)
def test_number_of_trips(trips: int) -> None:
    """The inputs above are what they are meant to be."""
    assert len(seen(loop, TRIPS[trips]).lines) == trips + 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_takes_effect_after_an_exception(backend: str) -> None:
    """Neither prints, nor writes to arguments, nor a second exception."""

    def program(x: Tensor, log: Tensor) -> Tensor:
        log[0] = 1
        if x.sum() > 0:
            raise ValueError("stop")
        print("after")
        log[1] = 1
        if x.max() > 0:
            raise TypeError("later")
        return x

    expected, actual = torch.zeros(2), torch.zeros(2)
    eager = seen(program, t(1, 1), expected)
    ours = seen(autograph(program, backend=backend), t(1, 1), actual)
    assert (eager.error, eager.lines) == ("ValueError: stop", ())
    assert (ours.error, ours.lines) == (eager.error, eager.lines)
    assert actual[1] == expected[1] == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_failure_is_the_users_exception(backend: str) -> None:
    class Wrong(Exception):
        pass

    def program(x: Tensor) -> Tensor:
        if x.sum() > 0:
            raise Wrong("a", 2)
        return x

    compiled = autograph(program, backend=backend)
    torch.testing.assert_close(compiled(t(-1)), t(-1))
    with pytest.raises(Wrong) as caught:
        compiled(t(1))
    assert caught.value.args == ("a", 2)
    torch.testing.assert_close(compiled(t(-2)), t(-2))


@pytest.mark.parametrize("backend", BACKENDS)
def test_state_is_as_before_after_an_exception(backend: str) -> None:
    """The next call finds its own order of effects."""
    agree(raises, backend, t(1), t(-1), t(1), t(-1))


@pytest.mark.parametrize("backend", BACKENDS)
def test_printed_tensor_is_the_one_of_that_moment(backend: str) -> None:
    def program(x: Tensor) -> Tensor:
        print(x)
        x.add_(1)
        print(x)
        if x.sum() > 0:
            x.mul_(2)
            print(x)
        return x

    agree(program, backend, t(1, 2), t(-5, -6))


@pytest.mark.parametrize("backend", BACKENDS)
def test_effects_with_gradients(backend: str) -> None:
    """Effects beside values that need gradients: both are right, and nothing is printed again in the backward pass."""

    def program(x: Tensor) -> Tensor:
        while x.sum() > 1:
            print("trip", x.sum().item())
            x = x * 0.5
        return x

    results = []
    for function in (program, autograph(program, backend=backend)):
        x = t(3, 4).requires_grad_()
        with contextlib.redirect_stdout(io.StringIO()) as out:
            function(x).sum().backward()
        results.append((out.getvalue(), x.grad))
    assert results[0][0] == results[1][0]
    torch.testing.assert_close(results[1][1], results[0][1])


def test_outside_of_a_trace_effects_are_plain_calls(capsys: pytest.CaptureFixture[str]) -> None:
    import autograph_torch.runtime as ag

    ag.effect(print, ag.text("{:.1f} {!r}", 1.25, "a"), end="!")
    assert capsys.readouterr().out == "1.2 'a'!"
    assert ag.text("plain") == "plain"
    with pytest.raises(ValueError, match="why"):
        ag.fail(ValueError, "why")
