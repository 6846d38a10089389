"""Python numbers and differing dtypes, ranks and sizes: what eager arithmetic makes possible."""

import dataclasses
import math

import torch

from tests.harness import flags, integer, ints, program, scalar, vec

SIGNS = [lambda: (vec(1, 2),), lambda: (vec(-1, -2),)]
INTS = [lambda: (ints(1, 2),), lambda: (ints(-1, -2),)]


@program(inputs=[lambda: (vec(1, 2).to(torch.bfloat16),), lambda: (vec(-1, -2).to(torch.bfloat16),)])
def float_keeps_bfloat16(x):
    k = 0.1 if x.sum() > 0 else 0.3
    return x * k, x + k


@program(inputs=INTS)
def int_keeps_int8(x):
    k = 3 if x.sum() > 0 else 4
    return x.to(torch.int8) * k, x.to(torch.uint8) + k


@program(inputs=INTS)
def float_promotes_int_to_default(x):
    k = 0.5
    if x.sum() > 0:
        k = 1.5
    return x * k, x / k, x // k


@program(refused="arithmetic of torch with a truth value that depends on data", inputs=INTS)
def bool_with_a_tensor(x):
    flag = False
    if x.sum() > 0:
        flag = True
    return x + flag, x * flag


@program(inputs=SIGNS)
def int_divided(x):
    n = 3
    if x.sum() > 0:
        n = 7
    return n / 2, n // 2, -n // 2, n % 4, n**2, n / 7


@program(inputs=SIGNS)
def float_precision(x):
    y = 0.1
    if x.sum() > 0:
        y = y + 0.2
    return y, y == 0.30000000000000004


@program(inputs=[lambda: (integer(10),), lambda: (integer(0),)])
def float_sum_in_double(n):
    total = 0.0
    for i in range(n):
        total += i / 3
    return total


@program(inputs=[lambda: (integer(60),), lambda: (integer(5),)])
def large_integers(n):
    k = 1
    for _ in range(n):
        k = k * 2
    return k


@program(inputs=[lambda: (scalar(100),), lambda: (scalar(0.5),)])
def counter_from_zero(x):
    n = 0
    while x > 1:
        x = x / 3
        n = n + 1
    return n


@program(inputs=[lambda: (scalar(100),), lambda: (scalar(0.5),)])
def counter_counting_down(x):
    left = 3
    while x > 1 and left > 0:
        x = x / 3
        left -= 1
    return x, left


@program(inputs=[lambda: (scalar(100),), lambda: (scalar(0.5),)])
def float_and_int_state(x):
    n, scale, done = 0, 1.0, False
    while x > 1:
        x = x / 3
        n += 2
        scale *= 0.5
        done = True
    return n, scale, done, n * scale


@program(inputs=[lambda: (scalar(100),), lambda: (scalar(0.5),)])
def counter_used_in_a_tensor_expression(x):
    n = 0
    while x > 1:
        x = x / 3 - n * 0.01
        n += 1
    return x / (n + 1), x * n


@program(inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(1, 2), integer(0))])
def total_from_integer_zero(x, n):
    total = 0
    for _ in range(3):
        total = total + x.sum()
    for i in range(n):
        total = total + i
    return total


@program(inputs=[lambda: (vec(1, 2), integer(3)), lambda: (vec(1, 2), integer(1))])
def total_from_float_zero_in_a_tensor_loop(x, n):
    total = torch.zeros(())
    for i in range(n):
        total = total + (x * i).sum()
    return total


@program(inputs=SIGNS)
def zero_in_the_other_branch(x):
    if x.sum() > 0:
        loss = (x**2).sum()
    else:
        loss = 0.0
    return x.sum() + loss


@program(inputs=SIGNS)
def integer_zero_in_the_other_branch(x):
    penalty = 0
    if x.sum() > 0:
        penalty = x.max()
    return x + penalty


@program(inputs=INTS)
def integer_zero_meets_an_integer_tensor(x):
    extra = 0
    if x.sum() > 0:
        extra = x.max()
    return x + extra


@program(refused="a number or a vector", inputs=SIGNS)
def zero_meets_a_vector(x):
    residual = 0
    if x.sum() > 0:
        residual = x * 2
    return x + residual


@program(refused="a number or a vector", inputs=SIGNS)
def one_meets_a_vector(x):
    weight = 1.0
    if x.sum() > 0:
        weight = x.softmax(0)
    return x * weight


@program(inputs=INTS, refused="a float and an integer tensor")
def float_meets_an_integer_tensor(x):
    if x.sum() > 0:
        y = x.sum()
    else:
        y = 0.5
    return x + y


@program(inputs=INTS, refused="two dtypes")
def integer_and_float_tensor(x):
    y = x
    if x.sum() > 0:
        y = x * 0.5
    return y + 1.0


@program(inputs=SIGNS, refused="two dtypes")
def float_and_double(x):
    y = x
    if x.sum() > 0:
        y = x.double()
    return y.sum().item()


@program(inputs=SIGNS)
def broadcast_of_a_scalar_tensor(x):
    if x.sum() > 0:
        scale = x.max()
    else:
        scale = torch.tensor(2.0)
    return x * scale


@program(inputs=SIGNS, refused="a scalar or a vector")
def scalar_or_vector(x):
    if x.sum() > 0:
        scale = x.max()
    else:
        scale = x.abs()
    return x * scale


@program(inputs=SIGNS)
def sizes_differ(x):
    if x.sum() > 0:
        y = x
    else:
        y = torch.cat([x, x])
    return y.sum()


@program(inputs=SIGNS)
def sizes_differ_and_are_returned(x):
    if x.sum() > 0:
        y = x[:1]
    else:
        y = x
    return y


@program(inputs=[lambda: (vec(1, 2, -3),), lambda: (vec(-1, -2, -3),)])
def empty_on_one_side(x):
    kept = x[x > 0]
    if x.sum() < -1:
        kept = x[:0]
    return kept.sum(), kept.numel()


@program(inputs=SIGNS)
def length_of_what_differs(x):
    y = x
    if x.sum() > 0:
        y = torch.cat([x, x])
    return y.shape[0], len(y)


@program(inputs=SIGNS)
def number_returned_from_both_returns(x):
    if x.sum() > 0:
        return 1.5
    return -2.5


@program(inputs=SIGNS)
def bool_returned(x):
    if x.sum() > 0:
        return True
    return False


@program(inputs=SIGNS)
def bool_of_a_tensor_returned(x):
    return bool(x.sum() > 0), not bool((x > 1).any())


@program(inputs=SIGNS)
def numbers_in_a_dict_returned(x):
    if x.sum() > 0:
        return {"n": 1, "rate": 0.5, "ok": True}
    return {"n": 2, "rate": 0.25, "ok": False}


@program(inputs=SIGNS)
def item_in_a_branch(x):
    if x.sum() > 0:
        v = x.max().item()
    else:
        v = x.min().item()
    return v, x * v


@program(inputs=SIGNS)
def item_compared(x):
    v = x.sum().item()
    if v > 1.0:
        return x * v
    elif v < -10:
        return x
    return x - v


@program(inputs=[lambda: (integer(3),), lambda: (integer(-3),)])
def integer_item_arithmetic(n):
    k = n.item()
    if k > 0:
        k = k * 2 + 1
    else:
        k = -k
    return k, k // 2, k % 2, k / 2


@program(inputs=SIGNS)
def chained_comparison_of_items(x):
    v = x.max().item()
    if 0 < v < 5:
        return 1
    return 0


@program(inputs=SIGNS)
def min_max_abs_round(x):
    k = 2.6
    if x.sum() > 0:
        k = -1.4
    return min(k, 1.0), max(k, 0.5), abs(k), round(k), int(k)


@program(refused="math.exp of a number that depends on data", inputs=SIGNS)
def math_of_a_chosen_number(x):
    k = 4.0
    if x.sum() > 0:
        k = 9.0
    return math.sqrt(k), math.exp(-k), math.pi * k, math.ceil(k / 2), math.log(k)


@program(inputs=SIGNS)
def number_formats_the_shape(x):
    n = 2
    if x.sum() > 0:
        n = 3
    return torch.zeros(n).shape[0], torch.arange(n).sum()


@program(inputs=SIGNS)
def number_as_a_repeat_count(x):
    n = 1
    if x.sum() > 0:
        n = 2
    return x.repeat(n).sum()


@program(inputs=SIGNS)
def number_as_a_slice_bound(x):
    n = 1
    if x.sum() > 0:
        n = 2
    return x[:n].sum(), x[n - 1]


@program(refused="an index that depends on data", inputs=SIGNS)
def number_as_a_list_index(x):
    xs = [x, x * 2, x * 3]
    i = 0
    if x.sum() > 0:
        i = 2
    return xs[i]


@program(refused="a dimension that depends on data", inputs=SIGNS)
def number_as_a_dim(x):
    m = torch.stack([x, x * 2])
    dim = 0
    if x.sum() > 0:
        dim = 1
    return m.sum(dim)


@program(inputs=SIGNS)
def number_as_a_loop_bound(x):
    n = 2
    if x.sum() > 0:
        n = 3
    y = x
    for _ in range(n):
        y = y * 2
    return y


@program(inputs=SIGNS)
def negative_zero_and_infinity(x):
    k = -0.0
    if x.sum() > 0:
        k = float("inf")
    return k, x * k


@program(inputs=SIGNS)
def nan_chosen(x):
    k = float("nan")
    if x.sum() > 0:
        k = 1.0
    return k


@program(inputs=SIGNS)
def number_and_its_tensor(x):
    k = 2
    t = torch.tensor(k)
    if x.sum() > 0:
        k = 3
        t = torch.tensor(k)
    return k, t, t * k


@program(inputs=SIGNS)
def comparison_of_two_chosen_numbers(x):
    a, b = 1, 2
    if x.sum() > 0:
        a = 3
    if x[0] > 0:
        b = 3
    return a == b, a < b, a is not None


@program(inputs=SIGNS)
def number_in_a_condition_with_a_tensor(x):
    k = 1
    if x.sum() > 0:
        k = 2
    if k > 1 and x[0] > 0:
        return x * 2
    return x


@program(inputs=[lambda: (flags(1, 0),), lambda: (flags(0, 0),)])
def bool_tensor_and_number(mask):
    n = mask.sum()
    if n > 0:
        share = n / mask.numel()
    else:
        share = torch.tensor(0.0)
    return share


@program(inputs=SIGNS)
def tuple_of_numbers_swapped(x):
    a, b = 1, 2.5
    lo, hi = a, b
    if x.sum() > 0:
        lo, hi = a + 1, b * 2
    return lo, hi


@program(inputs=SIGNS, refused="an int or a float")
def int_or_float(x):
    k = 1
    if x.sum() > 0:
        k = 0.5
    return x * k


@program(inputs=[lambda: (scalar(5),), lambda: (scalar(0.5),)])
def learning_rate_schedule(loss):
    lr, patience = 0.1, 0
    for _ in range(4):
        if loss > 1:
            patience = 0
            loss = loss * 0.5
        else:
            patience += 1
        if patience > 1:
            lr = lr * 0.1
    return lr, patience


@program(inputs=[lambda: (vec(3, 1, 2),), lambda: (vec(1, 3, 2),)])
def argmax_by_hand(x):
    best = 0
    for i in range(1, 3):
        if x[i] > x[best]:
            best = i
    return best


@program(inputs=[lambda: (ints(48, 18),), lambda: (ints(7, 0),)])
def gcd_with_items(x):
    a, b = x[0].item(), x[1].item()
    while b != 0:
        a, b = b, a % b
    return a


@program(inputs=[lambda: (integer(27),), lambda: (integer(1),)])
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program(inputs=[lambda: (integer(10),), lambda: (integer(2),)])
def fibonacci_of_numbers(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@program(inputs=SIGNS)
def complex_numbers(x):
    z = torch.complex(x, x * 2)
    if x.sum() > 0:
        z = z * 1j
    return z.real, z.imag


@program(inputs=SIGNS)
def half_accumulates_in_half(x):
    total = x.half().sum()
    if total > 0:
        total = total + 0.1
    return total


@program(inputs=INTS)
def true_division_of_integer_tensors(x):
    if x.sum() > 0:
        y = x / 2
    else:
        y = x / 4
    return y


@program(inputs=INTS)
def augmented_division(x):
    n = 10
    if x.sum() > 0:
        n /= 4
    else:
        n /= 5
    return n


@program(inputs=SIGNS)
def unused_number_differs_in_type(x):
    if x.sum() > 0:
        k = 1
        y = x * k
    else:
        k = "none"
        y = x
    return y


@dataclasses.dataclass
class Plateau:
    rate: float
    wait: int = 0


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(0, 0, 0.2),)])
def number_of_an_attribute_in_nested_branches(x):
    state = Plateau(0.1)
    for k in range(4):
        if x.sum() * k < 0.5:
            state.wait = 0
        else:
            state.wait += 1
            if state.wait > 1:
                state.rate *= 0.5
                state.wait = 0
    return state.rate, state.wait


@program(inputs=[lambda: (vec(-1, -2),), lambda: (vec(1, 2),)])
def flag_compared_by_identity(x):
    done = False
    if x.sum() > 0:
        done = True
    return done is True, done is False, done is not True, x * (2 if done is True else 3)


@program(inputs=[lambda: (vec(-1, -2),), lambda: (vec(4, 2),)])
def loop_until_a_flag_is_not_false(x):
    done = False
    trips = 0
    while done is False:
        x = x + 1
        trips += 1
        if x.sum() > 3:
            done = True
    return trips, x


@program(inputs=[lambda: (vec(-1, -2),), lambda: (vec(1, 2),)])
def tensor_on_one_path_compared_with_true(x):
    ok = True
    if x.sum() > 0:
        ok = x.max() > 1
    if ok is True:
        return x * 2
    return x


@program(inputs=SIGNS)
def sign_of_a_number_behind_its_square(x):
    a = x[0].item()
    square = a**2
    if a < 0:
        return square, "negative" == "", abs(a)
    return square, True, abs(a)


@program(inputs=[*SIGNS, lambda: (vec(0, 0),)])
def powers_of_differences(x):
    a, mean = x[0].item(), x.mean().item()
    a **= 3
    return (a - mean) ** 2, (mean - a) ** 3, pow(a - 2, 2), (a - 9) ** -1, a < mean, mean < 0


@program(inputs=[*SIGNS, lambda: (vec(0, 0),), lambda: (vec(3, -4, 5),)])
def deviation_of_numbers(x):
    mean, total = x.mean().item(), 0.0
    for v in x.tolist():
        total += (v - mean) ** 2
    return total, (total / len(x)) ** 0.5


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(5, -9, 0.5),)])
def sum_that_begins_as_a_number_behind_many_trips(x):
    total = 0
    for k in range(5):
        v = x[k % 3]
        if v > 2:
            y = None
        else:
            y = v
        if y is None:
            break
        total = total + y
    return total, k


@program(
    inputs=[lambda: (vec(1, 2, 3, 4),), lambda: (vec(-2, -2, -7),), lambda: (vec(),)],
    refused="a view of which only the loop knows the place",
)
def largest_since_zero(x):
    """`max` of a number and a tensor is the number itself while no tensor is larger: an `int` at the end."""
    best = 0
    i = 0
    while i < len(x) and x[i] < 9:
        best = max(best, x[i])
        i += 1
    return best


@program(
    inputs=[lambda n=n, x=x: (integer(n), x) for n, x in ((4, vec(1, 2, 3, 4)), (3, vec(-2, -2, -7)), (0, vec(2)))],
    refused="a view of which only the loop knows the place",
)
def largest_of_the_first(n, x):
    best = 0
    for i in range(n):
        best = max(best, x[i])
    return best


@program(inputs=[lambda: (integer(4),), lambda: (integer(3),), lambda: (integer(0),)])
def powers_of_negative_numbers(x):
    n = abs(x.item())
    y = (-2) ** x
    if x > 3:
        y = y + (-3) ** x
    return y, (-2) ** n, -(2**n), (-0.5) ** x
