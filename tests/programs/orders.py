"""Orders that data tell: of tuples and lists, of heaps, and the places of `bisect`."""

import bisect
import heapq
import operator
from typing import NamedTuple

import torch

from tests.harness import by_torch, program, vec

THREE = [lambda: (vec(1, 2, 3),), lambda: (vec(3, 1, 1),), lambda: (vec(2, 2, 1),)]


@program(inputs=THREE, refused=by_torch("2.11", "tuples of numbers from data are compared one by one"))
def pairs_compared(x):
    a, b, c = x.tolist()
    pairs = [(a, 1) < (b, 1), [a, b] <= [b, a], (a, b, 1) > (b, c, 0), ((a, 1), 2) >= ((b, 1), 1)]
    if (a, c) < (b, 0):
        x = x + 1
    return pairs, x, (a, b) == (b, a), [a, 1] != [c, 1], (a, b) < (a, b), (a,) < (a, b), (1, a) < (2, b)


@program(inputs=THREE)
def pairs_of_tensors_compared(x):
    if (x[0], 1) < (x[1], 0):
        x = x * 2
    if (x[0], "b") == (x[1], "b") or [x[0], 2] >= [x[2], 3]:
        x = x - 1
    return x


class Bracket(NamedTuple):
    low: object
    trips: int


class Backwards(NamedTuple):
    low: object
    trips: int

    def __lt__(self, other):
        return self.trips > other.trips


@program(inputs=THREE, refused=by_torch("2.11", "tuples of numbers from data are compared one by one"))
def named_tuples_compared(x):
    now = first = Bracket(x[0], 0)
    while now.low < 3:
        now = now._replace(low=now.low + 1, trips=now.trips + 1)
    best = max(Bracket(v.item(), -i) for i, v in enumerate(x))
    pairs = [now == first, now != first, now == Bracket(x[0] * 1, 0), Bracket(x[0], 0) < Bracket(x[1], 0)]
    return pairs, best, (x[0], 1) == Bracket(x[0], 1), Backwards(x[0], 1) < Backwards(x[1], 2)


@program(inputs=THREE)
def best_pair_so_far(x):
    best = (0.0, -1)
    for i in range(3):
        best = max(best, (x[i].item(), i))
    worst = min((v, -i) for i, v in enumerate(x.tolist()))
    return best, worst, max([x[0].item(), 1], [x[1].item(), 0]), min(v * 2 for v in x)


@program(inputs=THREE)
def sorted_by_two_keys(x):
    values = x.tolist()
    by_value = sorted((v, i) for i, v in enumerate(values))
    falling = sorted(range(3), key=lambda i: (-values[i], i))
    doubles = sorted(((v > 1.5, "abc"[i], x) for i, v in enumerate(values)), reverse=True)
    return by_value, falling, [(big, name) for big, name, _ in doubles]


@program(inputs=THREE)
def sorted_by_tensors_first(x):
    nodes = [(x[i], i, {"at": i}) for i in range(3)]
    nodes.sort()
    return [i for _, i, _ in nodes], [node["at"] for _, _, node in nodes]


@program(inputs=THREE)
def dict_sorted_by_numbers(x):
    groups = {2: x * 2, 0: x, 1.5: x + 1}
    if x[0] > x[1]:
        groups[0] = groups[0] - 1
    return [(k, v.sum()) for k, v in sorted(groups.items())], [k for k, _ in sorted(groups.items(), reverse=True)]


@program(inputs=THREE)
def heap_of_costs(x):
    heap = []
    for i, cost in enumerate(x.tolist()):
        heapq.heappush(heap, (cost, i))
    first, node = heapq.heappop(heap)
    second = heapq.heappushpop(heap, (first + 0.5, 7))
    return first, node, second, heap


@program(inputs=THREE)
def heap_of_tensors(x):
    heap = [x[0], x[1], x[2]]
    heapq.heapify(heap)
    return heapq.heapreplace(heap, x.mean()) * 1, heap[0] + 0


@program(inputs=THREE)
def places_by_bisect(x):
    edges = [1.0, 2.0, 2.0, 4.0]
    places = [bisect.bisect(edges, x[0].item()), bisect.bisect_left(edges, float(x[1]))]
    kept = []
    for v in x.tolist():
        bisect.insort(kept, v)
    among = bisect.bisect_right(x.cumsum(0).tolist(), x.max().item(), lo=1)
    return places, kept, among, bisect.bisect([], x[0].item())


@program(inputs=THREE)
def called_by_a_method(x):
    def product(with_, v):
        if not callable(with_):
            v = v * with_
        elif v.sum() > 5:
            v = with_(v)
        return v, callable(with_)

    matrix = torch.diag(x)
    return product(matrix.matmul, x), product(2, x), operator.lt((1, 2), (1, 3))
