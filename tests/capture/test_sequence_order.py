"""Tuples and lists whose elements depend on data, in order; `bisect` and `heapq`."""

from __future__ import annotations

import bisect
import heapq
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import AutographError, convert
from tests.harness import agreement, program, vec


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    result: Callable[..., Any] = torch.compile(convert(function), backend="eager", fullgraph=True)
    return result


def before(x: torch.Tensor) -> bool:
    return (x[0].item(), 1) < (x[1].item(), 2)


def place(x: torch.Tensor) -> int:
    return bisect.bisect([1.0, 2.0], x[0].item())


def smallest(x: torch.Tensor) -> torch.Tensor:
    heap = [x[0], x[1]]
    heapq.heapify(heap)
    return heap[0] * 2


@pytest.mark.parametrize("function", [before, place, smallest])
def test_torch_needs_it(function: Callable[..., Any]) -> None:
    with pytest.raises(torch._dynamo.exc.TorchDynamoException):
        torch.compile(function, backend="eager", fullgraph=True)(torch.ones(2))
    for x in (torch.tensor([1.0, 2.0]), torch.tensor([2.0, 1.0]), torch.ones(2)):
        assert compiled(function)(x) == function(x)


VALUES = [0.5, 2.0, 2.0, -1.0, 3.0, 2.5]  # neither sorted nor a heap


@pytest.mark.parametrize("search", [bisect.bisect_right, bisect.bisect_left])
def test_searches_of_lists_that_are_not_sorted(search: Callable[..., int]) -> None:
    def places(x: torch.Tensor) -> list[int]:
        value = x[0].item()
        known = search([3, 1, 2], 2)
        return [search(VALUES, value), search(VALUES, value, 1, 4), search(VALUES, value, lo=2), known]

    graph = compiled(places)
    for value in (*VALUES, 2.2, 9.0, float("nan")):
        assert graph(torch.tensor([value])) == places(torch.tensor([value])), value


@pytest.mark.parametrize("length", [1, 2, 4])
def test_heaps_that_are_none(length: int) -> None:
    def changed(x: torch.Tensor) -> tuple[list[float], float, float]:
        heap = VALUES[:length]
        pushed = heapq.heappushpop(heap, x[0].item())
        first = heapq.heappop(heap)
        heapq.heappush(heap, x[1].item())
        return heap, pushed, first

    graph = compiled(changed)
    for x in ([0.0, 1.0], [2.0, -3.0], [9.0, 2.0]):
        assert graph(torch.tensor(x)) == changed(torch.tensor(x)), x


def test_an_element_rises_until_one_is_smaller() -> None:
    def pushed(x: torch.Tensor) -> list[float]:
        heap = [5.0, 1.0, 9.0]
        heapq.heappush(heap, x[0].item())
        return heap

    for value in (2.0, 0.5):
        assert compiled(pushed)(torch.tensor([value])) == pushed(torch.tensor([value]))


def test_an_empty_heap() -> None:
    def taken(x: torch.Tensor) -> str:
        messages = []
        for take in (heapq.heappop, lambda heap: heapq.heapreplace(heap, x.sum())):
            try:
                take([])
            except IndexError as error:
                messages.append(str(error))
        return " ".join(messages) if x.sum() > 0 else ""

    assert compiled(taken)(torch.ones(1)) == taken(torch.ones(1)) == "index out of range index out of range"


def test_equality_is_a_truth_value() -> None:
    def equal(x: torch.Tensor) -> tuple[object, object]:
        return (x[0], 1) == (x[1], 1), (x[0], 1) != (x[1], 1)

    for x in (torch.tensor([1.0, 2.0]), torch.ones(2), torch.full((2,), float("nan"))):
        found = compiled(equal)(x)
        assert found == equal(x) and [type(one) for one in found] == [bool, bool]


def test_a_search_with_a_key_is_not_taken() -> None:
    """Python calls the key for some of the elements, and it may print."""

    def place(x: torch.Tensor) -> int:
        return bisect.bisect([1.0, 2.0], x[0].item(), key=lambda v: -v)

    with pytest.raises(AutographError, match="bisect_right"):
        compiled(place)(torch.ones(1))


class Noisy:
    def __init__(self, value: float) -> None:
        self.value = value

    def __gt__(self, other: float) -> bool:
        print(self.value)
        return self.value > other


def test_a_search_of_objects_is_not_taken() -> None:
    def place(x: torch.Tensor) -> int:
        return bisect.bisect([Noisy(1.0), Noisy(2.0), Noisy(3.0)], x[0].item())

    with pytest.raises(AutographError, match="bisect_right"):
        compiled(place)(torch.ones(1))


def test_a_place_before_the_list() -> None:
    def place(x: torch.Tensor) -> int:
        return bisect.bisect([1.0], x[0].item(), -1)

    with pytest.raises(ValueError, match="lo must be non-negative"):
        compiled(place)(torch.ones(1))


def test_a_number_is_itself() -> None:
    def same(x: torch.Tensor) -> tuple[bool, bool]:
        value = x[0].item()
        pair = (value, 1)
        return pair <= pair, (value, 1) < (value, 2)

    assert compiled(same)(torch.tensor([float("nan")])) == (True, True)


NAN = math.nan


def test_a_constant_that_is_no_number_is_itself() -> None:
    def pairs(x: torch.Tensor) -> tuple[bool, ...]:
        one, two = x.tolist()
        by_another_name = (NAN, one) < (math.nan, two)
        return (NAN, one) < (NAN, two), (NAN, one) <= (float("nan"), two), by_another_name

    for x in (torch.tensor([1.0, 2.0]), torch.tensor([2.0, 1.0]), torch.ones(2)):
        assert compiled(pairs)(x) == pairs(x)


def test_sorted_by_what_is_no_number() -> None:
    def order(x: torch.Tensor) -> list[int]:
        keys = [(NAN, x[0].item()), (NAN, x[1].item())]
        return sorted(range(2), key=lambda k: keys[k])

    with pytest.warns(RuntimeWarning, match="something is sorted by NaN.*has been run in Python"):
        assert compiled(order)(torch.tensor([2.0, 1.0])) == order(torch.tensor([2.0, 1.0])) == [1, 0]


class Priced:
    def __init__(self, cost: Any, place: int) -> None:
        self.cost, self.place = cost, place

    def __lt__(self, other: Priced) -> bool:
        return bool(self.cost < other.cost)


UNORDERED = ([3.0, NAN, 4.0, 1.0], [NAN, 5.0, NAN, 4.0], [2.0, NAN, 1.0, 2.0], [4.0, 3.0, 2.0, 1.0])


@program(inputs=[lambda row=row: (vec(*row),) for row in UNORDERED])
def numbers_sorted(x: torch.Tensor) -> Any:
    numbers = x.tolist()
    return sorted(numbers), sorted(range(4), key=numbers.__getitem__, reverse=True)


@program(inputs=[lambda row=row: (vec(*row),) for row in UNORDERED])
def pairs_sorted(x: torch.Tensor) -> Any:
    return sorted((number, k) for number in x[:3].tolist() for k in (1, 0))


@program(inputs=[lambda row=row: (vec(*row),) for row in UNORDERED])
def objects_sorted(x: torch.Tensor) -> Any:
    priced = [Priced(cost, k) for k, cost in enumerate(x)]
    return [one.place for one in sorted(priced)], [one.place for one in sorted(priced, reverse=True)]


@program(inputs=[lambda row=row: (vec(*row),) for row in UNORDERED])
def tensors_among_numbers_sorted(x: torch.Tensor) -> Any:
    return sorted([x[0], x[1].item(), 1.5, x[2], x[3]])


@pytest.mark.parametrize("subject", [numbers_sorted, pairs_sorted, objects_sorted, tensors_among_numbers_sorted])
def test_sorted_by_what_is_no_number_on_one_path(subject: Any) -> None:
    verdict = agreement(subject.__program__, "one path")
    assert verdict.kind == "equal", verdict.reason


def test_an_int_and_a_float_may_be_equal() -> None:
    def order(x: torch.Tensor) -> list[int]:
        pairs = [(1, "b"), (x[0].item(), "a"), (True, "c")]
        return sorted(range(3), key=lambda k: pairs[k])

    for value, places in ((1.0, [1, 0, 2]), (2.0, [0, 2, 1]), (0.5, [1, 0, 2])):
        x = torch.tensor([value])
        assert compiled(order)(x) == order(x) == places


def test_sorted_by_tuples_of_several_lengths() -> None:
    def ordered(x: torch.Tensor) -> int:
        return len(sorted([(x[0].item(),), (x[1].item(), 1)]))

    with pytest.raises(AutographError, match="tuples of several lengths"):
        compiled(ordered)(torch.ones(2))


def test_sizes_and_tensors() -> None:
    def sized(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        k = n.max().reshape(1)
        y = torch.zeros(n.max(), 3) + x[0]
        assert list(y.size()) == [k, 3], "the wrong size"
        return y + 1

    given = torch.ones(2, 3), torch.tensor([1, 2])
    assert torch.equal(compiled(sized)(*given), sized(*given))


def counted(x: torch.Tensor) -> Any:
    found = [x[0], x[1], x[2]]
    n = int(x[0])
    return found.count(x[1]), -found.count(1.0), [n, 1, 2].count(1), (n, n).count(2), [1, 1].count(1)


def test_what_is_counted_is_a_number() -> None:
    graph = compiled(counted)
    for values in ([1.0, 1.0, 2.0], [2.0, 3.0, 3.0], [0.0, math.nan, 1.0]):
        x = torch.tensor(values)
        expected, actual = counted(x), graph(x)
        assert actual == expected and list(map(type, actual)) == list(map(type, expected)), values


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_numbers_that_a_path_has_settled() -> None:
    """`if n` of a path that knows `n` to be 1 makes the tuples constants for the symbols, but not for Dynamo."""

    def least(x: torch.Tensor, names: tuple[str, ...] = ("a", "b", "c")) -> Any:
        counts = {names[k]: int(x[k]) for k in range(3)}
        found = [(2 * n if n else 0, name) for name, n in counts.items() if n != 7]
        return min(found), max((n, name) for n, name in found), sorted(found), names[counts["a"]]

    fast = compiled(least)
    for numbers in ([1, 1, 1], [0, 2, 1], [2, 0, 7]):
        x = torch.tensor(numbers)
        assert fast(x) == least(x)


def beams(x: torch.Tensor) -> Any:
    """Rows in a heap, behind a number that tells them apart."""
    heap: list[Any] = []
    for count, row in enumerate(x):
        heapq.heappush(heap, (row.sum().item(), count, row))
    return heapq.heappop(heap)[2], [row for *_, row in sorted(heap)]


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_tensors_behind_what_decides() -> None:
    fast = compiled(beams)
    for rows in ([[1.0, 2.0], [0.5, 0.25], [4.0, 4.0]], [[1.0, 0.0], [0.5, 0.5], [-4.0, 4.0]]):
        x = torch.tensor(rows)
        (first, others), (expected, rest) = fast(x), beams(x)
        assert torch.equal(first, expected) and torch.equal(torch.stack(others), torch.stack(rest))


def test_tensors_that_would_decide() -> None:
    def is_before(x: torch.Tensor) -> bool:
        return (x[0, 0].item(), x[0]) < (x[1, 0].item(), x[1])

    fast = compiled(is_before)
    for rows in ([[1.0, 2.0], [2.0, 1.0]], [[2.0, 2.0], [1.0, 1.0]]):
        assert fast(torch.tensor(rows)) is is_before(torch.tensor(rows))
    for function in (fast, is_before):
        with pytest.raises(RuntimeError, match="^Boolean value of Tensor with more than one value is ambiguous"):
            function(torch.tensor([[1.0, 2.0], [1.0, 3.0]]))


def marks(x: torch.Tensor) -> Any:
    """Tensors among numbers, in order."""
    given = [x[0], 2.5, x[1], 3, x[2].to(torch.int64)]
    least, *_, most = sorted(given)
    return least, most, sorted(given, reverse=True)[1], [k for _, k in sorted((m, k) for k, m in enumerate(given))]


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_tensors_among_numbers_are_sorted_on_a_path() -> None:
    fast = compiled(marks)
    for values in ([7.5, 8.0, 6.0], [2.5, 3.0, 1.0], [3.0, 2.5, 3.0], [-1.0, 9.0, 2.0]):
        x = torch.tensor(values)
        expected, actual = marks(x), fast(x)
        assert actual == expected and list(map(type, actual)) == list(map(type, expected)), values


def test_tensors_among_numbers_have_no_graph_for_all_data() -> None:
    with pytest.raises(AutographError, match="sorted by keys of several types"):
        compiled(marks)(torch.ones(3))
