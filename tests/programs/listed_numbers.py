"""`x.tolist()` of as many numbers as data tell: a list of that length."""

import torch

from tests.harness import ints, program, vec

SIGNED = [lambda: (vec(1, -2, 3),), lambda: (vec(-1, 2, -3),), lambda: (vec(-1, -2, -3),)]


@program(inputs=SIGNED)
def places_given_back(x):
    return x.sum(), (x > 0).nonzero().flatten().tolist()


@program(inputs=SIGNED)
def statistics_or_none(x):
    kept = x[x > 0].tolist()
    if len(kept) == 0:
        return None
    return kept, max(kept), sum(kept) / len(kept)


@program(inputs=SIGNED)
def an_exception_when_empty(x):
    kept = x[x > 0].tolist()
    if not kept:
        raise ValueError("none")
    return max(kept)


@program(inputs=SIGNED)
def walked_and_counted(x):
    kept = x[x > 0].tolist()
    total = 0.0
    for v in kept:
        total += v
    if len(kept) > 1:
        total = total / len(kept)
    return total


@program(inputs=[lambda: (ints(1, 2, 2),), lambda: (ints(3, 3, 3),), lambda: (ints(5, 1, 3),)])
def first_and_last(x):
    ids = torch.unique(x).tolist()
    return ids[0], ids[-1], len(ids), [i * 2 for i in ids]


@program(inputs=SIGNED)
def flags_of_what_is_kept(x):
    flags = (x[x > 0] > 1).tolist()
    return flags, len(flags)


@program(inputs=[lambda: (vec(0, 1, 2, 3), ints(1, 0, 3)), lambda: (vec(0, 1, 2, 3), ints(2, 1, 1))])
def lengths_for_torch(x, n):
    return [part.sum() for part in torch.split(x, n[n > 0].tolist())]


@program(
    inputs=[
        lambda: (vec(1, 2, 3, 5), vec(0.1, 0.4, 0.3, 0.5)),
        lambda: (vec(1, 2, 3, 5), vec(0.1, 0.1, 0.1, 0.1)),
        lambda: (vec(1, 1.5, 3, 5), vec(0.4, 0.5, 0.1, 0.3)),
    ]
)
def suppressed_in_order(boxes, scores):
    places = (scores > 0.2).nonzero().flatten()
    order = places[scores[places].argsort(descending=True)].tolist()
    kept = []
    for i in order:
        if all((boxes[i] - boxes[j]).abs() > 1 for j in kept):
            kept.append(i)
    return kept


@program(inputs=[lambda: (torch.tensor([1, 0, 200], dtype=torch.uint8),), lambda: (torch.zeros(3, dtype=torch.uint8),)])
def small_integers_in_a_list(x):
    values = x.tolist()
    if sum(values) > 3:
        return values, values[0] + 0.5
    return values, 0.5
