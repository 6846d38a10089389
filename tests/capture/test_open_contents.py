"""Lists and dicts whose contents only data can tell: every use of one is right, or refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo.variables import ConstDictVariable, ListVariable

from autograph_torch import CaptureError, convert, export
from tests.harness import difference, vec

LIST_USES: dict[str, Callable[[list[Any], Tensor], Any]] = {
    "len": lambda log, x: len(log),
    "first": lambda log, x: log[0] if log else None,
    "last": lambda log, x: log[-1:],
    "bool": lambda log, x: bool(log),
    "not": lambda log, x: 1 if not log else 2,
    "is None": lambda log, x: log is None,
    "isinstance": lambda log, x: isinstance(log, list),
    "equal": lambda log, x: log == [],
    "list": lambda log, x: list(log),
    "starred": lambda log, x: [*log, x],
    "tuple": lambda log, x: tuple(log),
    "plus": lambda log, x: [*log] + [x],
    "times": lambda log, x: log * 2,
    "stack": lambda log, x: torch.stack(log) if log else x,
    "comprehension": lambda log, x: [one + 1 for one in log],
    "sum": lambda log, x: sum(log, x),
    "reversed": lambda log, x: list(reversed(log)),
    "zip": lambda log, x: list(zip(log, log, strict=True)),
    "copied": lambda log, x: log.copy(),
    "copy": lambda log, x: copy.copy(log),
    "pop": lambda log, x: log.pop() if log else 0,
    "insert": lambda log, x: log.insert(0, x),
    "reverse": lambda log, x: log.reverse(),
    "extend": lambda log, x: log.extend([x, x + 1]),
    "extend by itself": lambda log, x: log.extend(log),
    "append": lambda log, x: log.append(x),
    "append itself to another": lambda log, x: [log, x],
    "clear": lambda log, x: log.clear(),
    "slice": lambda log, x: log.__setitem__(slice(0, 0), [x]),
    "in": lambda log, x: None in log,
    "count": lambda log, x: log.count(None),
    "max": lambda log, x: max((float(one.shape[0]) for one in log), default=0.0),
    "unpacked": lambda log, x: (lambda *parts: len(parts))(*log),
    "enumerate": lambda log, x: [k for k, _ in enumerate(log)],
    "text": lambda log, x: f"{len(log)}",
}
DICT_USES: dict[str, Callable[[dict[str, Any], Tensor], Any]] = {
    "len": lambda d, x: len(d),
    "known": lambda d, x: d["a"],
    "new": lambda d, x: d.get("new", x),
    "in": lambda d, x: "new" in d,
    "not in": lambda d, x: "other" not in d,
    "bool": lambda d, x: bool(d),
    "keys": lambda d, x: list(d.keys()),
    "values": lambda d, x: list(d.values()),
    "items": lambda d, x: [key for key, _ in d.items()],
    "iteration": lambda d, x: [*d],
    "copied": lambda d, x: dict(d),
    "starred": lambda d, x: {**d, "more": x},
    "merged": lambda d, x: d | {"more": x},
    "arguments": lambda d, x: (lambda **parts: len(parts))(**d),
    "equal": lambda d, x: d == {},
    "pop": lambda d, x: d.pop("new", None),
    "popitem": lambda d, x: d.popitem()[0],
    "setdefault": lambda d, x: d.setdefault("new", x),
    "update": lambda d, x: d.update({"more": x, "a": x}),
    "update by itself": lambda d, x: d.update(d),
    "update by names": lambda d, x: d.update(more=x),
    "set": lambda d, x: d.__setitem__("new", x + 1),
    "in place": lambda d, x: d.__setitem__("a", d["a"] + 1),
    "clear": lambda d, x: d.clear(),
    "is None": lambda d, x: d is None,
    "reversed": lambda d, x: list(reversed(d)),
}


def listed_once(x: Tensor, log: list[Any], use: Callable[[Any, Tensor], Any]) -> Any:
    if x.sum() > 0:
        log.append(x)
    return use(log, x), x + 1


# What follows in a trip cannot move into the branch (capture/attempts.py): here every use meets an open container.
def listed_in_a_loop(x: Tensor, log: list[Any], use: Callable[[Any, Tensor], Any]) -> Any:
    found = None
    for part in (x, x + 1):
        if part.sum() > 0:
            log.append(part)
        found = use(log, part)
    return found, x + 1


def keyed_once(x: Tensor, d: dict[str, Any], use: Callable[[Any, Tensor], Any]) -> Any:
    if x.sum() > 0:
        d["new"] = x
    return use(d, x), x + 1


def keyed_in_a_loop(x: Tensor, d: dict[str, Any], use: Callable[[Any, Tensor], Any]) -> Any:
    found = None
    for k, part in enumerate((x, x + 1)):
        if part.sum() > 0:
            d["new"] = d[f"new{k}"] = part
        found = use(d, part)
    return found, x + 1


REFUSALS = ("AG310", "AG320", "AG206")


def agrees(
    function: Callable[..., Any],
    use: Callable[[Any, Tensor], Any],
    made: Callable[[], Any],
    refusals: tuple[str, ...] = REFUSALS,
) -> None:
    fast = torch.compile(convert(function), fullgraph=True, backend="eager")
    for x in (vec(1, 2), vec(-1, -2), vec(-0.4, -0.4)):
        want, got = made(), made()
        expected = function(x, want, use)
        try:
            actual = fast(x, got, use)
        except CaptureError as error:
            assert error.diagnostic.code in refusals
            return
        assert not difference((expected, want), (actual, got), "result and container")


@pytest.mark.parametrize("name", LIST_USES)
def test_uses_of_a_list(name: str) -> None:
    agrees(listed_in_a_loop, LIST_USES[name], lambda: [vec(5, 5)])


@pytest.mark.parametrize("name", DICT_USES)
def test_uses_of_a_dict(name: str) -> None:
    agrees(keyed_in_a_loop, DICT_USES[name], lambda: {"a": vec(5, 5), "b": vec(6, 6)})


@pytest.mark.parametrize("name", ["len", "pop", "unpacked"])
def test_what_follows_moves_into_both_branches(name: str) -> None:
    agrees(listed_once, LIST_USES[name], lambda: [vec(5, 5)], refusals=())
    agrees(keyed_once, DICT_USES["new" if name == "unpacked" else name], lambda: {"a": vec(5, 5)}, refusals=())


def test_one_graph() -> None:
    graphs: list[Any] = []

    def log(x: Tensor, seen: list[Tensor]) -> Tensor:
        for part in x:
            if part > 0:
                seen.append(part * 2)
        return x * 2

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph

    fast = torch.compile(convert(log), fullgraph=True, backend=backend)
    for x, count in ((vec(1, 2, 3), 3), (vec(-1, 2, 3), 2), (vec(-1, -2, -3), 0)):
        seen: list[Tensor] = []
        fast(x, seen)
        assert len(seen) == count
    assert len(graphs) == 1
    assert sum(node.target is torch.ops.higher_order.cond for node in graphs[0].graph.nodes) == 3


def test_an_exported_program_has_no_python_to_pick() -> None:
    def log(x: Tensor, seen: list[Tensor]) -> Tensor:
        if x.sum() > 0:
            seen.append(x)
        return x * 2

    with pytest.raises(CaptureError, match="AG310"):
        export(log, (vec(1, 2), [vec(3, 4)]))


def test_names_of_the_tracer() -> None:
    assert ListVariable([]).items == []
    assert ConstDictVariable({}).items == {}
    assert hasattr(ConstDictVariable({}), "should_reconstruct_all")
