"""What asks whether an element is the very object before it compares: of NaN, and of objects that say what is equal."""

import math
from collections import deque

from tests.harness import program, scalar, vec

NAN = float("nan")
ONE = [lambda: (scalar(1),), lambda: (scalar(NAN),), lambda: (scalar(-1),)]
TWO = [lambda: (vec(1, 2),), lambda: (vec(-1, NAN),), lambda: (vec(-1, 3),)]


@program(inputs=ONE, refused="AG314")
def a_tensor_that_may_be_in_a_list(x):
    y = x
    if x > 0:
        y = x * 1
    return y in [x], y not in (x,), [x].__contains__(y)


@program(inputs=ONE, refused="AG314")
def lists_and_tuples_of_what_may_be_one_tensor(x):
    y = x
    if x > 0:
        y = x * 1
    return [y] == [x], (1, y) == (1, x), (1, y) != (1, x), [[y]] == [[x]], (y, 1) <= (x, 2), (1, y) in [(1, x)]


@program(inputs=ONE, refused="AG314")
def how_often_a_tensor_is_there(x):
    y = x
    if x > 0:
        y = x * 1
    return [x].count(y), deque([x]).count(y), y in deque([x]), deque([x]) == deque([y]), ("a", y) in {"a": x}.items()


@program(inputs=ONE, refused="AG314")
def a_number_that_may_be_in_a_list(x):
    n = x.item()
    m = n
    if x > 0:
        m = n * 1
    return m in [n], [m] == [n], [n].count(m), (m, 1) <= (n, 2), {"a": m} == {"a": n}


@program(inputs=ONE, refused="AG314")
def a_number_that_a_branch_has_handed_on(x):
    n = x.item()
    m = n
    if x > 0:
        m = n * 1
    return m is n, m is not n


@program(inputs=ONE, refused="AG314")
def one_of_two_numbers(x):
    n = x.item()
    m = max(n, 2.0)
    return m in [n], [m] == [n]


@program(inputs=ONE, refused="AG314")
def a_number_that_is_nan_on_one_path(x):
    m = math.nan
    if x > 0:
        m = x.item()
    return m in [math.nan], (m, 1) == (math.nan, 1)


@program(inputs=ONE, refused="AG314")
def a_number_that_a_loop_hands_on(x):
    n = x.item()
    m, hits, left = n, 0, x.new_tensor(3)
    while left > 0:
        left = left - 1
        if m in [n]:
            hits += 1
        if left == 1:
            m = m + 1.0
    return hits, m


@program(inputs=ONE)
def numbers_that_are_one_object_or_another(x):
    n = x.item()
    same = float(n) in [n], +n in (n,), [float(n)] == [n], (1, (float(n), 2)) == (1, (n, 2)), [n].count(float(n))
    return same, n * 1 in [n], [n * 1] == [n], abs(n) in [n], [x.item()] == [n], [n * 1] < [n]


@program(inputs=ONE)
def numbers_in_values_and_deques(x):
    n = x.item()
    return n in {"a": n}.values(), n in (v for v in [n]), n in iter([n]), deque([n, 2]) == deque([float(n), 2])


@program(inputs=ONE)
def keys_that_are_nan(x):
    table, other = {NAN: x}, {NAN: x}
    return table.keys() == other.keys(), NAN in table, {NAN: 1} == {NAN: 1}, [NAN] == [NAN], NAN in [NAN]


@program(inputs=TWO, refused="AG314")
def the_row_that_data_have_picked(x):
    rows = list(x)
    best = rows[int(x.argmax())]
    return best in rows[1:], rows.count(best)


class Asked:
    def __init__(self, value):
        self.value, self.times = value, 0

    def __eq__(self, other):
        self.times += 1
        return False

    __hash__ = None


@program(inputs=ONE)
def objects_that_are_not_asked(x):
    a, b = Asked(x), Asked(x)
    found = a in [a], a in (a, b), a in {"k": a}.values(), a in deque([a]), a in (v for v in [a]), [a, b].index(a)
    return found, a not in [b], [a] == [a], [a] == [b], 1.0 in [a], a.times, b.times
