"""What `autograph(effects=...)` chooses: when effects are done, which are done, and what an exception leaves behind."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograph_torch import CaptureError, autograph, convert
from autograph_torch.runtime import performing

BACKENDS = ["eager", "aot_eager"]
events: list[str] = []
logger = logging.getLogger(__name__)


def record(text: str, value: Any = None) -> None:
    """A host function of the user's."""
    events.append(text if value is None else f"{text} {float(value):.1f}")


class Writer:
    """As a summary writer: its methods are host functions."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add_scalar(self, name: str, value: Any, step: int = 0) -> None:
        events.append(f"{name}[{step}] = {float(value):.1f}")


WRITER = Writer()


@pytest.fixture(autouse=True)
def no_events() -> None:
    events.clear()


def t(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float32)


def out(function: Callable[..., Any], *args: Any) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.suppress(ValueError):
        function(*args)
    return text.getvalue()


def backend_that_tells(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
    """The eager backend, which says when the graph has returned."""

    def run(*args: Any) -> Any:
        result = graph(*args)
        print("graph returned")
        return result

    return run


def two_prints(x: Tensor) -> Tensor:
    print("first", x)
    if x.sum() > 0:
        print("second")
    return x + 1


def test_deferred_effects_come_when_the_graph_has_returned() -> None:
    expected = out(two_prints, t(1))
    assert out(autograph(two_prints, backend=backend_that_tells), t(1)) == "graph returned\n" + expected


def test_immediate_effects_come_while_it_runs() -> None:
    expected = out(two_prints, t(1))
    fast = autograph(two_prints, backend=backend_that_tells, effects="immediate")
    assert out(fast, t(1)) == expected + "graph returned\n"


@pytest.mark.parametrize("backend", BACKENDS)
def test_dropped_effects_do_not_come_and_exceptions_do(backend: str) -> None:
    def program(x: Tensor) -> Tensor:
        print("printed")
        if x.sum() > 0:
            raise ValueError("positive")
        return x

    fast = autograph(program, backend=backend, effects="drop")
    assert out(fast, t(-1)) == ""
    with pytest.raises(ValueError, match="positive"):
        fast(t(1))
    assert out(fast, t(1)) == ""


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="deferred, immediate, drop"):
        autograph(two_prints, effects="later")


def test_plain_torch_compile_gives_the_same_output() -> None:
    fast = torch.compile(convert(two_prints), fullgraph=True, backend="aot_eager")
    for x in (t(1), t(-1)):
        assert out(fast, x) == out(two_prints, x)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("effects", ["deferred", "immediate"])
def test_value_of_the_moment_under_writes(backend: str, effects: str) -> None:
    def program(x: Tensor) -> Tensor:
        view = x[:1]
        for _ in range(3):
            print(x, view)
            x.mul_(2)
            view.add_(1)
            print(x, view)
        if x.sum() < 100:
            x.mul_(2)
            print("in", x)
        print(x)
        return x

    assert out(autograph(program, backend=backend, effects=effects), t(1, 2)) == out(program, t(1, 2))


def long_loop(n: Tensor) -> Tensor:
    total = torch.tensor(0)
    while total < n:
        print("at", total)
        total = total + 1
    return total


def test_a_full_queue_is_played_early_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performing, "QUEUE_LIMIT", 4)
    fast = autograph(long_loop, backend="eager")
    with pytest.warns(UserWarning, match="4 effects .* wait for the graph"):
        assert out(fast, torch.tensor(10)) == out(long_loop, torch.tensor(10))


def test_a_queue_of_large_tensors_is_played_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(performing, "QUEUE_BYTES", 16)
    fast = autograph(long_loop, backend="eager")
    with pytest.warns(UserWarning, match="16 bytes"):
        assert out(fast, torch.tensor(3)) == out(long_loop, torch.tensor(3))


def test_no_warning_below_the_limit() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert out(autograph(long_loop, backend="eager"), torch.tensor(5)) == out(long_loop, torch.tensor(5))


# -- functions that the user names -------------------------------------------------------------------------------------


def tracked(x: Tensor, writer: Any = None) -> Tensor:
    record("start")
    while x.sum() > 1:
        record("sum", x.sum())
        WRITER.add_scalar("sum", x.sum().item(), step=2)
        x = x / 2
    tracked_below(x)
    return x


def tracked_below(x: Tensor) -> None:
    if x.sum() > 0:
        record(f"positive {x.sum().item():.2f}")


@pytest.mark.parametrize("backend", BACKENDS)
def test_functions_that_the_user_names(backend: str) -> None:
    fast = autograph(tracked, backend=backend, effects=[record, WRITER.add_scalar])
    for x in (t(4), t(0.5), t(-1)):
        events.clear()
        expected = tracked(x)
        seen = list(events)
        events.clear()
        torch.testing.assert_close(fast(x), expected)
        assert events == seen


class Tracking(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.writer = WRITER

    def forward(self, x: Tensor) -> Tensor:
        self.writer.add_scalar("sum", x.sum())
        return x * 2


def test_functions_that_the_user_names_in_a_module() -> None:
    fast = autograph(Tracking(), backend="eager", effects=[WRITER.add_scalar])
    fast(t(1))
    fast(t(2))
    assert events == ["sum[0] = 1.0", "sum[0] = 2.0"]


# -- exceptions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_came_before_an_exception_is_there(backend: str) -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("seen", torch.zeros(()))
            self.calls = 0

        def forward(self, x: Tensor) -> Tensor:
            self.calls += 1
            self.seen += x.sum()
            print("before", self.seen)
            logger.warning("before")
            if x.sum() > 0:
                x[0] = 7
                raise ValueError(f"sum {x.sum().item()}")
            self.seen += 100
            print("after")
            return x

    plain, original = Counter(), Counter()
    fast = autograph(original, backend=backend)
    for values in ((-1.0, 0.0), (2.0, 3.0), (-2.0, 0.0), (5.0, 1.0)):
        given, wanted = t(*values), t(*values)
        assert out(fast, given) == out(plain, wanted)
        torch.testing.assert_close(given, wanted)
        torch.testing.assert_close(fast.seen, plain.seen)
        assert fast.calls == plain.calls


@pytest.mark.parametrize("backend", BACKENDS)
def test_immediate_effects_before_an_exception_are_done_once(backend: str) -> None:
    def program(x: Tensor) -> Tensor:
        print("before")
        if x.sum() > 0:
            print("about to raise")
            raise ValueError("positive")
        print("after")
        return x

    fast = autograph(program, backend=backend, effects="immediate")
    for x in (t(1), t(-1)):
        assert out(fast, x) == out(program, x)
    with pytest.raises(ValueError, match="positive"):
        fast(t(1))


def test_traceback_shows_the_users_lines() -> None:
    def check(x: Tensor) -> None:
        if x.sum() > 0:
            raise ValueError("positive")  # this line

    def program(x: Tensor) -> Tensor:
        check(x)  # and this one
        return x

    for fast in (autograph(program, backend="eager"), torch.compile(convert(program), fullgraph=True, backend="eager")):
        with pytest.raises(ValueError, match="positive") as caught:
            fast(t(1))
        frames = traceback.extract_tb(caught.tb)
        lines = [str(frame.line) for frame in frames if frame.filename == __file__]
        assert 'raise ValueError("positive")  # this line' in lines[-1]
        assert "check(x)  # and this one" in lines[-2]


def test_python_exceptions_of_a_traced_program_are_the_programs_own() -> None:
    def program(x: Tensor, k: int) -> Tensor:
        print("before", x)
        if k < 0:
            raise KeyError(k)
        if x.sum() > 0:
            x = x * k
        return x

    fast = autograph(program, backend="eager")
    fast(t(1), 2)
    with contextlib.redirect_stdout(io.StringIO()) as text, pytest.raises(KeyError, match="-1"):
        fast(t(1), -1)
    assert text.getvalue() == "before tensor([1.])\n"


def test_a_warning_that_a_filter_makes_an_error() -> None:
    def program(x: Tensor) -> Tensor:
        print("before")
        warnings.warn("careful", RuntimeWarning, stacklevel=1)
        print("after")
        return x

    fast = autograph(program, backend="eager")
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with contextlib.redirect_stdout(io.StringIO()) as text, pytest.raises(RuntimeWarning, match="careful"):
            fast(t(1))
    assert text.getvalue() == "before\n"


def test_once_per_place_as_the_default_filter_says() -> None:
    def program(x: Tensor) -> Tensor:
        for _ in range(3):
            warnings.warn("again", UserWarning, stacklevel=1)
        return x

    counts = []
    for function in (program, autograph(program, backend="eager")):
        sys.modules[__name__].__dict__.pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            function(t(1))
        counts.append(len([w for w in caught if str(w.message) == "again"]))
    assert counts == [1, 1]


# -- what backends would drop (torch 2.13) -----------------------------------------------------------------------------


def in_a_loop(x: Tensor) -> Tensor:
    while x.sum() > 1:
        print("trip")
        x = x / 2
    return x


def without_a_result(x: Tensor) -> Tensor:
    if x.sum() > 0:
        print("only an effect")
    return x * 2


def whose_branch_is_dead(x: Tensor) -> Tensor:
    if x.sum() > 0:
        print("positive")
        y = x * 3
    else:
        y = x
    del y
    return x * 2


def at_top_level(x: Tensor) -> Tensor:
    print("nobody needs this")
    return x * 2


def raising_for_nothing(x: Tensor) -> Tensor:
    if x.sum() < 0:
        raise ValueError("negative")
    return x * 2


def of_a_local(x: Tensor) -> Tensor:
    y = x * 2
    y.add_(1)
    print(y)
    return x


ROWS = [in_a_loop, without_a_result, whose_branch_is_dead, at_top_level, raising_for_nothing, of_a_local]


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("backend", [*BACKENDS, pytest.param("inductor", marks=pytest.mark.slow)])
@pytest.mark.parametrize("program", ROWS, ids=lambda program: program.__name__)
def test_no_effect_is_dropped_as_dead(program: Callable[..., Any], backend: str, grad: bool) -> None:
    """Facts of torch: effects in bodies are dropped (S5, S6), and so are operators whose results are dead (S7)."""
    fast = autograph(program, backend=backend)
    for x in (t(3, 1), t(-3, -1)):
        results = []
        for function in (program, fast):
            given = x.clone().requires_grad_(grad)
            error = ""
            with contextlib.redirect_stdout(io.StringIO()) as text:
                try:
                    result = function(given.detach() if program is of_a_local else given)
                    if grad and result.requires_grad:
                        result.sum().backward()
                except ValueError as raised:
                    error = str(raised)
            results.append((text.getvalue(), error))
        assert results[0] == results[1]


@pytest.mark.slow
def test_with_the_cpp_wrapper() -> None:
    def program(x: Tensor) -> Tensor:
        print("sum", x.sum().item())
        if x.sum() > 0:
            print("positive")
            if x.max() > 5:
                raise KeyError(f"large: {x.max().item()}")
            x = x + 1
        return x

    fast = autograph(program, options={"cpp_wrapper": True})
    for x in (t(1), t(-1)):
        assert out(fast, x) == out(program, x)
    with contextlib.redirect_stdout(io.StringIO()) as text, pytest.raises(KeyError, match="large: 6.0"):
        fast(t(6))
    assert text.getvalue() == "sum 6.0\npositive\n"


def test_tqdm_and_rich_under_any_name() -> None:
    tqdm = pytest.importorskip("tqdm").tqdm
    from rich import print as rich_print

    def program(x: Tensor) -> Tensor:
        tqdm.write(f"sum {x.sum().item():.1f}")
        if x.sum() > 0:
            tqdm.write("positive", end="!\n")
            rich_print("[bold]rich[/bold]", x.shape)
        return x

    fast = autograph(program, backend="eager")
    for x in (t(1), t(-1)):
        assert out(fast, x) == out(program, x)


def test_tqdm_imported_inside() -> None:
    pytest.importorskip("tqdm")

    def program(x: Tensor) -> Tensor:
        from tqdm import tqdm

        while x.norm() > 1:
            tqdm.write(f"norm {x.norm().item():.3f}")
            x = x / 2
        return x

    fast = autograph(program, backend="eager")
    for x in (t(0.5), t(1.5), t(5)):
        assert out(fast, x) == out(program, x)


@pytest.mark.parametrize(("effects", "inside"), [("deferred", False), ("immediate", True)])
def test_deferred_effects_do_not_wait_for_values(effects: str, inside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue holds tensors; what they say is read when the graph has returned."""
    running, read = [], []
    original = performing.put_together

    def put_together(part: Any, values: Any) -> Any:
        read.append(bool(running))
        return original(part, values)

    def backend(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        read.clear()  # what the trace has tried

        def run(*args: Any) -> Any:
            running.append(True)
            result = graph(*args)
            running.clear()
            return result

        return run

    def program(x: Tensor) -> Tensor:
        total = x.sum().item()
        print(f"total {total:.2f}", x, [x.max().item()])
        logger.warning("mean %.3f", x.mean().item())
        return x / total

    monkeypatch.setattr(performing, "put_together", put_together)
    assert out(autograph(program, backend=backend, effects=effects), t(1, 2)) == out(program, t(1, 2))
    assert set(read) == {inside}


def doubled_or_told(x: Tensor, n: Tensor, s: Tensor) -> Tensor:
    if n % 2 == 0:
        x = x * 2
    elif s > 0.37:
        print("index", 3, end=";")
    return x


def test_every_trace_begins_with_a_token_of_its_own() -> None:
    compiled = autograph(doubled_or_told, backend="eager")
    for number, said in ((1, "index 3;"), (2, ""), (1, "index 3;")):
        x = t(1.0, 2.0).requires_grad_()
        with contextlib.redirect_stdout(io.StringIO()) as text:
            compiled(x, torch.tensor(number), torch.tensor(0.5)).sum().backward()
        assert text.getvalue() == said
        assert x.grad is not None and x.grad.tolist() == ([2.0, 2.0] if number == 2 else [1.0, 1.0])


class Counted:
    def __init__(self) -> None:
        self.count = 0

    def large(self, x: Tensor) -> Tensor:
        self.count = self.count + 1
        return x.sum() > 1


def told(x: Tensor) -> Tensor:
    print("asked")
    return x.sum() > 1


def test_the_test_of_a_loop_may_print_and_write(capsys: pytest.CaptureFixture[str]) -> None:
    def shrunk(x: Tensor, large: Callable[[Tensor], Tensor]) -> Tensor:
        while large(x):
            x = x / 2
        return x

    assert autograph(shrunk, backend="eager")(t(1.0, 2.0), told).tolist() == [0.25, 0.5]
    assert capsys.readouterr().out == "asked\n" * 3
    counted = Counted()
    assert autograph(shrunk, backend="eager")(t(1.0, 2.0), counted.large).tolist() == [0.25, 0.5]
    assert counted.count == 3


class Recorder(nn.Module):
    """Writes to its argument, a buffer and an attribute before it raises."""

    def __init__(self, prints: bool) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(()))
        self.calls = 0
        self.prints = prints

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.seen += 1
        x[0] = 7
        if self.prints:
            print("before")
        if x.sum() > 0:
            raise ValueError("positive")
        return x


BEHIND_A_PRINT = pytest.mark.xfail(strict=True, reason="the world has seen the print: see docs/limits.md")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("effects", "prints"),
    [
        ("deferred", True),
        ("immediate", False),
        pytest.param("immediate", True, marks=BEHIND_A_PRINT),
        pytest.param("drop", False, marks=BEHIND_A_PRINT),
    ],
)
def test_writes_before_an_exception(effects: str, prints: bool, backend: str) -> None:
    module = Recorder(prints)
    fast = autograph(module, backend=backend, effects=effects)
    x = t(1, 2)
    with contextlib.redirect_stdout(io.StringIO()), pytest.raises(ValueError, match="positive"):
        fast(x)
    assert (x.tolist(), fast.calls, float(fast.seen)) == ([7, 2], 1, 1)


def test_errors_of_torch_are_those_of_eager() -> None:
    def program(x: Tensor, k: Tensor) -> Tensor:
        print("before")
        if x.sum() > 0:
            x = x + 1
        return x[k]

    errors = []
    for function in (program, autograph(program, backend="eager")):
        with contextlib.redirect_stdout(io.StringIO()) as text, pytest.raises(IndexError) as caught:
            function(t(1, 2), torch.tensor([5]))
        errors.append((text.getvalue(), str(caught.value)))
    assert errors[0] == errors[1]


def test_a_graph_that_fails_where_python_does_not() -> None:
    def failing(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        def run(*args: Any) -> Any:
            raise RuntimeError("a kernel fails")

        return run

    with pytest.warns(
        RuntimeWarning, match="two_prints has failed .RuntimeError: a kernel fails.; the call has been run"
    ):
        assert out(autograph(two_prints, backend=failing), t(1)) == out(two_prints, t(1))


def test_a_failed_trace_is_not_taken_for_the_program() -> None:
    def failing(graph: torch.fx.GraphModule, inputs: list[Any]) -> Callable[..., Any]:
        raise RuntimeError("the backend fails")

    with pytest.raises(CaptureError, match="backend='failing' raised"):
        autograph(two_prints, backend=failing)(t(1))
