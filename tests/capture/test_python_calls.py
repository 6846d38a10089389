"""Calls that Dynamo does not take by itself, each beside something that only the rewritten code can do."""

from __future__ import annotations

import copy
import math
import operator
import pickle
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograph_torch import CaptureError, autograph, convert
from tests.harness import agreement, program, vec


def copied_dict(x: torch.Tensor) -> torch.Tensor:
    settings = copy.copy({"scale": x})
    if x.sum() > 0:
        return settings["scale"] * 2
    return x


def sorted_items(x: torch.Tensor) -> list[str]:
    names = [name for name, _ in sorted({"b": x, "a": -x, "c": x}.items(), reverse=True)]
    return names if x.ndim else []


def constants_of_a_tensor(x: torch.Tensor) -> torch.Tensor:
    axes = torch.arange(x.ndim).tolist()
    return x.sum(axes) if x.sum() > 0 else x.mean(axes)


def range_of_a_tensor(x: torch.Tensor) -> torch.Tensor:
    count = (x > 0).sum()
    return torch.arange(count + 1) if x.ndim else x


def resized_to_its_size(x: torch.Tensor) -> torch.Tensor:
    buffer = torch.empty_like(x)
    buffer.resize_as_(x).copy_(x)
    return buffer + 1 if x.sum() > 0 else buffer


def lists_as_tensors(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    total = x.sum().item()
    pairs = torch.as_tensor([[total, 1], [2, 3]]), torch.as_tensor([x[0] > 0, x[1] < 0])
    return *pairs, torch.as_tensor(total, dtype=torch.float64), torch.asarray((x[0], total))


def classes_from_data(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.one_hot(x.abs().long()) * 2


def quotient_and_rest(x: torch.Tensor) -> tuple[int, int]:
    return divmod(int(x.sum().item()) * 7, 4)


def truth_of_a_tensor(x: torch.Tensor) -> torch.Tensor:
    return x * 2 if operator.truth(x.sum() > 0) else x - 1


class Base:
    """A class with a property."""

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value

    @property
    def double(self) -> torch.Tensor:
        return self.value * 2


class Derived(Base):
    @property
    def double(self) -> torch.Tensor:
        above = super().double
        return above.clamp_min(1.0) if above.dtype == torch.float32 and above.lt(1).any() else above


def property_of_the_base(x: torch.Tensor) -> torch.Tensor:
    return Derived(x).double


def key_of_a_cache(x: torch.Tensor) -> torch.Tensor:
    cache = {pickle.dumps({"upper": False}): x}
    return cache[pickle.dumps({"upper": x.ndim > 1})] * 2


def option_from_data(x: torch.Tensor) -> torch.Tensor:
    causal = bool((x > 0).all())
    return torch.nn.functional.scaled_dot_product_attention(*[x.view(1, 2, 1).expand(1, 2, 3)] * 3, is_causal=causal)


def option_in_its_place(x: torch.Tensor) -> torch.Tensor:
    training = (x > 0).all().item()
    return torch.nn.functional.dropout(x, 1.0, training) + torch.full((), training)


FUNCTIONS = [
    key_of_a_cache,
    option_from_data,
    option_in_its_place,
    copied_dict,
    sorted_items,
    constants_of_a_tensor,
    range_of_a_tensor,
    resized_to_its_size,
    classes_from_data,
    property_of_the_base,
    quotient_and_rest,
    truth_of_a_tensor,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_taken(function: Callable[..., Any], sign: float) -> None:
    x = sign * torch.tensor([1.0, 2.0])
    expected, actual = function(x), autograph(function, backend="eager")(x)
    assert type(actual) is type(expected)
    torch.testing.assert_close(actual, expected) if isinstance(expected, torch.Tensor) else None
    assert isinstance(expected, torch.Tensor) or actual == expected


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_lists_as_tensors(backend: str) -> None:
    compiled = torch.compile(convert(lists_as_tensors), fullgraph=True, backend=backend)
    for x in (torch.tensor([1.0, 2.0]), torch.tensor([-1.0, -2.0], requires_grad=True)):
        for actual, expected in zip(compiled(x), lists_as_tensors(x), strict=True):
            torch.testing.assert_close(actual, expected)
            assert actual.requires_grad == expected.requires_grad
    with pytest.raises(torch._dynamo.exc.TorchRuntimeError):
        torch.compile(lambda x: torch.as_tensor([x[0], x[1]]), fullgraph=True, backend="eager")(torch.ones(2))


CHECKED = {
    "inv": torch.linalg.inv,
    "inverse": lambda x: x.inverse(),
    "cholesky": lambda x: torch.linalg.cholesky(x, upper=True),
    "solve": lambda x: torch.linalg.solve(x, x + 1, left=False),
    "matrix_power": lambda x: x.matrix_power(-2),
    "batch": lambda x: torch.inverse(x.expand(3, 2, 2)),
}
MATRICES = [torch.eye(2), torch.eye(2) + 1, torch.ones(2, 2), -torch.eye(2), torch.zeros(2, 2)]


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no_grad"])
@pytest.mark.parametrize("name", CHECKED)
def test_checks_of_matrices_in_a_branch(name: str, grad: bool, backend: str) -> None:
    """torch drops them there from graphs that are made functional: the result would be infinite."""
    function = CHECKED[name]

    def program(x: torch.Tensor) -> torch.Tensor:
        y = x
        if x.sum() > 0:
            y = function(x).sum() * x
        return y

    compiled = autograph(program, backend=backend)
    for matrix in MATRICES:
        x, copy_ = (matrix.clone().requires_grad_(grad) for _ in range(2))
        try:
            expected = program(x)
        except torch.linalg.LinAlgError as error:
            with pytest.raises(torch.linalg.LinAlgError, match=re.escape(str(error))):
                compiled(copy_)
            continue
        actual = compiled(copy_)
        torch.testing.assert_close(actual, expected)
        if grad:
            torch.testing.assert_close(torch.autograd.grad(actual.sum(), copy_), torch.autograd.grad(expected.sum(), x))


def test_checks_that_cannot_be_kept_are_refused() -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            x = torch.linalg.lu_factor(x)[0]
        return x

    with pytest.raises(CaptureError, match="drop the check of the matrix"):
        autograph(program, backend="eager")(torch.eye(2))


def test_sort_that_compares_tensors() -> None:
    """Eager compares the tensors when two keys are the same."""

    def pairs(x: torch.Tensor) -> torch.Tensor:
        ordered = sorted([("a", x), ("a", -x)])
        return ordered[0][1]

    for x in (torch.tensor(1.0), torch.tensor(-1.0)):
        assert torch.equal(autograph(pairs, backend="eager")(x), pairs(x))


def test_classes_that_are_negative() -> None:
    with pytest.raises(RuntimeError, match="Class values must be non-negative"):
        autograph(lambda x: torch.nn.functional.one_hot(x), backend="eager")(torch.tensor([1, -1]))


def test_function_of_torch_itself() -> None:
    compiled = torch.compile(convert(torch.nn.functional.one_hot), fullgraph=True, backend="eager")
    assert torch.equal(compiled(torch.tensor([2, 0])), torch.tensor([[0, 0, 1], [1, 0, 0]]))


class Shifted(torch.distributions.MultivariateNormal):
    @property
    def spread(self) -> torch.Tensor:
        found = super().precision_matrix
        return found if found.sum() > 1 else found * 2


@pytest.mark.parametrize("scale", [0.5, 4.0])
def test_lazy_properties_of_the_base_class(scale: float) -> None:
    def program(x: torch.Tensor) -> torch.Tensor:
        shifted = Shifted(x, torch.eye(2) * scale)
        return shifted.spread + shifted.precision_matrix

    x = torch.tensor([1.0, 2.0])
    torch.testing.assert_close(torch.compile(convert(program), fullgraph=True, backend="eager")(x), program(x))


def test_a_range_of_data_as_a_tensor_of_unknown_type() -> None:
    def places(x: torch.Tensor) -> torch.Tensor:
        return torch.tensor(range(len(x[x > 0])))  # floats, where it is empty

    with pytest.raises(CaptureError, match="AG321"):
        torch.compile(convert(places), fullgraph=True, backend="eager")(torch.ones(2))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_functions_of_torch_that_ask_about_data(backend: str) -> None:
    def loss(x: torch.Tensor, variance: torch.Tensor) -> torch.Tensor:
        found = torch.nn.functional.gaussian_nll_loss(x, torch.zeros(2), variance)
        return found * 2 if found > 0 else found

    compiled = torch.compile(convert(loss), fullgraph=True, backend=backend)
    for scale in (1.0, 0.01):
        x = torch.tensor([0.1, 0.2], requires_grad=True)
        variance = torch.full((2,), scale)
        actual, expected = compiled(x, variance), loss(x, variance)
        torch.testing.assert_close(actual, expected)
        torch.testing.assert_close(torch.autograd.grad(actual, x), torch.autograd.grad(expected, x))
    with pytest.raises(ValueError, match="var has negative entry"):
        compiled(x, torch.tensor([-1.0, 1.0]))


def test_a_key_error_shows_its_key_as_python_does() -> None:
    def shown(x: torch.Tensor, key: str) -> tuple[torch.Tensor, str, str]:
        try:
            raise KeyError(key)
        except KeyError as error:
            return x + 1, str(error), str(LookupError(key))

    compiled = torch.compile(convert(shown), fullgraph=True, backend="eager")
    assert compiled(torch.ones(1), "a")[1:] == shown(torch.ones(1), "a")[1:] == ("'a'", "a")


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_math_of_a_tensor_whose_kind_the_text_does_not_tell() -> None:
    def scaled(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, float]:
        (w * x).sum().backward()
        norm: Any = w.grad.norm()  # type: ignore[union-attr]
        if not math.isfinite(norm):
            return x * 0, math.inf
        return x / norm, math.sqrt(norm)

    compiled = torch.compile(convert(scaled), backend="eager", fullgraph=True)
    for values in ([3.0, 4.0], [math.nan, 1.0], [math.inf, 1.0]):
        (found, root), (expected, square_root) = (
            function(torch.tensor(values), torch.ones(2, requires_grad=True)) for function in (compiled, scaled)
        )
        torch.testing.assert_close(found, expected, equal_nan=True)
        assert root == square_root and type(root) is float


def test_math_of_iterators() -> None:
    def products(x: torch.Tensor) -> tuple[object, ...]:
        values, n = x.tolist(), int(x[0])
        of_lengths = math.prod(x.shape)
        if values[0] > 1:
            values.append(2.5)
        product = math.prod(v for v in values)
        return product, math.prod(map(abs, values)), math.prod([n, 2]), math.prod((n, 0.5), start=3), of_lengths

    compiled = torch.compile(convert(products), backend="eager", fullgraph=True)
    for first in (2.0, -1.5):
        x = torch.tensor([first, 3.0, 0.1])
        expected, given = products(x), compiled(x)
        assert given == expected and [type(one) for one in given] == [type(one) for one in expected]


@pytest.mark.filterwarnings("ignore::autograph_torch.diagnostics.OnePathWarning")
def test_exact_sums_of_iterators() -> None:
    """No operator of a graph is exact: a path knows the numbers."""

    def sums(x: torch.Tensor) -> tuple[float, float]:
        values = x.tolist()
        return math.fsum(v / 3 for v in values), math.dist((v for v in values), [0.0, 0.0, 0.0])

    x = torch.tensor([0.1, 1e8, -1e8])
    assert torch.compile(convert(sums), backend="eager", fullgraph=True)(x) == sums(x)


@pytest.mark.parametrize("in_a_branch", [False, True])
def test_a_list_that_is_made_longer_by_name(in_a_branch: bool) -> None:
    def run(x: torch.Tensor, names: list[str]) -> torch.Tensor:
        if not in_a_branch or x.sum() > 0:
            names.__iadd__(["b"])
        return x * len(names) if not in_a_branch else x

    fast = autograph(run, backend="eager")
    expected, actual = ["a"], ["a"]
    for value in (1.0, -1.0, 2.0):
        x = torch.full((2,), value)
        assert torch.equal(fast(x, actual), run(x, expected))
        assert actual == expected


COMPLEX = ([1 + 2j, -1j], [0.5, 0.5j], [complex(-0.0, 3), 1], [complex(math.nan, 1), 1j])


@program(inputs=[lambda row=row: (torch.tensor(row, dtype=torch.complex64),) for row in COMPLEX])
def complex_numbers_of_data(z: Any) -> Any:
    first, numbers, nested = z[0].item(), z.tolist(), torch.stack([z, z + 1]).tolist()
    if abs(first) > 1:
        z = z * 2
    return z, first.real, repr(first), repr(complex(z[1])), repr(complex(z[0].real)), repr(numbers), repr(nested)


def test_complex_numbers_of_data() -> None:
    verdict = agreement(complex_numbers_of_data.__program__, "any graph")  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason


@program(inputs=[lambda n=n: (vec(n),) for n in (2.5, -2.5, 0.0, -0.0, math.inf)])
def quotients(x: Any) -> Any:
    number = x[0].item()
    return divmod(number, 2), divmod(7, number)


def test_both_parts_of_a_quotient() -> None:
    verdict = agreement(quotients.__program__, "any graph")  # type: ignore[attr-defined]
    assert verdict.kind == "equal", verdict.reason
