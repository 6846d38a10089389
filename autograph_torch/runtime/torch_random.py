"""Random numbers of torch as functions of the state of a generator (see capture/torch_random.py).

    x = torch.randn(3, generator=g)        x, state = draw(state, [], [], "randn ...")

A call is told by a text, which stands for it in all processes: graphs with the same text are the same.

    ("const", value)       anything that is known while tracing
    ("tensor", k)          one of the tensors that the operator is handed
    ("int", k)             one of the numbers that it is handed
    ("float", k)           a number that data decide, as one of the tensors
    ("list", parts)        a list or tuple of those
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch.fx.experimental.symbolic_shapes import statically_known_true

from autograph_torch.runtime import performing, tracing
from autograph_torch.runtime.effects import current_token, put_token, surrounding_effects

Part = tuple[Any, ...]
FUNCTIONS: dict[Any, str] = {
    getattr(torch, name): name
    for name in (
        "rand randn randint randperm normal multinomial bernoulli rand_like randn_like randint_like poisson".split()
    )
}
METHODS = ("multinomial", "bernoulli")
IN_PLACE = tuple("normal_ uniform_ random_ exponential_ bernoulli_ cauchy_ log_normal_ geometric_".split())
DEFAULT = 0  # the number of the default generator
_ANY = 0.5  # a number that only data tell, where just the form of a result is asked


@dataclass(frozen=True)
class Call:
    """A call that draws: a function of torch or a method of a tensor, and the descriptions of its arguments."""

    name: str
    args: tuple[Part, ...]
    kwargs: tuple[tuple[str, Part], ...]

    def text(self) -> str:
        """What stands for it in a graph. The type of what it draws may depend on torch's default."""
        shown = f"{self.name} {self.args!r} {self.kwargs!r} {torch.get_default_dtype()}"
        _calls[shown] = self
        return shown

    def run(self, values: list[torch.Tensor], numbers: list[Any], generator: torch.Generator | None) -> torch.Tensor:
        """What it draws. Without a generator: something of the same form."""
        args = [_put_together(part, values, numbers, generator is None) for part in self.args]
        kwargs = {key: _put_together(part, values, numbers, generator is None) for key, part in self.kwargs}
        if self.name in IN_PLACE:
            like = args[0]
            if generator is None:
                return torch.empty(like.shape, dtype=like.dtype, device=like.device)
            # In the order of the memory that eager writes to: torch draws many numbers at once where there are no gaps.
            args[0] = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype, device=like.device)
            return getattr(args[0], self.name)(*args[1:], **kwargs, generator=generator).contiguous()  # type: ignore[no-any-return]
        function: Callable[..., torch.Tensor] = getattr(torch, self.name)
        return function(*args, **kwargs) if generator is None else function(*args, **kwargs, generator=generator)


_calls: dict[str, Call] = {}


def _put_together(part: Part, values: list[torch.Tensor], numbers: list[Any], only_form: bool) -> Any:
    kind, what = part
    if kind == "list":
        return [_put_together(inner, values, numbers, only_form) for inner in what]
    if kind == "float":
        return _ANY if only_form else values[what].item()
    return what if kind == "const" else numbers[what] if kind == "int" else values[what]


def _at(state: torch.Tensor) -> torch.Generator:
    generator = torch.Generator()
    generator.set_state(state)
    return generator


@torch.library.custom_op("autograph_torch::draw", mutates_args=())
def _draw_op(
    state: torch.Tensor, values: list[torch.Tensor], numbers: list[int], call: str
) -> tuple[torch.Tensor, torch.Tensor]:
    generator = _at(state)
    drawn = _calls[call].run(values, numbers, generator)
    return drawn, generator.get_state()


@_draw_op.register_fake
def _(
    state: torch.Tensor, values: list[torch.Tensor], numbers: list[int], call: str
) -> tuple[torch.Tensor, torch.Tensor]:
    return _calls[call].run(values, numbers, None), torch.empty_like(state)


@torch.library.custom_op("autograph_torch::seeded", mutates_args=())
def _seeded_op(seed: int) -> torch.Tensor:
    return torch.Generator().manual_seed(seed).get_state()


@_seeded_op.register_fake
def _(seed: int) -> torch.Tensor:
    return torch.empty(LENGTH, dtype=torch.uint8)


LENGTH = torch.Generator().get_state().numel()  # of a state


# -- what torch draws by itself ---------------------------------------------------------------------------------------
# As torch does it on the CPU (aten/src/ATen/native/Dropout.cpp).


def dropout(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """torch.dropout of the default generator."""
    return input * _noise(torch.empty_like(input), p) if _drops(input, p, train) else input


def dropout_(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """torch.dropout_, in place."""
    return input.mul_(_noise(torch.empty_like(input), p)) if _drops(input, p, train) else input


def feature_dropout(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """torch.feature_dropout: of whole channels."""
    return input * _noise(_of_channels(input), p) if _drops(input, p, train) else input


def feature_dropout_(input: torch.Tensor, p: float, train: bool) -> torch.Tensor:
    """torch.feature_dropout_, in place."""
    return input.mul_(_noise(_of_channels(input), p)) if _drops(input, p, train) else input


def _drops(input: torch.Tensor, p: float, train: bool) -> bool:
    return train and p != 0 and not statically_known_true(input.numel() == 0)


def _noise(like: torch.Tensor, p: float) -> torch.Tensor:
    """Zeros, and what makes up for them; where all are zeros nothing is drawn."""
    return torch.zeros((), dtype=like.dtype) if p == 1 else like.bernoulli_(1 - p).div_(1 - p)


def _of_channels(input: torch.Tensor) -> torch.Tensor:
    return torch.empty((*input.shape[:2], *[1] * (input.ndim - 2)), dtype=input.dtype)


NATIVE: dict[Any, Callable[..., torch.Tensor]] = {
    torch.dropout: dropout,
    torch.dropout_: dropout_,
    torch.feature_dropout: feature_dropout,
    torch.feature_dropout_: feature_dropout_,
    # Their own texts, which call those, or draw in place.
    **{one: one for one in (F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.gumbel_softmax)},
}


# -- the generators of the program -------------------------------------------------------------------------------------


class _Places(threading.local):
    """The generators that the graphs of the call under way draw from, by number."""

    def __init__(self) -> None:
        self.generators: dict[int, torch.Generator] = {}
        self.last = DEFAULT


_places = _Places()
_lock = threading.Lock()
_numbers = [DEFAULT]


def new_number() -> int:
    """A number for a generator that a graph draws from."""
    with _lock:
        _numbers[0] += 1
        return _numbers[0]


def begin(generator: torch.Generator, number: int) -> torch.Tensor:
    """The state of a generator, in front of a graph that knows it by a number.

    Raises:
        RuntimeError: the graph is not for this generator. (Its guards look at the type only.)
    """
    if generator.device.type != "cpu" or (generator is torch.default_generator) != (number == DEFAULT):
        raise RuntimeError("the graph is for a generator of the program's own, on the CPU")
    _places.generators[number] = generator
    return generator.get_state()


def keep(state: torch.Tensor, before: torch.Tensor, number: int, everywhere: bool) -> None:
    """The generator that a graph knows by a number has come to a state.

    before: its state in front of the graph, which only `begin` tells; for the default generator anything.
    everywhere: whether it has got there by torch.manual_seed, which seeds the generators of other devices, too.
    """
    place = surrounding_effects()
    token = current_token(place)
    put_token(place, torch.ops.autograph_torch.keep_generator(token, state, before, number, everywhere))


@torch.library.custom_op("autograph_torch::keep_generator", mutates_args=())
def _keep_op(
    token: torch.Tensor, state: torch.Tensor, before: torch.Tensor, number: int, everywhere: bool
) -> torch.Tensor:
    if not tracing.in_backward() and not performing.is_forecast():
        generator = torch.default_generator if number == DEFAULT else _places.generators[number]
        performing.remember_state(generator)
        generator.set_state(state)
        if everywhere:
            performing.remember_devices()
            torch.random.manual_seed(generator.initial_seed())
    return token.clone()


@_keep_op.register_fake
def _(token: torch.Tensor, state: torch.Tensor, before: torch.Tensor, number: int, everywhere: bool) -> torch.Tensor:
    return torch.empty_like(token)


def _keep_backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    """The token is no value: what comes in for it goes on to the token before."""
    return gradient, None, None, None, None


_keep_op.register_autograd(_keep_backward)
