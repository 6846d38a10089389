"""Results whose type depends on data: eager Python gives one of two types, and so does the compiled function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import nn

from tests.harness import program, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]
LEVELS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(10, 20),), lambda: (vec(-10, -20),)]


@program(inputs=SIGNS)
def none_or_a_tensor(x):
    if x.sum() > 0:
        return None
    return x * 2


@program(inputs=SIGNS)
def falls_off_the_end(x):
    if x.sum() > 0:
        return x * 2


@program(inputs=SIGNS)
def int_or_float(x):
    if x.sum() > 0:
        return 1
    return 0.5


@program(inputs=SIGNS)
def number_or_tensor(x):
    loss = 0.0
    if x.sum() > 0:
        loss = x.norm()
    return loss * 2, loss


@program(grad=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, -1),), lambda: (vec(2, 0),)])
def one_of_two_by_and_and_or(x):
    shift = (x.sum() > 0 and x[1]) or x.mean()
    name, count = x[0] > 0 and "positive" or "negative", (x[1] > 0 and x[0] > 1 and 2) or 0
    return x + shift, name, count


@program(inputs=SIGNS)
def int64_or_float32(x):
    if x.sum() > 0:
        return torch.tensor(0)
    return x.mean()


@program(inputs=SIGNS)
def scalar_or_vector(x):
    if x.sum() > 0:
        return x.sum()
    return x


@program(inputs=SIGNS)
def strings(x):
    if x.sum() > 0:
        return "up", x
    return "down", x + 1


@program(inputs=SIGNS)
def lists_of_different_lengths(x):
    found = [x]
    if x.sum() > 0:
        found.append(x * 2)
    return found


@program(inputs=SIGNS)
def dicts_with_different_keys(x):
    result = {"x": x}
    if x.sum() > 0:
        result["twice"] = x * 2
    return result


@program(inputs=SIGNS)
def one_part_of_a_dict(x):
    extra = None
    if x.sum() > 0:
        extra = x.exp()
    return {"loss": x.sum(), "extra": extra}


@program(inputs=LEVELS)
def five_ways_out(x):
    total = x.sum()
    if total > 10:
        return None
    if total > 0:
        return total.item()
    if total > -10:
        return [x, 1]
    return x


@program(inputs=LEVELS)
def nested_in_another_order(x):
    total = x.sum()
    if total > 0:
        if total > 10:
            return 1
        return x
    if total > -10:
        return x + 1
    return 2


def looked_up(x):
    if x.sum() > 10:
        return None
    return x


@program(inputs=LEVELS)
def of_a_helper(x):
    if x.sum() > 0:
        return looked_up(x * 2)
    return 0


@program(inputs=LEVELS)
def first_that_is_large(x):
    for k in range(3):
        if x.sum() > k * 5:
            return k, x * k
    return None


@program(inputs=LEVELS)
def steps_until_small_or_none(x):
    steps = 0
    while x.abs().sum() > 1:
        x = x / 2
        steps += 1
        if steps > 3:
            return None
    return steps


@program(inputs=SIGNS)
def tuples_of_different_length(x):
    if x.sum() > 0:
        return x, x
    return x, x, x


@program(inputs=SIGNS)
def ternary_of_two_types(x):
    return 1 if x.sum() > 0 else 2.0


@program(inputs=SIGNS)
@torch.no_grad()
def under_a_decorator(x):
    if x.sum() > 0:
        return None
    return x * 2


@program(inputs=LEVELS)
def out_of_blocks(x):
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        return looked_up(x * 2)


@program(refused="a choice would go through the end of a block that is not a tail call", inputs=SIGNS)
def every_path_returns_out_of_a_block(x):
    with torch.no_grad():
        y = x * 2
        with torch.autocast("cpu", enabled=False):
            if x.sum() > 0:
                return "small"
            return y


class Fit(NamedTuple):
    slope: torch.Tensor
    error: torch.Tensor | None


@program(inputs=SIGNS)
def field_of_a_namedtuple(x):
    if x.sum() > 0:
        return Fit(x.mean(), None)
    return Fit(x.mean(), x.var())


@dataclass(frozen=True)
class Report:
    value: torch.Tensor
    reason: str


@program(inputs=SIGNS)
def a_record_or_a_tuple(x):
    if x.sum() > 0:
        return Report(x, "positive")
    return x, "negative"


@program(inputs=SIGNS, grad=True)
def gradients_of_one_type(x):
    if x.sum() > 0:
        return None, x * 2
    return x.exp(), x * 3


@program(inputs=SIGNS, grad=True)
def integers_beside_gradients(x):
    if x.sum() > 0:
        return x.argmax()
    return (x * x).sum()


@program(inputs=SIGNS)
class LastLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.last = None

    def forward(self, x):
        if x.sum() > 0:
            self.last = (self.layer(x) ** 2).mean().detach()
            return self.layer(x)
        self.last = None
        return None


@program(inputs=SIGNS)
def the_argument_itself_or_none(x):
    if x.sum() > 0:
        return None
    return x


@program(inputs=SIGNS)
def one_tensor_twice(x):
    y = x * 2
    if x.sum() > 0:
        return y, y, None
    return y, y, 1


@program(inputs=SIGNS)
def twice_in_one_choice(x):
    y = x * 2
    if x.sum() > 0:
        return y, y
    n = x.long()
    return n, n


@program(inputs=[lambda: (vec(1, 2), 1), lambda: (vec(-1, -2), 1), lambda: (vec(-1, -2), 3)])
def a_python_test_inside(x, n):
    if x.sum() > 0:
        return x
    return None if n > 2 else "small"


@program(inputs=SIGNS)
def write_beside_a_choice(x):
    x += 1
    if x.sum() > 2:
        x.mul_(2)
        return None
    x.sub_(5)
    return x.sum()


@program(inputs=SIGNS)
def list_of_the_caller(x, log=None):
    seen = []
    if x.sum() > 0:
        seen.append(x)
        return seen
    return None


def doubled_or_none(x):
    if x.sum() > 0:
        return x * 2
    return None


@program(inputs=SIGNS)
def in_a_tuple(x):
    return doubled_or_none(x), x


@program(inputs=SIGNS)
def twice_in_a_tuple(x):
    return doubled_or_none(x), doubled_or_none(-x)


@program(inputs=SIGNS)
def in_a_dict(x):
    return {"double": doubled_or_none(x), "x": x}


@program(inputs=SIGNS)
def in_a_call(x):
    found = list((doubled_or_none(x), x + 1))
    return found


@program(inputs=SIGNS)
def in_an_append(x):
    found = []
    found.append(doubled_or_none(x))
    found.append(x)
    return found


class Counted:
    def __init__(self):
        self.n = 0

    def half_or_none(self, x):
        self.n += 1
        if x.sum() > 0:
            return x / 2
        return None


@program(inputs=SIGNS, refused="an attribute is read before the call")
def behind_an_attribute(x):
    counted = Counted()
    return counted.n, counted.half_or_none(x), counted.n
