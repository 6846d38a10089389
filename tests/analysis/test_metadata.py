"""Types that the text tells: equal phrases for what is surely the same dtype, and nothing where it does not tell."""

from __future__ import annotations

import pytest

from autograph_torch.analysis.metadata import Metadata, Unknown
from autograph_torch.analysis.seen import (
    NumberType,
    OtherType,
    Site,
    TensorType,
    TupleType,
    as_json,
    from_json,
    joined,
    site_as_json,
    site_from_json,
)
from tests.analysis.reading import expression, function, kinds_in

HEAD = "def f(x: torch.Tensor, n: int):\n k = 2\n i = torch.tensor(0)\n z = torch.zeros(3, k)\n"


def metadata(body: str = "") -> Metadata:
    text = HEAD + "".join(f" {line}\n" for line in body.splitlines())
    return Metadata.of_function(function(text), kinds_in(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k", NumberType("int")),
        ("k / 2", NumberType("float")),
        ("k > 1", NumberType("bool")),
        ("i", TensorType("int64", 0)),
        ("i + 1", TensorType("int64", 0)),
        ("i / 2", TensorType("torch's default dtype", 0)),
        ("z", TensorType("torch's default dtype", 2)),
        ("x", TensorType("dtype of x", "rank of x")),
        ("x * 2 - 1", TensorType("dtype of x with int", "rank of x")),
        ("x * 2 / 3 + 1", TensorType("dtype of x with float", "rank of x")),
        ("x > 0", TensorType("bool", "rank of x")),
        ("(x > 0).any()", TensorType("bool", 0)),
        ("x.sum()", TensorType("sum of dtype of x", 0)),
        ("torch.exp(x)", TensorType("dtype of x with float", "rank of x")),
        ("(x, k)", TupleType((TensorType("dtype of x", "rank of x"), NumberType("int")))),
        ("None", OtherType("None")),
    ],
)
def test_expressions(text: str, expected: object) -> None:
    assert metadata().of(expression(text)) == expected


@pytest.mark.parametrize("text", ["helper(x)", "x @ x", "x[0]", "x + z", "self.y", "n", "x.sum(0)", "torch.rand(3)"])
def test_what_the_text_does_not_tell(text: str) -> None:
    with pytest.raises(Unknown):
        metadata().of(expression(text))


def test_a_variable_with_several_types_has_none() -> None:
    found = metadata("x = x / 2\nk = k + 1\ni = i + 0.5")
    assert set(found.names) & {"x", "i"} == set()
    assert found.names["k"] == NumberType("int")


def test_seen_types_of_several_calls() -> None:
    one, other = TensorType("float32", 1, "cpu"), TensorType("float32", 2, "cpu")
    assert joined(None, one) == joined(one, one) == one
    assert joined(one, other).dtype == "float32"
    assert joined(one, TensorType("int64", 1, "cpu")).dtype == "several dtypes"
    assert isinstance(joined(NumberType("int"), NumberType("float")), OtherType)


def test_sites_travel_as_json() -> None:
    kind = TupleType((TensorType("int64", 0, "cpu"), NumberType("bool"), OtherType("None")))
    assert from_json(as_json(kind)) == kind
    site = Site({"x": kind}, NumberType("bool"), {"then": kind}, ("dropout",))
    assert site_from_json(site_as_json(site)) == site
