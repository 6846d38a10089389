"""Tensors as Python numbers: item, float, int, bool, tolist, in every use that a number has."""

# ruff: noqa: UP031, UP032, F841, C416 (the ways in which users write it)

import math

import torch
from torch import nn

from tests.harness import by_torch, flags, integer, ints, program, scalar, vec

BOTH = [lambda: (vec(3, 4),), lambda: (vec(-1, -2),)]
NUMBERS = [lambda: (integer(3),), lambda: (integer(1),), lambda: (integer(0),)]


@program(inputs=BOTH)
def divided_by_an_item(x):
    s = x.sum().item()
    y = x / s
    return y


@program(inputs=BOTH)
def returned_item(x):
    return x.sum().item()


@program(inputs=BOTH)
def returned_in_containers(x):
    return {"sum": x.sum().item(), "max": float(x.max()), "n": [x.argmax().item(), int(x[0])], "t": (bool(x[0] > 0),)}


@program(inputs=BOTH)
def total_over_a_python_loop(x):
    total = 0.0
    for k in range(3):
        loss = (x * k).sum()
        total += loss.item()
    return total


@program(inputs=NUMBERS)
def total_over_a_tensor_loop(n):
    total = 0.0
    i = torch.tensor(0)
    while i < n:
        loss = (i * 0.1).sin()
        total += loss.item()
        i = i + 1
    return total


@program(inputs=BOTH)
def double_precision_arithmetic(x):
    a = x.sum().item()
    b = a / 3 + 1e-12
    c = (a * 0.1 + 0.2) * 1e10
    return b, c, a - 0.1


@program(inputs=BOTH)
def item_in_a_branch(x):
    if x.sum() > 0:
        value = x.max().item()
    else:
        value = x.min().item() * 2
    return value, x * value


@program(inputs=BOTH)
def item_of_a_branch_result(x):
    y = x * 2 if x.sum() > 0 else x * 3
    return y.sum().item() + 1


@program(inputs=NUMBERS)
def range_of_an_item(n):
    total = 0
    for i in range(n.item()):
        total = total + i * i
    return total


@program(inputs=NUMBERS)
def sizes_from_items(n):
    k = n.item()
    z = torch.zeros(k + 2)
    return z, torch.full((k,), 2.0), torch.arange(k)


@program(inputs=[lambda: (vec(1, 2, 3, 4), integer(2)), lambda: (vec(1, 2, 3, 4), integer(0))])
def index_by_an_item(x, n):
    k = n.item()
    y = x.clone()
    y[k] = 9.0
    return x[k], x[:k], x[k:], y, x[k].item()


@program(inputs=[lambda: (integer(4),), lambda: (integer(9),)])
def math_functions(n):
    k = n.item()
    return math.sqrt(k), math.sqrt(float(n)), math.floor(k / 2), math.ceil(k / 2)


@program(inputs=BOTH)
def math_of_floats(x):
    s = x.abs().sum().item()
    return math.sqrt(s), math.exp(-s), math.log(s), math.sin(s), math.floor(s), math.isnan(s), math.log(s, 10)


@program(inputs=NUMBERS)
def max_min_round_abs(n):
    k = n.item()
    f = (n * 0.37).item()
    return max(k, 1), min(k, 1), round(f, 2), round(f), abs(k - 2), max(f, 0.5)


@program(inputs=BOTH)
def comparisons_of_items(x):
    s = x.sum().item()
    if s > 0:
        y = x * s
    elif s < -10:
        y = x
    else:
        y = x + s
    return y, s > 0, s == 3.0, 0 < s < 10


@program(inputs=BOTH)
def formatted_items(x):
    s = x.sum().item()
    print(f"{s:.3f}", s, "%.2f" % s, str(s), "{:.1f}".format(s))
    return f"{x.shape[0]} values"


@program(inputs=BOTH)
def dictionary_of_numbers(x):
    stats = {}
    stats["sum"] = x.sum().item()
    stats["mean"] = x.mean().item()
    if x.sum() > 0:
        stats["sum"] = stats["sum"] * 2
    return stats


@program(inputs=BOTH)
def history_list(x):
    history = []
    for k in range(3):
        x = x * 0.5
        history.append(x.sum().item())
    return history, sum(history) / len(history)


@program(inputs=[lambda: (ints(3, 1, 2),), lambda: (ints(0, 0, 1),)])
def tolist_of_ints(x):
    values = x.tolist()
    a, b, c = values
    return values, a + b * c


@program(inputs=BOTH)
def tolist_of_floats(x):
    values = x.tolist()
    return values, values[0] * 2, sum(values)


@program(inputs=[lambda: (flags(True, False),), lambda: (flags(False, False),)])
def tolist_of_flags(x):
    return x.tolist(), x.view(1, 2).tolist()


@program(inputs=BOTH)
def tolist_of_a_scalar(x):
    return x.sum().tolist()


@program(inputs=BOTH)
def float_and_int_and_bool(x):
    s = x.sum()
    return float(s), int(s), bool(s > 0), float(s) / 2, int(s) // 2, int(s) % 3, bool(s)


@program(inputs=BOTH)
def arithmetic_with_integer_tensors(x):
    s = x.sum().item()
    i = torch.arange(3)
    return i * s, i / s, i + s, torch.tensor(2) * s, torch.tensor(2.0) * s, x.double() * s, x.half() * s


@program(inputs=NUMBERS)
def integer_items_with_tensors(n):
    k = n.item()
    return torch.ones(2) * k, torch.arange(3, dtype=torch.int32) * k, torch.tensor(1, dtype=torch.int8) + k


@program(inputs=NUMBERS)
def integer_division_and_powers(n):
    k = n.item() + 1
    return 7 // k, 7 % k, -7 // k, 7 / k, k**2, k << 2, k & 1


@program(inputs=BOTH, refused=by_torch("2.11", "Tensor.new_tensor asks what a number from data is"))
def scalar_tensor_with_item(x):
    s = x.sum().item()
    t = torch.tensor(s)
    u = torch.tensor([s, 1.0])
    return t, u, torch.full((2,), s), x.new_tensor(s)


@program(inputs=BOTH)
def item_twice(x):
    a = x.sum().item()
    x += 1
    b = x.sum().item()
    return a, b, a == b


@program(inputs=BOTH)
def item_before_a_write(x):
    s = x[0].item()
    x[0] = 100.0
    return s, x[0].item(), x / s


@program(inputs=BOTH)
def clamp_and_fill_by_items(x):
    low, high = x.min().item(), x.mean().item()
    y = x.clamp(low, high)
    z = torch.where(x > high, x, high)
    return y, z, x.clone().fill_(high), x.masked_fill(x > high, low), torch.add(x, x, alpha=high)


@program(inputs=BOTH, grad=True)
def item_beside_gradients(x):
    scale = x.detach().norm().item()
    y = (x / scale).pow(2).sum()
    return y, y.item()


@program(inputs=[lambda: (torch.ones(2, 3),)], grad=True)
class LossWithLogging(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.last = 0.0

    def forward(self, x):
        loss = self.layer(x).pow(2).mean()
        self.last = loss.item()
        return loss, {"loss": loss.item()}


@program(inputs=NUMBERS)
def while_on_a_number(n):
    k = n.item()
    steps = 0
    while k > 0:
        k = k - 1
        steps += 1
    return steps, k


@program(inputs=BOTH)
def item_passed_to_a_function(x):
    def scaled(v, factor, shift=0.0):
        return v * factor + shift

    s = x.mean().item()
    return scaled(x, s), scaled(x, 2, shift=s)


@program(inputs=BOTH)
def ternary_of_items(x):
    s = x.sum().item()
    sign = 1 if s > 0 else -1
    scale = s if s > 1 else 1.0
    return sign, x / scale, scale


@program(inputs=BOTH)
def logical_operators_on_items(x):
    s, m = x.sum().item(), x.max().item()
    a = s > 0 and m > 1
    b = s or 5.0
    return a, b, not s


@program(inputs=BOTH)
def tuple_unpacking(x):
    a, b = x[0].item(), x[1].item()
    a, b = b, a
    return a * 2 - b, x * a + b


@program(inputs=[lambda: (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),), lambda: (-torch.ones(2, 2),)])
def items_of_a_matrix(m):
    trace = sum(m[i, i].item() for i in range(2))
    rows = [row.sum().item() for row in m]
    return trace, rows, m / trace


@program(inputs=[lambda: (scalar(0.3),), lambda: (scalar(-0.3),)])
def zero_dimensional_with_items(t):
    s = t.item()
    return t * s, t + s, t - s, s - t, s / t, t > s, t == s, torch.maximum(t, t * s)


@program(inputs=[lambda: (scalar(2.0),), lambda: (scalar(0.0),)])
def division_by_zero(t):
    return 1.0 / t.item()


@program(inputs=BOTH)
def is_and_isinstance(x):
    s = x.sum().item()
    return isinstance(s, float), isinstance(int(s), int), s is None, type(s) is float


@program(inputs=[lambda: (integer(2),), lambda: (integer(0),)])
def sequence_repeated(n):
    k = n.item()
    return torch.ones(3).repeat(k + 1), torch.ones(1).expand(k + 1)


@program(inputs=BOTH)
def running_statistics(x):
    best, best_index = -math.inf, -1
    for k in range(2):
        value = x[k].item()
        if value > best:
            best, best_index = value, k
    return best, best_index


@program(inputs=[lambda: (torch.tensor([1 + 2j]),)])
def complex_item(z):
    return z.abs().item(), z[0].real.item()


@program(inputs=NUMBERS)
def divmod_of_an_item(n):
    return divmod(7, n.item() + 1)


@program(inputs=[lambda: (vec(4, 1),), lambda: (vec(0, 1),), lambda: (vec(-1, 1),), lambda: (vec(1e6, 1),)])
def math_raises_as_python_does(x):
    s = x[0].item()
    print("before")
    a = math.log(s)
    return a, math.exp(s)


@program(inputs=[lambda: (scalar(4.0),), lambda: (scalar(-4.0),)])
def square_root_of_a_negative_item(t):
    return math.sqrt(t.item())


@program(inputs=[lambda: (scalar(4.0),), lambda: (scalar(float("nan")),), lambda: (scalar(float("inf")),)])
def int_of_nan(t):
    return int(t)


@program(inputs=BOTH)
def after_while(x):
    i = torch.tensor(0)
    while i < 3:
        i = i + 1
    return i.item(), int(i), float(i)


@program(inputs=BOTH)
def in_body(x):
    i = torch.tensor(0)
    out = torch.zeros(4)
    while i < 3:
        out = out + i.item()
        i = i + 1
    return out


@program(inputs=BOTH)
def after_cond(x):
    y = torch.tensor(1)
    z = torch.tensor(2.0)
    if x.sum() > 0:
        y = torch.tensor(5)
        z = z * 2
    else:
        y = y + 7
    return y.item(), z.item()


@program(inputs=BOTH)
def after_cond_same(x):
    y = torch.tensor(1)
    if x.sum() > 0:
        y = y + 1
    else:
        y = y + 2
    return y.item(), torch.zeros(3)[: y.item()]


@program(inputs=BOTH)
def for_break(x):
    k = torch.tensor(0)
    for v in x:
        if v < 0:
            break
        k = k + 1
    return k.item(), k


@program(inputs=BOTH)
def compare_after(x):
    i = torch.tensor(0)
    while i < x.numel() + 1:
        i = i + 1
    if i.item() > 1:
        x = x * 2
    if i == 3:
        x = x + 100
    return x, i.item() == 3


@program(inputs=BOTH)
def const_tensor_inplace(x):
    c = torch.tensor(0)
    if x.sum() > 0:
        c.add_(5)
    return c.item(), c


@program(inputs=BOTH)
def const_bool(x):
    done = torch.tensor(False)
    n = torch.tensor(0)
    while not done:
        n = n + 1
        done = n >= 3
    return done.item(), bool(done), n.item()


@program(inputs=BOTH)
def const_in_nested(x):
    i = torch.tensor(0)
    t = torch.tensor(0)
    while i < 2:
        j = torch.tensor(0)
        while j < i + 1:
            j = j + 1
        t = t + j
        i = i + 1
    return t.item(), i.tolist()


@program(inputs=BOTH, refused=by_torch("2.11", "tuples of numbers from data are compared one by one"))
def weird_numbers(x):
    a = x.sum().item()
    b = x.max().item()
    return (
        a * b,
        a / b,
        a - b if a > b else b - a,
        (a + b) * x,
        x * (a * b),
        x + (a / 2),
        a**2 * x,
        (a, b) == (1.0, 2.0),
    )


@program(inputs=BOTH)
def mixed_tensor_scalar_inplace(x):
    s = x.sum().item()
    y = x.clone()
    y += s
    y *= s
    y -= 1
    y /= s
    z = torch.ones(2, dtype=torch.float64)
    z *= s
    w = torch.ones(2, dtype=torch.int64)
    w = w + s
    return y, z, w


@program(inputs=BOTH)
def item_in_while_and_after(x):
    s = x.abs().sum().item()
    k = 0
    while s > 1:
        s = s / 2
        k += 1
    return s, k, x * s


@program(inputs=BOTH)
def item_of_loop_result(x):
    t = torch.tensor(0.0)
    i = torch.tensor(0)
    while i < 3:
        t = t + x.sum() * i
        i = i + 1
    v = t.item()
    return v, i.item(), x / (abs(v) + 1)


@program(inputs=BOTH, grad=True)
def item_scaled_loss(x):
    w = x.detach().abs().mean().item()
    loss = (x * w).sum()
    if loss.item() > 1:
        loss = loss * 0.5
    return loss, w


@program(inputs=BOTH)
def float_of_expr(x):
    return float(x.sum() / 2), int(x.sum() * 2), bool(x.sum() > 1), float(x[0]) + float(x[1]), str(3) + "a"


@program(inputs=[lambda: (vec(1e8, 1.0),), lambda: (vec(0.1, 0.2),)])
def precision(x):
    a = x[0].item()
    b = x[1].item()
    return (
        (a + b) - a,
        a * b,
        torch.tensor([1.0, 2.0]) * (a + b),
        torch.tensor(1.0) * (a + b),
        torch.tensor(1.0, dtype=torch.float64) * (a + b),
    )


@program(inputs=[lambda: (vec(float("nan"), 1),), lambda: (vec(float("inf"), 1),)])
def nan_inf(x):
    s = x.sum().item()
    return s, x * s, s > 0, s != s, x / s, s - s


@program(inputs=BOTH)
def returned_same_item_twice(x):
    s = x.sum().item()
    return s, s, [s, {"a": s}], x * s


@program(inputs=BOTH)
def early_stop(x):
    best = float("inf")
    patience = 0
    hist = []
    for k in range(4):
        loss = (x * x).mean().item()
        if loss < best - 1e-3:
            best = loss
            patience = 0
        else:
            patience += 1
        if patience >= 2:
            break
        x = x * 0.5
    return best, patience


@program(inputs=BOTH)
def lr_schedule(x):
    lr = 0.1
    for k in range(3):
        g = x.norm().item()
        if g > 2:
            lr = lr * 0.5
        x = x - lr * x
    return x, lr


@program(inputs=BOTH)
def clip_norm(x):
    n = x.norm().item()
    c = 1.0 / (n + 1e-6)
    if c < 1:
        x = x * c
    print(f"norm {n:.3f} clip {min(c, 1.0):.3f}")
    return x


@program(inputs=BOTH)
def int_item_arith(x):
    i = int(x.sum().item())
    j = x.argmax().item()
    return i * 2 + j, i // 2 if False else j % 2, x[j], x.roll(j), i == 7


@program(
    inputs=[
        lambda: (ints(0, 2, 1), integer(4)),
        lambda: (ints(0, 2, 1), integer(-1)),
        lambda: (ints(0, 0, 0), integer(-1)),
        lambda: (ints(0, 2, 1), integer(2)),
        lambda: (ints(0, -2, 1), integer(2)),
    ]
)
def one_hot_of_as_many_classes_as_data_tell(x, n):
    kept = torch.nn.functional.one_hot(x[x != 0], int(n))
    return kept, torch.nn.functional.one_hot(x, max(x.max() + 2, 4))[..., :4] * 2.0


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, 2, 3, 5),), lambda: (vec(-1, -2),)])
def half_of_the_rows_that_data_let_through(x):
    kept = x[x > 0]
    if len(kept) > 0:
        values, _ = torch.topk(kept, k=int(math.ceil(0.5 * len(kept))))
        return values.sum()
    return x.sum()


MASKED = [lambda: (vec(5, 1),), lambda: (vec(1.5, 0),), lambda: (vec(0, 0),), lambda: (vec(5, 4),)]


@program(inputs=MASKED)
def item_of_what_may_have_one_element(x):
    large = x[x > 1]
    if len(large) == 1 and large.item() > 2:
        return large.sum() + large.item()
    return x


@program(inputs=MASKED)
def position_behind_a_question_for_the_length(x):
    at = (x > 1).nonzero()
    if len(at) == 1:
        return x[at.item()] * float(x[x > 1])
    return x.sum()


@program(inputs=MASKED)
def the_only_element(x):
    return x * x[x > 1].item()


@program(inputs=MASKED)
def the_only_element_as_an_integer(x):
    return int(x[x > 1])


class Window:
    def weights(self, x, places=range(-1, 3)):
        return x * torch.tensor(places, dtype=x.dtype)


@program(inputs=[lambda: (vec(1, 2, -1, 3),), lambda: (vec(-1, 2, 3, 5),), lambda: (vec(-1, -2, -1, -1),)])
def ranges_as_tensors(x):
    kept = x[x > 0]
    places = torch.tensor(range(kept.size(0)), dtype=torch.long)[kept > 1]
    backwards = torch.tensor(range(len(kept), -1, -1), dtype=torch.int64)
    if len(places) > 1:
        x = Window().weights(x)
    return x, places, backwards
