"""Sums, counts and questions about the elements that a test lets through; rows of tensors in branches and loops."""

import torch
from torch import nn

from tests.harness import program, vec

FEW, NONE, ALL = (lambda: (vec(1, -2, 3),)), (lambda: (vec(-1, -2, -3),)), (lambda: (vec(1, 2, 3),))
INPUTS = [FEW, NONE, ALL]


@program(inputs=INPUTS)
def counted_with_sum(x):
    return sum(1 for e in x if e > 0.5) + 1


@program(inputs=INPUTS)
def counted_with_len(x):
    n = len([e for e in x if e > 0 if e < 2.5])
    return x * n, n


@program(inputs=INPUTS, grad=True)
def sum_in_a_branch(x):
    total = x.sum()
    if x.max() > 0:
        total = total + sum(e * e for e in x if e > 0)
    return total


@program(inputs=INPUTS, refused="a tensor, or the number 0 where nothing is let through")
def sum_that_may_be_the_number_zero(x):
    return sum(e for e in x if e > 0)


@program(inputs=INPUTS, refused="a float, or the int 0 where nothing is let through")
def sum_with_numbers_from_data(x):
    factor = x[1].item()
    return 0.5 + sum(e * factor for e in x if e > factor / 4)


@program(inputs=INPUTS)
def questions_about_what_is_let_through(x):
    return any(e < 2 for e in x if e > 0), all(e > 1.5 for e in x if e > 0)


@program(inputs=INPUTS)
def count_in_the_test_of_a_loop(x):
    trips = 0
    while sum(1 for e in x if e < 4) > 1:
        x = x + 1
        trips += 1
    return x, trips


class Weight:
    """Adds to nothing but its like."""

    def __init__(self, value):
        self.value = value

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __add__(self, other):
        return Weight(self.value + other.value)


@program(inputs=INPUTS)
def sum_of_objects_that_python_picks(x):
    weights = [Weight(x), Weight(x * 2), Weight(x[:2])]
    return sum(w for w in weights if w.value.shape[0] == 3).value


@program(inputs=INPUTS)
def rows_in_a_branch(x):
    t = torch.zeros(())
    if x.sum() > 0:
        for e in x:
            t = t + (e if e > 0.5 else 1)
    return t * 2


@program(inputs=INPUTS)
def rows_behind_a_write_in_a_branch(x):
    y = x * 1
    t = torch.zeros(())
    if x.sum() > 0:
        y.mul_(2)
        for e in y:
            t = t + e
    return t, y


@program(inputs=INPUTS)
class RowsOfABuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("level", torch.ones(3))

    def forward(self, x):
        t, i = x[0], 0
        while x.sum() > i and i < 3:
            self.level.add_(1)
            a, b, _ = self.level
            t = t + a + b
            i += 1
        return t


@program(inputs=INPUTS)
def list_of_what_passes(x):
    kept = [e * 2 for e in x if e > 0 if e < 9]
    return torch.stack(kept).sum() if kept else x.sum() - 1


@program(inputs=INPUTS)
def last_number_that_passes(x):
    total = 0
    for k, numbers in enumerate((x.long().tolist(), (x * 2).long().tolist())):
        large = [n for n in numbers if n >= 1]
        if large:
            total = total + large[-1] * (k + 1)
    return x + total


@program(inputs=INPUTS)
def what_passes_is_returned(x):
    return [e for e in x if e > 0], 1


def is_large(v):
    return v > 1.5


@program(inputs=[lambda: (vec(1, 3, 2),), lambda: (vec(0, 0.5, 0),), lambda: (vec(2, float("nan"), 9),)])
def elements_through_filter(x):
    large = list(filter(lambda v: v > 1.5, x))
    if not large:
        return x.sum(), 0
    return sum(large), len(large)


@program(inputs=[lambda: (vec(1, 3, 2),), lambda: (vec(0, 0.5, 0),), lambda: (vec(2, float("nan"), 9),)])
def names_through_filter(x):
    known = list(filter(lambda pair: not torch.isnan(pair[1]), zip(["a", "b", "c"], x)))
    return [letter for letter, _ in known], tuple(filter(is_large, x.tolist()))


@program(inputs=[lambda: (vec(1, 3, 2),), lambda: (vec(0, 0.5, 0),), lambda: (vec(2, 4, 9),)])
def loop_over_filter(x):
    total = x.new_zeros(())
    for v in filter(is_large, x):
        total = total * 2 + v
        if total > 7:
            break
    return total


@program(inputs=[lambda: (vec(1, 3, 2),), lambda: (vec(0, 0.5, 0),), lambda: (vec(2, 4, 9),)])
def sums_over_filter(x):
    return sum(filter(lambda total: total > 1.5, x)), any(filter(None, x.tolist()))
