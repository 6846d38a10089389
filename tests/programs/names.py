"""nonlocal, global and deleted names, names of one side only, None on one side, functions chosen in a branch."""

import torch
import torch.nn.functional as F

from tests.harness import integer, program, scalar, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]
COUNT = 0


@program(inputs=SIGNS)
def nonlocal_tensor(x):
    total = torch.zeros(())

    def add(value):
        nonlocal total
        if value > 0:
            total = total + value
        return value

    add(x[0])
    add(x[1])
    return total


@program(inputs=SIGNS)
def nonlocal_number_on_both_sides(x):
    up, down = 0, 0

    def count(value):
        nonlocal up, down
        if value > 0:
            up += 1
        else:
            down -= 1

    count(x[0])
    count(x.sum())
    return up, down


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def nonlocal_in_a_loop(x):
    trips = 0

    def halve(value):
        nonlocal trips
        trips += 1
        return value / 2

    while x > 1:
        x = halve(x)
    return x, trips


@program(inputs=SIGNS)
def global_number(x):
    global COUNT
    COUNT = 5
    if x.sum() > 0:
        COUNT = COUNT + 1
    return COUNT


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)])
def closure_counter():
    n = 0

    def call(x):
        nonlocal n
        if x.sum() > 0:
            n += 1
        return x * n

    return call


@program(factory=True, inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, 4),)])
def closure_running_mean():
    mean = torch.zeros(2)

    def call(x):
        nonlocal mean
        if x.sum() > 0:
            mean = mean * 0.5 + x
        return mean

    return call


@program(inputs=SIGNS)
def del_of_a_scratch_name(x):
    if x.sum() > 0:
        t = x * 2
        y = t + 1
        del t
    else:
        y = x
    return y


@program(inputs=SIGNS)
def del_before_the_branch(x):
    t = x * 2
    y = t + 1
    del t
    if x.sum() > 0:
        t = y * 3
        y = t
    return y


@program(inputs=SIGNS)
def del_on_both_sides(x):
    t = x * 2
    if x.sum() > 0:
        y = t
        del t
    else:
        y = -t
        del t
    return y


@program(inputs=SIGNS)
def name_of_one_side_used_there_only(x):
    if x.sum() > 0:
        scale = x.max()
        y = x / scale
    else:
        y = x
    return y


@program(refused="scale is bound on one side only", inputs=SIGNS)
def name_of_one_side_guarded_later(x):
    positive = x.sum() > 0
    if positive:
        scale = x.max()
    y = x
    if positive:
        y = y / scale
    return y


@program(inputs=SIGNS)
def none_then_tensor_with_is_not_none(x):
    bias = None
    if x.sum() > 0:
        bias = x * 2
    out = x
    if bias is not None:
        out = out + bias
    return out


@program(inputs=SIGNS)
def none_then_tensor_with_is_none(x):
    best = None
    if x.sum() > 0:
        best = x.max()
    if best is None:
        best = x.min()
    return best


@program(inputs=SIGNS)
def tensor_then_none(x):
    mask = x > 0
    if x.sum() < 0:
        mask = None
    if mask is None:
        return x
    return x * mask


@program(refused="a tensor or None", inputs=SIGNS)
def none_on_one_side_as_an_expression(x):
    bias = x if x.sum() > 0 else None
    return x * 2 if bias is None else x + bias


@program(inputs=[lambda: (vec(1, 5, 3),), lambda: (vec(-1, -5, -3),), lambda: (vec(3, 1, 2),)])
def best_so_far_starts_as_none(x):
    best = None
    for i in range(3):
        if best is None or x[i] > best:
            best = x[i]
    return best


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),), lambda: (scalar(1.5),)])
def previous_starts_as_none_in_a_loop(x):
    previous = None
    while x > 1:
        previous = x
        x = x / 2
    if previous is None:
        return x
    return previous


@program(inputs=[lambda: (vec(1, 2), None), lambda: (vec(-1, -2), None), lambda: (vec(1, 2), vec(3, 4))])
def none_argument_and_a_tensor_test(x, mask):
    if mask is not None and mask.sum() > 0:
        x = x * mask
    if mask is None and x.sum() < 0:
        x = -x
    return x


@program(refused="a tensor or None", inputs=SIGNS)
def none_returned_by_a_helper(x):
    def find(v):
        if v.sum() > 0:
            return v * 2
        return None

    found = find(x)
    if found is None:
        found = x
    return found


@program(inputs=SIGNS)
def function_chosen(x):
    if x.sum() > 0:
        act = torch.tanh
    else:
        act = F.relu
    return act(x) + 1


@program(inputs=SIGNS)
def lambda_chosen(x):
    if x.sum() > 0:
        f = lambda v: v * 2  # noqa: E731
    else:
        f = lambda v: v - 1  # noqa: E731
    return f(x) + f(x * 3)


@program(refused="one of two functions", inputs=SIGNS)
def lambda_chosen_by_an_expression(x):
    f = (lambda v: v * 2) if x.sum() > 0 else (lambda v: v - 1)
    return f(x)


@program(inputs=SIGNS)
def local_function_defined_in_a_branch(x):
    if x.sum() > 0:

        def scale(v):
            return v * x.max()

    else:

        def scale(v):
            return v * x.min()

    return scale(x)


@program(refused="one of two methods", inputs=SIGNS)
def method_chosen(x):
    reduce = x.max if x.sum() > 0 else x.min
    return reduce()


@program(refused="torch.manual_seed", inputs=SIGNS)
def module_chosen(x):
    torch.manual_seed(3)
    a, b = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    layer = a if x.sum() > 0 else b
    return layer(x)


@program(inputs=SIGNS)
def dtype_chosen(x):
    dtype = torch.float32
    if x.sum() > 0:
        dtype = torch.float32
    return x.to(dtype)


@program(inputs=SIGNS, refused="a dtype that depends on data")
def different_dtypes_chosen(x):
    dtype = torch.float32
    if x.sum() > 0:
        dtype = torch.float64
    return x.to(dtype).sum().item()


@program(inputs=SIGNS)
def string_chosen_and_compared(x):
    mode = "keep"
    if x.sum() > 0:
        mode = "double"
    if mode == "double":
        x = x * 2
    return x


@program(inputs=SIGNS)
def string_chosen_as_a_key(x):
    table = {"up": x + 1, "down": x - 1}
    key = "up"
    if x.sum() < 0:
        key = "down"
    return table[key]


@program(inputs=SIGNS)
def same_string_on_both_sides(x):
    if x.sum() > 0:
        label, y = "done", x
    else:
        label, y = "done", -x
    return label, y


@program(inputs=SIGNS)
def closure_over_a_name_bound_in_a_branch(x):
    if x.sum() > 0:
        k = 2
    else:
        k = 3

    def scale(v):
        return v * k

    return scale(x)


@program(inputs=SIGNS)
def function_called_before_and_after_a_rebinding(x):
    k = 1

    def scale(v):
        return v * k

    first = scale(x)
    if x.sum() > 0:
        k = 10
    return first, scale(x)


@program(inputs=SIGNS)
def shadowed_builtin(x):
    max = x.max()
    if x.sum() > 0:
        max = max * 2
    return max


@program(inputs=[lambda: (integer(3),), lambda: (integer(0),)])
def loop_variable_after_the_loop(n):
    i = -1
    for i in range(n):
        pass
    return i


@program(inputs=SIGNS)
def walrus_in_the_test(x):
    if (s := x.sum()) > 0:
        y = x / s
    else:
        y = x * s
    return y, s


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.1),)])
def walrus_in_a_while(x):
    n = 0
    while (y := x / 2) > 1:
        x = y
        n += 1
    return x, y, n


@program(inputs=SIGNS)
def augmented_name_on_one_side(x):
    y = 1
    if x.sum() > 0:
        y += x
    else:
        y = x - y
    return y


@program(refused="one of two objects", inputs=SIGNS)
def partial_application_chosen(x):
    import functools

    clamp = functools.partial(torch.clamp, min=0)
    if x.sum() < 0:
        clamp = functools.partial(torch.clamp, max=-1)
    return clamp(x)


@program(refused="a class made inside the graph", inputs=SIGNS)
def class_chosen(x):
    class Doubler:
        def __call__(self, v):
            return v * 2

    class Halver:
        def __call__(self, v):
            return v / 2

    kind = Doubler if x.sum() > 0 else Halver
    return kind()(x)


COUNTS = [lambda: (vec(1, 3, 2), integer(3)), lambda: (vec(1, 3, 2), integer(0)), lambda: (vec(1, 3, 2), integer(1))]


@program(inputs=COUNTS)
def previous_starts_as_none_in_a_tensor_range(x, n):
    previous = None
    total = torch.tensor(0.0)
    for i in range(n):
        if previous is not None:
            total = total + (x[i] - previous)
        previous = x[i]
    return total


@program(inputs=COUNTS)
def vector_that_starts_as_a_number(x, n):
    total = 0.0
    for i in range(1, n):
        total = total + x * i
    return x - total


@program(inputs=[lambda: (vec(9, 1),), lambda: (vec(0.1, 0.2),)])
def vector_that_starts_as_a_number_in_a_while(x):
    total = 0
    while x.sum() > 1:
        total = total + x
        x = x / 2
    return x + total


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def nonlocal_tensor_rebound_and_written_to(x):
    total = torch.zeros(3)

    def update():
        nonlocal total
        if x.sum() > 0:
            total += x
            return total * 1
        total = total - x
        total.add_(1)
        return total * 2

    return update(), total


@program(inputs=[lambda: (vec(1, 2, 3), 2), lambda: (vec(-1, -2, -3), 2), lambda: (vec(-1, -2, -3), 0)])
def nonlocal_before_a_long_rest(x, k):
    total = torch.zeros(3)
    count = 1

    def update():
        nonlocal total, count
        if x.sum() > 0:
            if k > 1:
                y = x * 2
            elif x.max() > 5:
                return total * 1, x
            else:
                count += k
        if (x > 1.5).any():
            total[1:] -= 0.3
        elif x.min() > -1 and total.sum() > 0:
            y = total
        else:
            total = x * 3
            total[1:] -= 0.3
        y = total * k
        y = y + 1
        return total * 1, y

    return update(), total, count


LEVELS = torch.tensor([0.5, 1.5, 2.5])
LAYER = torch.nn.Linear(3, 3)
torch.nn.init.eye_(LAYER.weight)
PRECISION = torch.float64


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def tensor_of_the_module(x):
    for level in LEVELS:
        if 1.1 < level < 2.0:
            return x * level
    return x - LEVELS


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)])
def layer_and_dtype_of_the_module(x):
    y = LAYER(x)
    if y.sum() > 0:
        y = y * 2
    if PRECISION == torch.float64:
        y = y.to(PRECISION)
    if LAYER.weight.sum() > x.sum():
        y = y + 1
    return y


@program(inputs=SIGNS)
def bound_and_read_under_the_same_test(x):
    if x.sum() > 0:
        factor = 3
    if x.sum() > 0:
        return x * factor
    return x


@program(inputs=[lambda: (vec(-1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(4, -2, -3),)])
def place_of_the_first_hit(x):
    for i in range(3):
        if x[i] > 0:
            place = i
            break
    if x.max() > 0:
        return x * place
    return x


@program(inputs=SIGNS)
def number_of_one_side_returned(x):
    if x.sum() < 0:
        count = 3
    return count


@program(inputs=[lambda: (vec(1, 2), 0), lambda: (vec(1, 2), 1), lambda: (vec(-1, -2), 1), lambda: (vec(20, 1), 1)])
def deleted_on_one_side_and_read_under_a_test(x, n):
    y = x * 2
    if x.sum() > 0:
        z = x + 1
        del y
    else:
        z = x
    for i in range(n):
        if z.max() > i + 10:
            y = y + 1
    return z


@program(inputs=SIGNS)
def two_deleted_and_read(x):
    y = x
    count = 3
    if x.sum() > 0:
        del y, count
    else:
        y = x * 2
    return y + count


@program(inputs=[lambda: (vec(1, 2), 0), lambda: (vec(1, 2), 1), lambda: (vec(-1, -2), 1)])
def deleted_twice(x, n):
    y = x
    if x.sum() > 0:
        del y
    if n > 0:
        del y
    return x


@program(inputs=[lambda: (vec(20, 1),), lambda: (vec(4, 4),), lambda: (vec(1, 1),)])
def deleted_in_each_trip(x):
    y = x * 2
    while x.sum() < 10:
        x = x + 4
        del y
    return x


@program(inputs=SIGNS)
def deleted_with_an_item_beside_it(x):
    d = {"a": x, "b": 1}
    y = x
    if x.sum() > 0:
        del d["b"], y
    else:
        del d["a"]
    if x.sum() > 0:
        y = x
    return len(d), y


@program(inputs=SIGNS)
def list_of_one_side_grows_under_the_same_test(x):
    if x[0] > 0:
        xs = [x]
    y = x + 1
    if x[0] > 0:
        xs.append(y)
        return torch.stack(xs)
    return y


@program(inputs=SIGNS)
def dict_of_one_side_grows_under_the_same_test(x):
    if x[0] > 0:
        found = {"a": x}
    if x[0] > 0:
        found["b"] = x + 1
        return found
    return x * 2


@program(inputs=SIGNS)
def value_of_the_trip_before(x):
    total = torch.zeros(())
    for v in x:
        if total > 0:
            total = total + v - before  # noqa: F821 (bound in the trip before)
        else:
            total = total + v
        before = v  # noqa: F841
    return total


COUNTS = [lambda: (vec(1, 2), integer(2)), lambda: (vec(-1, -2), integer(1))]


@program(inputs=COUNTS)
def lambdas_of_a_variable_that_changes_behind_the_branch(x, n):
    if n > 1:
        total = x * 0
        add = lambda: total + 1  # noqa: E731
    else:
        total = x
        add = lambda: total + 2  # noqa: E731
    total = total + 5
    return add(), total


@program(refused="the lambda would keep the variable of the trip", inputs=COUNTS)
def lambda_of_a_variable_that_changes_behind_the_loop(x, n):
    for i in range(2):
        if n > i:
            total = x * i
            add = lambda: total + 1  # noqa: E731, B023
    total = total + 5
    return add(), total


@program(refused="the function would keep the variable of the trip", inputs=COUNTS)
def function_of_a_carried_variable(x, n):
    total = x
    i = 0
    while i < n:
        total = total + i

        def add():
            return total + 1

        i = i + 1
    total = total * 3
    return add(), total


@program(refused="the lambdas would keep the variables of their trips", inputs=COUNTS)
def lambdas_in_a_list(x, n):
    functions = []
    for i in range(3):
        if n > i:
            k = i * 2
            functions.append(lambda: x * k)  # noqa: B023
        else:
            k = 5
            functions.append(lambda: x - k)  # noqa: B023
    return [function() for function in functions]


# Paths of a function that returns early, or ends in one of two ways.
WAYS_OUT = [
    lambda: (vec(1, 1), scalar(3), integer(1)),
    lambda: (vec(-3, 1), scalar(3), integer(1)),
    lambda: (vec(-3, 1), scalar(3), integer(-2)),
    lambda: (vec(-3, 1), scalar(3), integer(0)),
]


@program(inputs=WAYS_OUT)
def bound_in_a_branch_that_nothing_follows(x, s, n):
    if 0 < s < 5 and x.sum() > 0:
        return s
    if n > 0:
        s = torch.tensor(0.25)  # noqa: F841
    elif n < -1:
        x = x + 1
    return x.sum()


@program(inputs=WAYS_OUT)
def bound_in_a_branch_and_read_by_an_unused_lambda(x, s, n):
    g = lambda: s + 1  # noqa: E731, F841
    if x.sum() > 0:
        return x
    if n > 0:
        s = torch.tensor(2.0)  # noqa: F841
    elif n < -1:
        n = n + 1
    return x + 1


@program(inputs=WAYS_OUT)
def read_by_a_lambda_in_a_comprehension(x, s, n):
    for _ in range(3):
        kept = [v for v in (1, 2) if (lambda: s)() is not None]  # noqa: B023
        if x.sum() > 0:
            return s
        if n > 0:
            s = s * 2
        elif n < -1:
            n = n + 1
        x = x + 1
    return x + len(kept)


@program(
    refused="the loop around writes a variable of another function, and data decides when the one inside returns",
    inputs=[lambda: (vec(1, 2), scalar(1), 2), lambda: (vec(1, 2), scalar(-1), 2)],
    factory=True,
)
def return_out_of_a_loop_inside_of_one_that_stays():
    count = 1

    def subject(x, s, k):
        nonlocal count
        for _ in x:
            if count > 1:
                count += k
            else:
                for _ in range(2):
                    if s > 0.37:
                        return s
        return x

    return subject


@program(refused="the lambda would keep the variable of the trip, which a function writes to", inputs=COUNTS)
def lambda_of_a_variable_that_a_function_changes_behind_the_loop(x, n):
    total, add = x * 0, None
    while n > 0:
        n = n - 1
        total = x * 0
        add = lambda: total + 1  # noqa: E731, B023

    def grow():
        nonlocal total
        total = total + 5

    grow()
    if add is None:
        return x
    return add(), total


SIX_ROWS = [
    lambda: (vec(1, -2, 3, 4, -5, 6),),
    lambda: (vec(-1, -2, -3, -4, -5, -6),),
    lambda: (vec(-1, -2, -3, -4, -5, 6),),
]


@program(inputs=SIX_ROWS, grad=True)
def none_until_a_row_is_found(x):
    previous, total = None, torch.zeros(())
    for v in x:
        if v > 0:
            if previous is not None:
                total = total + (v - previous) ** 2
            previous = v
    return total, previous is None, previous


@program(inputs=SIX_ROWS, grad=True, refused="torch's functionalisation takes a flag of a test in a test for an alias")
def smallest_of_some_rows_or_the_first(x):
    best = None
    for v in x:
        if v > 2 and (best is None or v < best):
            best = v
    if best is None:
        return x[0] * 2
    return best * 3


@program(inputs=SIX_ROWS)
def best_row_with_patience(x):
    best, found, patience = float("inf"), None, 0
    for i, v in enumerate(x):
        loss = (v - 3) ** 2
        if loss < best:
            best = loss.item()
            found = i
            patience = 0
        else:
            patience += 1
        if patience >= 2:
            break
    return {"best": best, "found": found, "patience": patience}


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(1),), lambda: (scalar(100),)], grad=True)
def last_of_the_trips_or_none(x):
    last, n = None, 0
    while x > 1.5:
        if last is not None:
            n += 1
        last = x
        x = x / 2
    return last, n, x


def write_one(t):
    t.add_(1)


@program(inputs=SIX_ROWS, refused="a row of the argument may be written to under another name")
def none_or_a_row_that_is_written_to(x):
    found = None
    for i in range(6):
        if x[i] > 2:
            found = x[i : i + 1]
    if found is not None:
        write_one(found)
    return x


@program(inputs=SIX_ROWS)
def best_of_rows_behind_continue(x):
    best, place = None, None
    for i, v in enumerate(x):
        if v < 2:
            continue
        if best is None or v > best:
            best = v
            place = i
    if best is None:
        return x[0] * 2, place
    return best * 3, place


@program(inputs=SIX_ROWS)
def annotated_best_of_rows(x):
    best: torch.Tensor | None = None
    for v in x:
        if v < 2:
            continue
        if best is None:
            best = v
            continue
        best = torch.minimum(best, v)
    return best


STAYS = "what follows the loop cannot move into a function, for it would have what the loop writes of scopes outside"
LATE = [lambda: (vec(3, 2, 0.5),), lambda: (vec(0.5, 2, 3),), lambda: (vec(0.5, 0, 3),)]


@program(inputs=LATE, refused=STAYS, factory=True)
def nonlocal_beside_a_list_that_the_way_out_writes_to():
    bad = 0

    def subject(x):
        nonlocal bad
        log = []
        for v in x:
            bad += 1
            if v < 1:
                log.append("small")
            elif bad >= 2:
                log.append("stop")
                break
        return log, bad

    return subject


@program(inputs=LATE, refused=STAYS)
def global_beside_a_list_that_the_way_out_writes_to(x):
    global COUNT
    COUNT, log = 0, []
    for v in x:
        COUNT += 1
        if v < 1:
            log.append("small")
        elif COUNT >= 2:
            log.append("stop")
            break
    return log, COUNT


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def names_of_the_function_shown(x):
    names = sorted(vars())
    if len(names) > 3:
        names = names[:3]
    return x + 1, names, "names" in locals()


@program(refused="AG320", inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def asks_which_names_are_bound(x):
    if x.sum() > 0:
        width = 1
        x = x + width
    return x, "width" in locals()


def evaluated(x):
    return x * 2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def calls_its_own_of_that_name(x):
    def dir():
        return "right" if x.sum() > 0 else "left"

    eval = evaluated
    if x.sum() > 0:
        x = eval(x) + 1
    return x, dir() == "left"


@program(inputs=[lambda: (vec(1),), lambda: (vec(1, 2, 3),), lambda: (vec(1, -2),)])
def looked_for_in_no_rows(x):
    """No trip binds the name where there is one row, and the trace knows it."""
    for k in range(1, len(x)):
        if x[k] > 0:
            last = x[k] * 2
    try:
        return last + x[0]
    except UnboundLocalError:
        return -x[0]


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def generator_reads_what_a_branch_binds(x):
    scale, shift = 2, 1
    scaled = (v * scale for v in [1, 2])
    pairs = zip((v + shift for v in [3, 4]), [x, -x])
    held = [iter([])]
    held.append(v - shift for v in [5, 6])
    if x.sum() > 0:
        scale, shift = 5, 7
    out = []
    for k, v in enumerate(v * scale for v in [1, 2, 3]):
        if x.sum() > k:
            scale += 1
        out.append(v)
    return list(scaled), list(pairs), list(held[1]), out
