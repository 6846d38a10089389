"""Calls without the decorator whose graph raises run once more in Python; what that leans on in Dynamo."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo import convert_frame, utils

from autograph_torch import autograph, convert, to_source
from autograph_torch.capture import again
from tests.written import module_of

BACKENDS = pytest.mark.parametrize("backend", ["eager", "aot_eager"])
Outcome = tuple[Any, ...]


def outcome(function: Callable[..., Any], capsys: pytest.CaptureFixture[str], value: float) -> Outcome:
    """What can be seen of a call: the result or the exception, what was written to, what was printed."""
    x, log = torch.tensor([value, 1.0]), {"calls": torch.zeros(2)}
    try:
        result: Any = function(x, log).tolist()
    except (ValueError, AssertionError, torch.linalg.LinAlgError) as error:
        result = type(error), str(error)
    return result, x.tolist(), {key: kept.tolist() for key, kept in log.items()}, capsys.readouterr().out


def check(program: Callable[..., Any], backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    compiled = torch.compile(convert(program), backend=backend, fullgraph=True)
    for value in (3.0, -3.0, 3.0):
        assert outcome(compiled, capsys, value) == outcome(program, capsys, value)


def writes_before_it_raises(x: Tensor, log: dict[str, Tensor]) -> Tensor:
    log["calls"].add_(1)
    log["last"] = x * 2
    print("checked", x)
    if x.sum() > 0:
        x.mul_(2)
        raise ValueError(f"positive: {x.sum():.1f}")
    return x + log["calls"]


def refuse_positive(x: Tensor) -> Tensor:
    if x.sum() > 0:
        raise ValueError("positive")
    return x


def handles_what_a_called_function_raises(x: Tensor, log: dict[str, Tensor]) -> Tensor:
    try:
        return refuse_positive(x)
    except ValueError as error:
        log["calls"] += 1
        print(error)
        return x * 2
    finally:
        print("done")


def handles_what_torch_raises(x: Tensor, log: dict[str, Tensor]) -> Tensor:
    try:
        return torch.linalg.cholesky(torch.diag(x))
    except torch.linalg.LinAlgError:
        return log["calls"] + 5


def raises_whatever_the_data(x: Tensor, log: dict[str, Tensor]) -> Tensor:
    log["calls"] += 1
    if x.dim() != 2:
        raise ValueError(f"{x.dim()} dimensions")
    return x if x.sum() > 0 else -x


@BACKENDS
@pytest.mark.parametrize(
    "program",
    [writes_before_it_raises, handles_what_a_called_function_raises, raises_whatever_the_data],
    ids=lambda program: program.__name__,
)
def test_a_call_that_raises_is_as_in_python(
    program: Callable[..., Any], backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check(program, backend, capsys)


@BACKENDS
def test_an_error_of_torch_that_a_try_handles(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It would have ended the call: the graph has no part in the handler."""
    with pytest.warns(RuntimeWarning, match="has been run in Python"):
        check(handles_what_torch_raises, backend, capsys)


def test_a_jump_to_the_handler_of_the_same_function_stays_in_the_graph() -> None:
    """It costs no second run: what prints in Python only tells of one."""
    runs: list[int] = []

    def program(x: Tensor) -> Tensor:
        if not torch.compiler.is_compiling():
            runs.append(1)
        try:
            if x.sum() > 0:
                raise ValueError("positive")
            y = x + 1
        except ValueError:
            y = x * 2
        return y

    compiled = torch.compile(convert(program), backend="eager", fullgraph=True)
    x = torch.tensor([3.0])
    assert compiled(x).tolist() == [6.0] and compiled(-x).tolist() == [-2.0]
    assert runs == []


def every_kind_of_parameter(x: Tensor, /, y: Tensor, *rest: Tensor, scale: float = 2.0, **others: Tensor) -> Tensor:
    shifted = lambda: x + others["shift"]  # noqa: E731  (`x` and `others` are cells)
    y += 1
    for one in rest:
        one += 1
    if x.sum() > 10:
        raise ValueError("too large")
    return shifted() * scale + y


@pytest.mark.parametrize("value", [1.0, 20.0])
def test_parameters_and_cells(value: float) -> None:
    def call(function: Callable[..., Any]) -> Any:
        tensors = [torch.tensor([value]), *(torch.tensor([1.0]) for _ in range(4))]
        x, y, first, second, shift = tensors
        try:
            result: Any = function(x, y, first, second, scale=3.0, shift=shift)
        except ValueError as error:
            result = str(error)
        return result, [tensor.item() for tensor in tensors]

    compiled = torch.compile(convert(every_kind_of_parameter), backend="eager", fullgraph=True)
    assert str(call(compiled)) == str(call(every_kind_of_parameter))


def test_a_callable_object_takes_any_arguments() -> None:
    class Refusing:
        def __call__(self, x: Tensor) -> Tensor:
            return refuse_positive(x) * 2

    compiled = torch.compile(convert(Refusing()), backend="eager", fullgraph=True)
    assert compiled(torch.tensor([-1.0])).tolist() == [-2.0]
    with pytest.raises(ValueError, match="positive"):
        compiled(x=torch.tensor([1.0]))


def test_variables_of_the_scope_around() -> None:
    def make() -> Callable[[Tensor], Tensor]:
        count = 0

        def step(x: Tensor) -> Tensor:
            nonlocal count
            count += 1
            if x.sum() > count:
                raise ValueError(f"step {count}")
            return x + count

        return step

    plain, converted = make(), convert(make())
    compiled = torch.compile(converted, backend="eager", fullgraph=True)
    for value in (0.0, 9.0, 1.0):
        ends = []
        for function in (plain, compiled):
            try:
                ends.append(function(torch.tensor([value])).tolist())
            except ValueError as error:
                ends.append(str(error))
        assert ends[0] == ends[1]


def written_file(program: Callable[..., Any], folder: Path) -> ModuleType:
    """A module with the converted text of a function, as `autograph-torch convert` writes it."""
    text = f"import torch\nfrom torch import Tensor\nimport autograph_torch.runtime as ag\n{to_source(program)}"
    return module_of(text, "written", str(folder / "written.py"))


def test_functions_of_written_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    function = written_file(writes_before_it_raises, tmp_path).writes_before_it_raises
    compiled = torch.compile(function, backend="eager", fullgraph=True)
    for value in (3.0, -3.0):
        assert outcome(compiled, capsys, value) == outcome(writes_before_it_raises, capsys, value)


def test_a_compiled_function_in_a_call_that_runs_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    """Its graph has effects of its own, and an exception of its own."""

    def inner(x: Tensor) -> Tensor:
        print("inner", x)
        if x.sum() > 5:
            raise ValueError("inner")
        return x + 1

    def outer(call: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Any]:
        def program(x: Tensor) -> Any:
            try:
                return refuse_positive(x)
            except ValueError:
                if torch.compiler.is_compiling():
                    return x
            try:
                return call(x)
            except ValueError as error:
                return x, str(error)

        return program

    compiled = autograph(outer(torch.compile(convert(inner), backend="eager", fullgraph=True)), backend="eager")
    for value in (1.0, 9.0):
        x = torch.tensor([value])
        expected, printed = outer(inner)(x), capsys.readouterr().out
        assert (str(compiled(x)), capsys.readouterr().out) == (str(expected), printed)


def test_with_breaks_an_exception_comes_from_its_graph() -> None:
    """There Python runs between the graphs: what it has done cannot be taken back."""
    compiled = torch.compile(convert(refuse_positive), backend="eager")
    with pytest.raises(ValueError, match="positive"):
        compiled(torch.tensor([1.0]))


def test_what_dynamo_offers() -> None:
    assert callable(convert_frame.register_bytecode_hook)
    assert callable(utils.get_traced_code)
    assert any(hook is again._with_another_run for hook in convert_frame._bytecode_hooks.values())


def clipped(grads: dict[str, Tensor], most: float) -> Tensor:
    total = torch.sqrt(sum((g**2).sum() for g in grads.values()))  # type: ignore[arg-type]
    if not torch.isfinite(total):
        _ = [name for name, g in grads.items() if not torch.isfinite(g).all()]
        raise RuntimeError(f"gradients are not finite, norm {total.item()}")
    coef = most / (total + 1e-6)
    if coef < 1:
        for g in grads.values():
            g.mul_(coef)
    return total


def test_a_frame_with_more_cells_than_the_last_trace_keeps_its_arguments() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(clipped), backend="eager", fullgraph=True)
    for values in ([3.0, 4.0], [0.1, 0.1]):
        expected, actual = ({"w": torch.tensor(values), "b": torch.ones(1)} for _ in range(2))
        torch.testing.assert_close(compiled(actual, 1.0), clipped(expected, 1.0), rtol=0, atol=0)
        torch.testing.assert_close(actual, expected, rtol=0, atol=0)
    with pytest.raises(RuntimeError, match="norm nan"):
        compiled({"w": torch.tensor([math.nan, 1.0]), "b": torch.ones(1)}, 1.0)


def handled_in_a_loop(x: Tensor, y: Tensor, s: Tensor, k: int, last: bool) -> tuple[Tensor, Tensor]:
    try:
        for _ in range(2):
            x = x + 1
            if -0.45 < torch.tensor(0.25) < 1.3:
                raise KeyError("k")
        y = x
    except KeyError:
        x = x - k
    if x.sum() > s:
        return x, x
    for _ in range(3):
        x = x
    return x, y


@pytest.mark.parametrize("start", [5.0, -5.0])
def test_an_argument_that_is_a_cell_counts_as_an_argument(start: float) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(convert(handled_in_a_loop), backend="eager", fullgraph=True)
    given = (torch.tensor([start]), torch.ones(1), torch.tensor(0.9), 2, True)
    torch.testing.assert_close(compiled(*given), handled_in_a_loop(*given))
