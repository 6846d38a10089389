"""Generators of torch in a graph draw what they draw in eager, and are in eager's states behind it."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from autograph_torch import CaptureError, OnePathWarning, autograph, convert, export
from tests.harness import torch_before

_GEN = torch.Generator()
_WEIGHT = torch.ones(3, requires_grad=True)


class Noise(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn(x.shape, generator=self.generator)


_NOISE = Noise()


def an_argument(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    return x + torch.randn(3, generator=gen) * torch.rand(x.shape[0], generator=gen)


def every_function(x: torch.Tensor, gen: torch.Generator) -> tuple[torch.Tensor, ...]:
    p = torch.softmax(x, 0)
    return (
        torch.rand(2, 3, generator=gen, dtype=torch.float64, device="cpu", pin_memory=False),
        torch.randn((2, x.shape[0]), generator=gen),
        torch.randn(1, generator=gen, dtype=torch.float64),  # keeps another number for later
        torch.randint(5, (4,), generator=gen),
        torch.randint(2, x.shape[0], (20,), generator=gen),
        torch.randperm(x.shape[0], generator=gen),
        torch.normal(1.0, 2.0, (2, 2), generator=gen),
        torch.normal(x, 2.0, generator=gen),
        torch.multinomial(p, 2, generator=gen),
        torch.multinomial(p, 4, replacement=True, generator=gen),
        p.multinomial(1, generator=gen),
        torch.bernoulli(p, generator=gen),
        torch.bernoulli(p, 0.3, generator=gen),
        p.bernoulli(generator=gen),
        torch.rand_like(x, generator=gen),
    )


def in_place(x: torch.Tensor, gen: torch.Generator) -> tuple[torch.Tensor, ...]:
    y = torch.zeros(5, 40)
    y[:, 3].normal_(generator=gen)
    y.t()[4:30].normal_(0.5, 2, generator=gen)  # torch draws many numbers at once where there are no gaps
    z = x.clone().uniform_(-1, 1, generator=gen)
    n = torch.empty(4, dtype=torch.int64).random_(0, 10, generator=gen)
    w = torch.nn.init.normal_(torch.empty(3, 20), generator=gen)
    e = torch.empty(20).exponential_(2.0, generator=gen)
    b = torch.empty(20).bernoulli_(0.3, generator=gen)
    c = x.clone().bernoulli_(torch.softmax(x, 0), generator=gen)
    x.uniform_(generator=gen)
    return y, z, n, w, e, b, c


def around(x: torch.Tensor, gen: torch.Generator) -> tuple[torch.Tensor, ...]:
    return _NOISE(x), x * torch.rand(3, generator=_GEN), torch.rand(2, generator=gen), torch.rand(1, generator=_GEN)


def made(x: torch.Tensor, gen: torch.Generator) -> tuple[Any, ...]:
    first, third = torch.Generator(), torch.Generator(device="cpu").manual_seed(-5)
    first.manual_seed(x.shape[0])
    second = torch.Generator().manual_seed(2**64 - 3)
    unseeded = torch.Generator()
    drawn = [torch.rand(3, generator=one) for one in (first, second, third, unseeded, first)]
    return x + sum(drawn), first.initial_seed(), third.initial_seed(), unseeded.initial_seed(), str(first.device)


def states(x: torch.Tensor, gen: torch.Generator) -> tuple[Any, ...]:
    before = gen.get_state()
    drawn = torch.rand(3, generator=gen)
    gen.set_state(before)
    again = torch.rand(3, generator=gen)
    own = torch.Generator()
    own.set_state(gen.get_state())
    gen.manual_seed(7)
    return drawn, again, torch.randn(2, generator=own), own.get_state(), gen.initial_seed(), gen.device, gen


def noise(shape: Any, generator: torch.Generator | None = None) -> torch.Tensor:
    if generator is None or not isinstance(generator, torch.Generator):
        return torch.zeros(shape)
    return torch.randn(shape, generator=generator)


def handed_on(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    own = torch.Generator().manual_seed(1)
    return x + noise(x.shape) + noise(x.shape, gen) + noise(x.shape, own) * (1 if own is not gen else 2)


def the_default(x: torch.Tensor, gen: torch.Generator) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(3)
    values = torch.randn(3), torch.rand(2, 2), torch.randperm(5), torch.empty(17).normal_(), torch.randn_like(x)
    shuffled = x[torch.randint(0, 3, (4,))].multinomial(2)
    return *values, shuffled, torch.bernoulli(torch.full((4,), 0.5)), torch.rand(1, generator=torch.default_generator)


def looked_at(x: torch.Tensor, gen: torch.Generator) -> tuple[torch.Tensor, ...]:
    state = torch.get_rng_state()
    first = torch.rand(3)
    torch.set_rng_state(state)
    return first, torch.rand(3), torch.rand(1)


def forked(x: torch.Tensor, gen: torch.Generator) -> tuple[torch.Tensor, ...]:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        inside = torch.rand(3)
    with torch.random.fork_rng(devices=[]):
        also_inside = torch.rand(3)
    return inside, also_inside, torch.rand(3)


def trained(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    weight = torch.ones(3, requires_grad=True)
    loss = (weight * torch.randn(3, generator=gen) * x).sum()
    (gradient,) = torch.autograd.grad(loss, [weight])
    with torch.no_grad():
        weight.uniform_(generator=gen)
    return gradient + weight.detach()


def branching(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    x = x + torch.rand(3, generator=gen)
    if x.sum() > 0:
        x = x * 2
    while x.sum() < 20:
        x = x * 2 + 1
    return x * torch.rand(3, generator=gen)


def raising(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    torch.manual_seed(1)
    x = x * torch.rand(3, generator=gen)
    print(x.sum().item())
    gen.set_state(torch.get_rng_state())
    if x.sum() < 100:
        raise ValueError("small")
    return x * torch.rand(3, generator=gen)


PROGRAMS = [
    an_argument,
    every_function,
    in_place,
    around,
    made,
    states,
    handed_on,
    the_default,
    looked_at,
    forked,
    pytest.param(trained, marks=torch_before("2.12", "requires_grad_() is not traced")),
    branching,
    raising,
]


def in_a_branch(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    return x * torch.rand(3, generator=gen) if x.sum() > 3 else x * _GEN.initial_seed()


def in_a_loop(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    while x.sum() < 9:
        x = x + torch.rand(3, generator=gen)
    return x


def made_in_a_branch(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    if x.sum() > 3:
        own = torch.Generator().manual_seed(2)
        x = x + torch.rand(3, generator=own)
    return x


def default_in_a_branch(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    torch.manual_seed(3)
    return x + torch.rand(3) if torch.rand(()) * x.sum() > 0 else x * torch.rand(3)


def rejected(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
    while True:
        drawn = torch.randn(3, generator=gen)
        if drawn.sum() > 0.5:
            return x + drawn


def plain(backend: str) -> Callable[..., Any]:
    return lambda function: torch.compile(convert(function), fullgraph=True, backend=backend)


def decorated(backend: str) -> Callable[..., Any]:
    return lambda function: autograph(function, backend=backend)


_HOW = [plain("eager"), plain("aot_eager"), decorated("eager"), decorated("aot_eager"), decorated("inductor")]


def _calls(function: Callable[..., Any], scale: float = 2.0) -> str:
    """What several calls give, and the states behind each."""
    gen = torch.Generator().manual_seed(3)
    _GEN.manual_seed(4)
    _NOISE.generator.manual_seed(5)
    torch.manual_seed(6)
    seen: list[Any] = []
    for k in range(5):
        size = 3
        x = torch.arange(1.0, size + 1) * scale
        if k == 3:
            gen = torch.Generator().manual_seed(8)  # another one
        try:
            found = function(x, gen)
            seen.append([str(one) if one is gen else one for one in found] if isinstance(found, tuple) else found)
        except ValueError as error:
            seen.append(error)
        seen.append(x)
        seen += [one.get_state().int().sum() for one in (gen, _GEN, _NOISE.generator, torch.default_generator)]
        seen += [torch.rand(1, generator=gen), torch.rand(1, generator=_GEN), torch.rand(1)]
    return str(seen)


def _without_names(text: str) -> str:
    return re.sub(r"0x[0-9a-f]+", "", text)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("how", _HOW)
def test_as_eager(program: Any, how: Any) -> None:
    torch._dynamo.reset()
    assert _without_names(_calls(how(program))) == _without_names(_calls(program))


@pytest.mark.parametrize("program", [raising])
@pytest.mark.parametrize("how", _HOW)
def test_not_raising(program: Any, how: Any) -> None:
    assert _calls(how(program), scale=1000.0) == _calls(program, scale=1000.0)


IN_BODIES = [in_a_branch, in_a_loop, made_in_a_branch, default_in_a_branch, rejected]


@pytest.mark.parametrize("program", IN_BODIES)
@pytest.mark.parametrize("backend", ["eager", "inductor"])
def test_on_one_path(program: Any, backend: str) -> None:
    """The draws are made on the path of the call; calls that take another one run in Python, and draw the same."""
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OnePathWarning)
        compiled = decorated(backend)(program)
        for scale in (2.0, 0.4, 2.0):
            assert _calls(compiled, scale) == _calls(program, scale)


@pytest.mark.parametrize("program", IN_BODIES[:4])
def test_refused_in_bodies(program: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePathWarning)
        with pytest.raises(CaptureError, match="whichever path"):
            decorated("eager")(program)(torch.ones(3) * 2, torch.Generator())


def test_a_path_is_followed_with_the_numbers_of_the_call() -> None:
    """The forecast draws what the call draws, so that the graph holds for the call that it was made in."""

    def choosing(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
        for _ in range(6):
            x = x * torch.rand(3, generator=gen) if torch.rand((), generator=gen) < 0.5 else x + 1
        return x

    compiled, gens = decorated("eager")(choosing), [torch.Generator().manual_seed(11) for _ in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", OnePathWarning)
        assert torch.equal(compiled(torch.ones(3), gens[0]), choosing(torch.ones(3), gens[1]))
    assert torch.equal(gens[0].get_state(), gens[1].get_state())


def returned(x: torch.Tensor) -> Any:
    return torch.Generator().manual_seed(x.shape[0])


def stored(x: torch.Tensor) -> Any:
    _NOISE.other = torch.Generator()
    return x * 2


def by_the_clock(x: torch.Tensor) -> Any:
    return torch.rand(3, generator=torch.Generator().seed())  # type: ignore[arg-type]


def written_out(x: torch.Tensor) -> Any:
    return torch.rand(3, generator=_GEN, out=x)


def with_a_gradient(x: torch.Tensor) -> Any:
    return torch.bernoulli(torch.sigmoid(x * _WEIGHT), generator=_GEN)


def of_another_function(x: torch.Tensor) -> Any:
    return torch.nested.nested_tensor([x], generator=_GEN)  # type: ignore[call-arg]


def unknown_seed(x: torch.Tensor) -> Any:
    return x * _GEN.initial_seed()


def attending(x: torch.Tensor) -> Any:
    torch.manual_seed(0)
    y = x.reshape(1, 1, 3, 1)
    return F.scaled_dot_product_attention(y, y, y, dropout_p=0.5)


def leaking(x: torch.Tensor) -> Any:
    torch.manual_seed(0)
    return F.rrelu(x, training=True)


def behind_dropout(x: torch.Tensor) -> Any:
    return F.dropout(x, 0.5), torch.get_rng_state()


def in_a_transform(x: torch.Tensor) -> Any:
    return torch.func.vmap(lambda one: one * torch.rand((), generator=_GEN), randomness="same")(x)


def exported(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rand(3, generator=torch.Generator())


REFUSED = [
    (returned, "leaves it"),
    (stored, "leaves it"),
    (by_the_clock, "`seed`"),
    (written_out, "`out`"),
    (with_a_gradient, "with a gradient"),
    (of_another_function, "torch.Generator|keyword"),
    (unknown_seed, "has not given"),
    (attending, "seeded or looked at"),
    (leaking, "seeded or looked at"),
    (in_a_transform, "transform"),
    (behind_dropout, "behind numbers that torch has drawn"),
]


@pytest.mark.parametrize(("program", "message"), REFUSED)
@pytest.mark.parametrize("how", [plain("eager"), decorated("eager")])
def test_refused(program: Any, message: str, how: Any) -> None:
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error", OnePathWarning)
        with pytest.raises(CaptureError, match=message):
            how(program)(torch.ones(3))


def test_refused_in_exports() -> None:
    with pytest.raises(CaptureError, match="AG320"):  # in torch's words
        export(exported, (torch.ones(3),))


def test_what_draws_nothing_is_allowed_behind_a_seed() -> None:
    def evaluated(x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(0)
        y = F.dropout(x, 0.5, training=False).reshape(1, 1, 3, 1)
        y = F.scaled_dot_product_attention(y, y, y)
        return y * torch.rand(3)

    assert torch.equal(plain("aot_eager")(evaluated)(torch.ones(3)), evaluated(torch.ones(3)))


def test_one_generator_by_two_names() -> None:
    def twice(x: torch.Tensor, one: torch.Generator, other: torch.Generator) -> torch.Tensor:
        return x + torch.rand(3, generator=one) * 10 + torch.rand(3, generator=other)

    compiled = plain("eager")(twice)
    for same in (False, True, False, True):
        seen = []
        for function in (twice, compiled):
            one, other = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
            seen += [function(torch.ones(3), one, one if same else other), one.get_state(), other.get_state()]
        assert all(map(torch.equal, seen[:3], seen[3:]))


def test_the_default_generator_in_the_place_of_another() -> None:
    def drawing(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
        return x + torch.rand(3) * 10 + torch.rand(3, generator=gen)

    compiled = decorated("eager")(drawing)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for gen in (torch.Generator(), torch.default_generator):
            seen = []
            for function in (drawing, compiled):
                torch.manual_seed(3)
                gen.manual_seed(3)
                seen += [function(torch.ones(3), gen), gen.get_state(), torch.get_rng_state()]
            assert all(map(torch.equal, seen[:3], seen[3:]))


def test_one_graph_for_all_seeds_and_generators() -> None:
    count = torch._dynamo.testing.CompileCounter()

    def seeded(x: torch.Tensor, gen: torch.Generator, seed: int) -> torch.Tensor:
        own = torch.Generator().manual_seed(seed)
        return x + torch.rand(3, generator=own) * torch.rand(3, generator=gen)

    compiled = torch.compile(convert(seeded), fullgraph=True, backend=count)
    for seed in range(2, 9):
        found, expected = (one(torch.ones(3), torch.Generator().manual_seed(seed), seed) for one in (compiled, seeded))
        assert torch.equal(found, expected)
    assert count.frame_count <= 2


def test_seeds_from_data() -> None:
    def seeded(x: torch.Tensor) -> torch.Tensor:
        own = torch.Generator().manual_seed(int(x.sum().item()))
        return torch.normal(0.0, x.max().item(), (3,), generator=own) * torch.rand(x.shape[0], generator=own)

    compiled = plain("aot_eager")(seeded)
    for k in range(3):
        assert torch.equal(compiled(torch.ones(3) * k), seeded(torch.ones(3) * k))


def test_gradients_pass_by() -> None:
    def noisy(x: torch.Tensor, gen: torch.Generator) -> torch.Tensor:
        y = x * torch.randn(3, generator=gen)
        return torch.utils.checkpoint.checkpoint(torch.sin, y * torch.rand(3, generator=gen), use_reentrant=False).sum()

    found = []
    for function in (noisy, decorated("inductor")(noisy)):
        x, gen = torch.ones(3, requires_grad=True), torch.Generator().manual_seed(3)
        function(x, gen).backward()
        found += [x.grad, gen.get_state()]
    torch.testing.assert_close(found[0], found[2])
    assert torch.equal(found[1], found[3])


def test_drawn_by_torch_before_a_seed() -> None:
    def before(x: torch.Tensor) -> torch.Tensor:
        x = x * torch.rand(3)
        torch.manual_seed(5)
        return x * 0 + torch.rand(3)

    for how in _HOW:
        torch._dynamo.reset()
        assert torch.equal(how(before)(torch.ones(3)), before(torch.ones(3)))
        state = torch.get_rng_state()
        before(torch.ones(3))
        assert torch.equal(torch.get_rng_state(), state)


def test_with_breaks_torch_decides() -> None:
    def drawing(x: torch.Tensor) -> torch.Tensor:
        own = torch.Generator().manual_seed(3)
        torch.manual_seed(4)
        return x + torch.rand(3, generator=own) + torch.rand(3)

    compiled = autograph(drawing, backend="eager", fallback="graph_break")
    assert torch.equal(compiled(torch.ones(3)), drawing(torch.ones(3)))


def test_torch_needs_this() -> None:
    def own(x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(3, generator=torch.Generator())

    def given(x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(3, generator=_GEN)

    def seeding(x: torch.Tensor) -> torch.Tensor:
        torch.manual_seed(0)
        return x

    for function in (own, given, seeding):
        with pytest.raises(torch._dynamo.exc.Unsupported):
            torch.compile(function, fullgraph=True, backend="eager")(torch.ones(3))


DROPS: dict[str, Any] = {
    "dropout": lambda x: F.dropout(x, 0.5),
    "of an argument": lambda x: F.dropout(x, 0.25) + x,
    "all": lambda x: F.dropout(x, 1.0),
    "none": lambda x: F.dropout(x, 0.0) * 2,
    "in place": lambda x: F.dropout(x * 2, 0.5, inplace=True),
    "transposed": lambda x: F.dropout(x.t(), 0.5),
    "a module": lambda x: torch.nn.Sequential(torch.nn.Dropout(0.3), torch.nn.ReLU())(x),
    "of channels": lambda x: F.dropout2d(x.reshape(2, 3, 2, 2), 0.5),
    "of channels, in place": lambda x: F.dropout1d(x.reshape(2, 3, 4) + 1, 0.5, inplace=True),
    "of a mask": lambda x: F.dropout(x[x > 0], 0.5),
    "gumbel_softmax": lambda x: F.gumbel_softmax(x, hard=True) + F.gumbel_softmax(x, tau=2.0),
    "of nothing": lambda x: F.dropout(x[:0], 0.5),
}


@pytest.mark.parametrize("drops", DROPS)
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_dropout_behind_a_seed(drops: str, backend: str) -> None:
    def program(x: torch.Tensor, seed: int) -> Any:
        torch.manual_seed(seed)
        y = DROPS[drops](x)
        return y, torch.rand(2), torch.get_rng_state()

    outcomes = []
    for function in (program, plain(backend)(program)):
        torch.manual_seed(9)
        x = torch.randn(6, 4).requires_grad_()
        results = [one for seed in (3, 4) for one in function(x, seed)]
        (results[0].square().sum() + results[3].sum()).backward()
        outcomes.append([*results, torch.rand(1), torch.zeros(1) if x.grad is None else x.grad])
    for one, other in zip(*outcomes, strict=True):
        torch.testing.assert_close(other, one)


@pytest.mark.filterwarnings("ignore::autograph_torch.OnePathWarning")
def test_dropout_behind_a_seed_in_a_loop_on_data() -> None:
    def program(x: torch.Tensor, seed: int) -> Any:
        torch.manual_seed(seed)
        p, tries = 0.8, 0
        kept = F.dropout(x, p)
        while (kept.sum(1) == 0).any() and tries < 3:
            p, tries = p / 2, tries + 1
            kept = F.dropout(x, p)
        return kept, tries

    fast = decorated("eager")(program)
    for seed in range(4):
        x = torch.randn(3, 4)
        kept, tries = fast(x, seed)
        expected, number = program(x, seed)
        assert torch.equal(kept, expected) and tries == number
