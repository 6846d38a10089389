"""`max` and `min` as Python takes them; what is ambiguous stays so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from autograph_torch import autograph, convert
from autograph_torch.diagnostics import CaptureError
from tests.calls_in_turn import differing_calls
from tests.harness import agreement, check_any_graph, following_one_path, program, vec


def largest(x: torch.Tensor) -> object:
    return max(x.sum(), 0)


def of_vectors(x: torch.Tensor) -> torch.Tensor:
    return max(x, x * 2)


def test_nan_loses_where_python_lets_it() -> None:
    def pair(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return max(a, b), max(b, a)

    compiled = torch.compile(convert(pair), fullgraph=True, backend="eager")
    first, second = compiled(torch.tensor(1.0), torch.tensor(float("nan")))
    assert first == 1 and second.isnan()


def test_the_number_is_given_where_it_is_the_largest() -> None:
    decorated = autograph(largest, backend="eager")
    assert decorated(torch.ones(2)) == torch.tensor(2.0)
    found = decorated(-torch.ones(2))
    assert type(found) is int and found == 0


def test_vectors_have_no_largest() -> None:
    with pytest.raises(CaptureError, match="the predicate has 2 elements"):
        torch.compile(convert(of_vectors), fullgraph=True, backend="eager")(torch.ones(2))


NAN = float("nan")
ROWS = ([1.0, 3.0, 2.0], [3.0, 1.0, 3.0], [2.0, NAN, 3.0], [NAN, 2.0, 3.0], [-float("inf"), NAN, -float("inf")], [5.0])


def of_elements(x: torch.Tensor) -> tuple[object, ...]:
    y = x * 2
    return max(y), min(y), max(y.long().clamp(-9, 9)), min(y > 2)


def written_behind(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    y = x * 2
    largest, smallest = max(y), min(y)
    largest.add_(10)
    y[0] = 7
    return y, largest, smallest


@pytest.mark.parametrize("function", [of_elements, written_behind])
def test_elements_of_a_tensor(function: Callable[..., tuple[torch.Tensor, ...]]) -> None:
    compiled = torch.compile(convert(function), fullgraph=True, backend="eager", dynamic=True)
    for values in ROWS:
        x = torch.tensor(values)
        for found, wanted in zip(compiled(x), function(x), strict=True):
            torch.testing.assert_close(found, wanted, equal_nan=True)


def test_gradient_of_the_largest_element() -> None:
    compiled = torch.compile(convert(lambda x: max(x * 2) * 3), fullgraph=True, backend="aot_eager")
    for values, gradient in (([1.0, 3.0, 3.0], [0.0, 6.0, 0.0]), ([4.0, 3.0, 3.0], [6.0, 0.0, 0.0])):
        x = torch.tensor(values, requires_grad=True)
        compiled(x).backward()
        assert x.grad is not None and x.grad.tolist() == gradient


def test_tensors_without_elements() -> None:
    largest = autograph(lambda x: max(x), backend="eager")
    with pytest.raises(ValueError, match=r"max\(\) .*empty"):
        largest(torch.ones(0))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        largest(torch.ones(()))
    assert torch.equal(largest(torch.ones(1, 2)), torch.ones(2))
    with pytest.raises(CaptureError, match="the predicate has 2 elements"):
        torch.compile(convert(lambda x: max(x)), fullgraph=True, backend="eager")(torch.ones(2, 2))


def test_of_as_many_elements_as_data_tell() -> None:
    def largest(x: torch.Tensor) -> torch.Tensor:
        return max(x[x > 0]) + 1

    decorated = autograph(largest, backend="eager")
    assert decorated(torch.tensor([1.0, 5.0, -1.0])) == 6
    with pytest.raises(ValueError, match=r"max\(\) .*empty"):
        decorated(-torch.ones(3))


def result_is_written(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    a, b = x[0] * 1, x[1] * 1
    largest = max(a, b)
    largest.add_(10)
    return a, b, largest


def value_is_written(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    a, b = x[0] * 1, x[1] * 1
    smallest = min([a, b])
    a.add_(10)
    return a, b, smallest


def written_in_a_branch(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    a, b = x[0] * 1, x[1] * 1
    if x.sum() > 0:
        largest = max(a, b)
        largest.add_(10)
    return a, b


@pytest.mark.parametrize("function", [result_is_written, value_is_written, written_in_a_branch])
def test_the_largest_is_one_of_the_two(function: Callable[..., object]) -> None:
    with pytest.raises(CaptureError, match="a result may be a tensor from before"):
        torch.compile(convert(function), fullgraph=True, backend="eager")(torch.ones(2))


def lowest(best: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    for value in x:
        best = min(best, value)
    return best, x


def of_computed(best: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    last = x.sum()
    if last > 4:
        best = max(best, last, x[0])
    return best, last


@pytest.mark.parametrize("function", [lowest, of_computed])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("best", [float("nan"), -5.0, 2.0, 9.0])
def test_it_is_given_back_itself(function: Callable[..., object], backend: str, best: float) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend=backend)
    for values in ([3.0, 1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 1.0, float("nan")], [2.0, 2.0, 2.0]):
        found = []
        for run in (function, fast):
            tensors = [torch.tensor(best), torch.tensor(values)]
            given: Any = run(*tensors)
            same = [[one is other for other in (*given, *tensors)] for one in given]
            memories = [one.untyped_storage().data_ptr() for one in (*given, *tensors)]
            found.append((same, [memories.index(one) for one in memories], given[0].storage_offset(), str(given)))
        assert found[0] == found[1]


class Pair(NamedTuple):
    first: Tensor
    second: Tensor


class Values:
    def __init__(self, *values: Tensor) -> None:
        self.values = values

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.values)


def of_values(x: Tensor, y: Tensor) -> object:
    return max({"x": x, "y": y}.values())


def of_keys(x: Tensor, y: Tensor) -> object:
    return min({x: 1, y: 2})


def of_a_map(x: Tensor, y: Tensor) -> object:
    return max(map(lambda value: value, [x, y]))


def of_an_iterator(x: Tensor, y: Tensor) -> object:
    return min(reversed([x, y]))


def of_a_named_tuple(x: Tensor, y: Tensor) -> object:
    return max(Pair(x, y))


def of_an_object(x: Tensor, y: Tensor) -> object:
    return min(Values(x, y))


@pytest.mark.parametrize("function", [of_values, of_keys, of_a_map, of_an_iterator, of_a_named_tuple, of_an_object])
def test_elements_of_any_iterable(function: Callable[..., object]) -> None:
    torch._dynamo.reset()
    fast = autograph(function, backend="eager")
    for values in ([1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [NAN, 1.0], [1.0, NAN]):
        pair = [torch.tensor(value) for value in values]
        assert fast(*pair) is function(*pair)


def test_a_default_is_for_one_iterable() -> None:
    with pytest.raises(TypeError, match="Cannot specify a default"):
        torch.compile(convert(lambda x: max(x[0], x[1], default=0)), fullgraph=True, backend="eager")(torch.ones(2))


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 3),), lambda: (vec(0, -1),)])
def of_truth_values(x: Tensor) -> Any:
    first, second = bool(x[0] > 0), bool(x[1] > 0)
    either, both = max(first, second), min([first, second])
    if x.sum() > 0:
        x = x * max(first, second, False)
    return x, either, both, max(second, first) + 1


def test_of_truth_values_there_is_one_graph() -> None:
    verdict = agreement(of_truth_values.__program__, "eager")  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 3),), lambda: (vec(0, -1),)])
def of_truth_values_and_numbers(x: Tensor) -> Any:
    flag, number = bool(x[0] > 0), x[1].item()
    clamped = max(1, min(flag, 4)), min(flag, 0), max(flag, 0.5), max(flag, -1), min([2, flag])
    return clamped, max(number, flag), min(flag, number), max(flag, int(number))


def test_of_a_truth_value_and_a_number_the_type_is_of_the_one_that_is_chosen() -> None:
    check_any_graph(of_truth_values_and_numbers)
    verdict = agreement(of_truth_values_and_numbers.__program__, "one path")  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason


def of_two_types(x: Tensor, count: Tensor, n: int, scale: float) -> Any:
    done = count.item()
    x = x * 2 if x.sum() > 0 else x
    return min(done, 5.5), min(done / 2, 2), max(n, 2.5), max(scale, n), min(n, scale, x.sum().item()), max(3, scale)


def test_of_numbers_that_a_call_is_given_the_type_is_of_the_one_that_is_chosen() -> None:
    given = [(1, 2, 2.0), (7, 3, 0.5), (4, 1, 9.5), (5, 9, 3.0), (12, 2, 2.5)]
    calls = [lambda count=c, n=n, scale=s: (torch.tensor(count), n, scale) for c, n, s in given]
    with following_one_path():
        assert not differing_calls(lambda: (of_two_types, calls))
