"""Tensors that lose rows from trip to trip: what is left is looked at, returned, and written to by two names."""

import torch

from tests.harness import integer, program, vec

VALUES = [lambda: (vec(1, 2, 0.5, 3, 4),), lambda: (vec(0.1, 0.2),), lambda: (vec(5),)]


@program(inputs=[lambda: (vec(0.9, 0.8, 0.85, 0.1, 0.4, 0.12),), lambda: (vec(1, 2),), lambda: (vec(),)])
def suppression(scores):
    order = scores.argsort(descending=True)
    kept = []
    while order.shape[0] > 0:
        best = order[0]
        kept.append(best)
        rest = order[1:]
        order = rest[(scores[rest] - scores[best]).abs() > 0.1]
    if len(kept) > 0:
        return torch.stack(kept)
    return order


@program(inputs=VALUES)
def largest_left_out(x):
    n = 0
    while x.numel() > 0 and x.max() > 1:
        x = x[x < x.max()]
        n += 1
    return x * 2, len(x), n


@program(inputs=VALUES, refused="views that the trips of a loop make, one of the other")
def first_row_left_out(x):
    while x.sum() > 3:
        x = x[1:]
    return x


@program(inputs=[lambda: (vec(1, 2, 0, 5, 3, 1).reshape(3, 2),), lambda: (vec(1, 2).reshape(1, 2),)])
def rows_of_two(x):
    while x.shape[0] > 1:
        x = x[x[:, 0] > x[:, 0].min()]
    return x


@program(inputs=VALUES)
def written_to_in_the_trip_and_behind(x):
    y = x
    while x.sum() > 3:
        x = x[x < x.max()]
        x += 0.25
        y = x
    y.add_(1)
    return x, y


@program(inputs=[lambda: (vec(3, 1, 2, 4), vec(1, 1, 1, 0) > 0), lambda: (vec(3, 1), vec(0, 0) > 0)])
def of_a_size_from_data(x, mask):
    z = x[mask]
    while z.sum() > 1:
        z = z[z < z.max()]
    return z


@program(
    inputs=[lambda: (vec(3, 1, 2, 4), integer(2)), lambda: (vec(3, 1, 2), integer(0)), lambda: (vec(3), integer(5))]
)
def a_number_of_trips_from_data(x, n):
    for _ in range(n.item()):
        x = x[x > x.min()]
        if x.numel() < 2:
            break
    return x


@program(inputs=VALUES, grad=True)
def beside_a_gradient(x):
    order = x.detach().argsort()
    total = x.sum() * 0
    while len(order) > 0:
        total = total + x[order[0]] ** 2
        order = order[1:]
    return total


@program(
    inputs=[lambda: (vec(1, 2, 0.5),), lambda: (vec(9),)], grad=True, refused="the tensor that shrinks has a gradient"
)
def with_a_gradient(x):
    while x.sum() > 3:
        x = x[x < x.max()]
    return (x * x).sum()


BEFORE = [lambda: (vec(1, 2, 0),), lambda: (vec(0, -2, 1),), lambda: (vec(-1, -2, 2),), lambda: (vec(0, 0, 3, 1),)]


@program(inputs=BEFORE)
def of_as_many_rows_as_data_decide(x):
    values, found, trips = None, None, 0
    while trips < 2 and x.sum() > trips:
        values = torch.unique(x)
        found = x[x > trips], trips
        trips += 1
    return values, found, trips


@program(inputs=BEFORE)
def first_made_in_a_trip(x):
    trips = 0
    while trips < 2 and x.sum() > trips:
        places = torch.nonzero(x > trips)
        trips += 1
    if trips > 0:
        return places, trips
    return x
