"""The code that takes values apart and puts them together: round trips, fillers, and what leaves look like."""

from __future__ import annotations

import types
from typing import Any, NamedTuple

import pytest
import torch

from autograph_torch.diagnostics import AutographError
from autograph_torch.runtime import codec, layout
from autograph_torch.runtime.codec import Written
from autograph_torch.runtime.structure import spec_of
from autograph_torch.runtime.values import HOLE, Maybe, Undefined


class Pair(NamedTuple):
    left: Any
    right: Any


def run(written: Written, *args: Any) -> Any:
    """What the tracer runs in the place of `encode` and `decode`."""
    code = codec.code_of(written[0])
    return types.FunctionType(code, vars(codec))(written, *args)


def travelled(value: Any, as_float: bool = False) -> tuple[list[torch.Tensor], Any]:
    """The leaves of a value, and what comes of them."""
    plan = layout.travel(spec_of(value))
    leaves = run(codec.write_encoder(spec_of(value), plan, as_float), value)
    return leaves, run(codec.write_decoder(plan, as_float), leaves, (), ())


@pytest.mark.parametrize("as_float", [False, True])
@pytest.mark.parametrize(
    "value",
    [3, True, -0.5, 2**62, None, "text", (), [], {}, (1, (2.5, [False])), Pair(1, (None, 2)), {"a": 1, 3: {"b": 2.0}}],
    ids=repr,
)
def test_python_values_come_back_with_their_types(value: Any, as_float: bool) -> None:
    _, result = travelled(value, as_float)
    assert repr(result) == repr(value) and type(result) is type(value)


@pytest.mark.parametrize("as_float", [False, True])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.complex64, torch.int64, torch.uint8, torch.bool]
)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)], ids=str)
def test_tensors_come_back_with_their_dtypes_in_memory_of_their_own(
    shape: tuple[int, ...], dtype: torch.dtype, as_float: bool
) -> None:
    value = torch.ones(shape).mul(2).to(dtype)
    (leaf,), result = travelled(value, as_float)
    assert torch.equal(result, value) and result.dtype == dtype
    assert leaf.untyped_storage().data_ptr() != value.untyped_storage().data_ptr()


def test_leaves_are_row_major() -> None:
    (leaf,), _ = travelled(torch.arange(6).reshape(2, 3).T)
    assert leaf.is_contiguous() and leaf.tolist() == [[0, 3], [1, 4], [2, 5]]


def test_integers_travel_as_floats_of_the_same_bits() -> None:
    (leaf, _), result = travelled((2**62 + 1, torch.tensor([True, False])), as_float=True)
    assert leaf.dtype == torch.float64 and result[0] == 2**62 + 1 and result[1].tolist() == [True, False]


def test_what_a_path_leaves_out_is_zeros() -> None:
    plan = layout.travel(spec_of((torch.ones(2, 3), 5, torch.tensor(1))))
    leaves = run(codec.write_encoder(("hole",), plan), HOLE)
    assert [(leaf.tolist(), leaf.dtype) for leaf in leaves] == [
        ([[0.0] * 3] * 2, torch.float32),
        (0, torch.int64),
        (0, torch.int64),
    ]


@pytest.mark.parametrize(
    ("value", "bound"), [(2, True), (Undefined("x"), False), (Maybe(torch.tensor(True), 2, "x"), True)]
)
def test_a_name_that_may_be_unbound_travels_with_a_flag(value: Any, bound: bool) -> None:
    plan = ("maybe", "x", (("number", "int"),))
    leaves = run(codec.write_encoder(spec_of(value), plan), value)
    result = run(codec.write_decoder(plan), leaves, (), ())
    assert isinstance(result, Maybe) and bool(result.flag) is bound and result.value == (2 if bound else 0)


def test_the_same_object_does_not_travel() -> None:
    tensor, module = torch.ones(2), torch.nn.Identity()
    plan = ("tuple", 2, (("same", 1, spec_of(tensor)), ("object", 0, "Identity")))
    assert run(codec.write_encoder(plan, plan), (tensor, module)) == []
    result = run(codec.write_decoder(plan), [], (None, tensor), (module,))
    assert result[0] is tensor and result[1] is module


def test_a_constant_of_a_branch_uses_up_its_leaf() -> None:
    plan = ("tuple", 2, (("const", 7), ("number", "int")))
    leaves = [torch.tensor(7), torch.tensor(8)]
    assert run(codec.write_decoder(plan, for_branch=True), leaves, (), ()) == (7, 8)


def test_without_the_hook_there_is_a_message() -> None:
    with pytest.raises(AutographError, match="AG320"):
        codec.encode((0, ()), 1)
