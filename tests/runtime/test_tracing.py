"""What runtime/tracing.py leans on in torch: fails clearly when a torch release changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._guards import TracingContext

from autograph_torch import CaptureError, convert
from autograph_torch.runtime import tracing

X = torch.tensor([1.0, 2.0])


def run(function: Callable[[torch.Tensor], Any]) -> Any:
    return torch.compile(function, backend="eager", fullgraph=True)(X)


def test_no_trace_is_under_way_outside_of_one() -> None:
    with pytest.raises(RuntimeError):
        TracingContext.get()


def test_notebook_lives_as_long_as_its_trace() -> None:
    seen: list[dict[Any, Any]] = []

    @torch.compiler.assume_constant_result
    def write() -> int:
        seen.append(tracing.notebook())
        tracing.notebook()["note"] = len(seen)
        return 0

    def program(x: torch.Tensor) -> torch.Tensor:
        write()
        write()
        return x + 1

    run(program)
    assert seen[0] is seen[1] and seen[0]["note"] == 2
    torch._dynamo.reset()
    run(program)
    assert seen[2] is not seen[0]


def test_attempt_is_taken_back() -> None:
    marks: list[Any] = []

    @torch.compiler.assume_constant_result
    def begin() -> int:
        marks.append(tracing.last_node())
        return 0

    @torch.compiler.assume_constant_result
    def discard() -> int:
        tracing.discard_after(marks[-1])
        return 0

    graphs: list[torch.fx.GraphModule] = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        begin()
        torch.sin(x)
        torch.cos(y)
        discard()
        return y * 2

    assert torch.equal(torch.compile(program, backend=keep, fullgraph=True)(X), (X + 1) * 2)
    assert "sin" not in graphs[0].code and "cos" not in graphs[0].code


def test_user_line_is_the_innermost_frame_of_the_users() -> None:
    found: list[tuple[str, int, str]] = []

    @torch.compiler.assume_constant_result
    def look() -> int:
        found.append(tracing.user_line())
        return 0

    def inner(x: torch.Tensor) -> torch.Tensor:
        look()  # here
        return x + 1

    run(lambda x: inner(x))
    filename, line, text = found[0]
    assert filename == __file__ and text.strip() == "look()  # here"
    assert line == inner.__code__.co_firstlineno + 1


def test_operators_and_the_package_are_not_the_users() -> None:
    from torch._higher_order_ops import cond

    import autograph_torch.runtime.branch as branch

    assert tracing.is_ours(branch.__file__)
    assert tracing.is_ours(cond.__code__.co_filename)
    assert not tracing.is_ours(__file__)


def test_a_refusal_under_a_device_shows_the_line_of_the_user() -> None:
    def growing(x: torch.Tensor) -> torch.Tensor:
        while x.sum() < 9:
            x = torch.cat([x, x])
        return x

    with torch.device("cpu"), pytest.raises(CaptureError) as caught:
        torch.compile(convert(growing), fullgraph=True, backend="eager")(X)
    assert caught.value.diagnostic.filename == __file__


def test_sites_are_recorded_only_while_somebody_listens() -> None:
    @torch.compiler.assume_constant_result
    def note() -> int:
        tracing.record_site("if", "torch.cond")
        return 0

    def program(x: torch.Tensor) -> torch.Tensor:
        note()  # site
        return x + 1

    run(program)
    torch._dynamo.reset()
    with tracing.SiteRecorder() as outer, tracing.SiteRecorder() as inner:
        run(program)
    assert outer == []
    assert inner == [(__file__, program.__code__.co_firstlineno + 1, "if", "torch.cond")]


def test_traced_code_reaches_a_backend() -> None:
    """capture/export.py asks for it to know which functions a trace has entered."""
    from torch._dynamo.utils import get_traced_code

    def inner(x: torch.Tensor) -> torch.Tensor:
        return x + 1

    def program(x: torch.Tensor) -> torch.Tensor:
        return inner(x)

    codes: list[Any] = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        codes.extend(get_traced_code() or ())
        return graph

    torch.compile(program, backend=keep, fullgraph=True)(X)
    assert codes == [program.__code__, inner.__code__]


def test_free_tensors_become_attributes() -> None:
    """capture/export.py relies on torch._dynamo.config.install_free_tensors for the parameters of a traced graph."""
    with torch._dynamo.config.patch(install_free_tensors=True):
        assert torch._dynamo.config.install_free_tensors
