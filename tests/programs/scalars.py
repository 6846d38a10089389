"""Python numbers that branches and loops on tensors choose: their type, precision and promotion stay Python's."""

import math

import torch

from tests.harness import by_torch, integer, ints, program, scalar, vec


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def int_chosen_by_a_branch(x):
    if x.sum() > 0:
        k = 3
    else:
        k = -2
    return k


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def float_chosen_by_a_branch(x):
    rate = 0.1 if x.sum() > 0 else 0.7
    return rate, x * rate


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def bool_chosen_by_a_branch(x):
    positive = False
    if x.sum() > 0:
        positive = True
    return positive


@program(inputs=[lambda: (ints(1, 2),), lambda: (ints(-1, -2),)])
def chosen_int_does_not_promote(x):
    k = 2 if x.sum() > 0 else 5
    return x * k, x.to(torch.int8) + k


@program(inputs=[lambda: (ints(1, 2),), lambda: (ints(-1, -2),)])
def chosen_float_promotes_integers(x):
    k = 2.0 if x.sum() > 0 else 0.5
    return x * k, x.to(torch.int32) + k


@program(inputs=[lambda: (vec(1, 2).half(),), lambda: (vec(-1, -2).half(),)])
def chosen_float_keeps_half_precision(x):
    k = 1.0 if x.sum() > 0 else 3.0
    return x * k


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.5),), lambda: (scalar(2),)])
def counter_divided_after_the_loop(x):
    n = 0
    while x > 1:
        x = x / 2
        n += 1
    return n / 4, n // 2, n % 2, -n


@program(inputs=[lambda: (scalar(9),), lambda: (scalar(0.5),), lambda: (scalar(2),)])
def true_division_inside_the_loop(x):
    share = 1.0
    while x > 1:
        x = x - 1
        share = share / 3
    return share


@program(inputs=[lambda: (integer(5),), lambda: (integer(1),), lambda: (integer(0),)])
def float_arithmetic_in_double_precision(n):
    total = 0.0
    for _ in range(n):
        total += 0.1
    return total


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),), lambda: (vec(-1, -1, -1),)])
def count_of_matches(x):
    count = 0
    for value in x:
        if value > 0:
            count += 1
    return count


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),), lambda: (vec(-1, -1, -1),)])
def total_that_starts_at_zero(x):
    total = 0
    for value in x:
        if value > 0:
            total = total + value
    return total + torch.zeros(())


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def number_meets_a_tensor(x):
    penalty = 0.0
    if x.sum() > 0:
        penalty = x.sum()
    return x + penalty


@program(inputs=[lambda: (integer(7),), lambda: (integer(-7),)])
def floor_division_and_modulo_of_negatives(n):
    k = -7 if n > 0 else 7
    return k // 2, k % 3, k / 2, abs(k)


@program(inputs=[lambda: (scalar(2.7),), lambda: (scalar(-2.7),)])
def int_and_float_casts(x):
    whole = int(x)
    part = float(x) - whole
    if whole > 0:
        part = part + 1
    return whole, part


@program(inputs=[lambda: (scalar(4),), lambda: (scalar(-4),)])
def item_arithmetic_returned(x):
    value = x.item()
    if value > 0:
        value = value * 2 + 1
    return value


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def math_functions_of_a_chosen_float(x):
    angle = 0.25 if x.sum() > 0 else 0.75
    return x * math.sqrt(angle), math.floor(angle * 10)


@program(
    inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)], refused=by_torch("2.11", "whether a power is 1 is asked")
)
def chosen_int_as_a_power(x):
    p = 2 if x.sum() > 0 else 3
    return x**p, p**2


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def chosen_int_as_an_index(x):
    i = 0 if x.sum() > 0 else 1
    return x[i]


@program(inputs=[lambda: (vec(1, 2, 3, 4),), lambda: (vec(-1, -2, -3, -4),)])
def chosen_int_as_a_dimension_argument(x):
    k = 1 if x.sum() > 0 else 2
    return x.roll(k)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def second_branch_on_a_chosen_number(x):
    level = 1
    if x.sum() > 0:
        level = 3
    if level > 2:
        x = x * level
    return x, level


@program(inputs=[lambda: (vec(5, 1),), lambda: (vec(1, 5),), lambda: (vec(0, 0),)])
def best_index_kept_as_python_int(x):
    best, where = -1.0, -1
    for i in range(2):
        if x[i] > best:
            best, where = x[i].item(), i
    return best, where


@program(inputs=[lambda: (scalar(50),), lambda: (scalar(0),), lambda: (scalar(3),)])
def exponential_backoff(error):
    wait, tries = 1, 0
    while error > 1 and tries < 6:
        error = error / 2
        wait *= 2
        tries += 1
    return wait, tries


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def comparison_results_are_bools(x):
    k = 4 if x.sum() > 0 else 1
    return k > 2, k == 4, not k


@program(refused="int() of a data-dependent truth value", inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def int_and_bool_stay_apart(x):
    flag = x.sum().item() > 0
    n = int(flag)
    if flag:
        n = n + 1
    return n, flag


@program(inputs=[lambda: (integer(70),), lambda: (integer(3),)])
def min_and_max_of_numbers(n):
    k = 0
    for _ in range(3):
        if n > 10:
            k = min(k + 4, 9)
        else:
            k = max(k - 1, -2)
    return k


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def negative_number_beside_a_tensor(x):
    best, last, low = x.min(), -1, -(2**62)
    if x.sum() > 0:
        best = x.max()
        last = 0
    else:
        low = -3
    return best, last, low


@program(inputs=[lambda: (vec(1, 2), vec(3)), lambda: (vec(1, 2), vec(-3)), lambda: (vec(-1, 0), vec(-3))])
def equal_flags_of_data(x, y):
    one, other = (x.sum() > 0).item(), (y.sum() > 0).item()
    count, scale, same = 0, 0.5, False
    if one == other:
        count, scale, same = 1, 0.25, True
    return count, scale, same
