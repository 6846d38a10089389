"""Results that are, on some path, a tensor from before, and writes to one of the two afterwards."""

import torch

from tests.harness import integer, program, scalar, vec

SIDES = [lambda: (vec(1, 2, 3), vec(4, 5, 6)), lambda: (vec(-1, -2, -3), vec(4, 5, 6))]
TRIPS = [lambda: (vec(1, 2), integer(0)), lambda: (vec(1, 2), integer(1)), lambda: (vec(1, 2), integer(3))]


def add_one(t):
    t.add_(1)


def pick(x, y):
    if x.sum() > 0:
        return x
    return y


@program(inputs=SIDES)
def a_helper_writes_to_the_result(x, y):
    z = x
    if x.sum() > 0:
        z = x * 2
    add_one(z)
    return z


@program(inputs=SIDES)
def the_original_is_written_to(x, y):
    z = x
    if x.sum() > 0:
        z = x * 2
    x.add_(1)
    return z


@program(inputs=SIDES)
def augmented_result(x, y):
    z = x
    if x.sum() > 0:
        z = x * 2
    z += 1
    return z


@program(inputs=TRIPS)
def write_after_a_loop_of_maybe_no_trip(x, n):
    z = x
    while n > 0:
        z = z + 1
        n = n - 1
    z.mul_(3)
    return z


@program(inputs=TRIPS)
def helper_after_a_loop_of_maybe_no_trip(x, n):
    z = x
    while n > 0:
        z = z + 1
        n = n - 1
    add_one(z)
    return z


@program(inputs=SIDES)
def conditional_expression_then_a_write(x, y):
    z = x if x.sum() > 0 else y
    z.add_(1)
    return z


@program(inputs=SIDES)
def conditional_expression_in_a_python_loop(x, y):
    z = x
    for _ in range(3):
        t = z if x.sum() > 0 else y
        t.add_(1)
        z = z * 2
    return z, y


@program(inputs=SIDES)
def picked_by_a_function(x, y):
    z = pick(x, y)
    z.add_(1)
    return z


@program(inputs=SIDES)
def after_a_python_loop(x, y):
    z = x
    for k in range(2):
        if y.sum() > 10 * k:
            z = z + 1
    z += 1
    return z, x


@program(inputs=SIDES)
def one_of_two_lists_first(x, y):
    both = [x, y]
    if x.sum() > 0:
        both = [y, x]
    both[0].add_(1)
    return both


@program(inputs=SIDES)
def a_view_or_a_new_tensor(x, y):
    w = x * 2
    if x.sum() > 0:
        z = w[0:2].sum() + w
    else:
        z = w.view(-1)
    w += 1
    return z


@program(inputs=SIDES)
def one_object_on_one_side_and_two_on_the_other(x, y):
    w = x * 2
    if x.sum() > 0:
        a, b = w, w
    else:
        a, b = w + 1, w + 2
    a += 1
    return a, b


@program(inputs=SIDES)
def a_new_object_under_two_names_on_one_side(x, y):
    if x.sum() > 0:
        a = b = x + 1
    else:
        a = x + 1
        b = x + 2
    a += 1
    return a, b


@program(inputs=SIDES)
def integers_beside_floats(x, y):
    n = y.sum().to(torch.int64)
    i = n
    if x.sum() > 0:
        i = n + 1
        f = x * 2
    else:
        f = x * 3
    i += 1
    return i, f, n


@program(inputs=SIDES)
def copies_are_written_to_freely(x, y):
    z = x
    if x.sum() > 0:
        z = x * 2
    z = z.clone()
    z += 1
    return z, x


@program(inputs=[lambda: (vec(1, 2, 3), scalar(20.0)), lambda: (vec(9, 9, 9), scalar(20.0))])
def in_place_until_a_break(x, limit):
    while True:
        if x.sum() > limit:
            break
        x.add_(1)
    return x * 2


@program(inputs=TRIPS)
def in_place_in_a_branch_in_a_loop(x, n):
    while n > 0:
        if x.sum() > 4:
            x.sub_(1)
        else:
            x += 2
        n = n - 1
    return x * 1


@program(inputs=TRIPS)
def rows_written_until_a_break(x, n):
    k = torch.zeros((), dtype=torch.int64)
    while k < 5:
        if k >= n:
            break
        x[1] = x[1] + x[0]
        k = k + 1
    return k


@program(inputs=SIDES)
def the_best_of_a_python_loop(x, y):
    best, value = x, x.sum()
    for k in range(3):
        candidate = y * (k - 1)
        if candidate.sum() > value:
            best, value = candidate, candidate.sum()
    best[0] = 9.0
    return best


@program(inputs=SIDES)
def in_place_in_a_python_loop(x, y):
    h = x
    for w in (y, y * 2):
        h = torch.relu(h + w) if x.sum() > 0 else h
        h -= h.mean()
    return h


@program(inputs=SIDES)
def swapped_then_written_to(x, y):
    a, b = (x, y) if x.sum() > 0 else (y, x)
    a += 1
    b *= 2
    return a - b


@program(inputs=SIDES)
def the_predicate_is_written_to(x, y):
    flag = x.sum() > 0
    z = x if flag else y
    flag.logical_not_()
    z.add_(1)
    return flag


@program(inputs=SIDES, grad=True, refused="AG314: the branch has saved what would be written to")
def gradients_of_a_picked_tensor(x, y):
    a, b = x * 2, y * 3
    z = pick(a, b)
    z.mul_(x)
    return a.sum() + b.prod() + z.sum()


@program(inputs=SIDES)
def a_view_of_the_result_is_written_to(x, y):
    z = pick(x, y)
    z[1:].zero_()
    w = pick(z, x * 2)
    w.view(-1)[0] = 5.0
    return x + y


@program(inputs=SIDES, refused="AG314: two ways lead from one tensor to another")
def picked_twice(x, y):
    z = pick(x, y)
    w = pick(z, y)
    w.add_(1)
    return x + y


@program(inputs=SIDES)
def written_in_a_branch(x, y):
    z = pick(x, y)
    if y.sum() > 1:
        z.add_(1)
    x.mul_(2)
    return z


@program(inputs=TRIPS)
def write_after_a_range_of_maybe_no_trip(x, n):
    z = x
    for _ in range(n):
        z = z + 1
    z.mul_(3)
    return z


@program(inputs=SIDES, grad=True)
def gradients_where_the_branch_is_here(x, y):
    a, b = x * 2, y * 3
    z = a if x.sum() > 0 else b
    z.mul_(x)
    return a.sum() + b.prod() + z.sum()


@program(inputs=SIDES)
def a_new_tensor_in_every_trip(x, y):
    center = x.clone()
    for k in range(12):
        new = center.clone()
        if y.sum() > k:
            new[0] = y[0] + k
        if torch.equal(new, center):
            break
        center = new
    return center


@program(inputs=TRIPS)
def one_tensor_of_two_names_from_trip_to_trip(x, n):
    a = b = x * 2
    while n > 0:
        a = a + 1
        b = a
        n = n - 1
    b = b * 1
    b.mul_(2)
    return a, b


PAIRS = [lambda: (scalar(1.0), [vec(1, 2), vec(3, 4)]), lambda: (scalar(-1.0), [vec(1, 2), vec(3, 4)])]


def put_first(xs):
    xs[0] = xs[1]


@program(inputs=PAIRS)
def a_new_list_on_one_side(s, xs):
    zs = xs
    if s > 0:
        zs = [t * 2 for t in xs]
    zs[0] = zs[1] * 3
    return xs[0] * 1, zs[0] * 1


@program(inputs=PAIRS)
def a_new_list_on_one_side_and_a_helper(s, xs):
    zs = xs
    if s > 0:
        zs = [t * 2 for t in xs]
    put_first(zs)
    return xs[0] * 1, zs[0] * 1


@program(inputs=PAIRS)
def a_new_list_that_nobody_else_has(s, xs):
    zs = [t * 2 for t in xs]
    if s > 0:
        zs = [t + 2 for t in zs]
    zs.append(s * 1)
    return zs


@program(inputs=[lambda: (integer(0), {"a": vec(1, 2)}), lambda: (integer(2), {"a": vec(1, 2)})])
def a_new_dict_in_every_trip(n, d):
    for k in range(n):
        d = {**d, "a": d["a"] + k}
    d["a"] = d["a"] * 2
    return d


@program(inputs=[lambda: (integer(0), vec(1, 2)), lambda: (integer(2), vec(1, 2))])
def a_new_list_of_two_names(n, x):
    ys = [x, x * 2]
    zs = ys
    while n > 0:
        ys = [t + 1 for t in ys]
        n = n - 1
    ys[0] = x * 5
    return ys[1], zs[0]


@program(inputs=[lambda: (integer(0), vec(1, 2)), lambda: (integer(3), vec(1, 2))], refused="AG314: in a Python loop")
def a_new_list_in_two_loops(n, x):
    ys = [x, x * 2]
    zs = ys
    for _ in range(2):
        for _ in range(n):
            ys = [t + 1 for t in ys]
    ys[0] = x * 5
    return ys[1], zs[0]


HALVED = [lambda: (vec(4, 3),), lambda: (vec(0.1, 0.2),)]


@program(inputs=HALVED)
def two_names_of_one_tensor_in_a_loop(x):
    best = x
    while x.sum() > 1:
        x = x / 2
        best = x
    return x, best


@program(inputs=HALVED, grad=True)
def one_tensor_twice_in_a_tuple(x):
    state = (x, x)
    while state[0].sum() > 1:
        half = state[0] / 2
        state = (half, half)
    return state[0], (state[0] * state[1]).sum(), state


@program(inputs=HALVED)
def one_tensor_under_two_keys(x):
    d = {"best": x, "last": x}
    while d["last"].sum() > 1:
        d["last"] = d["last"] / 2
        d["best"] = d["last"]
    return d


@program(inputs=HALVED)
def two_names_of_one_tensor_written_to_behind_the_loop(x):
    best = x
    while x.sum() > 1:
        x = x / 2
        best = x
    best.add_(1)
    return x, best


@program(inputs=HALVED)
def one_tensor_until_the_first_trip(x):
    last = x
    while x.sum() > 1:
        last = x
        x = x / 2
    return x, last


@program(inputs=HALVED)
def one_tensor_again_after_an_inner_loop(x):
    a = x
    b = x
    while a.sum() > 1:
        while b.sum() > 3:
            b = b - 1
            a = b
        a = a / 2
        b = a
    return a, b


@program(inputs=HALVED)
def one_tensor_on_both_sides(x):
    best = x
    x.add_(0)
    if x.sum() > 1:
        x = x / 2
        best = x
    else:
        best.add_(1)
    return x, best


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def asked_whether_it_is_the_argument(x):
    y = x
    if x.sum() > 0:
        y = y + 1
    z = x * 2 if y is not x else x * 3
    return y is x, z


@program(inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(1, 2), integer(0))])
def asked_whether_a_loop_has_made_a_trip(x, n):
    y = x
    while n > 0:
        y = y + 1
        n = n - 1
    return y is x, y * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def asked_whether_two_results_are_one(x):
    a, b = x, x * 2
    if x.sum() > 0:
        a = b
    return a is b, a * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def asked_whether_it_is_the_list_from_before(x):
    rows = [x]
    chosen = rows
    if x.sum() > 0:
        chosen = [x * 2]
    return chosen is rows, chosen[0] + 1


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def a_key_that_a_branch_hands_through(x):
    known = {x: 1}
    y = x
    if x.sum() > 0:
        y = x + 1
    return y in known, known.get(y)


LISTS = [
    lambda: (vec(1, 2), [vec(1, 3)], {"a": vec(2)}),
    lambda: (vec(-1, -2), [vec(1, 3)], {"a": vec(2)}),
    lambda: (vec(5, 2), [vec(0, 3)], {"a": vec(2)}),
]


@program(inputs=LISTS)
def containers_of_the_caller_beside_a_result_of_two_types(x, rows, known):
    found = None
    if x.sum() > 0:
        found = x * 2
    return found, rows, known


@program(inputs=LISTS)
def a_container_is_returned_out_of_nested_branches(x, rows, known):
    if x.sum() > 0:
        if x[0] > 3:
            return x, rows, rows[0]
        return x * 2, rows, rows[0]
    return x * 3, rows, rows[0]


def doubled_beside(x, rows):
    if x.sum() > 0:
        return x * 2, rows
    return x, rows


@program(inputs=LISTS)
def a_list_that_a_helper_hands_through_is_written_to(x, rows, known):
    y, kept = doubled_beside(x, rows)
    kept.append(y)
    kept[0] = kept[0] + 1
    return y, len(rows), rows[0]


@program(inputs=LISTS)
def one_of_two_lists_is_handed_through(x, rows, known):
    others = [known["a"] * 2, known["a"]]
    first, second = (rows, rows[0]) if x.sum() > 0 else (others, others[0])
    return first[0] + 1, second * 2, others


@program(
    inputs=[lambda n=n: (vec(1, 2, 3), vec(4, 5, 6), integer(n)) for n in (0, 1, 3)],
    refused="a view of one of two tensors, out of a loop on data",
)
def a_view_out_of_a_loop_is_written_to(x, y, n):
    row = x[1:]
    for _ in range(n):
        row = y[:2]
    row += 0.5
    return x


@program(inputs=[lambda n=n: (vec(1, 2, 3), vec(4, 5, 6), integer(n)) for n in (0, 1, 3)])
def a_view_out_of_a_loop_of_a_tensor_that_nobody_uses_again(x, y, n):
    row = x[1:] * 2
    other = y * 3
    for _ in range(n):
        row = other[:2]
    row += 0.5
    return row
