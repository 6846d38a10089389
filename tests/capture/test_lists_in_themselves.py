"""A list or dict from around the trace that is put into itself, is that object behind the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from torch import Tensor

from autograph_torch.capture.lists_in_themselves import lists_in_themselves
from tests.harness import compiled, leave_out, vec


class Node:
    up: Any = None


def itself(values: list[Any], table: dict[str, Any]) -> None:
    values.append(values)


def in_a_tuple(values: list[Any], table: dict[str, Any]) -> None:
    values.append((values, 1))


def in_a_list(values: list[Any], table: dict[str, Any]) -> None:
    inner = [1]
    values.append(inner)
    inner.append(values)


def in_a_dict_from_around(values: list[Any], table: dict[str, Any]) -> None:
    values.append(table)
    table["values"] = values


def in_an_object(values: list[Any], table: dict[str, Any]) -> None:
    node = Node()
    node.up = values
    values.append(node)


def a_dict_in_itself(values: list[Any], table: dict[str, Any]) -> None:
    table["self"] = table
    values.append(1)


def in_a_new_dict(values: list[Any], table: dict[str, Any]) -> None:
    child: dict[str, Any] = {}
    table["child"] = child
    child["up"] = table


def a_parent_link(values: list[Any], table: dict[str, Any]) -> None:
    table["values"].append({"up": table})


def calling(put: Callable[..., None]) -> Callable[..., Any]:
    def program(x: Tensor, values: list[Any], table: dict[str, Any]) -> Any:
        put(values, table)
        return x + len(values)

    return program


PUTS: dict[Callable[..., None], Callable[[list[Any], dict[str, Any]], bool]] = {
    itself: lambda values, table: values[1] is values,
    in_a_tuple: lambda values, table: values[1][0] is values,
    in_a_list: lambda values, table: values[1][1] is values,
    in_a_dict_from_around: lambda values, table: values[1] is table and table["values"] is values,
    in_an_object: lambda values, table: values[1].up is values,
    a_dict_in_itself: lambda values, table: table["self"] is table,
    a_parent_link: lambda values, table: table["values"][0]["up"] is table,
    in_a_new_dict: lambda values, table: table["child"]["up"] is table,
}


@pytest.mark.parametrize("put", PUTS)
def test_it_is_that_object(put: Callable[..., None]) -> None:
    for function in (calling(put), compiled(calling(put))):
        values, table = [0], {"values": []}
        assert function(vec(1), values, table).tolist() == [1.0 + len(values)]
        assert PUTS[put](values, table)


def test_torch_needs_this(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out(monkeypatch, lists_in_themselves)
    values: list[Any] = [0]
    compiled(calling(itself))(vec(1), values, {})
    assert values[1] is not values
