"""Lists that grow in a loop whose number of trips depends on data, and what is done with them afterwards."""

import torch
from torch import nn

from tests.harness import integer, program, scalar, vec

VALUES = [lambda: (scalar(100.0),), lambda: (scalar(0.5),), lambda: (scalar(3.0),)]
COUNTS = [
    lambda: (vec(1, 2, 3), integer(3)),
    lambda: (vec(-1, -2, -3), integer(0)),
    lambda: (vec(0.1, -0.2, 0.3), integer(1)),
]


@program(inputs=VALUES, grad=True)
def stacked(x):
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x)
    return torch.stack(xs)


@program(inputs=VALUES, grad=True)
def last_and_length(x):
    xs = []
    while x > 1:
        x = x / 2
        xs.append(x)
    if xs:
        return xs[-1] + len(xs), xs[0]
    return torch.tensor(-1.0), x


@program(inputs=VALUES)
def stack_of_what_may_be_empty(x):
    xs = []
    while x > 1:
        x = x / 2
        xs.append(x)
    return torch.stack(xs)


@program(inputs=VALUES)
def element_that_may_not_be_there(x):
    xs = []
    while x > 1:
        x = x / 2
        xs.append(x)
    return xs[2]


@program(inputs=COUNTS, grad=True)
def joined_in_a_for_loop(x, n):
    parts = [x]
    for i in range(n):
        parts.append(parts[-1] * (i + 2))
    return torch.cat(parts), len(parts), torch.stack(parts, dim=1), torch.cat(parts, dim=-1)


@program(inputs=VALUES, grad=True)
def iterated(x):
    seen = []
    while x > 1:
        seen.append(x)
        x = x * 0.5
    total = torch.zeros(())
    for k, h in enumerate(seen):
        total = total + h * k
    return total, len(seen)


@program(inputs=VALUES, grad=True)
def returned(x):
    path = [x]
    steps = 0
    while path[-1] > 1 and steps < 5:
        path.append(path[-1] * 0.5)
        steps += 1
    return path, steps, {"last": path[-1]}


@program(inputs=VALUES)
def two_lists(x):
    xs = [x]
    errors = []
    while x > 1:
        x = x / 3
        xs.append(x)
        errors.append((x - 1).abs())
    return torch.stack(xs), errors


@program(inputs=VALUES, refused="what the list holds, the caller has in another place, too")
def filled_under_a_test(x):
    large = []
    while x > 1:
        if x > 10:
            large.append(x)
        x = x / 2
    return len(large), x, large


@program(inputs=VALUES)
def filled_until_a_break(x):
    xs = []
    while True:
        x = x / 2
        if x < 1:
            break
        xs.append(x)
    xs.append(x)
    return torch.stack(xs), len(xs)


@program(inputs=VALUES)
def two_loops(x):
    xs = [x]
    y = x
    while y > 1:
        y = y / 2
        xs.append(y)
    xs.append(y * 100)
    while y < 10:
        y = y * 3
        xs.append(y)
    return torch.stack(xs), xs[-1]


@program(inputs=VALUES, grad=True)
class Solver(nn.Module):
    def __init__(self):
        super().__init__()
        self.rate = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        path = [x]
        while x.abs() > 1:
            x = x - self.rate * x
            path.append(x)
        return torch.stack(path).mean(), path[-1]


@program(inputs=VALUES)
def numbers(x):
    values = [0.5]
    places = []
    i = 0
    while x > 1:
        x = x / 2
        values.append(x.item())
        if x > 2:
            places.append(i)
        i += 1
    total = 0
    for p in places:
        total += p
    return values, places, total, sum(values), values[-1]


@program(inputs=VALUES, grad=True)
def summed(x):
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x)
    return sum(xs) / len(xs)


@program(inputs=VALUES)
def one_list_for_each_trip_of_another_loop(x):
    out = []
    for scale in (1.0, 2.0):
        xs = [x * scale]
        while xs[-1] > 4:
            xs.append(xs[-1] / 2)
        out.append(torch.stack(xs).sum(0))
    return out


@program(inputs=VALUES)
def in_a_loop_on_data(x):
    total = torch.zeros(())
    while x > 1:
        xs = [x]
        y = x
        while y > 2:
            y = y / 3
            xs.append(y)
        total = total + torch.stack(xs).sum(0)
        x = x / 2
    return total


@program(inputs=VALUES)
def in_a_branch(x):
    if x > 2:
        xs = [x]
        while x > 1:
            x = x / 2
            xs.append(x)
        return torch.stack(xs).sum(0)
    return x


def trace_of(x):
    path = [x]
    while x > 1:
        x = x / 2
        path.append(x)
    return torch.stack(path)


@program(inputs=VALUES)
def in_a_helper(x):
    return trace_of(x).sum() + trace_of(x * 2).max()


@program(inputs=VALUES)
def counted_in_the_test(x):
    xs = []
    while len(xs) < x.abs():
        xs.append(x + len(xs))
        if len(xs) > 5:
            break
    return len(xs), xs


@program(inputs=VALUES, refused="an element is written to in place")
def element_written_afterwards(x):
    x = x * 1
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x)
    x += 10
    return torch.stack(xs)


@program(inputs=VALUES, refused="an element is written to in place")
def element_written_in_the_trip(x):
    xs = []
    while x > 1:
        y = x * 3
        xs.append(y)
        y.add_(1)
        x = x / 2
    return len(xs), xs


@program(inputs=VALUES)
def loop_that_prints(x):
    xs = []
    while x > 1:
        x = x / 2
        print(x)
        xs.append(x)
    return xs


@program(inputs=VALUES, refused="the loop would draw twice")
def loop_that_draws(x):
    xs = []
    while x > 1:
        x = x / 2 - torch.rand(()) * 0.1
        xs.append(x)
    return xs


@program(inputs=VALUES, grad=True)
def loop_that_writes(x):
    xs = []
    total = torch.zeros(())
    while x > 1:
        x = x / 2
        total += x
        xs.append(x)
    return xs, total


@program(inputs=VALUES, refused="elements of different sizes")
def elements_of_different_sizes(x):
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x.reshape(1))
    return xs


@program(inputs=VALUES)
def no_loop_on_data(x):
    xs = [x]
    k = 0
    while k < 3:
        k += 1
        xs.append(x * k)
    while x > 1:
        x = x / 2
        xs.append(x)
    return torch.stack(xs)


class Tally:
    def __init__(self):
        self.n = 0
        self.last = torch.zeros(())


@program(inputs=VALUES, grad=True)
def in_a_loop_that_writes_to_objects(x):
    tally, state, xs = Tally(), {"k": 0}, [x * 1]
    while x > 1:
        x = x / 3
        tally.n += 1
        state["k"] += 2
        tally.last = x * 2
        xs.append(tally.last)
    return torch.stack(xs), tally.n, tally.last, state


@program(inputs=VALUES, refused="what the list holds, the caller has in another place, too")
class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        hs = []
        while x > 1 and len(hs) < 3:
            x = x / 2
            self.calls += 1
            hs.append(x)
        return x, len(hs), hs


@program(inputs=COUNTS)
def in_a_loop_that_writes_to_an_argument(x, n):
    xs = []
    for i in range(n):
        x.add_(i)
        xs.append(x.sum())
    return torch.stack(xs) if xs else None


@program(inputs=COUNTS, refused="an element is written to in place")
def element_written_in_the_next_trip(x, n):
    xs = []
    y = x * 1
    for i in range(n):
        xs.append(y)
        y.mul_(2)
    return xs, y


@program(inputs=COUNTS, refused="an element is written to in place")
def element_written_by_the_name_of_another_trip(x, n):
    xs = []
    y = x * 1
    z = y
    for i in range(n):
        xs.append(z)
        z = y
        y = y / 2
    z.add_(1)
    return len(xs), xs


@program(inputs=COUNTS, refused="an element is written to in place")
def chosen_element_written(x, n):
    xs = []
    for i in range(n):
        xs.append(x * i)
    best = x * 1
    for h in xs:
        if h.sum() > 2:
            best = h
    best += 1
    return len(xs), xs


@program(inputs=COUNTS, refused="an element is written to in place")
def first_element_written_while_iterated(x, n):
    z, total = x * 1, torch.zeros(3)
    xs = [z]
    for i in range(n):
        xs.append(x * i)
    for h in xs:
        z.add_(1)
        total = total + h
    return total


@program(inputs=VALUES, grad=True, refused="only some of the elements record a gradient")
def comprehension_over_it(x):
    xs, w = [x * 2], x * 3
    while x > 1:
        x = x / 3
        xs += [x]
    scaled = sum(h * w for h in xs)
    return scaled * 2, [h if h > 2 else -h for h in xs]


@program(inputs=VALUES)
def largest_and_smallest(x):
    xs = list()
    n = 5
    while x > 1:
        x = x / 3
        n -= 1
        xs = xs + [torch.sin(x)]
    return max(xs) + n, min(xs)


@program(inputs=VALUES)
def numbers_as_a_tensor(x):
    xs: list = [x.item()]
    below = []
    while x > 1:
        x = x / 3
        xs.extend((x.item(), n := x.item() + 1))
        below.append(n < 2)
    return torch.tensor(xs), max(xs), min(xs), below


@program(inputs=VALUES)
def empty_list_of_integers_as_a_tensor(x):
    xs = [0]
    while x > 1:
        x = x / 3
        xs.append(len(xs))
    return torch.tensor(xs)


@program(inputs=VALUES)
def mean_of_numbers(x):
    errors = []
    while x > 1:
        x = x / 2
        errors.append(x.item())
    return sum(errors) / len(errors) if errors else 0.0


@program(inputs=VALUES[::2], refused="the sum of an empty list is an int")
def sum_of_numbers(x):
    errors = []
    while x > 5:
        x = x / 2
        errors.append(x.item())
    return sum(errors)


@program(inputs=VALUES)
def filled_until_a_break_behind(x):
    tokens = [torch.tensor([1])]
    while x > 1 and len(tokens) < 5:
        token = (tokens[-1] * 2 + 1) % 7
        tokens.append(token)
        x = x / 3
        if token.item() == 0:
            break
    return torch.cat(tokens), len(tokens)


@program(inputs=COUNTS, refused="an element is written to in place")
def view_of_a_tensor_that_trips_write_to(x, n):
    xs, y = [], x * 1
    row = y[:2]
    for i in range(n):
        xs.append(row)
        y += 1
    return torch.stack(xs) if xs else row


@program(inputs=VALUES, refused="the largest element is an argument, and would be a copy")
def largest_that_is_an_argument(x):
    xs = [x]
    while x > 1:
        x = x / 2
        xs.append(x)
    return max(xs)


@program(inputs=[lambda: (vec(1, 2, 3), 2), lambda: (vec(1, 1, 3), 1), lambda: (vec(1, 2, 3), 5)])
def what_cannot_grow_is_followed_trip_by_trip(x, at):
    found = (x == at).nonzero()
    if len(found) == 0:
        place = len(x) - 1
    elif len(found) > 1:
        place = found[1].item()
    else:
        place = found[0].item()
    rows = []
    for k in range(1, min(2, len(x) - place, 1) + 1):
        rows.append(x * k)
    rows = torch.stack(rows) if len(rows) > 0 else torch.tensor(rows)
    return rows.sum()


SIX = [
    lambda: (vec(1, -2, 3, 4, -5, 6),),
    lambda: (vec(-1, -2, -3, -4, -5, -6),),
    lambda: (vec(1, 2, 3, 4, 5, 6),),
]


@program(inputs=SIX, grad=True)
def rows_of_a_known_number_that_pass_a_test(x):
    kept = []
    for v in x:
        if v > 0:
            kept.append(v * v)
    return torch.stack(kept) if kept else torch.zeros(0)


@program(inputs=SIX[::2])
def positions_of_a_known_number_that_pass_a_test(x):
    places = []
    for i, v in enumerate(x):
        if v > 0:
            places.append(i)
    return torch.tensor(places), len(places), places


@program(inputs=SIX, grad=True)
def a_list_of_ever_larger_rows_of_a_known_number(x):
    chain = [x[0]]
    for i in range(1, len(x)):
        if x[i] > chain[-1]:
            chain.append(x[i])
    return torch.stack(chain) * 2


class KeepsRowsOfAKnownNumber(nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = []

    def forward(self, x):
        self.kept = []
        for v in x:
            if v > 0:
                self.kept.append(v * 2)
        if len(self.kept) > 1:
            return torch.stack(self.kept).sum()
        return x.sum()


program(inputs=SIX)(KeepsRowsOfAKnownNumber)


@program(inputs=[lambda: (vec(4, 1),), lambda: (vec(0, 0),), lambda: (vec(-1, 0.5),)], grad=True)
def sum_of_rows_of_which_there_may_be_none(x):
    halves = []
    y = x
    while y.abs().max() > 0.5:
        y = y * 0.5
        halves.append(y)
    return x + sum(halves)
