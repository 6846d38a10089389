"""Loops over Python ranges and lists that only a break, return or continue makes depend on a tensor."""

import torch
from torch import nn

from tests.harness import program, randn, vec


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(20, 20),), lambda: (vec(0, 0),)])
def break_in_a_range_of_four(x):
    for _ in range(4):
        x = x * 2
        if x.sum() > 30:
            break
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(20, 20),), lambda: (vec(0, 0),)])
def break_before_the_work(x):
    for i in range(5):
        if x.max() > 10:
            break
        x = x * 3 + i
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(20, 20),), lambda: (vec(0, 0),)])
def return_in_a_range_of_four(x):
    for i in range(4):
        x = x * 2 + 1
        if x.sum() > 30:
            return x, i
    return -x, -1


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(0.4, 0),)])
def continue_in_a_range_of_four(x):
    for i in range(4):
        x = x - 0.5
        if x.sum() < 0:
            continue
        x = x * 2 + i
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(20, 20),), lambda: (vec(0, 0),)])
def else_of_a_python_range(x):
    for _ in range(3):
        x = x * 2
        if x.sum() > 30:
            break
    else:
        x = x - 100
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),), lambda: (vec(3, -2),)])
def break_and_continue_in_a_python_range(x):
    total = torch.zeros(())
    for i in range(6):
        x = x + 0.5
        if x.min() < 0:
            continue
        total = total + x.sum() * i
        if total > 20:
            break
    return total, x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(9, 9),), lambda: (vec(0, 0),)])
def nested_python_ranges_with_inner_break(x):
    for i in range(3):
        for j in range(3):
            if x.sum() > 20:
                break
            x = x + i + j
        x = x + 0.1
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(9, 9),), lambda: (vec(0, 0),)])
def nested_python_ranges_with_return(x):
    for i in range(3):
        for j in range(2):
            x = x * 1.5 + i * j
            if x.sum() > 20:
                return x
    return x * -1


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(30, 2),), lambda: (vec(0, 0),)])
def values_collected_in_a_list(x):
    seen = []
    for i in range(3):
        if x.sum() > 5:
            x = x / 2
        else:
            x = x + i
        seen.append(x)
    return torch.stack(seen)


@program(inputs=[lambda: (vec(1, -2, 3),), lambda: (vec(-1, -2, -3),)])
def list_over_the_elements_of_a_tensor(x):
    kept = []
    for value in x:
        kept.append(value if value > 0 else value * 0)
    return torch.stack(kept).sum(), len(kept)


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def values_stored_in_a_dict(x):
    stats = {}
    for name in ("min", "max", "sum"):
        value = getattr(x, name)()
        if value < 0:
            value = value.abs()
        stats[name] = value
    return stats


@program(
    inputs=[
        lambda: (vec(1, 2), {"a": 2.0, "b": 3.0}),
        lambda: (vec(-1, -2), {"a": 2.0, "b": 3.0}),
        lambda: (vec(1), {}),
    ]
)
def loop_over_dict_items(x, scales):
    for name, scale in scales.items():
        if x.sum() > 0 or name == "b":
            x = x * scale
    return x


@program(inputs=[lambda: (vec(2, 2), [1.0, 2.0, 3.0]), lambda: (vec(-2, -2), [1.0, 2.0]), lambda: (vec(2, 2), [])])
def loop_over_a_list_of_numbers(x, offsets):
    for offset in offsets:
        if x.mean() > offset:
            x = x - offset
        else:
            return x
    return x + 100


@program(inputs=[lambda: ([vec(1, 2), vec(3, 4), vec(5, 6)],), lambda: ([vec(-1, 2), vec(-3, 4)],), lambda: ([],)])
def first_tensor_that_is_large_enough(candidates):
    best = torch.full((2,), -1.0)
    for candidate in candidates:
        if candidate.sum() > 5:
            best = candidate
            break
    return best


@program(inputs=[lambda: (randn(2, 4),), lambda: (randn(2, 4) * 5,), lambda: (randn(2, 4) * 0,)])
class EarlyExitOverLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
            if x.abs().mean() > 0.45:
                return x
        return x * 2


@program(inputs=[lambda: (randn(2, 4),), lambda: (randn(2, 4) * 5,), lambda: (randn(2, 4) * 0,)])
class BreakOverLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        used = 0
        for i, layer in enumerate(self.layers):
            x = layer(x).relu()
            used = i + 1
            if x.max() < 0.3:
                break
        return x, used


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(100, 2),), lambda: (vec(-5, 2),)])
def loop_variable_after_a_break(x):
    for i in range(4):
        x = x + 1
        if x[0] > 3:
            break
    return x, i


@program(inputs=[lambda: (vec(1, 2), 3), lambda: (vec(-1, -2), 3), lambda: (vec(1, 2), 1)])
def python_while_with_a_tensor_break(x, budget):
    while budget > 0:
        x = x + x.abs()
        budget -= 1
        if x.sum() > 8:
            break
    return x, budget


@program(inputs=[lambda: (vec(0.5, 2),), lambda: (vec(5, 2),), lambda: (vec(-5, -2),)])
def break_on_an_item(x):
    history = torch.zeros(())
    for _ in range(5):
        loss = (x**2).sum()
        history = history + loss
        if loss.item() < 1.0:
            break
        x = x - 0.3 * x
    return x, history


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(-1, -2),)])
def loop_over_functions(x):
    for step in (torch.sin, torch.cos, lambda v: v * 2):
        if x.sum() > 0:
            x = step(x)
        else:
            x = x - step(x)
    return x


@program(inputs=[lambda: (vec(1, 2),), lambda: (vec(50, 2),), lambda: (vec(-7, 2),)])
def patience_that_runs_out(x):
    best = torch.tensor(float("inf"))
    patience = 2
    for _ in range(6):
        loss = (x - 3).abs().sum()
        if loss < best:
            best = loss
            patience = 2
        else:
            patience -= 1
            if patience == 0:
                break
        x = x * 0.7
    return x, best, patience


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),)])
def unrolled_constants_stay_python(x):
    sizes = []
    for k in (1, 2, 3):
        if x[:k].sum() > 0:
            y = x[:k].sum()
        else:
            y = x[:k].prod()
        sizes.append((k, y))
    return sizes


MIXED = [lambda: (vec(-2, 1, 3),), lambda: (vec(1, -2, 3),), lambda: (vec(-2, -2, -2),), lambda: (vec(1, 2, 3),)]


@program(inputs=MIXED)
def none_until_the_first_hit(x):
    total = None
    for v in x:
        if v > 0:
            if total is None:
                total = v
            else:
                total = total + v
    return total


class Average:
    def __init__(self):
        self.value, self.count = None, 0

    def update(self, v):
        if self.value is None:
            self.value = v
        else:
            self.value = 0.9 * self.value + 0.1 * v
        self.count += 1


@program(inputs=MIXED)
def attribute_that_is_none_until_the_first_hit(x):
    average = Average()
    for v in x:
        if v > 0:
            average.update(v)
    if average.value is None:
        return x.sum(), average.count
    return average.value, average.count


@program(inputs=MIXED)
def rows_of_one_sign_in_a_list(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    if not found:
        return x.new_zeros(1)
    return torch.stack(found)


@program(
    refused="too many paths to tell a list's lengths apart",
    inputs=[lambda: (vec(-2, 1, 3, 4, -1),), lambda: (vec(1, 2, 3, 4, 5),)],
)
def rows_of_one_sign_in_a_longer_list(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    if not found:
        return x.new_zeros(1)
    return torch.stack(found)


def logged(x, log=False):
    if log:
        log = {"err": []}
    for i in range(40):
        before = x
        x = x / 2
        if torch.any(torch.isnan(x)):
            x = before
            break
        if i % 20 == 0:
            if log:
                log["err"].append(x)
            if (before - x).norm() < 0.01:
                break
    return x, log, i


@program(inputs=[lambda: (vec(0.01, 0),), lambda: (vec(1, 2),), lambda: (vec(0, float("nan")),)])
def log_that_may_be_false(x):
    return logged(x)


@program(inputs=[lambda: (vec(4, 1),), lambda: (vec(1, 0),), lambda: (vec(0, 9),)])
def flags_that_trips_change(x):
    seen = False
    for _ in range(40):
        x = x / 2
        seen |= bool(x[1] > 1)
        if x.sum() < 0.5:
            break
    return x, seen
