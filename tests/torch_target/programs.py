"""Programs that `--target torch` converts as a whole file; the inputs take every path, and are the example as well."""

import torch
from torch import Tensor, nn

from tests.harness import flags, integer, ints, program, randn, scalar, vec


def signs():
    return [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),)]


# -- branches --------------------------------------------------------------------------------------------------------


@program(inputs=signs(), grad=True)
def both_sides(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x * 3
    return y


@program(inputs=signs(), grad=True)
def one_side(x):
    y = x * 2
    if x.sum() > 0:
        y = y - 1
    return y


@program(inputs=signs(), grad=True)
def several_statements(x):
    if x.sum() > 0:
        a = x + 1
        y = a * a
        z = y.sum()
    else:
        y = x
        z = x.max()
    return y, z


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(1, 1),), lambda: (vec(-1, -1),)], grad=True)
def elif_chain(x):
    if x.sum() > 10:
        y = x + 1
    elif x.sum() > 0:
        y = x + 2
    else:
        y = x + 3
    return y


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(1, 1),), lambda: (vec(-1, -1),), lambda: (vec(-9, 1),)], grad=True)
def elif_chain_with_several_values(x):
    scale = 1
    if x.sum() > 10:
        y = x + 1
        scale = 2
    elif x.sum() > 0:
        y = x + 2
        scale = 3
    elif x.max() > 0:
        y = x * 4
    else:
        y = x.clone()
        scale = 5
    return y * scale, scale


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(-1, -2), vec(3, 4))], grad=True)
def swap(a, b):
    if a.sum() > 0:
        a, b = b, a
    return a - b, b


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2),), lambda: (vec(-5, 2),)], grad=True)
def nested(x):
    if x.sum() > 0:
        if x.min() > 0:
            y = x * 2
        else:
            y = x * 3
    else:
        y = x * 4
    return y


@program(inputs=signs(), grad=True)
def two_in_a_row(x):
    if x.sum() > 0:
        x = x * 2
    if x.max() > 4:
        x = x - 1
    return x


@program(inputs=signs(), grad=True)
def view_of_a_parameter(x):
    row = x[:2]
    if x.sum() > 0:
        y = row + x[1:]
    else:
        y = row * 2
    return y


@program(inputs=signs(), grad=True)
def results_that_are_views(x):
    if x.sum() > 0:
        y = x[:2]
        z = x.reshape(3, 1)
    else:
        y = x[1:]
        z = y.new_zeros((3, 1))
    return y, z


@program(inputs=[lambda: (ints(1, 2),), lambda: (ints(-1, -2),)])
def integers(x):
    if x.sum() > 0:
        x = x // 2
    else:
        x = x - 7
    return x


@program(inputs=[lambda: (vec(1, 2), ints(3)), lambda: (vec(-1, 2), ints(3)), lambda: (vec(-3, 2), ints(3))], grad=True)
def integers_beside_floats(x, n):
    seen = x < 0
    if x.sum() > 0:
        x = x * 2
        n = n + 1
    else:
        x = -x
        seen = seen | True
    return x, n, seen


@program(inputs=signs())
def without_gradients(x):
    with torch.no_grad():
        if x.sum() > 0:
            y = x * 2
            n = 1
        else:
            y = x * 3
            n = 2
    return y, n


@program(inputs=[lambda: (vec(1, 2), True), lambda: (vec(-1, -2), True), lambda: (vec(1, 2), False)], grad=True)
def python_flag_inside(x, flag):
    if x.sum() > 0:
        y = x * 2
        if flag:
            y = y + 1
    else:
        y = x
    return y


@program(
    inputs=[lambda: (vec(1, 2), None), lambda: (vec(-1, -2), vec(1, 1)), lambda: (vec(1, 2), vec(1, 1))], grad=True
)
def optional_argument(x, bias):
    if bias is None:
        bias = torch.zeros(2)
    if x.sum() > 0:
        x = x + bias
    return x


@program(inputs=signs(), grad=True)
def unrolled_loop(x):
    for k in range(3):
        if x.sum() > k:
            x = x - k
        else:
            x = x * 2
    return x


@program(inputs=signs(), grad=True)
def rows_of_a_tensor(x):
    total = x.new_zeros(())
    for value in x:
        if value > 1:
            total = total + value
        else:
            total = total - value
    return total


@program(inputs=signs(), grad=True)
def in_place(x):
    y = x * 1
    alias = y
    if x.sum() > 0:
        y += 1
    return y, alias


@program(inputs=signs())
def in_place_on_an_argument(x):
    if x.sum() > 0:
        x[0] = 7
    else:
        x.mul_(2)
    return x + 1


@program(inputs=signs(), grad=True)
def containers(x):
    pair = [x, x * 2]
    if x.sum() > 0:
        y = pair[0] + pair[1]
    else:
        y = pair[1] - pair[0]
    return y


@program(inputs=[lambda: (vec(2),), lambda: (vec(-1),), lambda: (vec(0),)], grad=True)
def one_element_and_truth(x):
    if x:
        y = x * 2
    else:
        y = x + 1
    return y


# -- expressions and logic -------------------------------------------------------------------------------------------


@program(inputs=signs(), grad=True)
def conditional_expression(x):
    return (x if x.sum() > 0 else -x) + 1


@program(inputs=signs())
def conditional_number(x):
    n = 3 if x.sum() > 0 else 4
    return x * n, n


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(1, 20),), lambda: (vec(-1, 20),), lambda: (vec(-1, 2),)], grad=True)
def logic(x):
    if x.min() > 0 and x.max() > 10:
        y = x * 2
    elif x.min() > 0 or not x.max() > 10:
        y = x * 3
    else:
        y = x * 5
    return y


@program(inputs=[lambda: (vec(0.25, 0.25),), lambda: (vec(1, 1),), lambda: (vec(-1, 1),)], grad=True)
def chained_comparison(x):
    if 0 < x.sum() < 1:
        x = x * 2
    return x


# -- jumps -----------------------------------------------------------------------------------------------------------


@program(inputs=signs(), grad=True)
def early_return(x):
    if x.sum() > 0:
        return x
    y = x * 2
    return y - 1


@program(inputs=[lambda: (vec(3, 3),), lambda: (vec(-3, 9),), lambda: (vec(1, 1),), lambda: (vec(-9, 1),)], grad=True)
def guards_with_numbers(x):
    if x.sum() > 5:
        return x * 2, 1
    y = x + 1
    if y.max() > 5:
        return y, 2
    if y.min() > 0:
        return y * 3, 3
    return y * 0.5, 4


@program(inputs=signs())
def number_or_number(x):
    if x.sum() > 0:
        return 1.5
    return 2.25


@program(inputs=signs())
def truth_as_result(x):
    if x.sum() > 0:
        return True
    return False


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(9, 2, 3),), lambda: (vec(-9, 2, 3),)], grad=True)
def continue_in_a_python_loop(x):
    total = x * 0
    for k in range(2):
        if x.sum() > 10:
            continue
        total = total + x * k
    return total


# -- loops -----------------------------------------------------------------------------------------------------------


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(0.1, 0.1),), lambda: (vec(1.2, 0),)], grad=True)
def halve(x):
    while x.norm() > 1:
        x = x / 2
    return x


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(0.1, 0.1),)], grad=True)
def halve_and_count(x, limit=1.0):
    halvings = 0
    while x.norm() > limit:  # until it fits
        x = x / 2
        halvings += 1
    if x.sum() < 0:
        x = -x
    return x, halvings


@program(inputs=[lambda: (vec(1, 2), vec(3, 4)), lambda: (vec(0, 0), vec(3, 4))], grad=True)
def accumulate(x, w):
    total = torch.zeros(2)
    i = 0
    while i < x.sum():
        total = total + x * w
        i += 1
    return total, i


@program(
    inputs=[lambda: (scalar(2), scalar(1)), lambda: (scalar(9), scalar(1)), lambda: (scalar(1), scalar(1))], grad=True
)
def newton(a, x):
    while torch.abs(x * x - a) > 1e-3:
        x = (x + a / x) / 2
    return x


@program(inputs=[lambda: (integer(12), integer(18)), lambda: (integer(7), integer(0))])
def greatest_common_divisor(a, b):
    while b > 0:
        a, b = b, a % b
    return a


@program(inputs=[lambda: (integer(1),), lambda: (integer(7),)])
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(0.1, 0.1),), lambda: (vec(90, 90),)], grad=True)
def while_and_a_limit(x):
    n = 0
    while x.norm() > 1 and n < 4:
        x = x / 2
        n = n + 1
    return x, n


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(-9, 9),), lambda: (vec(0.1, 0.1),)], grad=True)
def branch_in_a_loop(x):
    while x.norm() > 1:
        if x.sum() > 0:
            x = x / 2
        else:
            x = x / 3
    return x


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(1, 9),)])
def a_number_that_is_more_than_counted(x):
    n = 1
    while x.sum() > n / 4:
        x = x / (n + n / 2)
        n = n + 1
    return x, n


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(0.5, 0.1),)])
def a_float_carry(x):
    rate = 0.5
    while x.norm() > 1:
        x = x * rate
        rate = rate / 2
    return x, rate


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(0.1, 0.1),), lambda: (vec(-9, 1),)])
@torch.no_grad()
def nested_loops(x):
    while x.norm() > 1:
        while x.sum() > 3:
            x = x - 1
        x = x / 2
    return x


@program(inputs=[lambda: (vec(1, 2), integer(0)), lambda: (vec(1, 2), integer(3))], grad=True)
def range_of_a_tensor(x, n):
    for i in range(n):
        x = x * (i + 1)
    return x


@program(inputs=[lambda: (vec(1, 2), integer(1)), lambda: (vec(1, 2), integer(6))], grad=True)
def range_with_a_start(x, n):
    for i in range(1, n, 2):
        x = x + i
    return x


@program(inputs=[lambda: (vec(1, 2), ints(1)), lambda: (vec(1, 2), ints(6, 2))], grad=True)
def range_of_an_item(x, n):
    k = n.max().item()
    for _ in range(k):
        x = x + 1
    return x


@program(inputs=[lambda: (vec(1, 9), ints(5, 0)), lambda: (vec(1, 2), ints(0, 1))])
def predicate_that_is_a_number(x, n):
    k = n[0].item()
    if k > 3:
        x = x * 2
    return x


@program(inputs=[lambda: (flags(True, False),), lambda: (flags(False, False),)])
def bool_carry(done):
    rounds = 0
    while done.any():
        done = done & ~done
        rounds = rounds + 1
    return done, rounds


@program(inputs=[lambda: (integer(0),), lambda: (integer(1),), lambda: (integer(4),)])
def counter_that_is_a_tensor(n):
    i = torch.tensor(0)
    while i < n:
        i = i + 1
    return i.item()


@program(inputs=[lambda: (integer(0),), lambda: (integer(1),), lambda: (integer(4),)])
def counter_that_is_reset(n):
    i = torch.tensor(0)
    last = torch.tensor(7) * 2
    while i < n:
        i = i + 1
        last = torch.tensor(3)
    return i.item(), last.item()


@program(inputs=[lambda: (vec(9, 9),), lambda: (vec(0.1, 0.1),)])
def in_place_in_a_loop(x):
    alias = x
    while x.norm() > 1:
        x /= 2
    return x, alias


@program(inputs=signs())
def what_a_write_hands_on_beside_its_tensor(x):
    y, row = x.mul_(2), x.ravel()
    if x.sum() > 0:
        z = x + y + row
    else:
        z = y * row
    return z


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(9, 9),), lambda: (vec(3, 4),)])
def counter_beside_a_large_float(x):
    n = 0
    while x.sum() < 10:
        n += 1
        x = x + (n * 1e8 + 1.0) % 10  # in double precision
    return x, n


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(9, 9),)])
def counter_beside_a_float_that_is_compared(x):
    n = 16777216
    while x.sum() < 10:
        n += 1
        x = x + 1 if n > 16777216.5 else x + 5
    return x, n


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(9, 9),)])
def counter_beside_tensors(x):
    n = 0
    while x.sum() < 40:
        n = n * 2 + 1
        x = x + n * 0.5 * x + n
    return x, n


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(9, 9),)])
def written_to_before_the_loop(x):
    c = torch.tensor(0.0)
    nn.init.constant_(c, 2.5)
    while c < x.sum():
        c = c + 1
    return c


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(9, 9),)])
def written_to_behind_a_loop_that_begins_with_a_new_tensor(x):
    y = x * 2
    while y.sum() < 40:
        y = y * 3
    y += 1
    return x, y


@program(inputs=signs())
def written_to_behind_a_branch_that_gives_new_tensors(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x.exp()
    y += 1
    return x, y


# -- modules and calls -----------------------------------------------------------------------------------------------


def scaled(x, factor):
    return x * factor


@program(inputs=signs(), grad=True)
def calls_a_function(x):
    if x.sum() > 0:
        y = scaled(x, 2)
    else:
        y = scaled(x, 3)
    return y


@program(inputs=[lambda: (randn(2, 3),), lambda: (-randn(2, 3),)], grad=True)
class TwoExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)

    def forward(self, x: Tensor):
        if x.mean() > 0:
            x = self.a(x)
        else:
            x = self.b(x)
        return torch.relu(x)


@program(inputs=[lambda: (randn(2, 3),), lambda: (-randn(2, 3),)], grad=True)
class EarlyExit(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)

    def forward(self, x: Tensor):
        x = self.first(x)
        if x.mean() > 0:
            return x
        return self.second(x)


@program(inputs=[lambda: (randn(2, 3),), lambda: (-randn(2, 3),)], grad=True)
class CountsBehindABranch(nn.Module):
    """What is written to behind the branch is another attribute than the one whose result it gives."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.calls = 0

    def forward(self, x: Tensor):
        h = self.layer(x)
        if h.mean() > 0:
            h = h * 2
        self.calls += 1
        return h, self.calls


@program(inputs=[lambda: (randn(2, 3),), lambda: (-randn(2, 3),)], grad=True)
class NormByName(nn.Module):
    """What a module of this name gives may be what it is given."""

    def __init__(self):
        super().__init__()
        self.norm = nn.Identity()

    def forward(self, x: Tensor):
        if x.mean() > 0:
            x = self.norm(x)
        else:
            x = x * 2
        return x
