"""Where there is no graph for all data, there is one for the path of a call; calls with other data run in Python."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from autograph_torch import CaptureError, OnePathWarning, autograph, convert, trace
from autograph_torch.capture import searches
from autograph_torch.capture.forecast import Forecast
from tests.harness import Program, check_any_graph, compiled, ints, program, scalar, vec
from tests.harness import check as verdict_of

UNTIL_THE_END = "ignore::autograph_torch.diagnostics.OnePathWarning"
Function = Callable[..., Any]


def keyed_by_data(x: Tensor) -> dict[int, list[int]]:
    """A dict has keys that data tell, and lists of data's length in it."""
    found: dict[int, list[int]] = {}
    for k, v in enumerate(x):
        if v > 0:
            found.setdefault(int(v), []).append(k)
    return found


def yields_under_a_test(x: Tensor) -> list[Tensor]:
    def positive() -> Any:
        for v in x:
            if v > 0:
                yield v * 2

    return list(positive())


def descends(x: Tensor, target: Tensor) -> tuple[Tensor, int]:
    """Gradients are computed in a loop that data end."""
    for step in range(8):
        x = x.detach().requires_grad_()
        loss = (x - target).pow(2).sum()
        if loss < 0.5:
            break
        (g,) = torch.autograd.grad(loss, x)
        x = x - 0.3 * g
    return x.detach(), step


def share_of_hits(x: Tensor) -> dict[int, float]:
    """A quotient of integers that data tell is compared."""
    hits = {int(v): (x == v).sum().item() for v in x if v > 0}
    total = sum(hits.values())
    return {key: n / total for key, n in hits.items() if n / total < 0.6}


def writes_first(x: Tensor, out: Tensor) -> Any:
    out.add_(1)
    print("sum", x.sum().item())
    return {int(v): out + v for v in x if v > 0}


def raises_on_one_path(x: Tensor) -> dict[int, int]:
    counts = keyed_by_data(x)
    if not counts:
        raise ValueError(f"nothing positive in {len(x)}")
    return {k: len(v) for k, v in counts.items()}


def handles_on_one_path(x: Tensor) -> list[str]:
    log = []
    try:
        log.append(f"{raises_on_one_path(x)}")
    except ValueError as error:
        log.append(str(error))
    return log


def picks_by_name(x: Tensor) -> str:
    return "".join("ab-"[int(v)] for v in x.clamp(0, 2) if v != 1)


def orders_what_it_keeps(x: Tensor) -> tuple[list[Tensor], Tensor | int]:
    kept = sorted((v for v in x if v > 0), key=lambda v: -v)
    return kept, max(kept, default=0, key=lambda v: -v)


def asks_in_many_ways(x: Tensor) -> dict[Any, Any]:
    seen = {0: "none"}
    for v in x.tolist():
        if not v or v in seen or (v > 2 and x.max() > v) or not x.sum() > 0:
            continue
        seen[v] = f"{v:.2f}" if v != 1 or x[0] == 1 else "other"
    for k in range(x.abs().amin().long()):
        seen[-1 - k] = 3 in x
    return seen


def looks_up_tensors(x: Tensor) -> Any:
    """A tensor is a key by what it is, a position by its number."""
    key = x[0].long()
    names = {1: "one", key: "the tensor"}
    letters = ["a", "b", "c", "d"]
    found = {int(v): letters[v.long()] for v in x if v > 0}
    return names[key], names.get(x[0].long(), "none"), found, list(range(x.max().long()))


def texts_in_use(x: Tensor) -> Any:
    """A text of data is compared, cut, turned and measured."""
    seen = {}
    for k, v in enumerate(x):
        if v > 0:
            seen[f"{v.item():.1f}"] = k
    label = f"{x[0].item():+.2f}"
    letters = "".join(chr(ord("a") + abs(int(v))) for v in x)
    lengths = [len(one) for one in (label, letters)]
    return seen, label[::-1].rjust(8, "."), label == "+1.00", letters.upper(), lengths, int(f"{int(x[0]):+d}")


def keys_in_use(x: Tensor) -> Any:
    seen: dict[int, int] = {}
    for v in x:
        n = int(v)
        seen[n] = seen.get(n, 0) + 1
    return seen, seen.pop(int(x[0]), None), [seen.get(k) for k in range(3)]


def seen_exactly(x: Tensor, scale: float = 0.5) -> Any:
    """What only numbers have: their bits, their types behind `max`, keys of their own, texts that are compared."""
    v, n = x.sum().item(), int(x.max())
    rate = max(v / 2, 1)
    counts = {v * scale: n}
    counts[rate * 0.5] = counts.get(rate * 0.5, 0) + 1
    parts = math.frexp(v), math.modf(v), v.hex(), n.to_bytes(4, "big", signed=True), pow(n, 2, 7), n.bit_count()
    if str([v, n]) == "[6.0, 3]" or type(rate) is int:
        return counts, parts, "first"
    return counts, parts, math.copysign(1.0, -v * scale)


def floats_in_texts(x: Tensor, unit: int = 60) -> Any:
    """Python's floats: a zero has a sign, a quotient is rounded."""
    found = {}
    for v in x.tolist():
        quotient, rest = divmod(float(v), unit / 7)
        found[f"{quotient:.0f} {rest:.4f}"] = v
        if quotient * (unit / 7) + rest != v:
            found["rounded"] = v
    return found


def raises_for_numbers(x: Tensor) -> Any:
    n = int(x[0])
    try:
        return (n - 5).to_bytes(2, "big"), {}
    except OverflowError as error:
        key = f"{n:>4}".strip()
        return str(error), {key: x}, [key].index(str(n)), pow(n + 3, -1, 7)


def mathematics(x: Tensor) -> Any:
    known = {int(v) for v in x if 0 < v < 9}
    return known, math.copysign(1.0, x[0]), math.fsum(x.tolist()), list(filter(math.isfinite, x.tolist()))


@functools.total_ordering
@dataclasses.dataclass(eq=False)
class Ranked:
    value: Tensor
    name: str

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranked) and bool(self.value == other.value)

    def __lt__(self, other: Ranked) -> bool:
        return bool(self.value < other.value)


def objects_in_their_order(x: Tensor) -> Any:
    ranked = [Ranked(v, f"v{k}") for k, v in enumerate(x)]
    best = max(ranked, key=lambda one: one.value)
    for backwards in (False, True):
        ranked.sort(reverse=backwards)
        yield [one.name for one in ranked]
    yield best.name, [one.name for one in sorted(ranked, reverse=bool(x[0] > x[1]))]


def orders_objects(x: Tensor) -> Any:
    return list(objects_in_their_order(x))


class Tracker:
    def __init__(self) -> None:
        self.tracks: dict[int, list[Tensor]] = {}
        self.seen = torch.zeros(())

    def update(self, x: Tensor) -> int:
        for v in x:
            self.seen += 1
            if v > 0:
                self.tracks.setdefault(int(v), []).append(v * 2)
        return len(self.tracks)


def reads_what_one_path_binds(x: Tensor) -> Tensor:
    if x.sum() > 0:
        fresh = x * 2
    return fresh


def reads_what_one_path_deletes(x: Tensor) -> tuple[Any, ...]:
    gone = x * 2
    if x.sum() > 0:
        del gone
    return gone, "gone" in locals()


def reads_what_the_trip_before_binds(x: Tensor) -> tuple[Tensor, int]:
    n = 0
    while x.abs().sum() < 9:
        if n > 0:
            x = x * 2 - step  # noqa: F821 (bound by the trip before)
        step = x.abs() + 1
        x, n = x + step, n + 1
    return x, n


def reads_what_nobody_binds(x: Tensor) -> Tensor:
    return nothing_of_this_name if x.sum() > 0 else x  # type: ignore[name-defined] # noqa: F821


def extremes_of_two_types(x: Tensor) -> tuple[Any, ...]:
    fewest, most = min(4, 1 + x[0].item()), max([x[1].item(), 3, x[2].item()])
    return fewest, most, {fewest: type(most).__name__}, min(2, x[0].item(), True)


def asks_twice_the_same(x: Tensor) -> tuple[str, dict[str, int]]:
    names, found = "abcd", {}
    n = int(x.abs().max())
    found[names[n]] = n
    return names[n] + names[n - 1], found


def converges_from_infinity(x: Tensor) -> dict[float, int]:
    before, steps = math.inf, {x[0].item(): 0}
    while abs(x.norm().item() - before) > 0.3 and len(steps) < 6:
        before = x.norm().item()
        x = x * 0.5
        steps[before] = len(steps)
    return steps


FIRST, SAME, OTHER = vec(1, -2, 3), vec(1.5, -7, 3.5), vec(-1, 2, 2)
CASES: list[tuple[Function, list[tuple[Any, ...]]]] = [
    (keyed_by_data, [(FIRST,), (SAME,), (OTHER,), (-FIRST,)]),
    (yields_under_a_test, [(FIRST,), (SAME,), (OTHER,), (-OTHER,)]),
    (descends, [(vec(1, 2), vec(0, 0)), (vec(0, 0), vec(0, 0)), (vec(5, 9), vec(0, 0))]),
    (share_of_hits, [(vec(1, 1, 2),), (vec(1, 2, 2),), (vec(3, 3, 3),)]),
    (writes_first, [(FIRST, vec(0, 0, 0)), (OTHER, vec(1, 1, 1)), (SAME, vec(2, 2, 2))]),
    (raises_on_one_path, [(FIRST,), (-FIRST.abs(),), (OTHER,)]),
    (raises_on_one_path, [(-FIRST.abs(),), (FIRST,)]),
    (handles_on_one_path, [(FIRST,), (-FIRST.abs(),), (OTHER,)]),
    (picks_by_name, [(vec(0, 1, 2),), (vec(2, 1, 2),), (vec(1, 1, 1),)]),
    (orders_what_it_keeps, [(vec(1, 3),), (vec(2, 3),), (vec(3, -2),), (vec(-1, -1),)]),
    (looks_up_tensors, [(FIRST,), (SAME,), (vec(1, 2, 1),)]),
    (texts_in_use, [(FIRST,), (vec(1, 1, 2),), (vec(-1, 0, 3),), (vec(1, 1, 2.5),)]),
    (keys_in_use, [(FIRST,), (SAME,), (vec(1, 1, 2),), (vec(0, 0, 0),)]),
    (mathematics, [(FIRST,), (vec(-0.0, 1, 2),), (vec(0.1, float("inf"), 3),)]),
    (seen_exactly, [(FIRST,), (SAME,), (-FIRST,), (vec(0.0, -0.0, 0), -0.5), (vec(0.0, 0.0, 0), -1), (FIRST, 0.0)]),
    (floats_in_texts, [(ints(-90000), unit) for unit in (60, 7, -7, 1000, -7)] + [(ints(200000), 1000)]),
    (raises_for_numbers, [(FIRST,), (vec(7, 1, 1),), (vec(-1, 1, 1),), (FIRST,)]),
    (orders_objects, [(FIRST,), (vec(3, 1, 2, 1),), (vec(1, 1, 1),), (vec(2, 2, 1, 1),)]),
    (reads_what_one_path_binds, [(FIRST,), (-FIRST,), (SAME,)]),
    (reads_what_one_path_deletes, [(-FIRST,), (FIRST,), (-SAME,)]),
    (reads_what_the_trip_before_binds, [(FIRST,), (-FIRST,), (vec(0.1, 0.2, 0),), (FIRST * 9,)]),
    (reads_what_nobody_binds, [(FIRST,), (-FIRST,), (SAME,)]),
    (extremes_of_two_types, [(FIRST,), (vec(9, 1, 0),), (vec(1, 9, 2),), (vec(3, 3, float("-inf")),)]),
    (asks_twice_the_same, [(FIRST,), (OTHER,), (vec(1, 1, 1),)]),
    (converges_from_infinity, [(FIRST,), (SAME,), (vec(float("inf"), 1),)]),
    (asks_in_many_ways, [(FIRST,), (vec(1, 1, 1),), (vec(3, 2, 0),), (vec(-1, -1, -3),)]),
]


@pytest.mark.filterwarnings(UNTIL_THE_END, "ignore:the graph of")
@pytest.mark.parametrize(
    ("backend", "decorated"), [("eager", False), ("aot_eager", True)], ids=["converted", "decorated on aot_eager"]
)
@pytest.mark.parametrize("number", range(len(CASES)), ids=[made.__name__ for made, _ in CASES])
def test_every_call_gives_what_eager_gives(
    number: int, decorated: bool, backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    function, calls = CASES[number]
    compiled = (
        autograph(function, backend=backend)
        if decorated
        else torch.compile(convert(function), fullgraph=True, backend=backend)
    )
    for given in calls:
        expected, expected_args = outcome(function, given)
        shown = capsys.readouterr().out
        actual, actual_args = outcome(compiled, given)
        assert capsys.readouterr().out == shown
        assert same(actual, expected) and same(actual_args, expected_args), (actual, expected)


def outcome(function: Function, given: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    own = copy.deepcopy(given)
    try:
        return function(*own), own
    except (ValueError, NameError) as error:
        return (type(error), str(error)), own


def same(one: Any, other: Any) -> bool:
    if isinstance(one, Tensor):
        return type(one) is type(other) and one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and same(list(one.values()), list(other.values()))
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_the_state_of_objects_is_as_in_eager() -> None:
    expected, actual = Tracker(), Tracker()
    compiled = torch.compile(convert(actual.update), fullgraph=True, backend="eager")
    for given in (FIRST, OTHER, SAME):
        assert compiled(given) == expected.update(given)
    assert same(actual.tracks, expected.tracks) and same(actual.seen, expected.seen)


def graphs_of(function: Function, *calls: tuple[Any, ...]) -> tuple[list[Any], list[torch.fx.GraphModule]]:
    graphs: list[torch.fx.GraphModule] = []

    def count(graph: torch.fx.GraphModule, inputs: list[Any]) -> Any:
        graphs.append(graph)
        return graph

    compiled = torch.compile(convert(function), fullgraph=True, backend=count)
    return [compiled(*given) for given in calls], graphs


def test_it_is_one_graph_and_the_warning_says_why() -> None:
    with pytest.warns(OnePathWarning, match=r"(?s)test_one_path.py:\d+: the graph is for calls .* AG3\d\d .*\^"):
        _, graphs = graphs_of(keyed_by_data, (FIRST,), (SAME,), (OTHER,))
    assert len(graphs) == 1


def test_data_that_take_the_same_path_have_the_graph() -> None:
    ran = []

    def told(x: Tensor) -> list[Tensor]:
        ran.append(torch.compiler.is_compiling())
        return yields_under_a_test(x)

    with pytest.warns(OnePathWarning):
        (first, second), _ = graphs_of(told, (FIRST,), (SAME,))
    assert same(first, yields_under_a_test(FIRST)) and same(second, yields_under_a_test(SAME))
    assert False not in ran


def test_what_has_a_graph_for_all_data_keeps_it() -> None:
    def signed(x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x + 1
        return x - 1

    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePathWarning)
        graphs_of(signed, (FIRST,), (-FIRST,))


def test_as_an_error_the_warning_is_the_refusal() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePathWarning)
        with pytest.raises(CaptureError, match=r"test_one_path.py:\d+:\d+: AG"):
            autograph(keyed_by_data, backend="eager")(FIRST)


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_what_has_no_single_type_is_refused() -> None:
    def of_two_types(x: Tensor) -> Tensor:
        y = x
        while x.sum() < 10:
            y = x.int() if x[0] > 2 else x
            x = x + 1 + y.sum()
        return y

    with pytest.raises(CaptureError, match="AG31.*(int32.*float32|float32.*int32)"):
        autograph(of_two_types, backend="eager")(FIRST)


def text_in_a_loop(x: Tensor) -> tuple[Tensor, str]:
    said = "nothing"
    while x.sum() < 10:
        x = x * 2 + 1
        if x[0] > 3:
            said = f"{x[0].item():.1f} is large"
    return x, said


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_values_that_are_no_tensors_may_be_of_two_types() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePathWarning)
        with pytest.raises(CaptureError, match="AG310"):
            autograph(text_in_a_loop, backend="eager")(FIRST)
    found = autograph(text_in_a_loop, backend="eager")
    for x in (FIRST, -FIRST, FIRST * 0 + 20):
        (y, said), (expected, other) = found(x), text_in_a_loop(x)
        torch.testing.assert_close(y, expected)
        assert said == other


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_what_cannot_run_again_is_refused() -> None:
    with pytest.raises(CaptureError, match="AG3"):
        trace(keyed_by_data, FIRST)
    for effects in ("immediate", "drop"):
        with pytest.raises(CaptureError, match="AG3"):
            autograph(keyed_by_data, backend="eager", effects=effects)(FIRST)  # type: ignore[call-overload]


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_a_fallback_that_was_asked_for_comes_first() -> None:
    with pytest.warns(UserWarning, match="compiled with graph breaks"):
        found = autograph(keyed_by_data, backend="eager", fallback="graph_break")(FIRST)
    assert found == keyed_by_data(FIRST)


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_a_path_of_very_many_tests_is_refused() -> None:
    def long(x: Tensor) -> dict[int, int]:
        found = {}
        while x.sum() < 1000:
            x = x + 1
            found[int(x[0])] = 1
        return found

    with pytest.raises(CaptureError, match="AG"):
        autograph(long, backend="eager")(vec(0, 0))


def test_what_takes_too_long_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    def signed(x: Tensor) -> Tensor:
        if x.sum() > 0:
            return x + 1
        return x - 1

    monkeypatch.setattr(searches, "_SECONDS", -1)
    with pytest.warns(OnePathWarning, match="takes too long to find"):
        found, _ = graphs_of(signed, (FIRST,), (-FIRST,))
    assert same(found, [FIRST + 1, -FIRST - 1])
    compiled = autograph(signed, backend="eager")
    for given in (FIRST, vec(1, 2)):
        with pytest.warns(OnePathWarning, match="takes too long to find"):
            assert same(compiled(given), given + 1)
        monkeypatch.setattr(searches, "_SECONDS", 1000)  # it has been tried once
    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePathWarning)
        assert same(autograph(signed, backend="eager")(FIRST), FIRST + 1)  # then there is no hurry


@pytest.mark.filterwarnings(UNTIL_THE_END)
@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("number", [float("nan"), -0.0, 0.0, float("inf"), 0.3])
def test_numbers_are_compared_as_they_are(number: float, backend: str) -> None:
    def told(x: Tensor) -> tuple[str, dict[str, int]]:
        v = x[0].item()
        found = {}
        for k in range(2):
            if x[k] < 0.5:
                found[f"{v}"] = k
        return "small" if v < 0.5 else "large", found

    compiled = autograph(told, backend=backend)
    for given in (vec(0.3, 1), vec(0.0, 1), vec(number, 1), vec(number, number), vec(2, number)):
        assert compiled(given) == told(given)


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_writes_and_draws_before_the_paths_part_are_made_once() -> None:
    def step(x: Tensor, state: Tensor) -> dict[int, Tensor]:
        state.mul_(2)
        noise = torch.rand(2)
        return {int(v): noise * v for v in x if v > 0}

    compiled = autograph(step, backend="eager")
    for given in (FIRST, OTHER, FIRST):
        expected_state, state = vec(1, 3), vec(1, 3)
        torch.manual_seed(3)
        expected = step(given, expected_state)
        expected_next = torch.rand(1)
        torch.manual_seed(3)
        assert same(compiled(given, state), expected)
        assert same(state, expected_state) and same(torch.rand(1), expected_next)


@pytest.mark.filterwarnings(UNTIL_THE_END, "error:the graph of")
def test_a_leaf_may_be_written_to_where_no_gradients_are_recorded() -> None:
    def step(p: Tensor) -> dict[int, Tensor]:
        p.mul_(2)
        return {int(v): v + 1 for v in p if v > 0}

    p, q = FIRST.clone().requires_grad_(), FIRST.clone().requires_grad_()
    with torch.no_grad():
        assert same(autograph(step, backend="eager")(q), step(p)) and torch.equal(p, q)


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_gradients_of_a_path() -> None:
    def loss(x: Tensor) -> Tensor:
        groups: dict[int, list[Tensor]] = {}
        for v in x:
            groups.setdefault(int(v), []).append(v * v)
        return sum(torch.stack(group).mean() for group in groups.values())  # type: ignore[return-value]

    compiled = autograph(loss, backend="aot_eager")
    for data in (vec(1, 1, 2), vec(1, 2, 2), vec(1.5, 1.5, 2.5)):
        one, other = data.clone().requires_grad_(), data.clone().requires_grad_()
        loss(one).backward()
        compiled(other).backward()
        torch.testing.assert_close(other.grad, one.grad)


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_a_checkpoint_around_ends_the_second_run_early() -> None:
    def block(x: Tensor) -> Tensor:
        found = {int(v): v.sin() * v for v in x if v > 0}
        return sum(found.values(), scalar(0.0))

    compiled = torch.compile(convert(block), fullgraph=True, backend="eager")
    one, other = FIRST.clone().requires_grad_(), FIRST.clone().requires_grad_()
    checkpoint(block, one, use_reentrant=False).backward()
    checkpoint(compiled, other, use_reentrant=False).backward()
    torch.testing.assert_close(other.grad, one.grad)


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_nothing_is_told_behind_what_all_processes_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run: list[str] = []
    of = Forecast._of

    def noting(self: Forecast, node: Any, output: Any) -> Any:
        value = of(self, node, output)
        run.append(str(node.target))
        return value

    def reduced(x: Tensor) -> dict[int, Tensor]:
        x = x.clone()
        torch.distributed.all_reduce(x)
        return {int(v): v for v in x if v > 0}

    monkeypatch.setattr(Forecast, "_of", noting)
    torch.distributed.init_process_group("gloo", rank=0, world_size=1, store=torch.distributed.HashStore())
    try:
        with pytest.warns(RuntimeWarning, match="runs? in Python"):  # on all processes alike
            found = autograph(reduced, backend="eager")(FIRST)
        with pytest.raises(CaptureError, match="AG"):
            compiled(reduced)(FIRST)
    finally:
        torch.distributed.destroy_process_group()
    assert list(found) == [int(v) for v in FIRST if v > 0]
    assert "clone" in run and not [name for name in run if "all_reduce" in name]


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_an_error_of_torch_on_the_path_is_that_of_python() -> None:
    def at(x: Tensor) -> dict[int, Tensor]:
        found = {int(v): v for v in x if v > 0}
        found[0] = x[len(found) + 1]
        return found

    with pytest.raises(IndexError, match="^index 4 is out of bounds for dimension 0 with size 3$"):
        autograph(at, backend="eager")(vec(1, 2, 3))


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_a_float_that_torch_reads_from_a_tensor() -> None:
    def drawn(x: Tensor) -> Tensor:
        return torch.zeros(3).uniform_(x[0], x[1])

    compiled = autograph(drawn, backend="eager")
    for given in (vec(0.5, 1), vec(2, 4)):
        torch.manual_seed(0)
        expected = drawn(given)
        torch.manual_seed(0)
        assert same(compiled(given), expected)


def test_the_whole_program_may_be_followed() -> None:
    """The way of the harness in which all programs are run."""

    def branch(x: Tensor) -> Tensor:
        return x + 1 if x.sum() > 0 else x - 1

    program = Program("branch", "one path", lambda: branch, (lambda: (FIRST,), lambda: (-FIRST,)))
    assert verdict_of(program, "one path").kind == "equal"


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_what_an_operator_refuses_it_refuses_in_python() -> None:
    def mean(x: Tensor) -> Any:
        found = {int(v): v.mean() for v in x}
        return found

    with pytest.raises(RuntimeError, match="could not infer output dtype"):
        autograph(mean, backend="eager")(torch.tensor([1, 2]))


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_a_buffer_that_has_a_gradient_is_written_to() -> None:
    class Log(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(()))

        def forward(self, x: Tensor) -> dict[int, Tensor]:
            self.total += x.sum()  # type: ignore[operator, assignment]
            return {int(v): self.total * 2 for v in x if v > self.total}

    expected, actual = Log(), Log()
    compiled = autograph(actual, backend="eager")
    for values in ((1, -2), (3, 4), (-5, 1)):
        x = vec(*values).requires_grad_()
        assert same(compiled(x), expected(x))
        assert same(actual.total.detach(), expected.total.detach())


def handles_what_an_operator_raises(x: Tensor) -> Any:
    found = {int(v) for v in x if v > 0}
    log = []
    for k in range(4):
        try:
            log.append(float(x[k]))
        except IndexError as error:
            log.append(str(error))
    try:
        x.long().mean()
    except RuntimeError as error:
        log.append(str(error))
    return found, log


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_handlers_of_what_an_operator_raises() -> None:
    found = autograph(handles_what_an_operator_raises, backend="eager")
    for x in (vec(1, 2, 3), vec(1, -2, 3), vec(1, 2)):
        assert found(x) == handles_what_an_operator_raises(x)


def handles_what_arithmetic_raises(x: Tensor, names: tuple[str, ...] = ("a", "b", "c")) -> Any:
    log: list[Any] = []
    for k, compute in enumerate((math.floor, round, int, lambda v: 1 / v, lambda v: v // x[1].item(), math.sqrt)):
        try:
            log.append((k, compute(x[0].item())))
        except (ValueError, OverflowError, ZeroDivisionError) as error:
            log.append((k, type(error).__name__, str(error)))
    return log, names[len(log[0]) - 2], names[int(x[1])]


class BadRows(ValueError):
    def __init__(self, rows: list[int]) -> None:
        super().__init__("bad rows", rows)
        self.rows = rows


def check_rows(x: Tensor, labels: Tensor) -> None:
    bad = x.isnan().any(dim=1)
    if bad.any():
        raise BadRows(bad.nonzero().flatten().tolist())
    if labels.min() < 0 or labels.max() > 2:
        raise IndexError(f"label {labels.min().item()}")


def left_out(x: Tensor, labels: Tensor, seen: set[int]) -> tuple[Tensor, int]:
    """A handler reads a list that an exception has been given, and of which data tell the length."""
    rows = 0
    try:
        check_rows(x, labels)
    except BadRows as error:
        rows = len(error.rows)
    seen.update(labels.tolist())
    return x, rows


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_lists_that_exceptions_are_given() -> None:
    fast = autograph(left_out, backend="eager")
    for rows, told in (([[1.0], [3.0]], [0, 2]), ([[math.nan], [0.5]], [1, 0]), ([[math.nan]], [1]), ([[1.0]], [1])):
        x, labels = torch.tensor(rows), torch.tensor(told)
        seen, own = set[int](), set[int]()
        assert fast(x, labels, own)[1] == left_out(x, labels, seen)[1]
        assert own == seen


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_handlers_of_what_arithmetic_raises() -> None:
    """The numbers of the call tell at once, not where they are needed."""
    found = autograph(handles_what_arithmetic_raises, backend="eager")
    for numbers in ((1.5, 2.0), (math.nan, 1.0), (math.inf, 2.0), (-2.5, 0.0), (0.0, 1.0)):
        x = vec(*numbers)
        assert repr(found(x)) == repr(handles_what_arithmetic_raises(x))


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_what_the_runtime_asks_is_answered() -> None:
    """`math.log` asks whether its number is positive: a handler of the program gets the exception in the trace."""

    def log_odds(x: Tensor) -> Any:
        found = []
        for v in x.tolist():
            try:
                found.append(math.log(v / (1 - v)))
            except ZeroDivisionError:
                found.append(math.inf)
            except ValueError:
                found.append(-math.inf if v == 0 else math.nan)
        finite = [one for one in found if math.isfinite(one)]
        return found, math.fsum(finite) if finite else None

    for numbers in ((0.25, 0.5), (1.0, 0.0), (0.0, 0.5)):
        torch._dynamo.reset()  # each makes the graph
        fast = torch.compile(convert(log_odds), backend="eager", fullgraph=True)
        assert fast(vec(*numbers)) == log_odds(vec(*numbers))


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_a_call_that_fails_before_it_comes_to_a_question() -> None:
    """NaN is no integer: Python raises that, in the line where it does."""

    def counted(x: Tensor) -> dict[int, int]:
        found: dict[int, int] = {}
        for v in x:
            number = int(v)
            found[number] = found.get(number, 0) + 1
        return found

    fast = autograph(counted, backend="eager")
    assert fast(vec(1, 2, 1)) == {1: 2, 2: 1}
    for numbers in ((1.0, math.nan), (math.inf, 1.0)):
        with pytest.raises((ValueError, OverflowError)) as expected:
            counted(vec(*numbers))
        with pytest.raises(type(expected.value)) as given:
            fast(vec(*numbers))
        assert str(given.value) == str(expected.value)


@pytest.mark.filterwarnings(UNTIL_THE_END)
def test_handlers_of_names_without_a_value() -> None:
    def last_large(x: Tensor, names: tuple[str, ...] = ("a", "b", "c")) -> str:
        for k, v in enumerate(x):
            if v > 1:
                last = names[k]
        try:
            return f"the last is {last} of {names[int(x[0])]}"
        except UnboundLocalError as error:
            return str(error)

    fast = autograph(last_large, backend="eager")
    for numbers in ((1, 2, 0), (0, 1, 1), (2, 0, 0)):
        assert fast(vec(*numbers)) == last_large(vec(*numbers))


class Noting:
    """Whoever looks at it changes it."""

    def __init__(self) -> None:
        self.x, self.log = vec(1, 2), ["made"]

    def __getattr__(self, name: str) -> Tensor:
        self.log.append(name)
        return self.x


def test_objects_that_change_while_they_are_traced_are_refused() -> None:
    def looks(one: Noting) -> Tensor:
        one.log.append("looked")
        if hasattr(one, "other"):
            return one.missing + len(one.log)
        return one.x

    expected = looks(Noting())
    try:
        assert torch.equal(autograph(looks, backend="eager")(Noting()), expected)
    except CaptureError as error:
        assert "AG3" in str(error)


@pytest.mark.filterwarnings(UNTIL_THE_END, "ignore:the graph of")
def test_a_number_is_no_other_though_they_are_equal() -> None:
    def same_number(x: Tensor, seen: list[Any]) -> Any:
        v = x.sum().item()
        seen.append(v)
        return str(seen)[::-1], v is seen[0], math.frexp(v)

    def nan_is_itself(x: Tensor, seen: list[Any]) -> Any:
        values = [x[0].item(), x[1].item()]
        seen.append(values[0] in values)
        return str(seen)[::-1], math.frexp(values[1]), {values[1]: 3}

    assert compiled(nan_is_itself)(vec(float("nan"), 2), [1.0]) == nan_is_itself(vec(float("nan"), 2), [1.0])
    with pytest.raises(CaptureError, match="AG320"):
        compiled(same_number)(FIRST, [1.0])


def test_a_call_that_python_can_make_gives_its_result() -> None:
    """The graph's integers have 64 bits: the trace takes the call for one that fails."""

    def length(x: Tensor, seen: list[int]) -> Any:
        n = int(x[0].item() // 2)
        seen.append(n.bit_length())
        if n.bit_length() > 63:
            return f"{n:.3e}", x
        return n, x * 2

    run = autograph(length)
    for first in (1e30, 3.0, -1e30, -5.0):
        seen: list[int] = []
        expected = length(vec(first, 1), expected_seen := [])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert same(run(vec(first, 1), seen), expected) and seen == expected_seen


class Scaled(torch.nn.Module):
    scale_0 = 2.0


@program(inputs=[lambda v=v: (vec(*v), Scaled()) for v in ((2, 1), (1, 2), (-1, -2))])
def attribute_by_a_text(x: Tensor, model: Any) -> Any:
    name = "scale_" + str(x.argmax().item())
    if hasattr(model, name) and x.sum() > 0:
        return x * getattr(model, name)
    return x - 1


def test_attribute_by_a_text() -> None:
    check_any_graph(attribute_by_a_text)
