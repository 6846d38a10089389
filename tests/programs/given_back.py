"""Results that are tensors from before on some paths, and others on the rest: by identity as eager gives them."""

import torch
from torch import nn

from tests.harness import integer, program, randn, scalar, vec

SIDES = [lambda: (vec(1, 2, 3), vec(4, 5, 6)), lambda: (vec(-1, -2, -3), vec(4, 5, 6))]
TRIPS = [lambda: (vec(1, 2), vec(3, 4), integer(n)) for n in (0, 1, 2, 3)]
SQUARES = [lambda: (randn(2, 3), integer(n)) for n in (-1, 0, 1, 2)]


@program(inputs=SIDES, grad=True)
def clipped_by_norm(x, y):
    if x.sum() > 0:
        x = x / x.norm()
    return x, x is y


@program(inputs=SIDES, grad=True)
def one_of_two_arguments(x, y):
    return x if x.sum() > 0 else y


@program(inputs=SIDES)
def a_clone_of_the_program_stays_one(x, y):
    if x.sum() > 0:
        z = x.clone()
    else:
        z = y
    return z, y


@program(inputs=SIDES)
def predicate_that_is_written_to_afterwards(x, y):
    p = x.sum() > 0
    z = x * 2
    if p:
        z = x
    p.logical_not_()
    return z, p


@program(inputs=[lambda: (vec(*v), vec(*w)) for v in ((1, 2), (-1, -2)) for w in ((1, 2), (-1, -2))], grad=True)
def one_if_behind_another(x, y):
    z = x
    if x.sum() > 0:
        z = z * 2
    if y.sum() > 0:
        z = z + y
    w = z if x[0] < 0 else y
    return z, w


@program(inputs=[lambda: (vec(*v), vec(*w)) for v in ((1, 2), (-1, -2)) for w in ((1, 2), (-1, -2))], grad=True)
def ifs_inside_of_ifs(x, y):
    z = y * 3
    if x.sum() > 0:
        if y.sum() > 0:
            z = x
        else:
            z = y
    elif y.sum() > 0:
        z = y if y[0] > 5 else x
    return z


@program(inputs=[lambda: (vec(*v), n) for v in ((1, 2), (-1, -2)) for n in (1, 2)])
def integers_beside_floats_with_a_gradient(x, n):
    w = x.clone().requires_grad_()
    k = torch.tensor([n, n])
    z = w * 2
    if x.sum() > 0:
        z = w * 3
        k = k + 1
    return k, z.detach(), x


@program(inputs=[lambda: (vec(1, 2), integer(1)), lambda: (vec(-1, -2), integer(1))], grad=True)
def an_integer_is_given_back_beside_a_gradient(x, n):
    z = x * 2
    k = n
    if x.sum() > 0:
        z = x * 3
        k = n + 1
    return k, z


@program(inputs=SIDES)
def views_of_a_result(x, y):
    z = y
    if x.sum() > 0:
        z = y * 2
    return z[1:], z.view(1, -1)[0], z.unbind()[2]


@program(inputs=SIDES)
def views_made_in_a_branch(x, y):
    if x.sum() > 0:
        z = y[:2]
    else:
        z = x.view(3, 1)[1:, 0]
    return z


@program(inputs=SIDES)
def a_view_is_made_of_a_view_that_a_branch_makes(x, y):
    z = x * 2
    if x.sum() > 0:
        z = y.view(1, 3)[0]
    return z[1:]


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))], grad=True)
def a_detached_result(x, y):
    z = y
    if x.sum() > 0:
        z = y * 2
    return z.detach(), x * 2


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))], grad=True)
def detached_in_a_branch(x, y):
    if x.sum() > 0:
        z = y.detach()
    else:
        z = (y * 2).detach()
    return z, x * 2


@program(inputs=[lambda: (randn(2, 3).t(), integer(1)), lambda: (randn(2, 3).t(), integer(-1))], grad=True)
def a_transposed_argument(x, n):
    if n > 0:
        x = x * 2
    return x, n


@program(inputs=SIDES)
def both_are_written_to_afterwards(x, y):
    z = x * 2
    if x.sum() > 0:
        z = y
    z.add_(1)
    y.mul_(2)
    return z


@program(inputs=TRIPS, grad=True)
def no_trip(x, y, n):
    while n > 0:
        x = x * y
        n = n - 1
    return x, n


@program(inputs=TRIPS)
def trips_change_places(x, y, n):
    while n > 0:
        x, y = y, x
        n = n - 1
    return x, y


@program(inputs=TRIPS)
def trips_hand_on_what_is_around(x, y, n):
    z = x * 2
    while n > 0:
        z = y if n == 2 else z
        n = n - 1
    return z


@program(inputs=TRIPS, grad=True)
def the_best_of_a_loop(x, y, n):
    best = x
    while n > 0:
        y = y * 0.5
        if y.sum() < best.sum():
            best = y
        n = n - 1
    return best


@program(inputs=TRIPS)
def a_loop_behind_an_if(x, y, n):
    z = x
    if n > 1:
        z = y
    while n > 2:
        z = z * 2
        n = n - 1
    return z


@program(inputs=TRIPS)
def a_loop_in_a_branch(x, y, n):
    z = y
    if n > 0:
        while n > 1:
            z = x
            n = n - 1
    return z


@program(inputs=TRIPS)
def a_loop_in_a_loop(x, y, n):
    z = x
    while n > 0:
        m = n
        while m > 1:
            z = z * 2 if m > 2 else y
            m = m - 1
        n = n - 1
    return z


@program(inputs=SQUARES)
def the_first_row_that_is_large(x, n):
    for row in x:
        if row.sum() > n:
            return row
    return x


@program(inputs=SQUARES)
def the_larger_row(x, n):
    best = x[0]
    for i in range(1, 2):
        if x[i].sum() > best.sum() - n:
            best = x[i]
    return best


@program(inputs=SIDES)
def in_lists_and_dicts(x, y):
    z = y
    if x.sum() > 0:
        z = y + 1
    return {"z": z, "all": [z, (x, y)]}


@program(inputs=SIDES)
def two_types(x, y):
    if x.sum() > 0:
        return None
    return x, 1


class Best:
    def __init__(self):
        self.loss = torch.tensor(5.0)
        self.seen = []


@program(inputs=[lambda: (Best(), scalar(3)), lambda: (Best(), scalar(7))])
def kept_in_an_object(best, loss):
    if loss < best.loss:
        best.loss = loss
    best.seen.append(best.loss)
    return best.loss * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(0, 0),)], grad=True)
class KeepsWhatItIsGiven(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(vec(2, 2))
        self.register_buffer("last", torch.zeros(2))

    def forward(self, x):
        if x.sum() > 0:
            self.last = x.detach()
        return self.scale if x.sum() < 0 else x * self.scale


@program(inputs=SIDES)
def written_in_place_on_one_path(x, y):
    z = x
    if x.sum() > 0:
        z = y
        z += 1
    return z


@program(inputs=SIDES)
def types_that_are_the_same(x, y):
    if x.sum() > 0:
        z = y.float().contiguous()
    else:
        z = y.double().float()
    return z


@program(inputs=[lambda: (randn(17, 2),), lambda: (-randn(17, 2),)])
def more_rows_than_are_told_apart(x):
    best = x[0] * 1
    for i in range(17):
        if x[i].sum() > best.sum():
            best = x[i]
    return best + 0


class Holder:
    total = None


@program(inputs=[lambda: (vec(1, 2), Holder()), lambda: (vec(-1, -2), Holder())])
def kept_beside_what_may_be_none(x, holder):
    total, gap = torch.zeros(2), None
    before = total
    if x.sum() < 0:
        gap = x.sum()
        total = x.clone()
    holder.total = total
    return before, total, gap


ROWS = [
    lambda: (vec(1, 2, 8, 4),),
    lambda: (vec(-1, 2, 8, 4),),
    lambda: (vec(-1, 2, -8, 4),),
    lambda: (vec(1, 2, -8, 4),),
]


@program(inputs=ROWS)
def a_part_and_the_whole_after_a_write(x):
    y = x * 1
    if x.sum() > 0:
        y = y + 1
    part = y[1:]
    part *= 2
    return part, y


@program(inputs=ROWS)
def a_chosen_tensor_and_a_part_of_it_after_a_write(x):
    y, z = x * 1, x * 2
    chosen = y if x.sum() > 0 else z
    chosen[0] = 5
    return chosen, chosen[1:]


@program(inputs=ROWS)
def two_parts_behind_a_loop_after_a_write(x):
    y = x * 1
    while y.sum() < 9:
        y = y + 1
    first, second = y[:3], y[1:]
    first *= 2
    return {"first": first, "second": second}


@program(inputs=ROWS)
def a_part_from_a_branch_after_a_write(x):
    y = x * 1
    if x.sum() > 0:
        if x[0] > 0:
            y = y + 1
        part = y[1:]
    else:
        part = x * 3
    part *= 2
    return part, y


@program(inputs=ROWS)
def two_that_may_be_one_after_a_write(x):
    y = x * 1
    a = b = y
    if x.sum() > 0:
        a = y + 1
    if x[0] > 0:
        b = y + 2
    part = a[1:]
    part *= 2
    return a[:2], b[1:], part


@program(inputs=SIDES, grad=True)
def handed_back_by_dropout(x, y):
    if x.sum() > 0:
        z = nn.Dropout(0.3).eval()(x)
    else:
        z = nn.functional.dropout(y, 0.0)
    return z, z is x


@program(inputs=SIDES)
def handed_back_by_a_function_that_writes(x, y):
    z = nn.functional.hardtanh(x, inplace=True) if x.sum() > 0 else y * 2
    return z, nn.functional.relu(y, True) if y.sum() > 0 else x


MATRICES = [lambda: (vec(1, 2, 8, 4).view(2, 2),), lambda: (vec(-1, 2, -8, 4).view(2, 2),)]


@program(inputs=MATRICES)
def laid_out_in_columns_and_written_to(x):
    if x.sum() > 0:
        y = x.t() * 2
    else:
        y = x.t() * 3
    flat = y.reshape(-1)
    flat.add_(1)
    return y.sum(0), flat


@program(inputs=MATRICES)
def laid_out_in_columns_on_one_path(x):
    y = x * 1
    if x.sum() > 0:
        y = torch.linalg.inv(x)
    flat = torch.flatten(y)
    flat[0] = 9
    return y * 1, flat


@program(inputs=MATRICES)
def laid_out_in_columns_and_viewed(x):
    y = x.t() * 2 if x.sum() > 0 else x * 3
    return y.view(-1)


@program(inputs=MATRICES, refused="a trip decides whether `contiguous` is a copy")
def laid_out_in_columns_by_the_trips_of_a_loop(x):
    y, trips = x * 1, 0
    while trips < 3 and x.sum() > trips:
        y = (y + 1).t()
        trips += 1
    rows = y.contiguous()
    rows[0] = 5
    return y * 1, rows, trips


@program(inputs=MATRICES)
def laid_out_in_columns_and_computed_with(x):
    y = (x * 2).transpose(0, 1) if x.sum() > 0 else (x * 3).transpose(0, 1)
    z = y + 1
    flat = z.reshape(-1)
    flat.mul_(2)
    return z * 1, flat


CHOSEN = [
    lambda: (vec(1, -1, 2), vec(0, 1, -1), integer(2)),
    lambda: (vec(-1, -1, 2), vec(0, 1, -1), integer(2)),
    lambda: (vec(-1, -1, -2), vec(0, -1, -1), integer(1)),
    lambda: (vec(1, 1, 2), vec(0, 1, -1), integer(0)),
]


@program(inputs=CHOSEN)
def chosen_before_a_loop_that_gives_it(x, y, n):
    chosen = x
    if x[0] < 0:
        chosen = torch.ones(3)
    for _ in range(n):
        if x.max() > 0:
            return chosen
    return y + 1


@program(inputs=CHOSEN, grad=True)
def chosen_before_a_loop_in_a_loop(x, y, n):
    chosen, other = x, y
    if x[0] < 0:
        chosen = torch.ones(3)
    if y[1] < 0:
        other = x[:]
    for _ in range(n):
        if x.max() > 0:
            for k in range(n):
                if y[k] > 0:
                    return chosen, other
            return other, chosen
    return y + 1, chosen


@program(inputs=CHOSEN, grad=True)
def chosen_before_a_loop_that_may_keep_it(x, y, n):
    chosen = x
    if x[0] < 0:
        chosen = y
    kept = x + y
    for k in range(n):
        kept = chosen if y[k] > 0 else kept * 1
    return kept, chosen


@program(inputs=CHOSEN)
def a_tensor_and_a_view_that_a_loop_gives(x, y, n):
    whole = x + y
    view = whole[:]
    for k in range(n):
        if y[k] > 0:
            return view, whole
    return whole, view


@program(inputs=CHOSEN, grad=True)
def a_tensor_or_its_detached_self_from_a_loop(x, y, n):
    whole = x + y
    detached = whole.detach()
    kept = whole
    for k in range(n):
        kept = detached if y[k] > 0 else whole
    return kept, whole, detached


@program(inputs=SIDES, refused="trips write to arguments that trade places when data say so")
def traded_by_a_branch_in_a_loop_and_written_to(x, y):
    trips = 0
    while trips < 2 and x.max() > -5:
        if x[0] > 0:
            x, y = y, x
        x.add_(1)
        trips += 1
    return y * 1
