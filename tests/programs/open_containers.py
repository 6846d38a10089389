"""Lists and dicts from around a branch that its two sides leave with different lengths or keys."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import torch
from torch import nn

from tests.harness import program, vec

INPUTS = [lambda: (vec(1, 2, 3),), lambda: (vec(-1, -2, -3),), lambda: (vec(0.1, -0.2, 0.3),)]
LISTS = [
    lambda: (vec(1, 2, 3), [vec(0, 0, 1)]),
    lambda: (vec(-1, -2, -3), [vec(1, 1, 1), vec(2, 2, 2)]),
    lambda: (vec(0.1, -0.2, 0.3), [vec(5, 5, 5)]),
]
DICTS = [
    lambda: (vec(1, 2, 3), {"a": vec(0, 0, 1)}),
    lambda: (vec(-1, -2, -3), {"a": vec(1, 1, 1)}),
    lambda: (vec(0.1, -0.2, 0.3), {"a": vec(5, 5, 5)}),
]


@dataclass
class Rec:
    step: int
    loss: torch.Tensor


@program(inputs=LISTS)
def log_then_more(x, log):
    y = x * 3
    if y.mean() > 0:
        log.append(y)
    z = torch.relu(y) + 1
    return z.sum()


@program(inputs=LISTS)
def pop_if_negative(x, stack):
    if x.sum() < 0:
        top = stack.pop()
        x = x + top
    return x


@program(inputs=DICTS)
def new_key_in_branch(x, d):
    if x.sum() > 0:
        d["pos"] = x
    return x + d["a"]


@program(inputs=DICTS)
def different_keys(x, d):
    if x.sum() > 0:
        d["pos"] = x
    else:
        d["neg"] = -x
    return x.abs()


@program(inputs=DICTS)
def dict_pop_default(x, d):
    if x.sum() > 0:
        a = d.pop("a")
        x = x + a
    return x


@program(inputs=LISTS)
def two_ifs(x, log):
    if x.sum() > 0:
        log.append(x)
    if x[0] > 0.5:
        log.append(x * 2)
    return x + 1


@program(inputs=LISTS)
def loop_ifs(x, log):
    for v in x:
        if v > 0:
            log.append(v)
    return x + 1


@program(inputs=INPUTS)
def loop_local(x):
    pos = []
    for v in x:
        if v > 0:
            pos.append(v)
    return pos


@program(inputs=INPUTS)
def loop_two_lists(x):
    pos, neg = [], []
    for v in x:
        if v > 0:
            pos.append(v)
        else:
            neg.append(-v)
    return pos, neg


@program(inputs=INPUTS)
def loop_dict(x):
    d = {}
    for i, v in enumerate(x):
        if v > 0:
            d[i] = v * 2
    return d


@program(inputs=LISTS)
def nested_ifs(x, log):
    if x.sum() > 0:
        log.append(x)
        if x[0] > 0.5:
            log.append(x * 2)
        log.append(x * 3)
    return x + 1


@program(inputs=LISTS)
def nested_both(x, log):
    if x.sum() > 0:
        if x[0] > 0.5:
            log.append(x * 2)
    else:
        if x[1] < -1:
            log.extend([x * 5, x * 6])
        log.append(x * 3)
    return x + 1


@program(inputs=LISTS)
def then_append(x, log):
    if x.sum() > 0:
        log.append(x)
    log.append(x * 2)
    return x


@program(inputs=LISTS)
def then_len(x, log):
    if x.sum() > 0:
        log.append(x)
    return x * len(log)


@program(inputs=LISTS)
def row_alias(x, log):
    row = [x, x]
    if x.sum() > 0:
        log.append(row)
    row.append(x * 2)
    return x


@program(inputs=LISTS)
def tensor_alias(x, log):
    y = x * 2
    if x.sum() > 0:
        log.append(y)
    y.add_(1)
    return y


@program(inputs=LISTS)
def tensor_alias_arg(x, log):
    if x.sum() > 0:
        log.append(x)
    x.add_(1)
    return x * 2


@program(inputs=LISTS)
def view_alias(x, log):
    y = x * 2
    if x.sum() > 0:
        log.append(y[:2])
    y.add_(1)
    return y


@program(inputs=LISTS)
def write_and_append(x, log):
    if x.sum() > 0:
        x.add_(1)
        log.append(x)
    return x * 2


@program(inputs=LISTS)
def two_names(x, log):
    other = log
    if x.sum() > 0:
        log.append(x)
    other.append(x * 2)
    return x


@program(inputs=LISTS)
def helper_writes(x, log):
    def note(v):
        log.append(v)

    if x.sum() > 0:
        note(x)
    if x[1] > 0:
        note(x * 2)
    note(x * 3)
    return x


@program(inputs=LISTS)
def helper_reads(x, log):
    def note(v):
        log.append(v + len(log))

    if x.sum() > 0:
        note(x)
    if x[1] > 0:
        note(x * 2)
    return x


@program(inputs=DICTS)
def dict_two(x, d):
    if x.sum() > 0:
        d["p"] = x
    if x[0] > 0:
        d["q"] = x * 2
    d["r"] = x * 3
    return x


@program(inputs=DICTS)
def dict_override(x, d):
    if x.sum() > 0:
        d["p"] = x
    d["p"] = x * 2
    d["a"] = x
    return x


@program(inputs=DICTS)
def dict_del(x, d):
    if x.sum() > 0:
        del d["a"]
    else:
        d["b"] = 1
    return x


@program(inputs=DICTS)
def dict_membership(x, d):
    if x.sum() > 0:
        d["p"] = x
    if "p" in d:
        x = x + d["p"]
    return x


@program(inputs=LISTS, grad=True)
def grad_log(x, log):
    y = x * 2
    if y.sum() > 0:
        log.append(y)
    return (y * y).sum()


@program(inputs=INPUTS, grad=True)
def grad_local(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v * v)
    return out


@program(inputs=LISTS)
def clear_branch(x, log):
    if x.sum() > 0:
        log.clear()
    log.append(x)
    return x


@program(inputs=LISTS)
def while_then(x, log):
    n = 0
    while x.norm() > 0.5:
        x = x / 2
        n += 1
    if n > 2:
        log.append(x)
    return x, n


@program(inputs=LISTS)
def with_block(x, log):
    with torch.no_grad():
        if x.sum() > 0:
            log.append(x)
    return x * 2


@program(inputs=LISTS)
def returned_too(x, log):
    if x.sum() > 0:
        log.append(x)
    return log


@program(inputs=LISTS)
def returned_inside(x, log):
    if x.sum() > 0:
        log.append(x)
    return {"log": log, "x": x}


@program(inputs=LISTS)
def early_return(x, log):
    if x.sum() > 0:
        log.append(x)
        return x
    log.append(x * 2)
    log.append(x * 3)
    return x * 4


@program(inputs=LISTS)
def print_after(x, log):
    if x.sum() > 0:
        log.append(x)
        print("logged", x.sum().item())
    print("done")
    return x


@program(inputs=LISTS)
def objects(x, log):
    if x.sum() > 0:
        log.append(Rec(1, x.sum()))
    return x


@program(inputs=LISTS)
def objects_known(x, log):
    r = Rec(1, x.sum())
    if x.sum() > 0:
        log.append(r)
    r.step = 5
    return x


@program(inputs=LISTS)
def scalars(x, log):
    if x.sum() > 0:
        log.append(x.sum().item())
    else:
        log.append("neg")
        log.append(None)
    return x


@program(inputs=INPUTS)
def counter(x):
    c = Counter()
    if x.sum() > 0:
        c["p"] += 1
    return c["p"]


@program(inputs=INPUTS, grad=True)
class KeepsMetrics(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)
        self.register_buffer("n", torch.zeros(()))
        self.metrics = {"loss": [], "seen": 0}

    def forward(self, x):
        y = self.lin(x)
        self.metrics["seen"] += 1
        if y.sum() > 0:
            self.metrics["loss"].append(y.sum())
            self.n += 1
        if y[0] > 0:
            self.metrics["big"] = y.detach()
        return y * self.n


class Logger:
    def __init__(self):
        self.log = []
        self.n = 0


@program(inputs=INPUTS, factory=True)
def closure_over_a_logger():
    logger = Logger()

    def step(x):
        y = x * 2
        if y.sum() > 0:
            logger.log.append(y.sum())
            logger.n += 1
        return y

    return step


@program(inputs=LISTS)
def raise_after(x, log):
    if x.sum() > 0:
        log.append(x)
    if x[0] < 0:
        raise ValueError("neg")
    return x


@program(inputs=LISTS)
def print_list(x, log):
    if x.sum() > 0:
        log.append(x)
    print(len(log), x.sum().item())
    return x


@program(inputs=LISTS)
def same_list_twice(x, log):
    d = {"a": log, "b": log}
    if x.sum() > 0:
        d["a"].append(x)
    d["b"].append(x * 2)
    return d["a"] is d["b"], d


@program(inputs=LISTS)
def inner_list_moves(x, log):
    d = {"cur": log, "old": []}
    if x.sum() > 0:
        d["cur"].append(x)
        d["old"] = d["cur"]
        d["cur"] = []
    d["cur"].append(x * 2)
    return d


@program(inputs=LISTS)
def rebinding(x, log):
    if x.sum() > 0:
        log = log + [x]
    log.append(x * 2)
    return log


@program(inputs=LISTS)
def tensor_written_later(x, log):
    t = torch.zeros(3)
    if x.sum() > 0:
        log.append(t)
    if x[0] > 0.5:
        t.add_(1)
    return t * 2


@program(inputs=LISTS)
def tensor_written_in_loop(x, log):
    t = torch.zeros(3)
    if x.sum() > 0:
        log.append(t)
    while t.sum() < 5:
        t += 1
    return t * 2


@program(inputs=LISTS)
def popped_tensor_written(x, log):
    if x.sum() > 0:
        last = log.pop()
        last.add_(10)
        log.append(last)
        log.append(last * 2)
    return x


@program(inputs=LISTS)
def element_written(x, log):
    if x.sum() > 0:
        log[0].add_(1)
        log.append(log[0])
    return x


@program(inputs=LISTS)
def both_grow_differently(x, log):
    y = x * 2
    if x.sum() > 0:
        log.append(y)
        log.append(y)
    else:
        log.append(y + 1)
    y.mul_(2)
    return y


@program(inputs=INPUTS)
def result_dict(x):
    out = {"loss": x.sum()}
    if x.sum() > 0:
        out["aux"] = x.max()
    return out


@program(inputs=INPUTS)
def result_dict_nested(x):
    out = {"metrics": {}}
    if x.sum() > 0:
        out["metrics"]["acc"] = x.max()
    out["loss"] = x.sum()
    return out


@program(inputs=INPUTS)
def memo(x):
    cache = {}

    def get(k):
        if k not in cache:
            cache[k] = x * k
        return cache[k]

    if x.sum() > 0:
        y = get(2)
    else:
        y = get(3)
    return y + get(2), sorted(cache)


@program(inputs=INPUTS)
def rename_key(x):
    d = {"a": x, "b": x * 2}
    if x.sum() > 0:
        d["c"] = d.pop("a")
    return d


@program(inputs=INPUTS)
def insert_front(x):
    xs = [x]
    if x.sum() > 0:
        xs.insert(0, x * 2)
    xs.append(x * 3)
    return xs


@program(inputs=INPUTS)
def remove_last(x):
    xs = [x, x * 2, x * 3]
    if x.sum() > 0:
        xs.pop()
    if x[0] > 0.5:
        del xs[0]
    return xs


@program(inputs=INPUTS)
def slices(x):
    xs = [x, x * 2, x * 3]
    if x.sum() > 0:
        xs[1:] = []
    return xs


@program(inputs=INPUTS, grad=True)
def grad_dict_losses(x):
    losses = {"main": (x**2).sum()}
    if x.sum() > 0:
        losses["reg"] = x.abs().sum()
    return sum(losses.values())


@program(inputs=INPUTS)
def closure_list_returned(x):
    calls = []

    def f(t):
        calls.append(t.sum())
        return t * 2

    if x.sum() > 0:
        x = f(x)
    if x.max() > 1:
        x = f(x)
    return x, calls


class Kept:
    def __init__(self):
        self.values = []

    def keep(self, value):
        self.values.append(value)


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),), lambda: (vec(-1, -2, -3),)])
def a_method_keeps_what_a_loop_lets_through(x):
    kept = Kept()
    for value in x:
        if value > 0:
            kept.keep(value)
    return len(kept.values), sum(kept.values)


@program(inputs=[lambda: (vec(1, 2, 3),), lambda: (vec(-1, 2, -3),), lambda: (vec(-1, -2, -3),)])
def signs_counted_under_new_keys(x):
    counts = Counter()
    for value in x:
        if value > 0:
            counts["up"] += 1
        else:
            counts["down"] += 1
    return counts["up"], counts["down"]


@program(inputs=LISTS)
def the_same_twice_in_one_of_three_branches(x, xs):
    if x.sum() > 1:
        x = x * 2
    elif x.max() > 0:
        xs.append(x)
        xs.append(x)
    return x


@program(inputs=LISTS)
def the_same_twice_and_seen_behind(x, xs):
    y = x * 2
    if x.sum() > 1:
        xs.append(y)
    elif x.max() > 0:
        xs.append(x)
        xs += [y, y]
    xs[-1].add_(1)
    return x, y, xs[-1] is xs[-2] if len(xs) > 1 else None


@program(inputs=INPUTS)
def filtered_beside_a_list_with_some(x):
    found = []
    for v in x:
        if v > 0.05:
            found.append(v * 2)
    small = [k for k in range(3) if x[k] < 1.5]
    return found, small


@program(inputs=LISTS)
def log_of_the_caller_beside_a_filter(x, log):
    if x.sum() > 0:
        log.append(x)
    places = [k for k in range(2) if not x[k] > 1]
    return log, places
