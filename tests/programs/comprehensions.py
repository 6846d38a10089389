"""Comprehensions whose tests data decide: lists and dicts of some elements."""

import torch
from torch import nn

from tests.harness import program, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(-1, 30),)]


@program(inputs=SIGNS)
def rows_that_a_test_lets_through(x):
    rows = [row for row in x.reshape(-1, 1) if row.sum() > 0]
    return torch.cat(rows) if rows else x


@program(inputs=SIGNS, grad=True)
def its_names_are_its_own(x):
    r = 3
    scaled = torch.stack([x.sum()] + [r * 2 for r in x if r > 0 if r < 20])
    return scaled, r


@program(inputs=SIGNS)
def entries_that_a_test_lets_through(x):
    named = {"a": x, "b": x - 5, "c": x * 2}
    return {k.upper(): v for k, v in named.items() if v.sum() > 0}


@program(inputs=SIGNS)
def losses_that_are_finite(x):
    losses = [x.sum(), x.mean(), x.log().sum()]
    losses = [loss for loss in losses if torch.isfinite(loss) and loss > 0]
    if not losses:
        return x.sum() * 0
    return torch.stack(losses).mean()


@program(inputs=SIGNS)
def positions_that_a_test_lets_through(x):
    return [i for i, value in enumerate(x) if value > 0]


@program(inputs=SIGNS)
def a_tuple_of_what_a_test_lets_through(x):
    return tuple(y for y in (x, -x) if y.sum() > 0)


@program(inputs=SIGNS)
def another_name_is_asked_whether_it_is_empty(x):
    kept = []
    for row in x.repeat(6).reshape(-1, 1):
        if row.sum() > 1:
            kept.append(row)
    rows = kept
    if not rows:
        return x
    return x.sum() if rows else -x


@program(inputs=SIGNS)
def in_an_arm(x):
    return torch.stack([y for y in x if y > 0]) if x.max() > 0 else x


@program(inputs=SIGNS)
def more_rows_than_paths(x):
    grid = torch.arange(24.0).reshape(12, 2) - x.sum()
    rows = [row * 2 for row in grid if row.sum() > 10]
    return torch.stack(rows) if len(rows) > 0 else grid


@program(inputs=SIGNS)
class OutputsThatArePositive(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))

    def forward(self, x):
        good = [y for y in [layer(x) for layer in self.layers] if y.sum() > 0]
        return sum(good) / max(len(good), 1)


@program(inputs=SIGNS)
def names_that_its_calls_bind_anew(x):
    n = 0

    def counted(y):
        nonlocal n
        n += 1
        return y * n

    pair = (n, [counted(y) for y in x if y > 0])
    return pair, n


@program(inputs=SIGNS, factory=True)
def a_variable_from_around_before_a_call_of_two_types():
    calls = 0

    def pick(x):
        nonlocal calls
        calls += 1
        return x * 2 if x.sum() > 0 else None

    def subject(x):
        before, picked = (calls, pick(x))
        if picked is None:
            return before, x
        return before, picked + 1

    return subject


@program(inputs=[lambda: (vec(1, 3, 5),), lambda: (vec(1, 0, 1),), lambda: (vec(4, 0, 1),)])
def first_that_is_large(x):
    place = next((k for k, v in enumerate(x) if v > 2), None)
    value = next((v for v in x if v > 2), x[0])
    if place is None:
        print("none")
    return place, value * 2


@program(inputs=[lambda: (vec(1, 3, 5),), lambda: (vec(1, 0, 1),)])
def first_or_an_exception(x):
    v = 7
    try:
        return x.sum(), next(v for v in x if v > 2) + v
    except StopIteration:
        return x, v


@program(inputs=[lambda: (vec(1, 3),), lambda: (vec(1, 0),), lambda: (vec(5, 0),)])
def first_name_whose_score_is_large(x):
    scores = {"left": x[0], "right": x[1]}
    return next((name for name, score in scores.items() if score > 2), "none"), x.sum()


@program(
    inputs=[lambda v=v: (vec(*v),) for v in ((1.5, 2, -3), (-1.5, -2, 1), (1, 1, 1))],
    refused="the elements behind the one that decides are counted",
)
def any_and_all_with_functions_that_count(x):
    log = []

    def large(v):
        log.append(len(log))
        return v > 1.9

    answer = 1 if not any(large(v) for v in x) else 2
    asked = len(log)
    return answer, asked, all(large(v) for v in x), len(log)
