"""Calls that are made for their effect on the world (print, warnings, logging, raise) inside the graph, in order.

Each becomes a custom operator that takes a token and gives a new one; the chain of tokens is the order. At the top
level
the token lives in an object of this module, so that Dynamo returns it from the graph and nothing of the chain is dead.
Inside a branch or loop body it lives in a list of that body, which the operator around it turns into one more result. A
call finds the list of the innermost body around it by asking the tracer (see capture/inlining.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograph_torch.runtime import notes, tracing
from autograph_torch.runtime.structure import lift, spec_of
from autograph_torch.runtime.values import HOLE


class _Top:
    """Where the token lives outside of all bodies."""

    known = True
    token: torch.Tensor | None = None


TOP = _Top()

# Where the token of a body lives: [the place around it, token, newer token, ...].
Place = _Top | list[Any]


def body_effects(outer: Place) -> list[Any]:
    """A place for the tokens of one body."""
    return [outer]


def had_effects(place: list[Any]) -> bool:
    return len(place) > 1


def current_token(place: Place) -> torch.Tensor:
    """The token that the next effect comes after."""
    if isinstance(place, list):
        return place[-1] if len(place) > 1 else current_token(place[0])
    return torch.zeros(()) if notes.is_first_effect() or place.token is None else place.token


def put_token(place: Place, token: torch.Tensor) -> None:
    if isinstance(place, list):
        place.append(token)
    else:
        place.token = token


class Text:
    """A formatted string whose values are known only when the graph runs: `f"loss {loss:.3f}"`."""

    def __init__(self, template: str, values: tuple[Any, ...]) -> None:
        self.template = template
        self.values = values


def text(template: str, *values: Any) -> Any:
    """`template.format(*values)`, now or when the graph runs."""
    if not torch.compiler.is_compiling():
        return template.format(*values)
    return Text(template, values)


def effect(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """`function(*args, **kwargs)` for its effect, at its place in the order of effects."""
    if not torch.compiler.is_compiling():
        function(*args, **kwargs)
        return
    parts, tensors = _taken_apart(args)
    _emit(notes.new_effect(function, parts, tuple(kwargs.items())), tensors)


def fail(error: type[BaseException], *args: Any) -> Any:
    """`raise error(*args)`."""
    if not torch.compiler.is_compiling():
        raise error(*args)
    parts, tensors = _taken_apart(args)
    _emit(notes.new_failure(error, parts), tensors)
    return HOLE


def surrounding_effects(effects: Any = None) -> Place:
    """The place of the innermost body around the call: the tracer fills in `effects` with it."""
    if effects is not None:
        return effects
    # Looked at here, before any operator: what Dynamo first meets inside of one, it forgets behind it.
    assert TOP.known
    return TOP


def _emit(number: int, tensors: list[torch.Tensor]) -> None:
    """One link of the chain."""
    place = surrounding_effects()
    put_token(place, torch.ops.autograph_torch.effect(current_token(place), number, tensors))


def _taken_apart(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[torch.Tensor]]:
    """Arguments as constants with places for tensors, and the tensors."""
    parts: list[Any] = []
    tensors: list[torch.Tensor] = []
    for value in args:
        if isinstance(value, Text):
            inner, more = _taken_apart(value.values)
            parts.append(("text", value.template, len(inner), inner))
            tensors.extend(more)
        elif isinstance(value, (list, tuple)):
            inner, more = _taken_apart(tuple(value))
            kind = "list" if isinstance(value, list) else "size" if isinstance(value, torch.Size) else "tuple"
            parts.append((kind, None, len(inner), inner))
            tensors.extend(more)
        else:
            part, leaf = _one(value)
            parts.append(part)
            tensors.extend(leaf)
    return tuple(parts), tensors


def _one(value: Any) -> tuple[Any, list[torch.Tensor]]:
    if isinstance(value, torch.Tensor):
        return ("tensor", value.requires_grad), [value.detach().clone()]
    if isinstance(value, (bool, int, float)):
        spec = spec_of(value)
        if spec[0] == "number":
            lifted = lift(value) if isinstance(value, (bool, float)) else torch.scalar_tensor(value, dtype=torch.int64)
            return spec, [lifted.clone()]
    return ("const", value), []


# -- when the graph runs ---------------------------------------------------------------------------------------------


@torch.library.custom_op("autograph_torch::effect", mutates_args=())
def _effect_op(token: torch.Tensor, number: int, values: list[torch.Tensor]) -> torch.Tensor:
    if not tracing.in_backward():  # the backward pass of a branch or loop runs its body again
        notes.perform(number, values)
    return token.clone()


@_effect_op.register_fake
def _(token: torch.Tensor, number: int, values: list[torch.Tensor]) -> torch.Tensor:
    return torch.empty_like(token)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    ctx.count = len(inputs[2])


def _backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    """The token is no value: what comes in for it goes on to the token before."""
    return gradient, None, [None] * ctx.count


_effect_op.register_autograd(_backward, setup_context=_setup)
