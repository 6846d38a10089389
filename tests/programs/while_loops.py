"""while on tensors: counters, convergence, break, continue, return, else, nesting, and no trip at all."""

from typing import NamedTuple

import torch

from tests.harness import integer, program, randn, scalar, vec


class Particle(NamedTuple):
    """What a simulation carries."""

    position: torch.Tensor
    velocity: torch.Tensor
    steps: int


@program(inputs=[lambda: (scalar(100),), lambda: (scalar(3),), lambda: (scalar(0.5),)])
def halve_until_small(x):
    while x > 1:
        x = x / 2
    return x


@program(inputs=[lambda: (scalar(100),), lambda: (scalar(3),), lambda: (scalar(0.5),)])
def count_trips_in_a_python_int(x):
    steps = 0
    while x > 1:
        x = x / 2
        steps += 1
    return x, steps


@program(inputs=[lambda: (scalar(5),), lambda: (scalar(1),), lambda: (scalar(0),)])
def python_float_that_grows(x):
    rate = 1.0
    while x > 0:
        x = x - rate
        rate = rate * 1.5
    return x, rate


@program(
    inputs=[lambda: (vec(1, 2, 3), integer(4)), lambda: (vec(1, 2, 3), integer(1)), lambda: (vec(1, 2), integer(0))]
)
def tensor_counter(x, n):
    i = torch.zeros((), dtype=torch.int64)
    while i < n:
        x = x * 1.5 + i
        i = i + 1
    return x


@program(inputs=[lambda: (scalar(2),), lambda: (scalar(1),), lambda: (scalar(9),)])
def iterate_to_a_fixed_point(a):
    x = a
    change = torch.tensor(1.0)
    while change > 1e-6:
        new = 0.5 * (x + a / x)
        change = (new - x).abs()
        x = new
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(60, 60),), lambda: (vec(200, 2),)])
def while_true_with_break(x):
    while True:
        if x.sum() > 100:
            break
        x = x * 2
    return x


@program(inputs=[lambda: (scalar(1),), lambda: (scalar(70),), lambda: (scalar(2000),)])
def while_true_with_break_in_the_middle(x):
    trips = 0
    while True:
        x = x * 2
        trips += 1
        if x > 100:
            break
        x = x + 1
    return x, trips


@program(inputs=[lambda: (integer(10),), lambda: (integer(1),), lambda: (integer(0),)])
def continue_skips_even_numbers(n):
    i = torch.tensor(0)
    total = torch.tensor(0)
    while i < n:
        i = i + 1
        if i % 2 == 0:
            continue
        total = total + i
    return total


@program(inputs=[lambda: (integer(20),), lambda: (integer(3),), lambda: (integer(0),)])
def break_and_continue_together(n):
    i = torch.tensor(0)
    total = torch.tensor(0)
    while i < n:
        i = i + 1
        if i % 3 == 0:
            continue
        total = total + i
        if total > 30:
            break
    return total, i


@program(inputs=[lambda: (scalar(1), scalar(50)), lambda: (scalar(1), scalar(1e9)), lambda: (scalar(99), scalar(50))])
def return_inside_a_while(x, limit):
    steps = torch.tensor(0)
    while steps < 8:
        if x > limit:
            return x, steps
        x = x * 3
        steps = steps + 1
    return -x, steps


@program(
    refused="torch.cond takes no data-dependent truth value as an operand",
    inputs=[lambda: (integer(7),), lambda: (integer(12),), lambda: (integer(2),)],
)
def else_of_a_while_when_no_divisor(n):
    d = torch.tensor(2)
    while d * d <= n:
        if n % d == 0:
            answer = d
            break
        d = d + 1
    else:
        answer = n
    return answer


@program(inputs=[lambda: (scalar(8),), lambda: (scalar(0.1),)])
def else_of_a_while_without_break(x):
    while x > 1:
        x = x / 3
    else:
        x = x + 10
    return x


@program(inputs=[lambda: (integer(3), integer(4)), lambda: (integer(1), integer(1)), lambda: (integer(0), integer(4))])
def while_in_a_while(rows, columns):
    total = torch.tensor(0)
    i = torch.tensor(0)
    while i < rows:
        j = torch.tensor(0)
        while j < columns:
            total = total + i * j + 1
            j = j + 1
        i = i + 1
    return total


@program(inputs=[lambda: (integer(5), integer(2)), lambda: (integer(1), integer(0)), lambda: (integer(0), integer(1))])
def break_in_the_inner_while_only(rows, stop):
    total = torch.tensor(0)
    i = torch.tensor(0)
    while i < rows:
        j = torch.tensor(0)
        while True:
            if j > stop:
                break
            if j > i:
                break
            total = total + 1
            j = j + 1
        i = i + 1
    return total


@program(inputs=[lambda: (scalar(1),), lambda: (scalar(100),), lambda: (scalar(16),)])
def flag_that_ends_the_loop(x):
    done = False
    while not done:
        x = x * 2
        if x > 30:
            done = True
    return x, done


@program(inputs=[lambda: (vec(1, 5),), lambda: (vec(5, 1),), lambda: (vec(0, 0),)])
def tensor_flag_and_a_bound(x):
    running = (x > 0).any()
    steps = 0
    while running and steps < 10:
        x = x - 1
        running = (x > 0).any()
        steps += 1
    return x, steps


@program(inputs=[lambda: (integer(10),), lambda: (integer(1),), lambda: (integer(0),)])
def fibonacci_by_tuple_swap(n):
    a, b = torch.tensor(0), torch.tensor(1)
    while n > 0:
        a, b = b, a + b
        n = n - 1
    return a


@program(
    inputs=[lambda: (integer(48), integer(18)), lambda: (integer(5), integer(0)), lambda: (integer(7), integer(7))]
)
def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return a


@program(inputs=[lambda: (integer(27),), lambda: (integer(1),), lambda: (integer(2),)])
def branch_inside_a_while(n):
    steps = torch.tensor(0)
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps = steps + 1
    return steps


@program(inputs=[lambda: (vec(8, 1),), lambda: (vec(0, 0),), lambda: (vec(-3, 2),)])
def invariant_names_stay_outside(x):
    scale = x.abs().max() + 1
    offset = 0.5
    y = x
    while y.abs().max() > 0.1:
        y = y / (scale + offset)
    return y, scale


@program(inputs=[lambda: (scalar(5),), lambda: (scalar(0),)])
def name_first_bound_in_the_loop(x):
    last = x
    while x > 0:
        doubled = x * 2
        last = doubled
        x = x - 1
    return last


@program(inputs=[lambda: (randn(3), 5), lambda: (randn(3), 1), lambda: (randn(3), 0)])
def python_while_with_a_tensor_branch(x, n):
    i = 0
    while i < n:
        if x.sum() > 0:
            x = x - 0.5
        else:
            x = x + 1
        i += 1
    return x


@program(inputs=[lambda: (scalar(30),), lambda: (scalar(1),), lambda: (scalar(0),)])
def item_in_the_while_test(x):
    steps = 0
    while x.item() > 1.0:
        x = x * 0.5
        steps = steps + 1
    return x, steps


@program(inputs=[lambda: (scalar(1.5),), lambda: (scalar(-4),), lambda: (scalar(1000),)])
def comparison_of_two_tensors_with_and(x):
    y = torch.tensor(1.0)
    while y < 50 and x * y < 200:
        y = y * 2
        x = x + y
    return x, y


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(0, 0, 0),), lambda: (vec(50, 50, 50),)])
def dict_rebuilt_each_trip(x):
    state = {"x": x, "n": torch.tensor(0)}
    while state["x"].sum() < 100 and state["n"] < 5:
        state = {"x": state["x"] * 2, "n": state["n"] + 1}
    return state["x"], state["n"]


@program(inputs=[lambda: (scalar(3), 2), lambda: (scalar(0), 2), lambda: (scalar(3), 0)])
def tensor_while_around_a_python_for(x, n):
    total = torch.zeros(())
    while x > 0:
        for k in range(n):
            total = total + x * k
        x = x - 1
    return total


@program(inputs=[lambda: (vec(0.5, 0.25),), lambda: (vec(-0.5, 3),), lambda: (vec(5, 5),)])
def two_loops_in_sequence(x):
    while x.max() < 1:
        x = x * 2
    while x.max() > 4:
        x = x / 3
    return x


@program(inputs=[lambda: (integer(5),), lambda: (integer(-5),), lambda: (integer(0),)])
def while_inside_a_branch(n):
    total = torch.tensor(0)
    if n > 0:
        while n > 0:
            total = total + n
            n = n - 1
    else:
        total = n * 2
    return total, n


@program(inputs=[lambda: (vec(5, 0.5),), lambda: (vec(-1, 0),), lambda: (vec(0.25, 1),)])
def walrus_mask_in_a_while_test(x):
    while (large := x > 1).any():
        x = torch.where(large, x / 2, x)
    return x, large


@program(inputs=[lambda: (vec(3, 1, 2),), lambda: (vec(0, 0, 0),), lambda: (vec(0, 0, 1),)])
def length_of_nonzero_in_a_while_test(x):
    trips = 0
    while len(x.nonzero()) > 1:
        x = (x - 1).relu()
        trips += 1
    return x, trips


@program(inputs=[lambda: (vec(5, 0.5), 3), lambda: (vec(5, 0.5), 0), lambda: (vec(0, 0), 3)])
def python_test_and_tensor_test(x, budget):
    used = 0
    while used < budget and x.max() > 1:
        x = x / 2
        used += 1
    return x, used


@program(inputs=[lambda: (scalar(4),), lambda: (scalar(0),), lambda: (scalar(1),)])
def loop_in_a_nested_function(x):
    def countdown(value):
        trips = torch.tensor(0)
        while value > 0:
            value = value - 1
            trips = trips + 1
            if trips > 2:
                return value, trips
        return value, -trips

    value, trips = countdown(x)
    return value * 10 + trips


@program(
    inputs=[lambda: (vec(3, 4), vec(1, 0)), lambda: (vec(0, 0), vec(1, 0)), lambda: (vec(0.1, 5), vec(1, 1))],
)
def namedtuple_carried_by_a_while(position, velocity):
    state = Particle(position, velocity, 0)
    while state.position.max() > 1:
        moved = state.position - 0.5 * state.velocity - 0.25
        state = state._replace(position=moved, steps=state.steps + 1)
    return state


@program(inputs=[lambda: (integer(0),), lambda: (integer(1),), lambda: (integer(4),)])
def counter_that_is_a_constant_tensor(n):
    i = torch.tensor(0)
    last = torch.tensor(7) * 2
    while i < n:
        i = i + 1
        last = torch.tensor(3)
    return i.item(), last.item()


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(40, 50),)])
def buffer_of_a_loop_that_may_stop(x):
    buffer = torch.zeros_like(x)
    total = x
    while True:
        buffer.add_(total)
        total = total + buffer
        if total.sum() > 100:
            break
    return total, buffer


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(40, 50),), lambda: (vec(-1, -2),)])
def last_trip_that_returns(x):
    trips = torch.tensor(0)
    while True:
        x = x * 2 + 1
        trips = trips + 1
        if (x.sum() < 30) & (trips < 9):
            continue
        names = {"value": x - 1, "trips": trips}
        return names


class Table:
    """An object with a tensor, which nobody changes."""

    def __init__(self):
        self.weights = torch.tensor([2.0, 3.0])


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(40, 50),)])
def object_that_goes_through_a_loop(x):
    table = Table()
    result = (table, x)
    while result[1].sum() < 50:
        result = (table, result[1] * table.weights)
    return result[1] + result[0].weights


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def object_that_both_branches_give(x):
    table = Table()
    if x.sum() > 0:
        pair = (table, x)
    else:
        pair = (table, -x)
    return pair[0].weights * pair[1]


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-0.1, 0.2, 0.3),)])
def a_loop_that_ends_by_return_alone(x):
    n = 0
    while True:
        x = x * 0.5
        n += 1
        if x.norm() < 1:
            return x, n
        if n > 2:
            return -x, n


class Patience:
    """Counts how often it is asked."""

    def __init__(self):
        self.best = None
        self.asked = 0

    def lasts(self, x):
        self.asked += 1
        if self.best is None or x.sum() < self.best:
            self.best = x.sum()
        return x.sum() > 1


@program(inputs=[lambda: (vec(5, 1),), lambda: (vec(0, 0),), lambda: (vec(300, 1),)])
def a_test_that_counts(x):
    patience = Patience()
    while patience.lasts(x):
        x = x / 2
        if x.max() > 100:
            break
    else:
        x = x + 10
    return x, patience.asked, patience.best


@program(inputs=[lambda: (vec(5, 1),), lambda: (vec(0, 0),)])
def a_test_that_prints(x):
    patience = Patience()
    while patience.lasts(x) and print("asked", patience.asked) is None:
        x = x / 2
        if x.max() > 2:
            continue
        x = x - 0.1
    return x


@program(inputs=[lambda: (vec(5, 1),), lambda: (vec(0, 0),), lambda: (vec(300, 1),)])
def walrus_in_the_test_of_a_loop_with_else_and_break(x):
    while (total := x.sum()) > 1:
        x = x / 2
        if total > 50:
            break
    else:
        x = x + 10
    return x, total


@program(inputs=[lambda: (vec(5, 1),), lambda: (vec(0, 0),)])
def walrus_in_the_test_of_a_loop_with_else(x):
    while (total := x.sum()) > 1:
        x = x / 2
    else:
        x = x + total
    return x


COUNTS = [lambda: (integer(0),), lambda: (integer(1),), lambda: (integer(2),), lambda: (integer(5),)]


@program(inputs=COUNTS)
def a_later_operand_of_the_test_binds_a_name(a):
    n, b, d = 0, a * 0, a * 0
    while n < 3 and (b := a % 3) == 2 and (d := a % 5) > 1:
        n += 1
        a = a * 7 + 3
    return a, b, d, n


@program(inputs=COUNTS)
def a_later_operand_binds_a_name_behind_or(a):
    n, d = 0, a * 0
    while n < 3 and (a % 3 == 2 or (d := a % 5) > 1):
        n += 1
        a = a * 7 + 3
    return a, d, n


@program(inputs=COUNTS)
def break_in_the_else_of_an_inner_loop(a):
    n = 0
    while n < 3:
        n += 1
        w = 0
        while w < 3 and a % 5 < 4:
            w += 1
            a = a + 1
        else:
            if a % 4 == 0:
                break
    else:
        a = a * 7 + 4
    return a, n


@program(inputs=COUNTS)
def a_python_test_that_binds_a_name(a):
    w = 0
    while (w := w + 1) < 4:
        if a % 2 == 0:
            break
        a = a + 3
    return a, w


@program(inputs=COUNTS)
def a_loop_with_return_and_else_in_the_else_of_another(a):
    n = 0
    for i in torch.arange(3):
        a = a + i
        if a % 4 != 0:
            continue
    else:
        w = 0
        while w < 4 and a % 4 == 0:
            w += 1
            if a % 3 == 0:
                return a, n
            n += 1
        else:
            n += 1
    return a, n


@program(inputs=COUNTS)
def a_loop_in_the_else_of_one_that_returns(a):
    n = 0
    w = 0
    while w < 4 and a % 3 == 0:
        w += 1
        if a % 2 == 0:
            return a * 1, n
        if a % 5 == 1:
            break
        a = a + 2
    else:
        v = 0
        while (v := v + 1) < 4 and a % 2 == 1:
            n += 1
            if a % 4 == 1:
                break
    return a * 1, n


@program(inputs=COUNTS, refused="a jump leaves a `try` whose `finally` binds a name")
def finally_binds_what_a_break_hands_on(a):
    for _ in range(3):
        try:
            if a % 2 == 1:
                break
        finally:
            a = a + 1
        a = a * 7
    return a


@program(inputs=COUNTS)
def branches_in_the_else_of_a_loop(a):
    n = 0
    b = a + 1
    for i in range(3):
        a = a + i
    else:
        if (b := a % 2) == 0:
            a = a * 7
        if a % 3 == 1:
            b = a + 8
        else:
            n += 1
    return a, b, n


@program(inputs=COUNTS, refused="a jump leaves a `try` that has an `else`")
def else_of_a_try_in_a_loop_that_is_left(a):
    w = 0
    while a % 3 == 0 and w < 3:
        w += 1
        try:
            if 0 < a % 4 < 3:
                break
            a = a + 2
        except ValueError:
            a = a * 0
        else:
            a = a * 7 + 6
    return a, w
