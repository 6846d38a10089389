"""Calls that draw random numbers are known by the operators they come to, and drawing is something that is done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch._dynamo.variables import builder
from torch._subclasses.fake_tensor import FakeTensorMode

from autograph_torch import convert
from tests.harness import check_any_graph, program, scalar, vec

COIN = torch.tensor(0.5)
DRAWS: dict[str, Callable[[Tensor], Tensor]] = {
    "rand": lambda x: torch.rand(3),
    "uniform_": lambda x: torch.zeros(3).uniform_(),
    "randperm": lambda x: torch.randperm(3) * 0.3,
    "bernoulli": lambda x: torch.bernoulli(x.sigmoid()),
    "binomial": lambda x: torch.binomial(torch.full((3,), 5.0), COIN.expand(3)),
    "gamma": lambda x: torch.distributions.Gamma(x.abs() + 1, 1.0).sample(),
    "dirichlet": lambda x: torch.distributions.Dirichlet(x.abs() + 1).sample(),
    "gumbel_softmax": F.gumbel_softmax,
    "dropout": F.dropout,
    "alpha_dropout": lambda x: F.alpha_dropout(x, training=True),
    "rrelu": lambda x: F.rrelu(x - 3, training=True),
    "attention": lambda x: F.scaled_dot_product_attention(*[x.expand(1, 3, 3)] * 3, dropout_p=0.5)[0, 0],
    "multinomial": lambda x: torch.multinomial(x.sigmoid(), 3, replacement=True) * 0.4,
}
NO_DRAWS: dict[str, Callable[[Tensor], Tensor]] = {
    "dropout of nothing": lambda x: F.dropout(x, p=0.0),
    "dropout in evaluation": lambda x: F.dropout(x, training=False),
    "rrelu in evaluation": F.rrelu,
    "attention without dropout": lambda x: F.scaled_dot_product_attention(*[x.expand(1, 3, 3)] * 3)[0, 0],
    "tanh": torch.tanh,
}


def in_a_branch(draw: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def function(x: Tensor) -> Tensor:
        if x.sum() > 0:
            return draw(x) * x
        return x * 1

    return function


@pytest.mark.parametrize("name", DRAWS)
def test_a_draw_beside_gradients_is_refused_in_a_branch(name: str) -> None:
    function = torch.compile(convert(in_a_branch(DRAWS[name])), backend="aot_eager", fullgraph=True)
    with pytest.raises(Exception, match="AG323 .* draws random numbers in a branch"):
        function(vec(1, 2, 3).requires_grad_())


@pytest.mark.parametrize("name", NO_DRAWS)
def test_what_does_not_draw_is_not(name: str) -> None:
    function = in_a_branch(NO_DRAWS[name])
    x = vec(1, 2, 3).requires_grad_()
    torch.testing.assert_close(convert(function)(x), function(x))
    torch._dynamo.reset()
    compiled = torch.compile(convert(function), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), function(x))


@program(inputs=[lambda: (scalar(0.8),), lambda: (scalar(0.1),), lambda: (scalar(0.97),)])
def draws_in_the_test(p):
    n = 0
    while torch.rand(()) < p:
        n += 1
    return n, torch.rand(1)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(30, 30),)])
def dropout_in_the_test(x):
    while F.dropout(x).sum() < 10:
        x = x + 1
    return x


@program(
    inputs=[lambda: (vec(5, 2), scalar(0.9)), lambda: (vec(-1, -2), scalar(0.9)), lambda: (vec(30, 30), scalar(0.5))]
)
def draws_in_a_later_operand_of_the_test(x, p):
    while x.sum() > 0 and torch.rand(()) < p:
        x = x - 1
    return x, torch.rand(1)


@program(inputs=[lambda: (vec(0.5, 0.6, 0.5),), lambda: (vec(0, 0, 0),), lambda: (vec(1, 1, 0.5),)])
def any_and_all_of_draws(x):
    hit = any(torch.rand(()) < e for e in x)
    missed = all(torch.rand(()) > e for e in x)
    return hit, missed, torch.rand(1)


@program(inputs=[lambda: (vec(9, 9, 9, 9), 3), lambda: (vec(0, 0, 0, 0), 3), lambda: (vec(3, 3, 3, 3), 3)])
def batches_that_are_drawn(x, n):
    def batches():
        for _ in range(n):
            yield x[torch.randperm(4)[:2]]

    s = torch.zeros(())
    for b in batches():
        s = s + b.sum() * torch.rand(())
        if s > 8:
            break
    return s, torch.rand(1)


@program(inputs=[lambda: (vec(0.5, 0.9, 0.3),), lambda: (vec(0, -9, 0),), lambda: (vec(5, 1, 2),)])
def a_map_that_draws(x):
    n = 0
    for r in map(lambda e: e + torch.rand(()), x):
        if r > 1:
            break
        n += 1
    return n, torch.rand(1)


@program(
    inputs=[lambda: (scalar(1.0), scalar(9.0)), lambda: (scalar(1.0), scalar(0.0)), lambda: (scalar(1.0), scalar(30.0))]
)
def a_list_of_draws(x, p):
    xs = []
    while x < p:
        x = x + torch.binomial(torch.tensor(5.0), torch.tensor(0.5))
        xs.append(x)
    return xs


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 2),)])
def an_exception_behind_a_draw(x):
    y = F.gumbel_softmax(x, dim=0)
    if x.sum() < 0:
        raise ValueError(f"bad {float(y[0]):.4f}")
    return y


@pytest.mark.parametrize(
    "subject",
    [
        draws_in_the_test,
        dropout_in_the_test,
        draws_in_a_later_operand_of_the_test,
        any_and_all_of_draws,
        batches_that_are_drawn,
        a_map_that_draws,
        a_list_of_draws,
        an_exception_behind_a_draw,
    ],
    ids=lambda one: one.__name__,
)
def test_draws_come_in_their_order_and_number(subject: Callable[..., object]) -> None:
    check_any_graph(subject)


def test_torch_still_has_the_places() -> None:
    assert callable(builder.get_fake_value)
    assert "__torch_dispatch__" in vars(FakeTensorMode)
    tagged = (torch.ops.aten.exponential_.default, torch.ops.aten.binomial.default, torch.ops.aten.rand.default)
    assert all(torch.Tag.nondeterministic_seeded in one.tags for one in tagged)
