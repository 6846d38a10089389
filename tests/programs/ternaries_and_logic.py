"""The ternary, and / or / not with their values and short circuits, chained comparison, walrus, any() and all()."""

import torch

from tests.harness import flags, integer, ints, program, randn, scalar, vec


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def ternary_of_tensors(x):
    return x * 2 if x.sum() > 0 else x - 1


@program(inputs=[lambda: (vec(3),), lambda: (vec(0.5),), lambda: (vec(-3),)])
def ternary_in_a_ternary(x):
    return x + 1 if x > 1 else (x if x > 0 else -x)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def ternary_as_an_argument(x):
    return torch.clamp(x, min=0.5 if x.mean() > 0 else -0.5)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def ternaries_in_a_tuple(x):
    low, high = (x.min(), x.max()) if x.sum() > 0 else (x.max(), x.min())
    return low - high, [x if low > 0 else x * 2]


@program(inputs=[lambda: (vec(1, 5),), lambda: (vec(1, -5),), lambda: (vec(-1, 5),), lambda: (vec(-1, -5),)])
def and_or_not_in_tests(x):
    if x[0] > 0 and x[1] > 0:
        x = x + 1
    if x[0] < 0 or x[1] < 0:
        x = x * 2
    if not x[0] > 0:
        x = x - 3
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(1, -2),)])
def and_or_mixed_without_parentheses(x):
    ok = x[0] > 0 and x[1] > 0 or x.sum() > 0.5
    return x * 2 if ok else x


@program(inputs=[lambda: (scalar(3), scalar(4)), lambda: (scalar(0), scalar(4)), lambda: (scalar(3), scalar(0))])
def and_gives_one_of_its_operands(x, y):
    return x and y


@program(inputs=[lambda: (scalar(3), scalar(4)), lambda: (scalar(0), scalar(4)), lambda: (scalar(0), scalar(0))])
def or_gives_one_of_its_operands(x, y):
    z = x or y + 1
    return z * 2


@program(inputs=[lambda: (scalar(2), None), lambda: (scalar(2), vec(1, 2)), lambda: (scalar(-2), vec(1, 2))])
def none_check_before_a_tensor_test(x, bias):
    if bias is not None and x > 0:
        return x + bias.sum()
    return x * 1.0


@program(inputs=[lambda: (vec(1, 2), True), lambda: (vec(-1, 2), True), lambda: (vec(1, 2), False)])
def python_flag_and_tensor(x, enabled):
    if enabled and (x > 0).all():
        x = x.log()
    return x


@program(inputs=[lambda: (vec(1, 2), True), lambda: (vec(-1, 2), False), lambda: (vec(1, 2), False)])
def python_flag_or_tensor(x, force):
    if force or torch.any(x < 0):
        x = x.abs() + 1
    return x


@program(inputs=[lambda: (vec(1, 2), None), lambda: (vec(1, 2), vec(5, 5)), lambda: (vec(1, 2), vec(-5, -5))])
def short_circuit_that_saves_from_an_error(x, other):
    if other is None or other.sum() < 0:
        return x
    return x + other


@program(inputs=[lambda: (vec(1, 2, 3), 1), lambda: (vec(1, 2, 3), 5), lambda: (vec(1, -2, 3), 1)])
def index_guarded_by_length(x, i):
    if i < len(x) and x[i] > 0:
        return x[i]
    return x[0] * 0


@program(inputs=[lambda: (scalar(0.5),), lambda: (scalar(0),), lambda: (scalar(1),), lambda: (scalar(7),)])
def chained_comparison(x):
    if 0 < x < 1:
        return x * 10
    return x


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(3, 2, 1),), lambda: (vec(1, 1, 1),)])
def chain_of_three_comparisons(v):
    a, b, c = v
    return v * 2 if a < b < c else (v * 3 if a == b == c else v)


@program(inputs=[lambda: (vec(3, 4),), lambda: (vec(0.3, 0.4),)])
def walrus_in_a_test(x):
    if (norm := x.norm()) > 1:
        x = x / norm
    return x, norm


@program(inputs=[lambda: (vec(5, 1),), lambda: (vec(1, 5),), lambda: (vec(0, 0),)])
def walrus_in_both_operands(x):
    if (a := x[0]) > 2 and (b := x[1]) < 2:
        return a - b
    return a


WALRUS = [lambda: (vec(1, 2),), lambda: (vec(-4, 6),), lambda: (vec(4, -6),), lambda: (vec(-4, -6),)]


@program(inputs=WALRUS)
def walrus_in_the_later_of_two_alternatives(x):
    if (a := x.sum()) > 2 or (b := x.max()) > 5:
        y = a + x
    else:
        y = x - b
    return y


@program(inputs=WALRUS)
def walrus_in_later_operands_of_a_chain(x):
    n = 0
    if x.sum() > 2 and (a := x.sum()) > 0 and (b := x.max()) > 1.5:
        return x + a + b
    elif x.min() < 0 and (x.max() > 3 or (n := x.min()) < -5):
        print("chain", n)
        return x * n
    return x


@program(inputs=WALRUS)
def walrus_in_a_later_operand_is_read_behind(x):
    b = x * 0
    for _ in range(2):
        if x.sum() > 0 and (b := x * 2).max() > 3:
            break
        x = x + 2
    return x, b


@program(inputs=[lambda: (scalar(10),), lambda: (scalar(0.5),)])
def walrus_in_a_while_test(x):
    steps = torch.tensor(0)
    while (half := x / 2) > 1:
        x = half
        steps = steps + 1
    return x, half, steps


@program(inputs=[lambda: (flags(1, 1, 0),), lambda: (flags(0, 0, 0),), lambda: (flags(1, 1, 1),)])
def not_of_a_reduction(mask):
    nobody = not mask.any()
    if nobody:
        return torch.tensor(-1.0)
    return mask.float().mean()


@program(inputs=[lambda: (flags(1),), lambda: (flags(0),)])
def not_gives_a_python_bool(mask):
    return not mask, not not mask


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4)), lambda: (vec(-1, -2), vec(-3, -4))])
def any_over_a_generator_of_tensors(a, b):
    if any(t.sum() > 0 for t in (a, b)):
        return a + b
    return a - b


@program(inputs=[lambda: ([vec(1), vec(2)],), lambda: ([vec(1), vec(-2)],), lambda: ([],)])
def all_over_a_list_of_tests(items):
    ok = all([t > 0 for t in items])
    total = torch.zeros(1)
    for t in items:
        total = total + t
    return total * 2 if ok else total


@program(inputs=[lambda: (integer(4),), lambda: (integer(7),), lambda: (integer(0),)])
def equality_and_modulo(n):
    if n % 2 == 0:
        return n // 2
    return 3 * n + 1


@program(inputs=[lambda: (ints(1, 2, 3), 2), lambda: (ints(1, 2, 3), 9)])
def membership_in_a_tensor(tokens, wanted):
    if wanted in tokens:
        return tokens + 1
    return tokens


@program(inputs=[lambda: (vec(1, 2), vec(1, 2)), lambda: (vec(1, 2), vec(1, 3))])
def equal_of_two_tensors(a, b):
    if torch.equal(a, b):
        return a * 2
    return b - a


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def test_result_as_a_number(x):
    bonus = (x.sum() > 0) * 5
    return x + bonus if x[0] > 0 else x - bonus


@program(inputs=[lambda: (vec(2, 2), 3.0), lambda: (vec(-2, 2), 3.0), lambda: (vec(-2, -2), 0.0)])
def or_default_of_a_python_number(x, scale):
    scale = scale or 1.0
    if x.sum() > 0 or x[1] > 0:
        return x * scale
    return x / scale


@program(inputs=[lambda: (scalar(2), scalar(3)), lambda: (scalar(3), scalar(2)), lambda: (scalar(-1), scalar(0))])
def builtin_max_and_min_of_tensors(a, b):
    return max(a, b) * 2 - min(a, b, torch.tensor(0.5))


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(0, 0),)])
def not_of_and_and_or(x):
    if not (x[0] > 0 and not x[1] < 0) and not (x.sum() == 0 or False):
        return -x
    return x


@program(inputs=[lambda: (vec(1, 2), 1), lambda: (vec(-1, -2), 0), lambda: (vec(1, 2), 0)])
def number_as_a_flag_before_a_tensor(x, verbose):
    active = verbose and x.sum() > 0
    if active:
        return x * 2
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, float("nan")),)])
def test_that_python_decides_in_the_end(x):
    total = x.sum()
    if torch.isnan(total) and total.dtype == torch.float16:
        total = total.to(torch.float16)
    return total + 1


@program(
    inputs=[
        lambda: (ints(0, 1, 1), ints(1, 0)),
        lambda: (ints(0, 0, 0), ints(1, 1)),
        lambda: (ints(0, 2), ints(2, 0, 2)),
        lambda: (ints(0, 3), ints(0, 2)),
    ]
)
def equality_of_sizes_that_depend_on_data(x, y):
    if not x.unique().equal(torch.tensor([0, 1])):
        return x[x > 0].equal(y[y > 0]), x
    return torch.equal(x[x > 0], y[y > 0]), -x


@program(inputs=[lambda: (randn(2, 3), ints(2, 0)), lambda: (randn(2, 4), ints(3, 4))])
def tuples_of_sizes_and_of_a_tensor(x, n):
    k = n.max()
    y = torch.zeros(2, k, 3)
    assert y.shape == (2, k, 3), f"{y.shape}"
    if (2, x.shape[1], 3) != (2, k, 3):
        return y.sum()
    return x.sum()


def added_in_place(x):
    print("added")
    return x.add_(1)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(-3, 5),)])
def choices_of_two_types_inside_of_a_result(x):
    return added_in_place(x).sum(), x * 2 if x.sum() > 3 else None, {"a": "b" if x[0] > 0 else x + 1}


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def choice_of_two_types_as_an_argument(x):
    return torch.nn.functional.linear(x, torch.eye(2), bias=x if x.sum() > 0 else None) * 2


@program(inputs=[lambda: (vec(5, 1),), lambda: (vec(0, 0),), lambda: (vec(1.5, 0),)])
def largest_of_what_may_be_empty(x):
    large = x[x > 1]
    if large.numel() > 0 and large.max() > 2:
        return large.sum()
    return x


@program(inputs=[lambda: (vec(5, 1),), lambda: (vec(0, 0),), lambda: (vec(-1.5, -2),)])
def extremes_behind_or(x):
    large, positive = x[x > 1], x[x > 0]
    if x.sum() < 1 or positive.min() < 1 or large.max() > 3:
        return positive.sum()
    return x


class Asked:
    """An object with methods of the names of a tensor's, which count how often they are called."""

    def __init__(self, value):
        self.value = value
        self.asked = 0

    def mean(self):
        self.asked += 1
        return 1.0 / self.value

    def __contains__(self, key):
        self.asked += 1
        return key == "k"

    def __eq__(self, other):
        self.asked += 1
        return self.value == other

    def __bool__(self):
        self.asked += 1
        return True

    def __add__(self, other):
        self.asked += 1
        return self.value + other


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def later_operands_that_ask_objects(x):
    one = Asked(2)
    y = x
    if x.sum() > 0 and one.mean() > 0:
        y = y + 1
    if x.sum() > 0 and "k" in one:
        y = y + 2
    if x.sum() < 0 or one == 2:
        y = y + 3
    if x.sum() > 0 and not one:
        y = y + 4
    if x.sum() > 0 and one + 1 > 2:
        y = y + 5
    return y, one.asked


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def a_later_operand_that_would_fail(x):
    one = Asked(int((x > 0).sum()))
    if (x > 0).any() and one.mean() < 5:
        x = x + 1
    return x
