"""torch's questions that give a Python bool, as tensors of one truth value while tracing."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import has_static_value, statically_known_true

from autograph_torch.runtime import notes
from autograph_torch.runtime.branch import cond
from autograph_torch.runtime.effects import Listed, fail, fail_if, fail_with, text
from autograph_torch.runtime.predicate import is_data_dependent
from autograph_torch.runtime.refusal import refuse


def allclose(
    input: torch.Tensor,
    other: torch.Tensor,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Any:
    """torch.allclose."""
    if not torch.compiler.is_compiling():
        return torch.allclose(input, other, rtol, atol, equal_nan)
    return torch.isclose(input, other, rtol, atol, equal_nan).all().item()


def equal(input: torch.Tensor, other: torch.Tensor) -> Any:
    """torch.equal: the same size and the same elements."""
    if not torch.compiler.is_compiling():
        return torch.equal(input, other)
    if input.ndim != other.ndim:
        return False
    for k in range(input.ndim):
        if not statically_known_true(input.shape[k] == other.shape[k]):
            if has_static_value(input.shape[k]) and has_static_value(other.shape[k]):
                return False
            return torch.ops.autograph_torch.equal(input, other).item()
    return (input == other).all().item()


@torch.library.custom_op("autograph_torch::equal", mutates_args=())
def _equal_op(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """torch.equal of tensors whose sizes depend on data."""
    return torch.tensor(torch.equal(input, other), device=input.device)


@_equal_op.register_fake
def _(input: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return torch.empty((), dtype=torch.bool, device=input.device)


@torch.library.custom_op("autograph_torch::measured", mutates_args=())
def _measured_op(input: torch.Tensor, dim: int) -> torch.Tensor:
    """The size of a tensor, whatever a compiler takes it for (capture/kept_asserts.py)."""
    return torch.tensor(input.size(dim))


@_measured_op.register_fake
def _(input: torch.Tensor, dim: int) -> torch.Tensor:
    return torch.empty((), dtype=torch.int64)


def complex_number(input: torch.Tensor) -> complex:
    """`input.item()` of a complex tensor."""
    return complex(input.real.item(), input.imag.item())


def complex_numbers(input: torch.Tensor) -> Any:
    """`input.tolist()` of a complex tensor."""
    return [complex_numbers(row) for row in input] if input.ndim else complex_number(input)


def is_nonzero(input: torch.Tensor) -> Any:
    """torch.is_nonzero."""
    if not torch.compiler.is_compiling():
        return torch.is_nonzero(input)
    return (input.reshape(()) != 0).item()


def in_(element: Any, container: Any) -> Any:
    """`element in container`."""
    if not torch.compiler.is_compiling() or not isinstance(container, torch.Tensor):
        return element in container
    return (container == element).any().item()


_NO_NUMBERS = (str, bytes, tuple, type(None), enum.Enum, torch.Tensor)  # as keys they are never equal to one


def is_one_of(number: Any, container: Any, is_negated: bool) -> Any:
    """`number in container`, a dict or set, or `not in`, where data tell the number. (While tracing.)"""
    known = integer_of(number) if isinstance(number, bool) else number
    found = torch.zeros((), dtype=torch.bool, device="cpu")
    for key in container:
        if isinstance(key, (int, float)):
            found = found | torch.scalar_tensor(known == key, dtype=torch.bool, device="cpu")
        elif not isinstance(key, _NO_NUMBERS):
            refuse("AG321", f"data tell whether a number is {key!r}", "use numbers or strings as keys")
    return (~found if is_negated else found).item()


def index(position: Any) -> Any:
    """A 0-d integer tensor as a number, which torch's operators accept as an index; all else as it is."""
    if not torch.compiler.is_compiling() or not isinstance(position, torch.Tensor):
        return position
    if position.ndim == 0 and not position.is_floating_point() and position.dtype != torch.bool:
        return position.clone().item()
    return position


def tolist(values: Any) -> Any:
    """`values.tolist()`."""
    if not torch.compiler.is_compiling() or not isinstance(values, torch.Tensor):
        return values.tolist()
    if values.ndim == 0:
        return values.item()
    if values.dtype == torch.uint8:  # which torch's tracer takes for no integers
        values = values.to(torch.int64)
    if not values.is_floating_point() and not values.is_complex() and values.dtype != torch.bool:
        return values.tolist()
    if values.ndim == 1 and is_data_dependent(values.shape[0]):
        return values.tolist()
    return [tolist(values[k]) for k in range(values.shape[0])]


def shown_list(values: Any) -> Any:
    """`values.tolist()`, which only an effect or an exception gets."""
    if not torch.compiler.is_compiling() or not isinstance(values, torch.Tensor):
        return values.tolist()
    known = [not is_data_dependent(values.shape[k]) for k in range(values.ndim)]
    return tolist(values) if all(known) or notes.on_one_path() else Listed(values)


def item(values: torch.Tensor, converts: bool = False) -> Any:
    """`values.item()` where only data tell how many elements there are; with `converts`, for `int(values)`."""
    size = values.numel()
    if converts:
        cond(size != 1, lambda: fail(ValueError, "only one element tensors can be converted to Python scalars"))
    else:
        message = text("a Tensor with {} elements cannot be converted to Scalar", size)
        cond(size != 1, lambda: fail(RuntimeError, message))
    flat = values.reshape(-1)
    return torch.cat([flat, flat.new_zeros(1)]).select(0, 0).item()


def one_hot(tensor: torch.Tensor, num_classes: Any = -1) -> torch.Tensor:
    """torch.nn.functional.one_hot of int64 where the data tell the number of classes. (While tracing.)"""
    cond((tensor < 0).any(), lambda: fail(RuntimeError, "Class values must be non-negative."))
    places = tensor.clamp(min=0)
    largest = torch.cat([places.reshape(-1), places.new_full((1,), -1)]).max()  # -1 where there are none
    count = index(num_classes)
    if not statically_known_true(count >= 0):
        given = torch.scalar_tensor(count, dtype=torch.int64, device=tensor.device)
        wanted = torch.where(given == -1, largest + 1, given)
        message = "Can not infer total number of classes from empty tensor."
        cond((largest < 0) & (wanted <= 0), lambda: fail(RuntimeError, message))
        count = wanted.item()
    cond(largest >= count, lambda: fail(RuntimeError, "Class values must be smaller than num_classes."))
    classes = torch.zeros((*tensor.shape, count), dtype=torch.int64, device=tensor.device)
    return classes.scatter(-1, places.unsqueeze(-1), 1)


def whole(number: Any) -> Any:
    """`int(number)` of a float that depends on data: a symbol of its own, which may be a size. (While tracing.)"""
    tensor = torch.scalar_tensor(number, dtype=torch.float64)
    torch._assert_async(tensor.abs() < _INT64, "a float that is no number, or is too large, is made an integer")
    return tensor.to(torch.int64).item()


def form_of_float(number: Any) -> str:
    """What keeps a float from being an integer of 64 bits: "nan", "inf" or "large"; else "0". (On one path.)"""
    tensor = torch.scalar_tensor(number, dtype=torch.float64)
    if tensor.isnan():
        return "nan"
    if tensor.isinf():
        return "inf"
    return "large" if tensor.abs() >= _INT64 else "0"


def rounded(number: Any) -> Any:
    """`round(number)`, likewise: half to even, as Python does and torch."""
    return whole(torch.scalar_tensor(number, dtype=torch.float64).round().item())


_INT64 = 2.0**63


def integer_of(flag: Any) -> Any:
    """0 or 1, of a truth value that depends on data. (While tracing.)"""
    tensor = flag if isinstance(flag, torch.Tensor) else torch.scalar_tensor(flag, dtype=torch.bool)
    return tensor.reshape(()).to(torch.int64).item()


def computed(function: str, kind: str, one: Any, other: Any) -> Any:
    """What Python's operator gives for two numbers, at least one of them a float from data. (While tracing.)"""
    return asked(function, kind, (one, other))


def asked(function: str, kind: str, numbers: tuple[Any, ...]) -> Any:
    """What a function that Python alone computes gives for numbers, some of them from data. (While tracing.)"""
    operands = [
        torch.scalar_tensor(number, dtype=torch.float64 if isinstance(number, float) else torch.int64)
        for number in numbers
    ]
    return torch.ops.autograph_torch.number(function, kind, operands).item()


def of_tensors(function: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """What a function of two floats gives, one of them from data, computed by tensors. (While tracing.)"""
    first, second = (torch.scalar_tensor(number, dtype=torch.float64) for number in (one, other))
    return function(first, second).item()


def natural(exponent: Any) -> Any:
    """The exponent of an integer, which depends on data, as a number that is not negative. (While tracing.)"""
    number = notes.refused_when_run(
        "AG310",
        "a power of integers is a float here, for its exponent is negative; the graph takes it for an integer",
        "write the base as a float: `2.0 ** k`; under @autograph such a call runs in Python",
    )
    cond(exponent < 0, lambda: fail_with(number))
    found: Any = torch.scalar_tensor(exponent, dtype=torch.int64).clamp(min=0).item()
    torch._check(found >= 0)
    return found


def with_known(function: Callable[..., Any], flag: Any, key: int | str, args: tuple[Any, ...], /, **kwargs: Any) -> Any:
    """`function(*args, **kwargs)` of torch, with a truth value that is a constant on each of two paths.

    `key`: where it belongs, a position in `args` or the name of a keyword.
    """
    if isinstance(key, str):
        return cond(
            flag, lambda: function(*args, **{**kwargs, key: True}), lambda: function(*args, **{**kwargs, key: False})
        )
    before, behind = args[:key], args[key + 1 :]
    return cond(
        flag, lambda: function(*before, True, *behind, **kwargs), lambda: function(*before, False, *behind, **kwargs)
    )


def refuse_ones(tensor: torch.Tensor, dims: tuple[int, ...]) -> None:
    """Before a `squeeze` that the trace takes for one that leaves these dimensions alone: fail when one has size 1."""
    number = notes.refused_when_run(
        "AG321",
        "a size that depends on data is 1 here, and `squeeze` drops the dimension; the graph keeps it",
        "name the dimension that always has size 1: `x.squeeze(-1)`; under @autograph such a call runs in Python",
    )
    for k in range(len(dims)):
        cond(tensor.shape[dims[k]] == 1, lambda: fail_with(number))


def refuse_if(other: torch.Tensor, message: str, advice: str) -> None:
    """Where the trace goes on with a fact that only data can tell: fail where it is `other`."""
    fail_if(other, notes.refused_when_run("AG321", message, advice))


def computed_once(instance: Any, name: str, wrapped: Any) -> Any:
    """What a lazy property of torch.distributions gives, and leaves as an attribute."""
    with torch.enable_grad():
        value = wrapped(instance)
    setattr(instance, name, value)
    return value
